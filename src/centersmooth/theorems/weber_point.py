"""Theorem C for norms: the Weber point. Proof: theorem-c-normed.md."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import logsumexp, ndtr

from centersmooth import binomial
from centersmooth.binomial import FloatArray
from centersmooth.centers import WeberPoint
from centersmooth.confidence import Confidence, Split
from centersmooth.metrics import Metric
from centersmooth.monotone import largest, least
from centersmooth.noise import Noise
from centersmooth.sketch import Ranked
from centersmooth.theorems.base import Sizes, Theorem

_LEVELS = 64
_CERTIFICATE = 0.5
"""The share of a joint level that the certificate spends; queries take the rest."""
_ROUNDED = 1e-12
"""Room for the rounding of logarithms."""


@dataclass(frozen=True)
class Levels:
    """Balls around w up to the `ranks`-th smallest distances, and the mass each has at least."""

    ranks: tuple[int, ...]
    masses: FloatArray


class WeberTheorem(Theorem):
    """The least D at which the n samples pull towards w: Theorem C for norms.

    A sample at distance d from w pulls an answer that is D from w with ``phi(d / D)`` at least,
    ``phi(s) = max(1 - 2 s, -1)``. The levels bound the law of d at any x' within eps; if the
    mean pull of n samples exceeds the center's gap, the answer is closer to w than D.
    """

    def __init__(
        self, center: WeberPoint, noise: Noise, metric: Metric, sizes: Sizes, level: Confidence
    ) -> None:
        super().__init__(noise, metric, sizes, level)
        self.center = center
        split = level if isinstance(level, Split) else _split(level.alpha)
        self.n, self.m = sizes.n // center.pool, sizes.m // center.pool
        self.levels = _levels(self.m, split.certificate)
        self._gap = center.gap(metric)
        # log of the n-th root of the level of a query.
        self._least_decay = math.log(split.query) / self.n - _ROUNDED if self.n else -math.inf

    def with_samples(self, m: int) -> WeberTheorem:
        sizes = Sizes(self.sizes.n, m)
        return WeberTheorem(self.center, self.noise, self.metric, sizes, self.level)

    def decides(self, eps: float) -> bool:
        """Whether enough samples are sure to lie within the largest distance."""
        if not (self.n and self.m):
            return False
        weights = self._weights(eps)
        return self._sure(weights, np.append(np.ones(len(weights) - 1), -1.0))

    def bound(self, ranked: Ranked, row: int, eps: float) -> float:
        if not self.decides(eps):
            return self.metric.diameter
        radii = np.array([ranked.smallest(row, rank) for rank in self.levels.ranks])
        weights = self._weights(eps)
        distance = least(lambda d: self._sure(weights, np.append(pull(radii, d), -1.0)))
        return min(float(self.metric.value(self._slack(distance))), self.metric.diameter)

    def radius(self, ranked: Ranked, row: int, tau: float) -> float:
        """`bound`, inverted: the levels do not depend on eps, so it holds for all eps at once."""
        theorem = self
        if not isinstance(self.level, Split):
            options = (self.center, self.noise, self.metric, self.sizes)
            theorem = WeberTheorem(*options, self.level.as_split())
        return largest(lambda eps: theorem.bound(ranked, row, eps) <= tau)

    def _weights(self, eps: float) -> FloatArray:
        """The law of distances at the worst x': mass up to each level, and beyond the last."""
        left = self.noise.mass_left(self.levels.masses, eps, fold=self.center.pool)
        left = np.maximum.accumulate(np.asarray(left, dtype=float))
        return np.diff(left, prepend=0.0, append=1.0)

    def _sure(self, weights: FloatArray, pulls: FloatArray) -> bool:
        """Whether the mean pull of n samples exceeds the gap, but for the level of a query."""
        return log_tail(weights, pulls - self._gap) <= self._least_decay


def pull(radii: FloatArray, distance: float) -> FloatArray:
    """phi(d / D); a sample at w itself pulls with 1 whatever D is."""
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(radii > 0, radii / distance, 0.0)
    return np.maximum(1.0 - 2.0 * share, -1.0)


def log_tail(weights: FloatArray, values: FloatArray) -> float:
    """The least over s >= 0 of ``log E exp(-s X)``, from above: n times it is Chernoff's bound on
    the logarithm of P[sum of n values <= 0].

    Any s gives a bound, so how exactly the least is found cannot make it wrong.
    """
    used = weights > 0
    logs, values = np.log(weights[used]), values[used]
    if float(weights[used] @ values) <= 0:
        return 0.0
    if float(values.min()) > 0:
        return -math.inf
    s, best = 0.0, 0.0
    for _ in range(60):
        terms = logs - s * values
        best = min(best, top := float(logsumexp(terms)))
        tilted = np.exp(terms - top)
        mean = float(tilted @ values)
        spread = float(tilted @ (values - mean) ** 2)
        step = mean / spread if spread > 0 else 0.0
        s = max(0.0, s + min(step, 1.0 + s))
        if abs(step) <= 1e-6 * s:
            break
    return best


def _split(alpha: float) -> Split:
    return Split(_CERTIFICATE * alpha, (1.0 - _CERTIFICATE) * alpha)


@lru_cache(maxsize=256)
def _levels(m: int, alpha: float) -> Levels:
    """Ranks from the median to the largest distance, at even steps of the normal quantile.

    A function of m and alpha alone. They hold together, each at its share of alpha.
    """
    if m < 1:
        return Levels((), np.zeros(0))
    top = max(0.5, math.sqrt(2.0 * math.log(m)))
    shares = ndtr(np.linspace(0.0, top, _LEVELS))
    ranks = sorted({max(1, math.ceil(m * share)) for share in shares} | {m})
    part = alpha / len(ranks)
    return Levels(tuple(ranks), np.array([binomial.shown_mass(m, j, part) for j in ranks]))
