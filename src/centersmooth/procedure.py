"""Where outputs come from, and the certification phase: distances from the answer are counted.

Several smoothers of one model and noise can share the draws: each is a party to the run.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from centersmooth.centers import Answer, Center
from centersmooth.errors import ArgumentError, OutputError, expected
from centersmooth.metrics import Block, Metric
from centersmooth.models import Model, check_contract
from centersmooth.noise import Noise
from centersmooth.outputs import Outputs, pick
from centersmooth.progress import Advance, Unfinished
from centersmooth.sampling import (
    CERTIFICATION,
    PROBES,
    Address,
    Batching,
    draw,
    noisy,
)
from centersmooth.sketch import Sketch
from centersmooth.stopping import Stopping
from centersmooth.tuning import Tuning, tune

_FAILURES = ("raise", "far")
_LIMIT = 2**26  # bytes of outputs that are measured at once


@dataclass(frozen=True)
class Party:
    """One metric with its center."""

    metric: Metric
    center: Center

    def measure(self, a: Block, b: Block) -> torch.Tensor:
        """The lengths in which the center's theorem is stated."""
        return self.center.measure(self.metric, a, b)


@dataclass(frozen=True)
class Source:
    """Everything that outputs come from, for one input."""

    model: Model
    noise: Noise
    x: Any
    address: Address
    batching: Batching
    on_invalid: str

    def outputs(self, phase: str, span: tuple[int, int]) -> Iterator[Outputs]:
        """The outputs of a span of a phase, batch by batch."""
        draws = (self.model, self.noise, self.x, self.address, phase, span, self.batching)
        return draw(*draws)

    def collate(
        self, party: Party, outputs: Outputs, phase: str, start: int, group: int = 1
    ) -> Block:
        """Outputs (or one of every group) prepared for one party.

        An invalid one is an error or counts as far.
        """
        block = party.metric.collate(outputs)
        if self.on_invalid == "raise" and not bool(block.valid.all()):
            raise OutputError(_invalid(block, party.metric, phase, start, group))
        return block


def check_on_invalid(option: str) -> None:
    """Refuse anything but the two ways to treat an invalid output."""
    if option not in _FAILURES:
        fix = "'far' counts a failed output as farthest from every other."
        raise ArgumentError(expected("on_invalid='raise' or 'far'", repr(option), fix))


def _invalid(block: Block, metric: Metric, phase: str, start: int, group: int) -> str:
    bad = (~block.valid).nonzero()[:, 0]
    meaning = f"{metric.meaning} " if metric.meaning else ""
    fix = meaning + (
        "Repair the model, lower sigma, or build the smoother with on_invalid='far', which counts "
        "a failed output as farthest from every other (the certificate stays valid)."
    )
    first = start + int(bad[0]) * group
    place = f"number {first}" if group == 1 else f"one of numbers {first} to {first + group - 1}"
    place += f" of the {phase} draws"
    got = f"an invalid one (NaN, infinite or without meaning), {place}"
    got += f"; {len(bad)} of {len(block)} in this batch are"
    return expected(f"outputs that {metric.name} can measure", got, fix)


def prepare(
    model: Model,
    noise: Noise,
    x: Any,
    address: Address,
    party: Party,
    batch_size: int | Batching | None,
) -> Tuning:
    """Check the model's contract on a dozen noisy inputs and tune the batching if it is free."""
    copies = noisy(noise, x, address, PROBES, 0, 12)
    probes = check_contract(model, copies, party.metric.collate, party.metric.measure)
    if batch_size is not None:
        fixed = batch_size if isinstance(batch_size, Batching) else Batching(batch_size)
        return Tuning(fixed, probes)
    found = tune(model, noise, x, address)
    return Tuning(found.batching, found.probes + probes, found.rates)


def warn_about_units(x: Any, input_range: tuple[float, float] | None) -> None:
    """Eight-bit images with a sigma meant for [0, 1] are the commonest slip of units."""
    if input_range is not None or not isinstance(x, torch.Tensor) or not x.numel():
        return
    if not x.is_floating_point():  # token ids, bits, bytes: no noise is added to them
        return
    if float(x.max()) > 100 and float(x.min()) >= 0:
        warnings.warn(
            f"the input reaches {float(x.max()):g}: sigma and eps are in its units. Divide by "
            "255 if they are meant for [0, 1], or declare input_range=(0, 255).",
            stacklevel=4,
        )


def check_target(source: Source, party: Party, target: Any) -> Block:
    """The target, prepared, if it can be compared with what the model returns."""
    block = party.metric.collate(party.metric.single(target))
    sample = source.model(noisy(*_first_copy(source)))
    try:
        valid = bool(block.valid.all()) and not _axes_swapped(target, pick(sample, [0])[0])
        party.measure(block, party.metric.collate(sample))
    except (RuntimeError, ValueError, IndexError):
        valid = False
    if not valid:
        got, want = _shape(target), _shape(pick(sample, [0])[0])
        fix = "The target is what the model should answer: same shape, no batch axis."
        raise OutputError(expected(f"a target like the model's output, {want}", got, fix))
    return block


def _axes_swapped(target: Any, output: Any) -> bool:
    """As many numbers in another order: (H, W, C) for (C, H, W) would be compared unseen."""
    one, other = (
        [size for size in getattr(thing, "shape", ()) if size != 1] for thing in (target, output)
    )
    return one != other and math.prod(one) == math.prod(other)


def _first_copy(source: Source) -> tuple[Noise, Any, Address, str, int, int]:
    return (source.noise, source.x, source.address, PROBES, 0, 1)


def _shape(output: Any) -> str:
    shape = getattr(output, "shape", None)
    return f"{type(output).__name__} of shape {tuple(shape)}" if shape is not None else repr(output)


def check_groups(source: Source, parties: Sequence[Party]) -> None:
    """Outputs that are averaged come from one batch, so that batches can be cut anywhere else."""
    for group in (party.center.group for party in parties):
        if source.batching.size % group:
            what = f"a batch_size that is a multiple of {group}"
            fix = "The center averages outputs in groups of that size."
            raise ArgumentError(expected(what, source.batching.size, fix))


_Measured = tuple[Block, NDArray[np.float64]]


class Counting:
    """The certification phase: distances from every reference point, counted as they come."""

    def __init__(
        self,
        source: Source,
        parties: Sequence[Party],
        answers: Sequence[Answer],
        targets: Sequence[Block | None],
        resume: Unfinished | None,
    ) -> None:
        check_groups(source, parties)
        self._source, self._parties, self._answers = source, tuple(parties), tuple(answers)
        self._targets = tuple(targets)
        self._rows = [_rows(a, t) for a, t in zip(answers, targets, strict=True)]
        counted = zip(parties, answers, targets, self._rows, strict=True)
        self.sketches = tuple(
            Sketch(len(rows) * party.center.views, party.center.moments(answer, target))
            for party, answer, target, rows in counted
        )
        self.done = 0
        self._measured: tuple[int, list[tuple[int, list[_Measured]]]] = (0, [])
        if resume:
            self.done = resume.done
            for sketch, earlier in zip(self.sketches, resume.sketches, strict=True):
                sketch.merge(earlier)
        # Who has fewer counts than were drawn had enough before.
        self.open = [i for i in range(len(self._parties)) if self.counted(i) == self.done]

    def run(self, samples: int, advance: Advance) -> None:
        """Count up to `samples` distances per reference point of the parties still open."""
        for outputs in self._source.outputs(CERTIFICATION, (self.done, samples)):
            self._count(outputs)
            advance(len(outputs))

    def _count(self, outputs: Outputs) -> None:
        """One batch, measured for every party before any of it is counted."""
        found = [(place, self._measure(place, outputs)) for place in self.open]
        self._measured = (self.done, found)
        self._settle()

    def _measure(self, place: int, outputs: Outputs) -> list[_Measured]:
        """From all reference points of a party to all views of a batch, in pieces."""
        party, rows = self._parties[place], self._rows[place]
        blocks = [
            self._source.collate(party, view, CERTIFICATION, self.done, party.center.group)
            for view in party.center.view(party.metric, outputs)
        ]
        return [
            (parts[0], np.concatenate([_lengths(party, rows, part) for part in parts]))
            for parts in zip(*map(_parts, blocks), strict=True)
        ]

    def _settle(self) -> None:
        """Count what was measured and is not counted yet.

        An interrupt may strike after any line, most likely while a sketch counts: what is then
        counted twice, or by one party only, would make every rank too low. So this can be called
        again, and asks the sketches how far they are.
        """
        start, found = self._measured
        end = start
        for place, parts in found:
            sketch, group = self.sketches[place], self._parties[place].center.group
            end = start
            for part, lengths in parts:
                end += lengths.shape[1] * group
                if sketch.total * group < end:
                    sketch.add(lengths)
                if sketch.moments and sketch.moments.total < end:
                    sketch.moments.add(part.rows, part.valid)
        self.done = max(self.done, end)

    def counted(self, place: int) -> int:
        """How many outputs a party has counted."""
        return self.sketches[place].total * self._parties[place].center.group

    def unfinished(self, stoppings: Sequence[Stopping] = ()) -> Unfinished:
        """What `run` can be resumed from: the answers alone, if sums were cut in two."""
        if any(sketch.moments and sketch.moments.torn for sketch in self.sketches):
            self.done, self.sketches = 0, tuple(sketch.empty() for sketch in self.sketches)
        else:
            self._settle()
        return Unfinished(
            seed=self._source.address.root,
            x=self._source.address.x,
            noise=self._source.noise,
            parties=self._parties,
            targets=self._targets,
            answers=self._answers,
            sketches=self.sketches,
            done=self.done,
            stoppings=tuple(stoppings),
        )


def _lengths(party: Party, rows: Block, part: Block) -> NDArray[np.float64]:
    lengths = party.measure(rows, part).cpu().numpy()
    if lengths.size and not lengths.min() >= 0:
        fix = f"{party.metric.name} returned one: repair its `lengths`."
        raise OutputError(expected("distances >= 0", "a negative one or NaN", fix))
    return lengths


def _rows(answer: Answer, target: Block | None) -> Block:
    parts = [answer.reference, target, answer.outer]
    return Block.join([part for part in parts if part is not None])


def _parts(block: Block) -> Iterator[Block]:
    """A block in pieces whose float64 copies stay small."""
    width = math.prod(block.rows.shape[1:]) if isinstance(block.rows, torch.Tensor) else 1
    size = max(16, math.floor(_LIMIT / (8 * max(1, width))))
    return (block.take(start, start + size) for start in range(0, len(block), size))
