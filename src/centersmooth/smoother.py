"""The object a user holds: a model, a noise and a metric make a smoothed model."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from centersmooth.answering import find_answers
from centersmooth.centers import Answer, Center, default_center
from centersmooth.certificates import Certificate
from centersmooth.certifying import certify_together, check_count
from centersmooth.confidence import Joint, Split
from centersmooth.design import best_center
from centersmooth.errors import ArgumentError, expected
from centersmooth.goals import GoalLike, ToleranceLike
from centersmooth.metrics import Metric
from centersmooth.models import Model
from centersmooth.noise import Noise
from centersmooth.procedure import (
    Party,
    Source,
    check_on_invalid,
    prepare,
    warn_about_units,
)
from centersmooth.progress import ProgressOption, Unfinished, progress_bar
from centersmooth.sampling import Address, Batching, fingerprint, root_seed
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
    design_eps: the attack size that matters: in place of `center`, the one that `cs.best_center`
        chooses for it (pooled candidates, where outputs can be averaged).
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
        design_eps: float | None = None,
    ) -> None:
        _check_kinds(noise, metric, center)
        check_count(answer_samples, "answer_samples", 10)
        self.center = _center(center, design_eps, metric, noise, answer_samples)
        self.center.check(metric)
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
        source, _ = self.source(x, seed)
        total = self.center.draws + self.answer_samples
        with progress_bar(self.progress, "smoothing", total) as advance:
            answer = find_answers(source, [self.party], self.answer_samples, advance)[0]
        return Prediction(answer.value, self.spread_of(answer), source.address.root, total)

    def certify(
        self,
        x: Any,
        samples: int = 4_000,
        alpha: float | Joint | Split = 0.01,
        target: Any = None,
        seed: int | None = None,
        grid: Sequence[float] | None = None,
        resume: Unfinished | None = None,
        goal: GoalLike = None,
        tolerance: ToleranceLike = None,
    ) -> Certificate:
        """The answer for x and a bound on how far any attack can move it.

        samples: fresh outputs whose distances are counted (40,000 is thorough).
        alpha: the probability that the guarantee may fail; ``cs.Split(...)`` for many queries.
        target: e.g. the ground truth: ``cert.error(eps)`` then bounds the distance to it.
        grid: values of eps that must all hold together, for choosing eps afterwards.
        resume: ``error.unfinished`` of a run that stopped midway.
        goal: ``(eps, bound)`` stops as soon as it is settled whether ``cert.bound(eps) <= bound``
            (or, by ``cs.Goal``, the error); ``cert.outcome`` says how it ended.
        tolerance: stops when the bounds on the grid (or at the goal's eps) can shrink by no more
            than this share with all the samples. With either, `samples` is the most to spend.
        """
        options = (samples, alpha, [target], seed, grid, resume, [goal], [tolerance])
        return certify_together([self], x, *options)[0]

    def certify_many(
        self, inputs: Iterable[Any], targets: Iterable[Any] | None = None, **options: Any
    ) -> list[Certificate]:
        """A certificate for each input, with the options of `certify`."""
        inputs = list(inputs)
        wanted = [None] * len(inputs) if targets is None else list(targets)
        if len(wanted) != len(inputs):
            fix = "Give one target per input, None where there is none."
            raise ArgumentError(expected(f"{len(inputs)} targets", len(wanted), fix))
        inner = self.quiet()
        certificates = []
        with progress_bar(self.progress, "certifying inputs", len(inputs)) as advance:
            for x, target in zip(inputs, wanted, strict=True):
                certificates.append(inner.certify(x, target=target, **options))
                advance(1)
        return certificates

    def quiet(self) -> Smoother:
        """The same smoother, sharing its tuning, without a bar of its own."""
        twin = object.__new__(Smoother)
        twin.__dict__.update(self.__dict__, progress=False)
        return twin

    @property
    def party(self) -> Party:
        """The metric with its center."""
        return Party(self.metric, self.center)

    def spread_of(self, answer: Answer) -> float | None:
        """The radius around an answer that holds a majority of its samples."""
        if answer.spread is None:
            return None
        return min(float(self.metric.value(answer.spread)), self.metric.diameter)

    def source(self, x: Any, seed: int | None) -> tuple[Source, Tuning]:
        """The input checked, on the model's device, with its address and batching."""
        self.model.begin()
        x = self.model.place(self.noise.check_input(x, self.input_range))
        warn_about_units(x, self.input_range)
        root = root_seed(seed if seed is not None else self.seed)
        address = Address(root, fingerprint(x))
        key = (getattr(x, "shape", None), getattr(x, "dtype", None))
        if key not in self._tunings:
            options = (self.model, self.noise, x, address, self.party, self.batch_size)
            self._tunings[key] = prepare(*options)
        tuning = self._tunings[key]
        model, noise = self.model, self.noise
        return Source(model, noise, x, address, tuning.batching, self.on_invalid), tuning


def _center(
    center: Center | None, eps: float | None, metric: Metric, noise: Noise, answer_samples: int
) -> Center:
    """The center asked for, the one designed for eps, or the metric's usual one."""
    if eps is None:
        return center if center is not None else default_center(metric)
    if center is not None:
        fix = "design_eps chooses the center: leave one of them out."
        raise ArgumentError(expected("center or design_eps", "both", fix))
    if not (isinstance(eps, (int, float)) and 0 <= eps < math.inf):
        fix = "design_eps is the size of the attack that matters, in the units of the input."
        raise ArgumentError(expected("a finite design_eps >= 0", repr(eps), fix))
    return best_center(metric, noise, eps, answer_samples)


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
    for name, value in (("noise", noise), ("center", center)):
        if type(value).__hash__ is None:  # ranks are remembered under its value
            fix = "Make its class a frozen dataclass: @dataclass(frozen=True)."
            raise ArgumentError(expected(f"a {name} that cannot change", repr(value), fix))


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
