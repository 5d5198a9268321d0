"""Certificates of one input: several metrics and centers on the same draws."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from centersmooth.answering import Answering
from centersmooth.centers import Answer, Center
from centersmooth.certificates import Certificate, Provenance
from centersmooth.confidence import Confidence, Joint, Split, confidence
from centersmooth.errors import ArgumentError, expected
from centersmooth.goals import GoalLike, Question, ToleranceLike, question
from centersmooth.looks import looks_for, one_look
from centersmooth.metrics import Block, Metric
from centersmooth.models import Model
from centersmooth.noise import Noise
from centersmooth.planning import check_budget, theorem_of
from centersmooth.procedure import Counting, Party, Source, check_target
from centersmooth.progress import Advance, ProgressOption, Unfinished, progress_bar
from centersmooth.sketch import Ranked
from centersmooth.stopping import Stopped, Stopping
from centersmooth.theorems import Sizes, Theorem, theorem_for
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
    goals: Sequence[GoalLike] | None = None,
    tolerances: Sequence[ToleranceLike] | None = None,
) -> list[Certificate]:
    """Certificates of several metrics and centers on the same draws, for the price of one.

    Each holds at alpha by itself. The smoothers must share the model, the noise and
    `answer_samples`. With goals or tolerances each is certified from as many samples as it
    would need alone; drawing stops when all are settled.
    """
    first = _check_shared(smoothers)
    check_count(samples, "samples", 1)
    level, points = confidence(alpha), _checked_grid(grid)
    targets = _one_each(targets, smoothers, "target")
    asked = [
        _question(*each, points)
        for each in zip(
            targets,
            _one_each(goals, smoothers, "goal"),
            _one_each(tolerances, smoothers, "tolerance"),
            strict=True,
        )
    ]
    _check_theorems(smoothers, samples, level, points)
    stoppings = [
        _stopping(smoother, one, samples, level, points)
        for smoother, one in zip(smoothers, asked, strict=True)
    ]
    started = time.perf_counter()
    source, tuning = first.source(x, resume.seed if resume else seed)
    largest_move = _largest_move(first, source.x, points or _asked_eps(asked))
    parties = [smoother.party for smoother in smoothers]
    wanted = [
        None if target is None else check_target(source, party, target)
        for party, target in zip(parties, targets, strict=True)
    ]
    if resume:
        _check_resume(resume, source, parties, wanted, samples, stoppings)
        _check_answering(resume, first.answer_samples)
    run = _run(first, source, parties, wanted, stoppings, resume)
    total = max(p.center.draws for p in parties) + first.answer_samples + max(run.counted)
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
        _certificate(smoother, run, place, level, points, provenance, wanted[place])
        for place, smoother in enumerate(smoothers)
    ]


def _one_each(values: Sequence[Any] | None, smoothers: Sequence[Any], noun: str) -> list[Any]:
    """One per smoother, None where nothing was given."""
    found = [None] * len(smoothers) if values is None else list(values)
    if len(found) != len(smoothers):
        fix = f"Give one {noun} per smoother, None where there is none."
        raise ArgumentError(expected(f"{len(smoothers)} {noun}s", len(found), fix))
    return found


def _question(target: Any, goal: Any, tolerance: Any, grid: tuple[float, ...] | None) -> Question:
    asked = question(goal, tolerance, grid)
    if asked.goal and asked.goal.of_target and target is None:
        fix = "Certify with target=..., or ask about the answer."
        raise ArgumentError(expected("a target for a goal about it", "none", fix))
    return asked


def _stopping(
    smoother: Certifiable,
    asked: Question,
    samples: int,
    level: Confidence,
    grid: tuple[float, ...] | None,
) -> Stopping:
    """When to look at the samples: at a list that the question fixes, or once at the end."""
    each = level.over_grid(len(grid)) if grid else level
    center, noise, metric = smoother.center, smoother.noise, smoother.metric

    def theorem_at(m: int, share: float) -> Theorem:
        return theorem_for(center, noise, metric, Sizes(smoother.answer_samples, m), each, share)

    looks = looks_for(theorem_at, asked.eps[-1], samples) if asked else one_look(samples)
    return Stopping(asked, looks, theorem_at)


def _asked_eps(asked: Sequence[Question]) -> tuple[float, ...] | None:
    return tuple(sorted(eps for one in asked for eps in one.eps)) or None


@dataclass(frozen=True)
class _Sampled:
    answers: tuple[Answer, ...]
    ranked: tuple[Ranked, ...]
    counted: tuple[int, ...]
    stopped: tuple[Stopped, ...]


def _run(
    first: Certifiable,
    source: Source,
    parties: Sequence[Party],
    wanted: Sequence[Block | None],
    stoppings: Sequence[Stopping],
    resume: Unfinished | None,
) -> _Sampled:
    """Both phases. Whatever interrupts the second carries what had been counted."""
    draws = max(party.center.draws for party in parties) + first.answer_samples
    samples = max(stopping.looks.last for stopping in stoppings)
    with progress_bar(first.progress, "certifying", draws + samples) as advance:
        if resume and resume.answers:
            answers = resume.answers
            advance(draws)
        else:
            answers = _answers(first, source, parties, wanted, stoppings, resume, advance)
        counted = resume if resume and resume.answers else None
        counting = Counting(source, parties, answers, wanted, counted)
        try:
            advance(counting.done)
            found = [_settled(counting, place, stoppings[place]) for place in range(len(parties))]
            while counting.open:
                done = counting.done
                counting.run(min(stoppings[i].looks.after(done) for i in counting.open), advance)
                for place in tuple(counting.open):
                    found[place] = _settled(counting, place, stoppings[place])
        except BaseException as error:
            error.unfinished = counting.unfinished(stoppings)  # type: ignore[attr-defined]
            raise
    stopped = tuple(one for one in found if one is not None)
    totals = tuple(map(counting.counted, range(len(parties))))
    ranked = tuple(sketch.ranked() for sketch in counting.sketches)
    return _Sampled(answers, ranked, totals, stopped)


def _answers(
    first: Certifiable,
    source: Source,
    parties: Sequence[Party],
    wanted: Sequence[Block | None],
    stoppings: Sequence[Stopping],
    resume: Unfinished | None,
    advance: Advance,
) -> tuple[Answer, ...]:
    """The first phase; what interrupts it carries what had been drawn."""
    answering = resume.answering if resume else None
    answering = answering or Answering(parties, first.answer_samples)
    try:
        return answering.run(source, advance)
    except BaseException as error:
        error.unfinished = Unfinished(  # type: ignore[attr-defined]
            seed=source.address.root,
            x=source.address.x,
            noise=source.noise,
            parties=tuple(parties),
            targets=tuple(wanted),
            answers=(),
            sketches=(),
            done=0,
            stoppings=tuple(stoppings),
            answering=answering,
        )
        raise


def _settled(counting: Counting, place: int, stopping: Stopping) -> Stopped | None:
    """The end of one party's counting, if it is at a look that settles its question."""
    samples = counting.counted(place)
    if samples not in stopping.looks.sizes:
        return None
    stopped = stopping.at(counting.sketches[place].ranked(), samples)
    if stopped and place in counting.open:
        counting.open.remove(place)
    return stopped


def _certificate(
    smoother: Certifiable,
    run: _Sampled,
    place: int,
    level: Confidence,
    grid: tuple[float, ...] | None,
    provenance: Provenance,
    target: Block | None,
) -> Certificate:
    answer, stopped = run.answers[place], run.stopped[place]
    return Certificate(
        value=answer.value,
        spread=smoother.spread_of(answer),
        noise=smoother.noise,
        metric=smoother.metric,
        center=smoother.center,
        sizes=Sizes(smoother.answer_samples, run.counted[place]),
        level=level,
        grid=grid,
        ranked=run.ranked[place],
        has_target=target is not None,
        provenance=provenance,
        stopped=stopped if stopped.question else None,
    )


def check_count(value: object, name: str, least: int) -> None:
    """Refuse a number of samples that is no number or too small to mean anything."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        fix = f"{name} counts forward passes: a whole number (an int of Python's own)."
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


def _largest_move(smoother: Certifiable, x: Any, asked: tuple[float, ...] | None) -> float | None:
    """The largest attack that the declared range allows; nothing beyond it is asked about."""
    if smoother.input_range is None:
        return None
    most = smoother.noise.largest_move(x, smoother.input_range)
    if asked and asked[-1] > most:
        fix = "Give eps in the units of the input: the declared range allows no larger move."
        raise ArgumentError(
            expected(f"a grid and goals up to eps = {most:.4g}", f"{asked[-1]:g}", fix)
        )
    return most if most < math.inf else None


def _check_shared(smoothers: Sequence[Certifiable]) -> Certifiable:
    if not isinstance(smoothers, Sequence):
        fix = "Pass a list: certify_together([smoother_1, smoother_2], x)."
        raise ArgumentError(expected("a list of smoothers", type(smoothers).__name__, fix))
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
    stoppings: Sequence[Stopping],
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
    waited = any(stopping.question for stopping in (*resume.stoppings, *stoppings))
    if waited and not (
        len(resume.stoppings) == len(stoppings)
        and all(map(Stopping.same_as, stoppings, resume.stoppings))
    ):
        fix = "Looks that were not paid for would make the bound too small: ask the same again."
        what = "the goals, tolerances, samples and alpha of the run that stopped"
        raise ArgumentError(expected(what, "others", fix))


def _check_answering(resume: Unfinished, samples: int) -> None:
    """Answers that were not found yet are those of so many samples."""
    if resume.answering and resume.answering.samples != samples:
        fix = "Resume with the smoother of the run that stopped."
        what = f"answer_samples={resume.answering.samples}"
        raise ArgumentError(expected(what, samples, fix))


def _same_target(party: Party, one: Block | None, other: Block | None) -> bool:
    if one is None or other is None:
        return one is other
    return bool((party.metric.measure(one, other) == 0).all())
