"""Theorems A and B: the medoid, for any metric. Proofs: theorem-a.md and theorem-b.md."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from centersmooth import binomial
from centersmooth.centers import Medoid
from centersmooth.centers.base import majority
from centersmooth.confidence import Confidence, Split
from centersmooth.metrics import Metric
from centersmooth.monotone import largest, least
from centersmooth.noise import Noise
from centersmooth.sketch import Ranked
from centersmooth.theorems.base import InBall, Sizes, Theorem, ball_rank

# Which parts of the share of delta_1 and b together go to b: the best is taken for each eps.
_PARTS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
_PART_AT_LOOKS = (0.5,)


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

    `share` is for one of several looks (anytime.md): only what new samples decide, R and the
    balls behind t, is paid for at each of them. The outer points are the same at all.
    """

    def __init__(
        self,
        center: Medoid,
        noise: Noise,
        metric: Metric,
        sizes: Sizes,
        level: Confidence,
        share: float = 1.0,
    ) -> None:
        super().__init__(noise, metric, sizes, level)
        self.center, self.share = center, share
        self._k = majority(sizes.n)
        inside = InBall(center.candidates, center.pool)
        # A mean of outputs in a ball is in the ball only in a normed space. The mass is above
        # one half whenever this is used, so the rule does not depend on the samples.
        keeps = center.pool == 1 or metric.mean_stays_in_ball
        negligible = inside.missing(0.5) <= 1e-3 * level.total
        self._worst_case = keeps and (negligible or center.outer_points == 0)
        self._inside = inside if self._worst_case else None
        rest = Shares.of(level).rest(level) if center.outer_points else level
        self._radius_level = rest.at_look(share)

    def with_samples(self, m: int) -> MedoidTheorem:
        return self._twin(Sizes(self.sizes.n, m), self.level)

    def _twin(self, sizes: Sizes, level: Confidence) -> MedoidTheorem:
        return MedoidTheorem(self.center, self.noise, self.metric, sizes, level, self.share)

    def radius_rank(self, eps: float) -> int | None:
        """The rank of R among the distances from w."""
        return ball_rank(self.noise, eps, self.sizes, self._k, self._radius_level, self._inside)

    def outer_ranks(self, eps: float) -> tuple[int, int] | None:
        """The rank of each tau among its distances, and of t among the taus."""
        return _outer_ranks(self.center, self.noise, eps, self.sizes, self.level, self.share)

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
        level = self.level.at_look(self.share)
        rank = ball_rank(self.noise, eps, self.sizes, self._k, level)
        if rank is None:
            return self.metric.diameter
        length = least(lambda rho: bool(self.metric.value(rho) >= spread))
        length = self._slack(self.metric.gamma * (ranked.smallest(row, rank) + length))
        return min(float(self.metric.value(length)), self.metric.diameter)

    def radius(self, ranked: Ranked, row: int, tau: float) -> float:
        """Three divisions of tau between R and t, fixed beforehand, a third of the level each."""
        split = self.level.as_split().over_grid(3)
        theorem = self._twin(self.sizes, split)
        gamma = self.metric.gamma
        length = largest(lambda rho: self.metric.value(self._slack(rho)) <= tau)
        divisions = [(length / (gamma * (1 + 2 * gamma)), math.inf)] if theorem._worst_case else []
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
    center: Medoid, noise: Noise, eps: float, sizes: Sizes, level: Confidence, look: float
) -> tuple[int, int] | None:
    if center.outer_points == 0:
        return None
    shares = Shares.of(level)
    if isinstance(level, Split):
        balls, outer = shares.balls * level.certificate * look, shares.outer * level.certificate
        count, candidate = shares.count * level.query, shares.candidate * level.query
        rank_tau = _rank_of_balls(center, noise, eps, sizes, balls, count)
        rank_t = _rank_among(center, noise, eps, outer, candidate)
    else:
        together = (shares.balls + shares.count) * level.alpha
        # The count is paid for once, so its part must be the same at all looks.
        tried = (
            _rank_of_balls(center, noise, eps, sizes, (1 - part) * together * look, part * together)
            for part in (_PARTS if look == 1.0 else _PART_AT_LOOKS)
        )
        rank_tau = min((rank for rank in tried if rank), default=None)
        together = (shares.outer + shares.candidate) * level.alpha
        rank_t = binomial.joint_rank(
            center.outer_points, together, _no_candidate(center, noise, eps)
        )
    return (rank_tau, rank_t) if rank_tau and rank_t else None


def _rank_of_balls(
    center: Medoid, noise: Noise, eps: float, sizes: Sizes, balls: float, count: float
) -> int | None:
    """The rank of tau: delta_1 over the outer points, b for the count at the query."""
    mass = binomial.needed_mass(sizes.n, majority(sizes.n), count)
    around = noise.mass_needed(mass, eps)
    return binomial.upper_rank(sizes.m, around, balls / center.outer_points)


def _rank_among(
    center: Medoid, noise: Noise, eps: float, outer: float, candidate: float
) -> int | None:
    """The rank of t among the taus, split form: delta_2 at the certificate, c at the query."""
    share = 1.0 - candidate ** (1.0 / center.candidates)
    among = noise.mass_needed(share, eps, fold=center.pool)
    return binomial.upper_rank(center.outer_points, among, outer)


def _no_candidate(center: Medoid, noise: Noise, eps: float) -> binomial.Failure:
    """The chance that no candidate at the query is one of a share v of outputs at x."""

    def failure(v: binomial.FloatArray) -> binomial.FloatArray:
        missed = 1.0 - noise.mass_left(v, eps, fold=center.pool)
        return missed**center.candidates  # type: ignore[no-any-return]

    return failure
