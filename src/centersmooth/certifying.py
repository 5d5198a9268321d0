"""Certificates of one input: several metrics and centers on the same draws."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from centersmooth.centers import Answer, Center
from centersmooth.certificates import Certificate, Provenance
from centersmooth.confidence import Confidence, Joint, Split, confidence
from centersmooth.errors import ArgumentError, expected
from centersmooth.metrics import Block, Metric
from centersmooth.models import Model
from centersmooth.noise import Noise
from centersmooth.planning import check_budget, theorem_of
from centersmooth.procedure import Counting, Party, Source, check_target, find_answers
from centersmooth.progress import ProgressOption, Unfinished, progress_bar
from centersmooth.sketch import Sketch
from centersmooth.theorems import Sizes
from centersmooth.tuning import Tuning


class Certifiable(Protocol):
    """What a certificate needs to know of a smoother."""

    model: Model
    noise: Noise
    metric: Metric
    center: Center
    answer_samples: int
    input_range: tuple[float, float] | None
    on_invalid: str
    progress: ProgressOption

    @property
    def party(self) -> Party:
        """Its metric with its center."""

    def spread_of(self, answer: Answer) -> float | None:
        """How far the samples lie around an answer, in the metric's units."""

    def source(self, x: Any, seed: int | None) -> tuple[Source, Tuning]:
        """Where outputs for x come from."""


def certify_together(
    smoothers: Sequence[Certifiable],
    x: Any,
    samples: int = 4_000,
    alpha: float | Joint | Split = 0.01,
    targets: Sequence[Any] | None = None,
    seed: int | None = None,
    grid: Sequence[float] | None = None,
    resume: Unfinished | None = None,
) -> list[Certificate]:
    """Certificates of several metrics and centers on the same draws, for the price of one.

    Each holds at alpha by itself. The smoothers must share the model, the noise and
    `answer_samples`.
    """
    first = _check_shared(smoothers)
    check_count(samples, "samples", 1)
    level, points = confidence(alpha), _checked_grid(grid)
    targets = [None] * len(smoothers) if targets is None else list(targets)
    if len(targets) != len(smoothers):
        fix = "Give one target per smoother, None where there is none."
        raise ArgumentError(expected(f"{len(smoothers)} targets", len(targets), fix))
    _check_theorems(smoothers, samples, level, points)
    started = time.perf_counter()
    source, tuning = first.source(x, resume.seed if resume else seed)
    largest_move = _largest_move(first, source.x, points)
    parties = [smoother.party for smoother in smoothers]
    wanted = [
        None if target is None else check_target(source, party, target)
        for party, target in zip(parties, targets, strict=True)
    ]
    if resume:
        _check_resume(resume, source, parties, wanted, samples)
    run = _run(first, source, parties, wanted, samples, resume)
    total = max(p.center.draws for p in parties) + first.answer_samples + samples
    provenance = Provenance(
        seed=source.address.root,
        evaluations=total,
        probes=tuning.probes + sum(block is not None for block in wanted),
        batch_size=tuning.batching.size,
        channels_last=tuning.batching.channels_last,
        input_sha256=source.address.x.hex(),
        input_range=first.input_range,
        largest_move=largest_move,
        seconds=time.perf_counter() - started,
    )
    return [
        _certificate(smoother, answer, sketch, samples, level, points, provenance, block)
        for smoother, answer, sketch, block in zip(
            smoothers, run.answers, run.sketches, wanted, strict=True
        )
    ]


@dataclass(frozen=True)
class _Sampled:
    answers: tuple[Answer, ...]
    sketches: tuple[Sketch, ...]


def _run(
    first: Certifiable,
    source: Source,
    parties: Sequence[Party],
    wanted: Sequence[Block | None],
    samples: int,
    resume: Unfinished | None,
) -> _Sampled:
    """Both phases. Whatever interrupts the second carries what had been counted."""
    draws = max(party.center.draws for party in parties) + first.answer_samples
    with progress_bar(first.progress, "certifying", draws + samples) as advance:
        if resume:
            answers = resume.answers
            advance(draws)
        else:
            answers = find_answers(source, parties, first.answer_samples, advance)
        counting = Counting(source, parties, answers, wanted, resume)
        try:
            counting.run(samples, advance)
        except BaseException as error:
            error.unfinished = counting.unfinished()  # type: ignore[attr-defined]
            raise
    return _Sampled(answers, counting.sketches)


def _certificate(
    smoother: Certifiable,
    answer: Answer,
    sketch: Sketch,
    samples: int,
    level: Confidence,
    grid: tuple[float, ...] | None,
    provenance: Provenance,
    target: Block | None,
) -> Certificate:
    return Certificate(
        value=answer.value,
        spread=smoother.spread_of(answer),
        noise=smoother.noise,
        metric=smoother.metric,
        center=smoother.center,
        sizes=Sizes(smoother.answer_samples, samples),
        level=level,
        grid=grid,
        ranked=sketch.ranked(),
        has_target=target is not None,
        provenance=provenance,
    )


def check_count(value: object, name: str, least: int) -> None:
    """Refuse a number of samples that is no number or too small to mean anything."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        fix = f"{name} counts forward passes: a whole number."
        raise ArgumentError(expected(f"{name} >= {least}", repr(value), fix))


def _checked_grid(grid: Sequence[float] | None) -> tuple[float, ...] | None:
    if grid is None:
        return None
    try:
        points = tuple(sorted({float(eps) for eps in grid}))
    except (TypeError, ValueError):
        points = ()
    if not points or not all(0 < eps < math.inf for eps in points):
        fix = "grid=[0.1, 0.2, 0.3] makes three bounds hold together."
        raise ArgumentError(expected("a list of positive, finite eps", repr(grid), fix))
    return points


def _check_theorems(
    smoothers: Sequence[Certifiable],
    samples: int,
    level: Confidence,
    grid: tuple[float, ...] | None,
) -> None:
    """Before anything is sampled: every center has a theorem, and the grid is within reach."""
    for smoother in smoothers:
        if samples % smoother.center.group:
            what = f"samples that are a multiple of {smoother.center.group}"
            fix = "The center averages outputs in groups of that size."
            raise ArgumentError(expected(what, samples, fix))
        if grid:
            check_budget(smoother, grid[-1], samples, level.over_grid(len(grid)))
        else:
            theorem_of(smoother, samples, level)


def _largest_move(smoother: Certifiable, x: Any, grid: tuple[float, ...] | None) -> float | None:
    """The largest attack that the declared range allows; a grid must not go beyond it."""
    if smoother.input_range is None:
        return None
    most = smoother.noise.largest_move(x, smoother.input_range)
    if grid and grid[-1] > most:
        fix = "Give eps in the units of the input: the declared range allows no larger move."
        raise ArgumentError(expected(f"a grid up to eps = {most:.4g}", f"{grid[-1]:g}", fix))
    return most if most < math.inf else None


def _check_shared(smoothers: Sequence[Certifiable]) -> Certifiable:
    if not smoothers:
        raise ArgumentError(expected("at least one smoother", "none", "Pass a list of them."))
    first = smoothers[0]
    for other in smoothers[1:]:
        same = (
            other.model.function is first.model.function
            and other.noise == first.noise
            and other.answer_samples == first.answer_samples
            and other.on_invalid == first.on_invalid
        )
        if not same:
            what = "smoothers that share model, noise, answer_samples and on_invalid"
            fix = "Only metric and center may differ on the same draws."
            raise ArgumentError(expected(what, "different ones", fix))
    return first


def _check_resume(
    resume: Unfinished,
    source: Source,
    parties: Sequence[Party],
    targets: Sequence[Block | None],
    samples: int,
) -> None:
    """Counts of another run, or more of them than asked for, would give a wrong bound."""
    same = (resume.x, resume.noise, resume.parties) == (
        source.address.x,
        source.noise,
        tuple(parties),
    )
    if not (same and all(map(_same_target, parties, resume.targets, targets))):
        fix = "Resume with the same input, smoother and target as the run that stopped."
        raise ArgumentError(expected("an unfinished run of this input", "another one", fix))
    if resume.done > samples:
        fix = "So many are counted already."
        raise ArgumentError(expected(f"samples >= {resume.done:,} to resume", samples, fix))


def _same_target(party: Party, one: Block | None, other: Block | None) -> bool:
    if one is None or other is None:
        return one is other
    return bool((party.metric.measure(one, other) == 0).all())
