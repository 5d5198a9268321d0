"""Theorem D: the clipped mean, a bound that vanishes with eps. Proof: theorem-d.md."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from centersmooth import binomial
from centersmooth.centers import ClippedMean, GeometricMedian
from centersmooth.centers.clipped_mean import REACH, TOLERANCE, pair_rank
from centersmooth.confidence import Confidence, Joint
from centersmooth.errors import ArgumentError, expected
from centersmooth.metrics import Metric
from centersmooth.moments import Summary
from centersmooth.monotone import largest
from centersmooth.noise import Noise
from centersmooth.sketch import Ranked
from centersmooth.theorems.base import Sizes, Theorem

_SHARES = (0.775, 0.7, 0.6)  # of the samples within R of the origin, for the geometric median
_JOINT = (0.25, 0.1, 0.3, 0.25)  # of alpha, for top, mean, deviation and outside
_SPLIT = (0.45, 0.2, 0.65, 0.3)
_NODES = np.concatenate((np.arange(1, 96) / 96, 1.0 - 0.5 ** np.arange(7.0, 31.0)))
_OUTPUT = 2.0**-22  # more than rounding an answer to single precision moves it, per length


@dataclass(frozen=True)
class Budget:
    """What each step of the proof may fail with."""

    band: float
    """Certificate: all masses of balls around the origin at once."""
    top: float
    """Certificate: the top eigenvalue."""
    mean: float
    """Certificate: the mean of Y."""
    pairs: float
    """Certificate: each of the two shares of pairs."""
    outside: Confidence
    """Certificate and query: samples beyond the region."""
    median: float
    """Query: each share of samples around the geometric median."""
    scale: float
    """Query: each side of the scale."""
    deviation: float
    """Query: the mean of the samples' Y."""


def budget(level: Confidence) -> Budget:
    """In the joint form all failures add up to alpha; in the split form those of each side do."""
    joint = isinstance(level, Joint)
    cert = level.alpha if isinstance(level, Joint) else level.certificate
    query = level.alpha if isinstance(level, Joint) else level.query
    top, mean, deviation, outside = _JOINT if joint else _SPLIT
    return Budget(
        band=0.03 * cert,
        top=top * cert,
        mean=mean * cert,
        pairs=0.01 * cert,
        outside=level.part(outside),
        median=0.03 * query / len(_SHARES),
        scale=0.01 * query,
        deviation=deviation * query,
    )


class ClippedMeanTheorem(Theorem):
    """``|E Y| + sqrt(lambda chi^2) + deviation + (K / n) B``: Theorem D.

    Every part is nondecreasing in eps. On the certificate's side of the split form nothing
    depends on eps, so that there all eps hold together.
    """

    def __init__(
        self, center: ClippedMean, noise: Noise, metric: Metric, sizes: Sizes, level: Confidence
    ) -> None:
        super().__init__(noise, metric, sizes, level)
        if noise.chi_squared(0.0) is None:
            fix = "Use cs.Gaussian and its kin, or center=cs.GeometricMedian()."
            got = f"{type(noise).__name__}, which has none"
            raise ArgumentError(expected("a noise with a chi-squared divergence", got, fix))
        self.center, self.budget = center, budget(level)

    def with_samples(self, m: int) -> ClippedMeanTheorem:
        return self._with(Sizes(self.sizes.n, m), self.level)

    def _with(self, sizes: Sizes, level: Confidence) -> ClippedMeanTheorem:
        return ClippedMeanTheorem(self.center, self.noise, self.metric, sizes, level)

    def decides(self, eps: float) -> bool:
        """Whether the geometric median is held, and with it the scale."""
        held = any(self.median_rank(eps, share) for share in _SHARES)
        return held and bool(self.center.radius or self.outside(eps, 0) <= self._spare())

    def bound(self, ranked: Ranked, row: int, eps: float) -> float:
        moments = ranked.moments
        assert moments is not None, "this center's certificates have them"
        if not self.decides(eps):
            return self.metric.diameter
        divisor = moments.scales[row]
        length = self.length(ranked, row, eps)
        length += _OUTPUT * (moments.norm + length)
        hilbert = self.metric.hilbert
        assert hilbert is not None, "checked when the smoother was built"
        if not length < math.inf or not divisor > 0:
            return self.metric.diameter
        return min(hilbert.bound(self._slack(length / divisor)), self.metric.diameter)

    def length(self, ranked: Ranked, row: int, eps: float) -> float:
        """From a reference point to the answer at any x', in the space of the rows."""
        moments = ranked.moments
        assert moments is not None, "this center's certificates have them"
        median = self.median_bound(ranked, eps)
        reach = self.farthest(ranked, eps, median)
        apart = reach + (moments.away[row] + moments.away[0] if row else 0.0)
        if not self.unclipped(moments, eps, median):
            return apart
        position = self._position(ranked, moments.region.radius)
        if position is None:
            return apart
        few = self.outside(eps, position) / self.sizes.n
        mean = self.mean_bound(moments, row, eps) + self.deviation(ranked, moments, eps)
        return min(apart, mean + few * reach)

    # ---- the samples of a query, one by one

    def median_rank(self, eps: float, share: float) -> int | None:
        """The rank of a ball that keeps this share of the samples at any x'."""
        n, m = self.sizes.n, self.sizes.m
        needed = binomial.needed_mass(n, _part(n, share), self.budget.median)
        mass = self.noise.mass_needed(needed, eps)
        rank = m + 1 if mass is None else math.ceil(m * (mass + self._band()) + 1e-6)
        return rank if rank <= m else None

    def median_bound(self, ranked: Ranked, eps: float) -> float:
        """From the origin to the geometric median at any x' (Theorem C)."""
        n, found = self.sizes.n, math.inf
        for share in _SHARES:
            rank = self.median_rank(eps, share)
            if rank is not None:
                factor = GeometricMedian(TOLERANCE).factor(_part(n, share) / n)
                found = min(found, factor * self._slack(ranked.smallest(0, rank)))
        return found

    def unclipped(self, moments: Summary, eps: float, median: float) -> bool:
        """Whether no sample within the region is pulled in, at any x'."""
        region, n = moments.region, self.sizes.n
        limit = self.center.radius or REACH * region.far
        if not region.radius + median <= limit * (1.0 - 1e-9):
            return False
        if self.center.radius is not None:
            return True
        far = self._pairs_left(moments.far_pairs, moments.pairs, eps)
        return far >= binomial.needed_mass(n // 2, n // 2 - pair_rank(n) + 1, self.budget.scale)

    def farthest(self, ranked: Ranked, eps: float, median: float) -> float:
        """From the origin to any clipped sample at any x': B."""
        return median + (self.center.radius or REACH * self.scale_bound(ranked, eps))

    def scale_bound(self, ranked: Ranked, eps: float) -> float:
        """The scale at any x' at most: from pairs, or since most samples are in one ball."""
        moments = ranked.moments
        assert moments is not None, "this center's certificates have them"
        found = math.inf
        near = self._pairs_left(moments.near_pairs, moments.pairs, eps)
        kept = pair_rank(self.sizes.n)
        if near >= binomial.needed_mass(self.sizes.n // 2, kept, self.budget.scale):
            found = moments.region.near
        for position in self._positions():
            if self.outside(eps, position) <= self._spare():
                within = ranked.smallest(0, self.sizes.m - position)
                found = min(found, 2.0 * self._slack(within))
        return found

    def outside(self, eps: float, position: int) -> int:
        """So many of the n samples at most lie beyond the distance number m - position: K."""
        level = self.budget.outside.part(0.5 ** (1 + self._positions().index(position)))
        return _outside(self.noise, eps, self.sizes, position, level)

    def _position(self, ranked: Ranked, radius: float) -> int | None:
        """The first position whose distance is within the region."""
        m = self.sizes.m
        return next(
            (i for i in self._positions() if self._slack(ranked.smallest(0, m - i)) <= radius), None
        )

    def _positions(self) -> list[int]:
        """0, 1, 3, 7, ...: how many distances are left out, up to an eighth of all."""
        most = max(1, self.sizes.m // 8).bit_length()
        return [2**power - 1 for power in range(most)]

    def _spare(self) -> int:
        """So many samples may be anywhere and the scale still comes from the others."""
        return self.sizes.n // 2 - pair_rank(self.sizes.n)

    def _pairs_left(self, count: int, pairs: int, eps: float) -> float:
        """The mass at any x' of what was seen in so many of the pairs at x."""
        mass = binomial.shown_mass(pairs, count, self.budget.pairs)
        return float(self.noise.mass_left(mass, eps, 2))

    # ---- their mean

    def mean_bound(self, moments: Summary, row: int, eps: float) -> float:
        """The expectation at any x', from a reference point: Cauchy and Schwarz."""
        top, m = self.top_bound(moments), self.sizes.m
        small = math.log(1.0 / self.budget.mean) / m
        tail = math.sqrt(2.0 * top * small) + 2.0 / 3.0 * moments.region.radius * small
        return moments.away[row] + tail + math.sqrt(top * self._chi_squared(eps))

    def deviation(self, ranked: Ranked, moments: Summary, eps: float) -> float:
        """From that expectation to the mean of n samples at x' (Bousquet)."""
        radius, top = moments.region.radius, self.top_bound(moments)
        square = self.square_bound(ranked, radius, eps)
        widest = min(square, self._risen(top, radius**2, eps))
        small = math.log(1.0 / self.budget.deviation) / self.sizes.n
        usual = math.sqrt(square / self.sizes.n)
        most = radius + math.sqrt(widest)
        return usual + math.sqrt(2.0 * small * (widest + 2.0 * most * usual)) + most * small / 3.0

    def _risen(self, mean: float, most: float, eps: float) -> float:
        """The expectation at any x' of what lies in [0, most] and has this mean at x: the shift."""
        if not mean < most:
            return most
        return most * (1.0 - float(self.noise.mass_left(1.0 - mean / most, eps)))

    def top_bound(self, moments: Summary) -> float:
        """The top eigenvalue of E Y Y^T at most, by a lower tail of its own direction."""
        most = moments.region.radius**2
        if not moments.top < most:
            return most
        return most * binomial.mean_shown(moments.top / most, self.sizes.m, self.budget.top)

    def square_bound(self, ranked: Ranked, radius: float, eps: float) -> float:
        """The expectation of |Y|^2 at any x' at most, from the masses of balls."""
        m, band = self.sizes.m, self._band()
        nodes = [u for u in _NODES if math.ceil(m * (u + band) + 1e-6) <= m]
        within = [ranked.smallest(0, math.ceil(m * (u + band) + 1e-6)) for u in nodes]
        lengths = np.minimum([self._slack(length) for length in [*within, math.inf]], radius)
        left = self.noise.mass_left(np.array([0.0, *nodes]), eps)
        return float(np.diff(left, append=1.0) @ lengths**2)

    def _band(self) -> float:
        return math.sqrt(math.log(1.0 / self.budget.band) / (2.0 * self.sizes.m))

    def _chi_squared(self, eps: float) -> float:
        found = self.noise.chi_squared(eps)
        assert found is not None, "checked at the start"
        return found

    # ---- the other way round

    def radius(self, ranked: Ranked, row: int, tau: float) -> float:
        """In the split form all eps hold together on the certificate's side."""
        split = self._with(self.sizes, self.level.as_split())
        return largest(lambda eps: split.bound(ranked, row, eps) <= tau)


def _part(n: int, share: float) -> int:
    return math.ceil(share * n - 1e-9)


@lru_cache(maxsize=4096)
def _outside(noise: Noise, eps: float, sizes: Sizes, position: int, level: Confidence) -> int:
    """The least K that more than K samples exceed with at most the level's probability."""
    n, m = sizes.n, sizes.m

    def fails(most: int) -> bool:
        if isinstance(level, Joint):
            risk = binomial.expected_failure(
                m,
                m - position,
                lambda u: binomial.at_most(n, noise.mass_left(u, eps), n - most - 1),
            )
            return risk > level.alpha
        mass = noise.mass_left(binomial.shown_mass(m, m - position, level.certificate), eps)
        return bool(binomial.at_most(n, mass, n - most - 1) > level.query)

    low, high = -1, n  # more than n samples never exceed anything
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fails(middle) else (low, middle)
    return high
