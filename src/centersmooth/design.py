"""Which center is the sharpest for an attack size, told before anything is sampled.

The choice is a function of eps / sigma, n, alpha and the metric, so the smoothed model does not
depend on what is asked of it later. Any choice would be valid; this one only predicts.
Model of the prediction: docs/theory/design.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaincinv

from centersmooth.centers import (
    Center,
    ClippedMean,
    GeometricMedian,
    Medoid,
    WeberPoint,
    default_center,
)
from centersmooth.confidence import Confidence, Joint, Split, confidence
from centersmooth.metrics import Metric
from centersmooth.metrics.base import pools
from centersmooth.noise import Noise
from centersmooth.theorems import (
    ClippedMeanTheorem,
    MedianTheorem,
    MedoidTheorem,
    Sizes,
    WeberTheorem,
    theorem_for,
)

_MEANS = (1, 2, 4, 8)
_VOTES = (1, 3, 5, 9)
"""Pools that decide by a vote or a median are odd: in an even one ties lose."""
_MANY, _FEW = 10, 3
"""In how many directions outputs vary that are pooled by means, and by votes or medians."""
_SCALES = (1, 2, 4, 8)
"""Pools of samples for the Weber point."""
_TOP, _REACH = 0.1, 6.5
"""Of a clipped mean: the share of the spread in its widest direction, and how far samples that
are pulled in may still lie, in radii."""
_CONTAINED = 0.76
"""Beyond this chi-squared (0.75 sigma) some models' outputs leave the region at x', which the
prediction cannot know; the bound is then several times larger."""
_CANDIDATES = (100, 150, 200, 300, 400, 600)
_MOST_DRAWS = 2
"""Candidates cost at most this many times the answer samples."""
_MARGIN = 0.5
"""Pools must still work at this share of alpha, for levels a little smaller than planned."""
_NEAREST = 0.01
"""The answer is among this share of candidates: more of them hardly improve it."""
_EQUAL = 1.01
"""Bounds this close are alike: the cheaper center is taken."""
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
    """The bound over the radius of a cloud of outputs; infinite if there is none."""

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


def clipped_means(wish: Wish) -> Iterator[Proposal]:
    """Theorem D: wins at small eps, for noises that own a chi-squared divergence."""
    chi_squared = wish.noise.chi_squared(wish.eps)
    if wish.metric.hilbert is None or chi_squared is None:
        return
    center, sizes = ClippedMean(), _affordable(wish)
    theorem = theorem_for(center, wish.noise, wish.metric, sizes, wish.level)
    assert isinstance(theorem, ClippedMeanTheorem), "the theorem of this center"
    if chi_squared > _CONTAINED or not theorem.decides(wish.eps):
        yield Proposal(center, math.inf)
        return
    usual = math.sqrt(1.0 / sizes.n)
    small = -math.log(theorem.budget.deviation) / sizes.n
    deviation = usual + math.sqrt(2.0 * small * (_TOP + 2.0 * usual))
    mean = math.sqrt(-2.0 * _TOP * math.log(theorem.budget.mean) / sizes.m)
    few = theorem.outside(wish.eps, 0) / sizes.n
    moved = math.sqrt(_TOP * chi_squared)
    yield Proposal(center, moved + mean + deviation + few * _REACH)


def weber_points(wish: Wish) -> Iterator[Proposal]:
    """Theorem C for norms: pools win at small eps, as far as the samples reach."""
    if wish.metric.normed is None:
        return
    sizes = _affordable(wish)
    for pool in _SCALES:
        center = WeberPoint(pool)
        if pool > sizes.n:
            continue
        theorem = theorem_for(center, wish.noise, wish.metric, sizes, wish.level.part(_MARGIN))
        assert isinstance(theorem, WeberTheorem), "the theorem of this center"
        radii = {
            scale: np.full(len(ranks), 1.0 / math.sqrt(scale))
            for scale, (ranks, _) in theorem.levels.items()
        }
        yield Proposal(center, theorem.distance(radii, wish.eps))


def _affordable(wish: Wish) -> Sizes:
    """Four times as many samples certify as answer, as by default, where m is left open.

    These centers go on gaining from more samples, so the choice must not count on a million.
    """
    return Sizes(wish.sizes.n, min(wish.sizes.m, 4 * (wish.sizes.n + 1)))


def medoids(wish: Wish) -> Iterator[Proposal]:
    """Theorem B: for any metric; large pools win at small eps, many candidates at large ones."""
    yield _medoid(Medoid(), wish, wish.level)
    if not pools(wish.metric):
        return
    for pool in _MEANS if wish.metric.mean_stays_in_ball else _VOTES:
        for candidates in _CANDIDATES:
            center = Medoid(candidates, pool)
            if center != Medoid() and center.draws <= _MOST_DRAWS * wish.sizes.n:
                yield _medoid(center, wish, wish.level.part(_MARGIN))


def _medoid(center: Medoid, wish: Wish, level: Confidence) -> Proposal:
    """R around one of the candidates nearest to the middle, t around the one that has t's rank."""
    theorem = theorem_for(center, wish.noise, wish.metric, wish.sizes, level)
    assert isinstance(theorem, MedoidTheorem), "the theorem of this center"
    if not theorem.decides(wish.eps):
        return Proposal(center, math.inf)
    ranks, count = theorem.outer_ranks(wish.eps), center.candidates + 1
    nearest = _from_samples(wish.metric, center.pool, _NEAREST)
    if ranks is None:  # the worst case, which pools are not meant for
        return Proposal(center, 3.0 * nearest if center.pool == 1 else math.inf)
    return Proposal(center, nearest + _from_samples(wish.metric, center.pool, ranks[1] / count))


def _from_samples(metric: Metric, pool: int, share: float) -> float:
    """How far samples are from a candidate that this share of candidates is not farther out than.

    The squared distance of a candidate from the middle is chi-squared over its pool; that of the
    samples is 1, at a right angle.
    """
    directions = _MANY if metric.mean_stays_in_ball else _FEW
    out = 2.0 * float(gammaincinv(directions / 2, share)) / directions
    return math.sqrt(1.0 + out / pool)


KINDS: tuple[Callable[[Wish], Iterator[Proposal]], ...] = (
    *(geometric_medians, clipped_means),
    *(weber_points, medoids),
)
"""Every kind of center, with when it wins: a new one is added here."""


def proposals(wish: Wish) -> list[Proposal]:
    """All centers that would do: the cheapest of the sharpest, then the others by their bound."""
    offered = [proposal for kind in KINDS for proposal in kind(wish)]
    found = sorted(offered, key=lambda one: (one.predicted, one.center.draws))
    alike = [one for one in found if one.predicted <= _EQUAL * found[0].predicted]
    best = min(alike, key=lambda one: one.center.draws)
    return [best, *(one for one in found if one is not best)]


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
