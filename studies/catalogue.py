"""The parts of which the experiments are made: each runs, resumes and is recorded by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from centersmooth.errors import ArgumentError, expected
from studies import consistency, faces, perception, precision, restoration, tightness
from studies.scales import Scale


class Part(Protocol):
    """Some work of an experiment."""

    @property
    def name(self) -> str:
        """As the command line and the records have it."""
        ...

    def run(self, scale: Scale) -> None:
        """Do what is missing; what was stopped goes on."""
        ...

    def keep(self, scale: Scale) -> None:
        """Write records and pictures of what has been done."""
        ...


PARTS: Sequence[Part] = (
    *restoration.PARTS,
    *faces.PARTS,
    *perception.PARTS,
    *consistency.PARTS,
    *tightness.PARTS,
    *precision.PARTS,
)


ON_REQUEST: Sequence[Part] = (*faces.ON_REQUEST, *perception.ON_REQUEST)
"""Run when named: what they need has to be put in place by hand."""


def part_named(name: str) -> Part:
    """One of the parts."""
    found = {part.name: part for part in (*PARTS, *ON_REQUEST)}
    if name not in found:
        fix = "`python -m studies list` shows them."
        raise ArgumentError(expected("a part of the studies", repr(name), fix))
    return found[name]
