"""What every theorem starts from: the ball around w that keeps enough samples at any x'.

Rows of the counted distances: w, the target if there is one, then the outer points. Every
rank is a function of eps and the sample sizes alone, never of the samples.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Any

from centersmooth import binomial
from centersmooth.confidence import Confidence, Split
from centersmooth.metrics import Metric
from centersmooth.monotone import largest
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

    guess = _likely_rank(noise, eps, sizes, k, level.alpha)
    return binomial.joint_rank(sizes.m, level.alpha, failure, guess)


def _likely_rank(noise: Noise, eps: float, sizes: Sizes, k: int, alpha: float) -> float:
    """About where the joint rank lies, as if counts were normal: it saves search, no more."""
    center = noise.mass_needed(k / sizes.n, eps)
    margin = noise.mass_needed(binomial.needed_mass(sizes.n, k, alpha), eps)
    if center is None or margin is None or not 0 < alpha < 1:
        return sizes.m
    certificate = NormalDist().inv_cdf(1 - alpha) * math.sqrt(margin * (1 - margin) / sizes.m)
    return sizes.m * (center + math.hypot(margin - center, certificate))


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
