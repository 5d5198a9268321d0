"""Which center is the sharpest for an attack size, told before anything is sampled.

The choice is a function of eps / sigma, n, alpha and the metric, so the smoothed model does not
depend on what is asked of it later. Any choice would be valid; this one only predicts.
Model of the prediction: docs/theory/theorem-b.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from centersmooth.centers import Center, GeometricMedian, Medoid, default_center
from centersmooth.confidence import Confidence, Joint, Split, confidence
from centersmooth.metrics import Metric
from centersmooth.metrics.base import pools
from centersmooth.noise import Noise
from centersmooth.theorems import MedianTheorem, MedoidTheorem, Sizes, theorem_for

_MEANS = (2, 4, 8)
_VOTES = (3, 5, 9)
"""Pools that decide by a vote or a median are odd: in an even one ties lose."""
_CANDIDATES = (100, 150, 200, 300, 400, 600, 800)
_MOST_DRAWS = 2
"""Candidates cost at most this many times the answer samples."""
_MARGIN = 0.5
"""Pools must still work at this share of alpha, for levels a little smaller than planned."""
_UNLIMITED = 10**6


@dataclass(frozen=True)
class Wish:
    """What a center is wanted for."""

    metric: Metric
    noise: Noise
    eps: float
    sizes: Sizes
    level: Confidence


@dataclass(frozen=True)
class Proposal:
    """A center, and the bound it is expected to give."""

    center: Center
    predicted: float
    """The bound over the radius of a cloud of outputs in many dimensions; infinite if none."""

    @property
    def decided(self) -> bool:
        """Whether the samples can give a bound at all."""
        return self.predicted < math.inf


def geometric_medians(wish: Wish) -> Iterator[Proposal]:
    """Theorem C: wins wherever outputs are Euclidean, unless eps is so small that D does."""
    if wish.metric.hilbert is None:
        return
    center = GeometricMedian()
    theorem = theorem_for(center, wish.noise, wish.metric, wish.sizes, wish.level)
    if isinstance(theorem, MedianTheorem):
        shares = [level.k / wish.sizes.n for level in theorem.levels(wish.eps)]
        yield Proposal(center, center.furthest(shares, [1.0] * len(shares)))


def medoids(wish: Wish) -> Iterator[Proposal]:
    """Theorem B: for any metric; the larger the pool the better, as far as eps allows one."""
    yield _medoid(Medoid(), wish, wish.level)
    if not pools(wish.metric):
        return
    for pool in _MEANS if wish.metric.mean_stays_in_ball else _VOTES:
        for candidates in _CANDIDATES:
            center = Medoid(candidates, pool)
            if center.draws > _MOST_DRAWS * wish.sizes.n:
                break
            found = _medoid(center, wish, wish.level.part(_MARGIN))
            if found.decided:
                yield found
                break  # more candidates of this pool cost more and gain little


def _medoid(center: Medoid, wish: Wish, level: Confidence) -> Proposal:
    """R is the cloud's radius 1, t how far samples are from the mean of l others: sqrt(1 + 1/l)."""
    theorem = theorem_for(center, wish.noise, wish.metric, wish.sizes, level)
    assert isinstance(theorem, MedoidTheorem), "the theorem of this center"
    away = math.sqrt(1.0 + 1.0 / center.pool)
    if not theorem.decides(wish.eps):
        return Proposal(center, math.inf)
    measured = theorem.outer_ranks(wish.eps) is not None
    if not measured and center.pool > 1:
        return Proposal(center, math.inf)
    return Proposal(center, 1.0 + away if measured else 3.0)


KINDS: tuple[Callable[[Wish], Iterator[Proposal]], ...] = (geometric_medians, medoids)
"""Every kind of center, with when it wins: a new one is added here."""


def proposals(wish: Wish) -> list[Proposal]:
    """All centers that would do, the sharpest first; of equals the cheapest."""
    found = [proposal for kind in KINDS for proposal in kind(wish)]
    return sorted(found, key=lambda one: (one.predicted, one.center.draws))


def best_center(
    metric: Metric,
    noise: Noise,
    eps: float,
    answer_samples: int = 999,
    alpha: float | Joint | Split = 0.01,
) -> Center:
    """The sharpest center for attacks of size eps, with samples enough to certify them.

    A function of its arguments alone. Larger attacks may then be certified worse, or not at all.
    """
    wish = Wish(metric, noise, eps, Sizes(answer_samples, _UNLIMITED), confidence(alpha))
    found = [proposal for proposal in proposals(wish) if proposal.decided]
    return found[0].center if found else default_center(metric)
