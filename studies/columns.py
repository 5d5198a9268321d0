"""Settings of a study: ours and the published procedure, on the same model and inputs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import centersmooth as cs
from centersmooth.metrics import Metric
from centersmooth.study import Setting
from studies.scales import Budget

CURVE = (0.1, 0.25, 0.5, 1.0, 1.5, 2.0)
"""Ratios eps / sigma at which every certificate of ours is also read: it costs nothing."""


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


def columns(
    pairs: Sequence[tuple[float, float]],
    metrics: Mapping[str, Metric],
    at: Callable[[float], Smoothed],
    budget: Budget,
    curve: Sequence[float] = CURVE,
    **options: Any,
) -> Iterator[Setting]:
    """Three kinds of setting for every sigma and metric: ours, ours thorough, published."""
    for sigma, points in sigmas(pairs).items():
        smoothed = at(sigma)
        eps = sorted({*points, *(round(h * sigma, 6) for h in curve if h * sigma <= max(points))})
        for name, metric in metrics.items():
            ours = Setting(
                name=f"{name}, sigma {sigma:g}, {smoothed.version}",
                noise=cs.Gaussian(sigma),
                metric=metric,
                eps=eps,
                samples=budget.samples,
                answer_samples=budget.answer_samples,
                model=smoothed.model,
                version=smoothed.version,
                **options,
            )
            yield ours
            if budget.thorough_inputs:
                yield replace(
                    ours,
                    name=f"{ours.name}, thorough",
                    samples=10 * budget.samples,
                    answer_samples=10 * budget.answer_samples + 9,
                    only=range(min(budget.thorough_inputs, budget.inputs)),
                )
            if budget.published_inputs:
                yield replace(
                    ours,
                    name=f"{ours.name}, published",
                    eps=points,
                    published=budget.published,
                    only=range(min(budget.published_inputs, budget.inputs)),
                )
