"""The object a user holds: a model, a noise and a metric make a smoothed model."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from centersmooth.centers import Answer, Center, default_center
from centersmooth.certificates import Certificate, Provenance
from centersmooth.confidence import Confidence, Joint, Split, confidence
from centersmooth.errors import ArgumentError, expected
from centersmooth.metrics import Block, Metric
from centersmooth.models import Model
from centersmooth.noise import Noise
from centersmooth.planning import check_budget, theorem_of
from centersmooth.procedure import (
    Counting,
    Party,
    Source,
    check_on_invalid,
    check_target,
    find_answers,
    prepare,
    warn_about_units,
)
from centersmooth.progress import ProgressOption, Unfinished, progress_bar
from centersmooth.sampling import Address, Batching, fingerprint, root_seed
from centersmooth.sketch import Sketch
from centersmooth.theorems import Sizes
from centersmooth.tuning import Tuning


@dataclass(frozen=True)
class Prediction:
    """One answer of the smoothed model."""

    value: Any
    spread: float | None
    """The radius around the answer that holds a majority of its samples, in the metric's units:
    a large one is a cheap sign of an unstable input."""
    seed: int
    evaluations: int


class Smoother:
    """A model smoothed by noise, whose answers can be certified.

    model: a torch module or a function of a batch, returning one output per row.
    noise: the smoothing noise, and with it the attacker, e.g. ``cs.Gaussian(sigma=0.25)``.
    metric: the distance between outputs, e.g. ``cs.metrics.BoxJaccard()``.
    center: how an answer is made; by default the sharpest one that the metric supports.
    answer_samples: outputs that choose an answer (9,999 is thorough).
    input_range: the least and largest value an input can have; refuses mistaken units.
    on_invalid: "raise" on NaN outputs, or "far" to count them as farthest from all others.
    batch_size: noisy inputs per forward pass (or a `Batching`, which fixes their memory layout
        too); measured on the model when None.
    device: where the input is moved to; the model's own device when None.
    seed: fixes all noise, to reproduce a run. Whoever knows it is outside the guarantee.
    progress: None shows a bar on a terminal; True, False, or a function of (done, total).
    """

    def __init__(
        self,
        model: Callable[[Any], Any],
        noise: Noise,
        metric: Metric,
        center: Center | None = None,
        answer_samples: int = 999,
        input_range: tuple[float, float] | None = None,
        on_invalid: str = "raise",
        batch_size: int | Batching | None = None,
        device: str | torch.device | None = None,
        seed: int | None = None,
        progress: ProgressOption = None,
    ) -> None:
        _check_kinds(noise, metric, center)
        self.center = center if center is not None else default_center(metric)
        self.center.check(metric)
        check_count(answer_samples, "answer_samples", 10)
        if batch_size is not None and not isinstance(batch_size, Batching):
            check_count(batch_size, "batch_size", 1)
        check_on_invalid(on_invalid)
        self.model = Model(model, device)
        self.noise, self.metric = noise, metric
        self.answer_samples, self.batch_size = answer_samples, batch_size
        self.input_range = _checked_range(input_range)
        self.on_invalid, self.progress = on_invalid, progress
        self.seed = None if seed is None else root_seed(seed)
        self._tunings: dict[Any, Tuning] = {}

    def __call__(self, x: Any) -> Any:
        """The smoothed model's answer for one input (no batch axis)."""
        return self.predict(x).value

    def predict(self, x: Any, seed: int | None = None) -> Prediction:
        """The answer together with how far its samples spread."""
        source, _ = self._source(x, seed)
        total = self.center.draws + self.answer_samples
        with progress_bar(self.progress, "smoothing", total) as advance:
            answer = find_answers(source, [self._party], self.answer_samples, advance)[0]
        return Prediction(answer.value, self._spread(answer), source.address.root, total)

    def certify(
        self,
        x: Any,
        samples: int = 4_000,
        alpha: float | Joint | Split = 0.01,
        target: Any = None,
        seed: int | None = None,
        grid: Sequence[float] | None = None,
        resume: Unfinished | None = None,
    ) -> Certificate:
        """The answer for x and a bound on how far any attack can move it.

        samples: fresh outputs whose distances are counted (40,000 is thorough).
        alpha: the probability that the guarantee may fail; ``cs.Split(...)`` for many queries.
        target: e.g. the ground truth: ``cert.error(eps)`` then bounds the distance to it.
        grid: values of eps that must all hold together, for choosing eps afterwards.
        resume: ``error.unfinished`` of a run that stopped midway.
        """
        return certify_together([self], x, samples, alpha, [target], seed, grid, resume)[0]

    def certify_many(
        self, inputs: Iterable[Any], targets: Iterable[Any] | None = None, **options: Any
    ) -> list[Certificate]:
        """A certificate for each input, with the options of `certify`."""
        inputs = list(inputs)
        wanted = [None] * len(inputs) if targets is None else list(targets)
        if len(wanted) != len(inputs):
            fix = "Give one target per input, None where there is none."
            raise ArgumentError(expected(f"{len(inputs)} targets", len(wanted), fix))
        inner = self._quiet()
        certificates = []
        with progress_bar(self.progress, "certifying inputs", len(inputs)) as advance:
            for x, target in zip(inputs, wanted, strict=True):
                certificates.append(inner.certify(x, target=target, **options))
                advance(1)
        return certificates

    def _quiet(self) -> Smoother:
        """The same smoother, sharing its tuning, without a bar of its own."""
        twin = object.__new__(Smoother)
        twin.__dict__.update(self.__dict__, progress=False)
        return twin

    @property
    def _party(self) -> Party:
        return Party(self.metric, self.center)

    def _spread(self, answer: Answer) -> float | None:
        if answer.spread is None:
            return None
        return min(float(self.metric.value(answer.spread)), self.metric.diameter)

    def _source(self, x: Any, seed: int | None) -> tuple[Source, Tuning]:
        """The input checked, on the model's device, with its address and batching."""
        self.model.begin()
        x = self.model.place(self.noise.check_input(x, self.input_range))
        warn_about_units(x, self.input_range)
        root = root_seed(seed if seed is not None else self.seed)
        address = Address(root, fingerprint(x))
        key = (getattr(x, "shape", None), getattr(x, "dtype", None))
        if key not in self._tunings:
            options = (self.model, self.noise, x, address, self._party, self.batch_size)
            self._tunings[key] = prepare(*options)
        tuning = self._tunings[key]
        model, noise = self.model, self.noise
        return Source(model, noise, x, address, tuning.batching, self.on_invalid), tuning


def certify_together(
    smoothers: Sequence[Smoother],
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
    source, tuning = first._source(x, resume.seed if resume else seed)
    largest_move = _largest_move(first, source.x, points)
    parties = [smoother._party for smoother in smoothers]
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
    first: Smoother,
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
    smoother: Smoother,
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
        spread=smoother._spread(answer),
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


def _check_kinds(noise: object, metric: object, center: object) -> None:
    wanted = (
        ("noise", noise, Noise, "e.g. cs.Gaussian(sigma=0.25)"),
        ("metric", metric, Metric, "e.g. cs.metrics.L2(), or cs.metrics.Custom(distance)"),
        ("center", center, (Center, type(None)), "e.g. cs.Medoid(), or leave it out"),
    )
    for name, value, kind, example in wanted:
        if isinstance(value, type) or not isinstance(value, kind):
            got = value.__name__ + " (the class)" if isinstance(value, type) else repr(value)
            raise ArgumentError(expected(f"a {name} object", got, f"Pass {example}."))


def _checked_range(input_range: Any) -> tuple[float, float] | None:
    if input_range is None:
        return None
    try:
        low, high = (float(end) for end in input_range)
        if -math.inf < low < high < math.inf:
            return low, high
    except (TypeError, ValueError):
        pass
    fix = "input_range=(0, 1) declares inputs between 0 and 1."
    raise ArgumentError(expected("a pair (low, high) with low < high", repr(input_range), fix))


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
    smoothers: Sequence[Smoother],
    samples: int,
    level: Confidence,
    grid: tuple[float, ...] | None,
) -> None:
    """Before anything is sampled: every center has a theorem, and the grid is within reach."""
    for smoother in smoothers:
        if grid:
            check_budget(smoother, grid[-1], samples, level.over_grid(len(grid)))
        else:
            theorem_of(smoother, samples, level)


def _largest_move(smoother: Smoother, x: Any, grid: tuple[float, ...] | None) -> float | None:
    """The largest attack that the declared range allows; a grid must not go beyond it."""
    if smoother.input_range is None:
        return None
    most = smoother.noise.largest_move(x, smoother.input_range)
    if grid and grid[-1] > most:
        fix = "Give eps in the units of the input: the declared range allows no larger move."
        raise ArgumentError(expected(f"a grid up to eps = {most:.4g}", f"{grid[-1]:g}", fix))
    return most if most < math.inf else None


def _check_shared(smoothers: Sequence[Smoother]) -> Smoother:
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
    return bool((party.measure(one, other) == 0).all())
