"""Theorems A, B and C: from counted distances to a bound. Proofs in docs/theory/.

Rows of the counted distances: w, the target if there is one, then the outer points. Every
rank is a function of eps and the sample sizes alone, never of the samples.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from centersmooth import binomial
from centersmooth.centers import Center, GeometricMedian, Medoid, majority
from centersmooth.confidence import Confidence, Split
from centersmooth.errors import ArgumentError, expected
from centersmooth.metrics import Metric
from centersmooth.monotone import largest, least
from centersmooth.noise import Noise
from centersmooth.sketch import Ranked

_LARGEST_M = 10**12


@dataclass(frozen=True)
class Sizes:
    """How many samples choose an answer (n), and how many certify one (m)."""

    n: int
    m: int


@dataclass(frozen=True)
class InBall:
    """Some one of `candidates` consists of `pool` outputs inside the ball, at the query."""

    candidates: int
    pool: int

    def missing(self, mass: Any) -> Any:
        """The chance that none is, when the ball has this mass."""
        return (1.0 - mass**self.pool) ** self.candidates


@lru_cache(maxsize=4096)
def ball_rank(
    noise: Noise, eps: float, sizes: Sizes, k: int, level: Confidence, extra: InBall | None = None
) -> int | None:
    """Which order statistic of the distances from w serves as R.

    So that at any x' within eps, fewer than k of n samples fall within R of w with at most the
    level's probability (and, where `extra` asks for it, some candidate does).
    """
    if isinstance(level, Split):
        p = _mass_for_query(sizes.n, k, level.query, extra)
        return binomial.upper_rank(sizes.m, noise.mass_needed(p, eps), level.certificate)

    def failure(u: binomial.FloatArray) -> binomial.FloatArray:
        mass = noise.mass_left(u, eps)
        few = binomial.at_most(sizes.n, mass, k - 1)
        return few + extra.missing(mass) if extra else few  # type: ignore[no-any-return]

    return binomial.joint_rank(sizes.m, level.alpha, failure)


def _mass_for_query(n: int, k: int, alpha: float, extra: InBall | None) -> float:
    """The least mass at the query for which both failures together have at most alpha."""
    p = binomial.needed_mass(n, k, alpha)
    if extra is None:
        return p
    low, high = p, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if binomial.at_most(n, middle, k - 1) + extra.missing(middle) <= alpha:
            high = middle
        else:
            low = middle
    return high


class Theorem(ABC):
    """A bound for one center, at given sizes and confidence."""

    def __init__(self, noise: Noise, metric: Metric, sizes: Sizes, level: Confidence) -> None:
        self.noise, self.metric, self.sizes, self.level = noise, metric, sizes, level

    @abstractmethod
    def bound(self, ranked: Ranked, row: int, eps: float) -> float:
        """The distance to the reference point of `row` that no answer within eps exceeds."""

    @abstractmethod
    def decides(self, eps: float) -> bool:
        """Whether these sizes can give any bound at eps."""

    @abstractmethod
    def with_samples(self, m: int) -> Theorem:
        """The same with another number of certification samples."""

    @abstractmethod
    def radius(self, ranked: Ranked, row: int, tau: float) -> float:
        """The largest eps whose bound is at most tau, for tau fixed beforehand (split form)."""

    def least_samples(self, eps: float) -> int | None:
        """The fewest certification samples that decide eps; None beyond all counting."""
        high = 1
        while not self.with_samples(high).decides(eps):
            high *= 2
            if high > _LARGEST_M:
                return None
        low = high // 2
        while high - low > 1:
            middle = (low + high) // 2
            if self.with_samples(middle).decides(eps):
                high = middle
            else:
                low = middle
        return high

    def largest_eps(self) -> float:
        """The largest eps that these sizes can decide."""
        return largest(self.decides)

    def _slack(self, length: float) -> float:
        """Room for the arithmetic of distances, here and at the query."""
        return length * (1.0 + self.metric.rounding)


# -------------------------------------------------------------------------------- A and B


@dataclass(frozen=True)
class Shares:
    """How Theorem B divides its failure probability; R and the count around w take the rest.

    Fixed beforehand, so any would be valid. t's rank among a hundred outer points is the
    coarsest step, so the two shares that decide it are large.
    """

    balls: float  # delta_1
    outer: float  # delta_2
    count: float  # b
    candidate: float  # c

    @classmethod
    def of(cls, level: Confidence) -> Shares:
        """In the split form certificate and query have a budget each, otherwise one for all."""
        return cls(0.15, 0.4, 0.15, 0.4) if isinstance(level, Split) else cls(0.1, 0.25, 0.1, 0.25)

    def rest(self, level: Confidence) -> Confidence:
        """What is left for R and the count around w."""
        certificate, query = self.balls + self.outer, self.count + self.candidate
        if isinstance(level, Split):
            return Split(level.certificate * (1 - certificate), level.query * (1 - query))
        return level.part(1 - certificate - query)


class MedoidTheorem(Theorem):
    """``gamma (R + min(t, 2 gamma R))``: Theorem B, or Theorem A (t infinite) without outer points.

    R: the ball around w that keeps a majority of the samples at any x'. t: outputs with a ball
    of radius t that keeps a majority are so frequent at x that one is among the candidates at x'.
    """

    def __init__(
        self, center: Medoid, noise: Noise, metric: Metric, sizes: Sizes, level: Confidence
    ) -> None:
        super().__init__(noise, metric, sizes, level)
        self.center = center
        self._k = majority(sizes.n)
        inside = InBall(center.candidates, center.pool)
        # A mean of outputs in a ball is in the ball only in a normed space. The mass is above
        # one half whenever this is used, so the rule does not depend on the samples.
        keeps = center.pool == 1 or metric.mean_stays_in_ball
        negligible = inside.missing(0.5) <= 1e-3 * level.total
        self._worst_case = keeps and (negligible or center.outer_points == 0)
        self._inside = inside if self._worst_case else None
        self._radius_level = Shares.of(level).rest(level) if center.outer_points else level

    def with_samples(self, m: int) -> MedoidTheorem:
        sizes = Sizes(self.sizes.n, m)
        return MedoidTheorem(self.center, self.noise, self.metric, sizes, self.level)

    def radius_rank(self, eps: float) -> int | None:
        """The rank of R among the distances from w."""
        return ball_rank(self.noise, eps, self.sizes, self._k, self._radius_level, self._inside)

    def outer_ranks(self, eps: float) -> tuple[int, int] | None:
        """The rank of each tau among its distances, and of t among the taus."""
        return _outer_ranks(self.center, self.noise, eps, self.sizes, self.level)

    def decides(self, eps: float) -> bool:
        if self.radius_rank(eps) is None:
            return False
        return self._worst_case or self.outer_ranks(eps) is not None

    def bound(self, ranked: Ranked, row: int, eps: float) -> float:
        rank = self.radius_rank(eps)
        if rank is None:
            return self.metric.diameter
        return self._within_diameter(ranked.smallest(row, rank), self._t(ranked, eps))

    def _t(self, ranked: Ranked, eps: float) -> float:
        ranks = self.outer_ranks(eps)
        if ranks is None:
            return math.inf
        taus = sorted(ranked.smallest_of_rows(ranked.rows - self.center.outer_points, ranks[0]))
        return float(taus[ranks[1] - 1])

    def _within_diameter(self, radius: float, t: float) -> float:
        gamma = self.metric.gamma
        if self._worst_case:
            t = min(t, 2.0 * gamma * radius)
        length = self._slack(gamma * (radius + t))
        return min(float(self.metric.value(length)), self.metric.diameter)

    def bound_seen(self, ranked: Ranked, row: int, eps: float, spread: float) -> float:
        """``gamma (R + r')`` for a prediction whose own spread r' has been seen."""
        rank = ball_rank(self.noise, eps, self.sizes, self._k, self.level)
        if rank is None:
            return self.metric.diameter
        length = least(lambda rho: bool(self.metric.value(rho) >= spread))
        length = self._slack(self.metric.gamma * (ranked.smallest(row, rank) + length))
        return min(float(self.metric.value(length)), self.metric.diameter)

    def radius(self, ranked: Ranked, row: int, tau: float) -> float:
        """Three divisions of tau between R and t, fixed beforehand, a third of the level each."""
        split = self.level.as_split().over_grid(3)
        theorem = MedoidTheorem(self.center, self.noise, self.metric, self.sizes, split)
        gamma = self.metric.gamma
        length = largest(lambda rho: self.metric.value(self._slack(rho)) <= tau)
        divisions = [(length / (gamma * (1 + 2 * gamma)), math.inf)] if self._worst_case else []
        if self.center.outer_points:
            divisions += [
                (share * length / gamma, (1 - share) * length / gamma) for share in (0.45, 0.5)
            ]

        def holds(eps: float, most_radius: float, most_t: float) -> bool:
            rank = theorem.radius_rank(eps)
            if rank is None or ranked.smallest(row, rank) > most_radius:
                return False
            return most_t == math.inf or theorem._t(ranked, eps) <= most_t

        return max(largest(lambda eps, d=d: holds(eps, *d)) for d in divisions)  # type: ignore[misc]


@lru_cache(maxsize=4096)
def _outer_ranks(
    center: Medoid, noise: Noise, eps: float, sizes: Sizes, level: Confidence
) -> tuple[int, int] | None:
    points, n = center.outer_points, sizes.n
    if points == 0:
        return None
    certificate = level.certificate if isinstance(level, Split) else level.alpha
    query = level.query if isinstance(level, Split) else level.alpha
    shares = Shares.of(level)
    mass = binomial.needed_mass(n, majority(n), shares.count * query)
    share = 1.0 - (shares.candidate * query) ** (1.0 / center.candidates)
    around = noise.mass_needed(mass, eps)
    among = noise.mass_needed(share, eps, fold=center.pool)
    rank_tau = binomial.upper_rank(sizes.m, around, shares.balls * certificate / points)
    rank_t = binomial.upper_rank(points, among, shares.outer * certificate)
    return (rank_tau, rank_t) if rank_tau and rank_t else None


# -------------------------------------------------------------------------------------- C

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
    alpha = level.total / 2
    spare = -1.2 * math.log(alpha)
    kept: list[Level] = []
    for p in _LEVELS:
        k = _needed(sizes.n, p)
        if sizes.m > 2 * spare and k < sizes.n:
            mass = binomial.needed_mass(sizes.n, k, alpha)
            until = noise.reach(mass, 1.0 - spare / sizes.m)
            if until > (kept[-1].until if kept else 0.0) and ball_rank(
                noise, until, sizes, k, level
            ):
                kept.append(Level(k, until))
    last = _needed(sizes.n, _LEVELS[-1])
    return (*kept[:-1], Level(kept[-1].k, math.inf)) if kept else (Level(last, math.inf),)


# ----------------------------------------------------------------------------------------


def theorem_for(
    center: Center, noise: Noise, metric: Metric, sizes: Sizes, level: Confidence
) -> Theorem:
    """The theorem that belongs to a center."""
    if isinstance(center, Medoid):
        return MedoidTheorem(center, noise, metric, sizes, level)
    if isinstance(center, GeometricMedian):
        return MedianTheorem(center, noise, metric, sizes, level)
    fix = "Use cs.Medoid() or cs.GeometricMedian()."
    raise ArgumentError(expected("a center with a theorem", type(center).__name__, fix))
