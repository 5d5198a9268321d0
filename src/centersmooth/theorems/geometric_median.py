"""Theorem C: the geometric median, for Euclidean outputs. Proof: theorem-c.md."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from centersmooth.centers import GeometricMedian
from centersmooth.confidence import Confidence
from centersmooth.metrics import Metric
from centersmooth.monotone import largest
from centersmooth.noise import Noise
from centersmooth.sketch import Ranked
from centersmooth.theorems.base import Sizes, Theorem, ball_rank

# The shares p_i of the samples that must lie within R_i. Fixed beforehand, so any would be
# valid; these come within a percent of the best for outputs of every spread we tried.
_SHARES = (
    *(0.1, 0.18, 0.25, 0.31, 0.37, 0.425, 0.475, 0.52, 0.56, 0.6),
    *(0.635, 0.665, 0.69, 0.715, 0.74, 0.765, 0.79, 0.82, 0.855, 0.9),
)
_ANCHOR = 0.56  # once the samples cannot show this level, all of alpha goes to the last one
_LAST = 0.55
_TYPICAL = 0.715  # the level whose price tells most about the bound


@dataclass(frozen=True)
class Level:
    """But for its share of alpha, k of the n samples at the query lie within R.

    R is the `rank`-th smallest of the certification's distances from w.
    """

    k: int
    rank: int


class MedianTheorem(Theorem):
    """The root D of ``sum (p_i - p_{i-1}) phi(R_i / D) = 1 - p_K + eta``: Theorem C.

    The levels and their shares of alpha are functions of eps and the sizes alone, never of the
    samples. Each R_i grows with eps, and D with each R_i.
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

    def with_samples(self, m: int) -> MedianTheorem:
        sizes = Sizes(self.sizes.n, m)
        return MedianTheorem(self.center, self.noise, self.metric, sizes, self.level)

    def levels(self, eps: float) -> tuple[Level, ...]:
        """What these samples can show at eps: all levels, or the last one alone."""
        return _levels(self.noise, eps, self.sizes, self.level)

    def decides(self, eps: float) -> bool:
        return bool(self.levels(eps))

    def price(self, eps: float) -> Level | None:
        """The level that tells what the samples cost: the highest shown up to a typical one."""
        most = _needed(self.sizes.n, _TYPICAL)
        return max((x for x in self.levels(eps) if x.k <= most), key=lambda x: x.k, default=None)

    def bound(self, ranked: Ranked, row: int, eps: float) -> float:
        """Where the last level is alone, at least the last bound of all levels: monotone."""
        alone = len(self.levels(eps)) <= 1
        ends = _until(self.noise, self.sizes, self.level) if alone else ()
        delta = max(self._delta(ranked, row, min(e, eps)) for e in (*ends, eps))
        if math.isinf(delta):
            return self.metric.diameter
        hilbert = self.metric.hilbert
        assert hilbert is not None, "checked when the smoother was built"
        return min(hilbert.bound(self._slack(delta)), self.metric.diameter)

    def _delta(self, ranked: Ranked, row: int, eps: float) -> float:
        levels = self.levels(eps)
        shares = [level.k / self.sizes.n for level in levels]
        radii = [ranked.smallest(row, level.rank) for level in levels]
        if self.metric.spherical:
            return self.center.widest(shares, radii)
        return self.center.furthest(shares, radii)

    def radius(self, ranked: Ranked, row: int, tau: float) -> float:
        """The bound of the split form, inverted: radius.md."""
        level = self.level.as_split()
        theorem = MedianTheorem(self.center, self.noise, self.metric, self.sizes, level)
        return largest(lambda eps: theorem.bound(ranked, row, eps) <= tau)


def _needed(n: int, p: float) -> int:
    return math.ceil(p * n - 1e-9)


def _shared(n: int, level: Confidence) -> tuple[tuple[int, ...], Confidence]:
    """The k of all levels, and what each may spend: equal shares, by the union bound."""
    ks = tuple(sorted({_needed(n, p) for p in _SHARES}))
    return ks, level.part(1.0 / len(ks))


@lru_cache(maxsize=1024)
def _levels(noise: Noise, eps: float, sizes: Sizes, level: Confidence) -> tuple[Level, ...]:
    ks, part = _shared(sizes.n, level)
    if not _anchored(noise, eps, sizes, level):
        ks, part = (_needed(sizes.n, _LAST),), level
    ranks = [(k, ball_rank(noise, eps, sizes, k, part)) for k in ks]
    return tuple(Level(k, rank) for k, rank in ranks if rank is not None)


def _anchored(noise: Noise, eps: float, sizes: Sizes, level: Confidence) -> bool:
    """Whether several levels are used."""
    _, part = _shared(sizes.n, level)
    return ball_rank(noise, eps, sizes, _needed(sizes.n, _ANCHOR), part) is not None


@lru_cache(maxsize=256)
def _until(noise: Noise, sizes: Sizes, level: Confidence) -> tuple[float, ...]:
    """The largest eps at which several levels are used, if there is one."""

    def anchored(eps: float) -> bool:
        return _anchored(noise, eps, sizes, level)

    return (largest(anchored),) if anchored(0.0) else ()
