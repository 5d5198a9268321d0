"""Settings of a study: ours and the published procedure, on the same model and inputs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import centersmooth as cs
from centersmooth.centers import Center
from centersmooth.metrics import Metric
from centersmooth.study import Setting
from studies.scales import Budget

THOROUGH = "thorough"
"""Ours with ten times the forward passes."""

CURVE = (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0)
"""Ratios eps / sigma at which every certificate of ours is also read: it costs nothing."""
SMALL = (0.0, 0.05, 0.1, 0.25, 0.5)
"""The same for Theorem D, which is for small attacks."""
Choice = Callable[[Metric, cs.Gaussian, float, int], Center]
"""The center for a metric, a noise, the largest eps and a number of answer samples."""


@dataclass(frozen=True)
class Smoothed:
    """A model to be certified at one sigma."""

    model: Callable[[Any], Any]
    version: str
    """Says how it was trained."""


def sigmas(pairs: Sequence[tuple[float, float]]) -> dict[float, tuple[float, ...]]:
    """For each sigma = eps / h its eps; equal ones share their draws."""
    found: dict[float, set[float]] = defaultdict(set)
    for h, eps in pairs:
        found[round(eps / h, 6)].add(eps)
    return {sigma: tuple(sorted(found[sigma])) for sigma in sorted(found)}


def many_candidates(metric: Metric, noise: cs.Gaussian, eps: float, samples: int) -> Center:
    """A medoid of more candidates than usual, in place of some certification samples: t shrinks."""
    return cs.Medoid(candidates=300)


def usual_sigma(pairs: Sequence[tuple[float, float]]) -> float:
    """The sigma nearest to 0.25: the one at which single questions are asked."""
    return min(sigmas(pairs), key=lambda own: abs(own - 0.25))


def columns(
    pairs: Sequence[tuple[float, float]],
    metrics: Mapping[str, Metric],
    at: Callable[[float], Smoothed],
    budget: Budget,
    center: Choice = cs.best_center,
    curve: Sequence[float] = CURVE,
    small: Sequence[float] = (),
) -> Iterator[Setting]:
    """Three kinds of setting for every sigma and metric: ours, ours thorough, published.

    center: chosen for the largest eps of each sigma; f-hat itself must not depend on eps.
    small: ratios eps / sigma, at the usual sigma, for Theorem D on the same draws.
    """
    for place, (sigma, points) in enumerate(sigmas(pairs).items()):
        smoothed, noise = at(sigma), cs.Gaussian(sigma)
        eps = sorted({*points, *(round(h * sigma, 6) for h in curve if h * sigma <= max(points))})
        for name, metric in metrics.items():
            ours = Setting(
                name=f"{name}, sigma {sigma:g}, {smoothed.version}",
                noise=noise,
                metric=metric,
                eps=eps,
                center=center(metric, noise, max(points), budget.answer_samples),
                samples=budget.samples,
                answer_samples=budget.answer_samples,
                model=smoothed.model,
                version=smoothed.version,
            )
            own = [ours]
            if small and metric.hilbert is not None and sigma == usual_sigma(pairs):
                own.append(_clipped(ours, [round(h * sigma, 6) for h in small]))
            yield from own
            if budget.thorough_inputs:
                designed = center(metric, noise, max(points), _thorough_answers(budget))
                yield _thorough(replace(own[0], center=designed), budget)
                yield from (_thorough(other, budget) for other in own[1:])
            if budget.published_inputs:
                yield replace(
                    ours,
                    name=f"{ours.name}, published",
                    eps=points,
                    center=None,
                    published=budget.published,
                    only=_published_on(budget, place),
                )


def _clipped(ours: Setting, eps: Sequence[float]) -> Setting:
    return replace(ours, name=f"{ours.name}, clipped mean", center=cs.ClippedMean(), eps=eps)


def _published_on(budget: Budget, place: int) -> list[int]:
    """The few inputs that its cost allows: other ones for every sigma, thorough ones if it can."""
    count = min(budget.published_inputs, budget.inputs)
    among = max(budget.thorough_inputs or budget.inputs, count)
    return sorted({(place * count + number) % among for number in range(count)})


def _thorough_answers(budget: Budget) -> int:
    return 10 * budget.answer_samples + 9


def _thorough(ours: Setting, budget: Budget) -> Setting:
    return replace(
        ours,
        name=f"{ours.name}, {THOROUGH}",
        samples=10 * budget.samples,
        answer_samples=_thorough_answers(budget),
        only=range(min(budget.thorough_inputs, budget.inputs)),
    )
