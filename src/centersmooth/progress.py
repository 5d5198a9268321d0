"""Progress of long work, and what is kept of it when it stops midway."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from centersmooth.answering import Answering
    from centersmooth.centers import Answer
    from centersmooth.metrics import Block
    from centersmooth.noise import Noise
    from centersmooth.procedure import Party
    from centersmooth.sketch import Sketch
    from centersmooth.stopping import Stopping

ProgressOption: TypeAlias = bool | Callable[[int, int], None] | None
Advance: TypeAlias = Callable[[int], None]


@dataclass(frozen=True)
class Unfinished:
    """What had been sampled when a certification stopped: nothing of it is lost.

    ``smoother.certify(x, ..., resume=unfinished)`` goes on from here.
    """

    seed: int
    x: bytes
    noise: Noise
    parties: tuple[Party, ...]
    targets: tuple[Block | None, ...]
    answers: tuple[Answer, ...]
    sketches: tuple[Sketch, ...]
    done: int
    stoppings: tuple[Stopping, ...] = ()
    """What each was waiting for; empty for a number of samples fixed beforehand."""
    answering: Answering | None = None
    """Where the answers were, if they had not been found yet; there are no sketches then."""


@contextmanager
def progress_bar(option: ProgressOption, title: str, total: int) -> Iterator[Advance]:
    """A bar on a terminal (option None), always (True), never (False), or a callback."""
    if callable(option):
        done = 0

        def report(count: int) -> None:
            nonlocal done
            done += count
            option(done, total)

        yield report
    elif option or (option is None and sys.stderr.isatty()):
        with _rich_bar(title, total) as advance:
            yield advance
    else:
        yield lambda count: None


@contextmanager
def _rich_bar(title: str, total: int) -> Iterator[Advance]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(title, total=total)
        yield lambda count: bar.update(task, advance=count)
