"""Theorem C: the geometric median, for Euclidean outputs. Proof: theorem-c.md."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from centersmooth import binomial
from centersmooth.centers import GeometricMedian
from centersmooth.confidence import Confidence
from centersmooth.metrics import Metric
from centersmooth.monotone import largest
from centersmooth.noise import Noise
from centersmooth.sketch import Ranked
from centersmooth.theorems.base import Sizes, Theorem, ball_rank

_LEVELS = (0.775, 0.75, 0.725, 0.7, 0.675, 0.65, 0.6, 0.55)


@dataclass(frozen=True)
class Level:
    """Use p = k / n as long as eps is at most `until`."""

    k: int
    until: float


class MedianTheorem(Theorem):
    """``R p / sqrt(p^2 - (1 - p + eta)^2)``: Theorem C.

    A larger p has a smaller factor but needs a larger ball. p steps down with eps so that R
    stays clear of the largest distance; it is a function of eps and the sizes alone.
    """

    def __init__(
        self,
        center: GeometricMedian,
        noise: Noise,
        metric: Metric,
        sizes: Sizes,
        level: Confidence,
    ) -> None:
        super().__init__(noise, metric, sizes, level)
        self.center = center
        self.levels = _levels(noise, sizes, level)

    def with_samples(self, m: int) -> MedianTheorem:
        sizes = Sizes(self.sizes.n, m)
        return MedianTheorem(self.center, self.noise, self.metric, sizes, self.level)

    def radius_rank(self, eps: float, k: int) -> int | None:
        """The rank of R among the distances from w when k of n samples must be within it."""
        return ball_rank(self.noise, eps, self.sizes, k, self.level)

    def decides(self, eps: float) -> bool:
        return self.radius_rank(eps, self._at(eps).k) is not None

    def bound(self, ranked: Ranked, row: int, eps: float) -> float:
        """The largest bound up to eps, so that it is monotone where p steps down."""
        ends = [(level.k, level.until) for level in self.levels if level.until < eps]
        delta = max(self._delta(ranked, row, e, k) for k, e in [*ends, (self._at(eps).k, eps)])
        return self._from_delta(delta)

    def k_at(self, eps: float) -> int:
        """How many of the n samples must be within R of w at this eps."""
        return self._at(eps).k

    def _at(self, eps: float) -> Level:
        return next(level for level in self.levels if eps <= level.until)

    def _delta(self, ranked: Ranked, row: int, eps: float, k: int) -> float:
        rank = self.radius_rank(eps, k)
        if rank is None:
            return math.inf
        return self.center.factor(k / self.sizes.n) * ranked.smallest(row, rank)

    def _from_delta(self, delta: float) -> float:
        if math.isinf(delta):
            return self.metric.diameter
        hilbert = self.metric.hilbert
        assert hilbert is not None, "checked when the smoother was built"
        return min(hilbert.bound(self._slack(delta)), self.metric.diameter)

    def radius(self, ranked: Ranked, row: int, tau: float) -> float:
        """The best of all p, each at its share of the certificate's level."""
        ks = [_needed(self.sizes.n, p) for p in _LEVELS]
        split = self.level.as_split().over_grid(len(ks))
        delta = largest(lambda d: self._from_delta(d) <= tau)

        def holds(eps: float, k: int) -> bool:
            rank = ball_rank(self.noise, eps, self.sizes, k, split)
            if rank is None:
                return False
            return self.center.factor(k / self.sizes.n) * ranked.smallest(row, rank) <= delta

        return max(largest(lambda eps, k=k: holds(eps, k)) for k in ks)  # type: ignore[misc]


def _needed(n: int, p: float) -> int:
    return math.ceil(p * n - 1e-9)


@lru_cache(maxsize=256)
def _levels(noise: Noise, sizes: Sizes, level: Confidence) -> tuple[Level, ...]:
    """Where p steps down: when only two or three distances would be left above R."""
    split = level.as_split()
    spare = -1.2 * math.log(split.certificate)
    kept: list[Level] = []
    for p in _LEVELS:
        k = _needed(sizes.n, p)
        if sizes.m > 2 * spare and k < sizes.n:
            mass = binomial.needed_mass(sizes.n, k, split.query)
            until = noise.reach(mass, 1.0 - spare / sizes.m)
            if until > (kept[-1].until if kept else 0.0) and ball_rank(
                noise, until, sizes, k, level
            ):
                kept.append(Level(k, until))
    last = _needed(sizes.n, _LEVELS[-1])
    return (*kept[:-1], Level(kept[-1].k, math.inf)) if kept else (Level(last, math.inf),)
