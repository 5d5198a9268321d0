"""Ours beside the published procedure: medians and ratios over the inputs that both certified."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from centersmooth.report.aggregates import median
from studies.columns import THOROUGH
from studies.records import Row

Pairs = Sequence[tuple[float, float]]
Keep = Callable[[Row, float], bool]


@dataclass(frozen=True)
class Point:
    """One (h, eps) of one part under one metric. None where there is no record."""

    part: str
    h: float
    eps: float
    ours: float | None
    """Median over all inputs."""
    inputs: int
    """With a bound of ours."""
    failed: int
    ours_there: float | None
    """Median of ours over the inputs that the ratio is the median of."""
    published: float | None
    """Median over the inputs it was run on; where it abstains the largest distance counts."""
    published_inputs: int
    abstained: int
    compared: frozenset[tuple[str, float, int]]
    """Runs of the published procedure (part, sigma, input) that the ratio is the median of."""
    ratio: float | None
    """Median over the inputs that both were run on of ours / published."""
    thorough_ratio: float | None
    """The same with about ten times the passes."""
    error: float | None
    """Median certified distance to the truth."""
    smoothing: float | None
    """Median distance from the base model's answer to ours, over inputs that both answered."""
    published_smoothing: float | None
    smoothing_ratio: float | None
    """Median over them of our smoothing error / the published one."""
    ours_evaluations: int
    thorough_evaluations: int
    published_evaluations: int
    diameter: float
    center: str = ""
    """How ours makes its answer; chosen for this sigma."""
    thorough_center: str = ""

    @property
    def published_estimate(self) -> float | None:
        """What the published procedure would give as a median of all inputs: ours / ratio.

        It was run on few of them, and on other ones at every sigma. The largest distance where
        there is nothing to take a ratio of.
        """
        if self.ours is None or not self.published_inputs:
            return None
        return self.diameter if not self.ratio else min(self.ours / self.ratio, self.diameter)


def middle(values: Iterable[float | None]) -> float | None:
    """The upper median of what is there."""
    found = median(np.asarray([value for value in values if value is not None], dtype=float))
    return None if found is None else found.value


def points(
    rows: Sequence[Row],
    metric: str,
    pairs: Pairs,
    keep: Keep = lambda row, eps: True,
) -> list[Point]:
    """A point per part and (h, eps); `keep` says which published records count for ratios."""
    parts = list(dict.fromkeys(row.part for row in rows))
    mine = [row for row in rows if row.metric == metric and not row.clipped]
    return [
        found
        for part in parts
        for h, eps in pairs
        if (found := _point([r for r in mine if r.part == part], part, h, eps, keep)) is not None
    ]


def _point(rows: Sequence[Row], part: str, h: float, eps: float, keep: Keep) -> Point | None:
    at = [row for row in rows if math.isclose(row.sigma, eps / h, rel_tol=1e-4)]
    ours = {row.index: row for row in at if row.procedure == "sharp"}
    thorough = {row.index: row for row in at if row.procedure == THOROUGH}
    theirs = {row.index: row for row in at if row.procedure == "published"}
    theirs = {i: row for i, row in theirs.items() if row.at(eps) is not None}
    if not ours:
        return None
    # An abstention in place of a bound would flatter us: it is counted, but gives no ratio.
    answered = {i: row for i, row in theirs.items() if row.status != "abstained"}
    counted = {i: row for i, row in answered.items() if keep(row, eps)}
    ratios = _known({i: ratio(ours.get(i), row, eps) for i, row in counted.items()})
    both = [(ours[i], row) for i, row in answered.items() if i in ours]
    return Point(
        part=part,
        h=h,
        eps=eps,
        ours=middle(row.at(eps) for row in ours.values()),
        inputs=sum(row.at(eps) is not None for row in ours.values()),
        failed=sum(row.status == "failed" for row in ours.values()),
        ours_there=middle(ours[i].at(eps) for i in ratios),
        published=middle(row.at(eps) for row in theirs.values()),
        published_inputs=len(theirs),
        abstained=sum(row.status == "abstained" for row in theirs.values()),
        compared=frozenset((part, round(eps / h, 6), i) for i in ratios),
        ratio=middle(ratios.values()),
        thorough_ratio=middle(ratio(thorough.get(i), row, eps) for i, row in counted.items()),
        error=middle(row.error_at(eps) for row in ours.values()),
        smoothing=middle(mine.smoothing_error for mine, _ in both),
        published_smoothing=middle(row.smoothing_error for _, row in both),
        smoothing_ratio=middle(_smoothing_ratio(mine, row) for mine, row in both),
        ours_evaluations=max(row.evaluations for row in ours.values()),
        thorough_evaluations=max((row.evaluations for row in thorough.values()), default=0),
        published_evaluations=max((row.evaluations for row in theirs.values()), default=0),
        diameter=next(iter(ours.values())).diameter,
        center=_center(ours.values()),
        thorough_center=_center(thorough.values()),
    )


def _known(values: dict[int, float | None]) -> dict[int, float]:
    return {i: value for i, value in values.items() if value is not None}


def _smoothing_ratio(ours: Row, published: Row) -> float | None:
    """Infinite where only theirs is the base model's own answer; 1 where both are."""
    mine, other = ours.smoothing_error, published.smoothing_error
    if mine is None or other is None:
        return None
    return mine / other if other else math.inf if mine else 1.0


def _center(rows: Iterable[Row]) -> str:
    return next((row.center for row in rows), "")


def ratio(ours: Row | None, published: Row, eps: float) -> float | None:
    """Our bound over theirs; None where one is missing or theirs is 0."""
    mine = None if ours is None else ours.at(eps)
    other = published.at(eps)
    return None if mine is None or not other else mine / other


def overall(found: Iterable[Point]) -> float | None:
    """The median over the grid of the ratios."""
    return middle(point.ratio for point in found)


def overall_thorough(found: Iterable[Point]) -> float | None:
    """The same with ten times the passes."""
    return middle(point.thorough_ratio for point in found)
