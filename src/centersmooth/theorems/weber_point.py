"""Theorem C for norms: the Weber point. Proof: theorem-c-normed.md."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.special import ndtr

from centersmooth import binomial
from centersmooth.binomial import FloatArray
from centersmooth.centers import WeberPoint
from centersmooth.confidence import Confidence, Split
from centersmooth.metrics import Metric
from centersmooth.monotone import largest, least
from centersmooth.noise import Noise
from centersmooth.sketch import Ranked
from centersmooth.theorems.base import Sizes, Theorem
from centersmooth.theorems.laws import Law, log_tail

_LEVELS = 64
_CERTIFICATE = 0.8
"""The share of a joint level that the certificate spends; queries take the rest."""
_FARTHEST, _DECAY = 0.9, 0.4
"""The share of a scale's level for its largest ranks, and how it falls from one to the next."""
_ROUNDED = 1e-12
"""Room for the rounding of logarithms."""


class WeberTheorem(Theorem):
    """The least D at which the samples are sure to pull towards w: Theorem C for norms.

    A sample at distance d from w pulls an answer that is D from w with ``phi(d / D)`` at least,
    ``phi(s) = max(1 - 2 s, -1)``. Balls around w bound the law of d at any x' within eps. If the
    mean pull of the samples exceeds the center's gap, the answer is closer to w than D.
    """

    def __init__(
        self, center: WeberPoint, noise: Noise, metric: Metric, sizes: Sizes, level: Confidence
    ) -> None:
        super().__init__(noise, metric, sizes, level)
        self.center = center
        split = level if isinstance(level, Split) else _split(level.alpha)
        scales, groups = center.scales, sizes.m // center.pool
        # Level by level: the rank of a radius, and the mass that its ball has at least.
        self.levels = {
            scale: levels(groups * (center.pool // scale), split.certificate / len(scales))
            for scale in scales
        }
        self._gap = center.gap(metric)
        # Chernoff's bound for n samples is the n-th power of that for one.
        n = sizes.n // center.pool
        self._decay = math.log(split.query) / n - _ROUNDED if n else -math.inf
        self._some = bool(n and groups)

    def with_samples(self, m: int) -> WeberTheorem:
        sizes = Sizes(self.sizes.n, m)
        return WeberTheorem(self.center, self.noise, self.metric, sizes, self.level)

    def decides(self, eps: float) -> bool:
        """Whether enough samples are sure to be at any finite distance."""
        if not self._some:
            return False
        law = self._law({scale: np.zeros(len(self.levels[scale][0])) for scale in self.levels}, eps)
        return self._sure(law, 1.0)

    def bound(self, ranked: Ranked, row: int, eps: float) -> float:
        distance = self.distance(self._radii(ranked, row), eps)
        if math.isinf(distance):
            return self.metric.diameter
        return min(float(self.metric.value(self._slack(distance))), self.metric.diameter)

    def distance(self, radii: dict[int, FloatArray], eps: float) -> float:
        """The least D for these radii of the levels of every scale; infinite if there is none."""
        if not self.decides(eps):
            return math.inf
        law = self._law(radii, eps)
        return least(lambda d: self._sure(law, d))

    def radius(self, ranked: Ranked, row: int, tau: float) -> float:
        """`bound`, inverted: no level depends on eps, so it holds for all eps at once."""
        options = (self.center, self.noise, self.metric, self.sizes)
        theorem = WeberTheorem(*options, self.level.as_split())
        return largest(lambda eps: theorem.bound(ranked, row, eps) <= tau)

    def _radii(self, ranked: Ranked, row: int) -> dict[int, FloatArray]:
        """The distances of all ranks; parts of one size have a row each, counted together."""
        points, radii, first = ranked.rows // self.center.views, {}, 0
        for scale, (ranks, _) in self.levels.items():
            parts = self.center.pool // scale
            rows = [row + points * (first + part) for part in range(parts)]
            radii[scale] = np.array([ranked.smallest_together(rows, rank) for rank in ranks])
            first += parts
        return radii

    def _law(self, radii: dict[int, FloatArray], eps: float) -> Law:
        """The farthest that samples can be from w at any x', one scale after another.

        The mean of two parts is no farther than the mean of their distances.
        """
        law = None
        for scale, (_, masses) in self.levels.items():
            left = np.asarray(self.noise.mass_left(masses, eps, fold=scale), dtype=float)
            found = np.isfinite(radii[scale])  # outputs that failed are at no distance
            shown = Law(radii[scale][found], np.maximum.accumulate(left)[found])
            law = shown if law is None else law.of_mean().and_also(shown)
        assert law is not None, "there is always the scale 1"
        return law

    def _sure(self, law: Law, distance: float) -> bool:
        """Whether the mean pull of all samples exceeds the gap, but for the level of a query."""
        pulls = np.append(pull(law.radii, distance), -1.0)
        return log_tail(law.weights, pulls - self._gap) <= self._decay


def pull(radii: FloatArray, distance: float) -> FloatArray:
    """phi(d / D); a sample at w itself pulls with 1 whatever D is."""
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(radii > 0, radii / distance, 0.0)
    return np.maximum(1.0 - 2.0 * share, -1.0)


def _split(alpha: float) -> Split:
    return Split(_CERTIFICATE * alpha, (1.0 - _CERTIFICATE) * alpha)


@lru_cache(maxsize=256)
def levels(m: int, alpha: float) -> tuple[tuple[int, ...], FloatArray]:
    """Ranks among m distances, and the masses that their balls show, together but for alpha.

    From the median to the largest, at even steps of the normal quantile: a function of m and
    alpha alone. Most of alpha goes to the largest, which decide how much is left at x'.
    """
    if m < 1:
        return (), np.zeros(0)
    shares = ndtr(np.linspace(0.0, math.sqrt(2.0 * math.log(m)), _LEVELS))
    ranks = sorted({max(1, math.ceil(m * share)) for share in shares} | {m})
    falling = _DECAY ** np.arange(len(ranks))[::-1]
    parts = alpha * (_FARTHEST * falling / falling.sum() + (1.0 - _FARTHEST) / len(ranks))
    shown = [binomial.shown_mass(m, j, part) for j, part in zip(ranks, parts, strict=True)]
    return tuple(ranks), np.array(shown)
