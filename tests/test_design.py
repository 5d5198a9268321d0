from __future__ import annotations

import math

import numpy as np
import pytest

import centersmooth as cs
from centersmooth import metrics
from centersmooth.confidence import Joint
from centersmooth.design import KINDS, Wish, best_center, proposals
from centersmooth.errors import ArgumentError
from centersmooth.theorems import MedoidTheorem, Sizes, theorem_for
from refusals import refused
from tiny_models import NOISE, linear, smoother

SIGMA = NOISE.sigma
SHIFTS = (0.0, 0.5, 1.0, 1.5, 2.0, 2.5)


def wish(metric: metrics.Metric, shift: float, n: int = 999, m: int = 4_000) -> Wish:
    return Wish(metric, NOISE, shift * SIGMA, Sizes(n, m), Joint(0.01))


def best_medoid(metric: metrics.Metric, eps: float, n: int = 999) -> cs.Medoid:
    """The sharpest medoid, with samples enough; the usual one where nothing is decided."""
    offered = proposals(Wish(metric, NOISE, eps, Sizes(n, 10**6), Joint(0.01)))
    found = (one.center for one in offered if one.decided and isinstance(one.center, cs.Medoid))
    return next(found, cs.Medoid())


@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("metric", [metrics.TotalVariation(), metrics.BoxJaccard()])
def test_a_designed_pool_measures_t_at_its_eps(metric: metrics.Metric, shift: float) -> None:
    """At half of alpha and with the default number of samples too; few large pools at large eps."""
    center = best_medoid(metric, shift * SIGMA)
    assert center.pool > 1 or shift >= (2 if metric.mean_stays_in_ball else 1.5)
    assert center != cs.Medoid()
    assert center.draws <= 2 * 999
    for level in (Joint(0.01), Joint(0.005)):
        theorem = theorem_for(center, NOISE, metric, Sizes(999, 4_000), level)
        assert isinstance(theorem, MedoidTheorem)
        assert theorem.outer_ranks(shift * SIGMA) is not None
        assert theorem.decides(shift * SIGMA)


def test_pools_shrink_as_the_attack_grows_until_none_is_left() -> None:
    for metric, odd in ((metrics.TotalVariation(), 0), (metrics.MaskJaccard(), 1)):
        found = [best_medoid(metric, shift * SIGMA).pool for shift in (*SHIFTS, 6.0)]
        assert found == sorted(found, reverse=True)
        assert found[-1] == 1
        assert all(pool % 2 == odd for pool in found if pool > 1)


def test_only_what_can_be_averaged_is_pooled() -> None:
    for metric in (metrics.Discrete(), metrics.Levenshtein()):
        assert best_center(metric, NOISE, 0.1) == cs.Medoid()


@pytest.mark.parametrize("metric", [metrics.L2(), metrics.Angular(), metrics.SquaredL2()])
def test_euclidean_outputs_get_the_mean_for_small_attacks_and_the_median_for_larger(
    metric: metrics.Metric,
) -> None:
    for shift in (0.0, 0.1, 0.5, 0.75):
        assert best_center(metric, NOISE, shift * SIGMA) == cs.ClippedMean()
    for shift in (0.8, 1.25, 2.0, 50.0):
        assert best_center(metric, NOISE, shift * SIGMA) == cs.GeometricMedian()


def test_noises_without_a_chi_squared_divergence_get_no_clipped_mean() -> None:
    noise = cs.noise.UniformL1(1.0)
    assert noise.chi_squared(0.0) is None
    assert best_center(metrics.L2(), noise, 0.01) == cs.GeometricMedian()


@pytest.mark.parametrize("metric", [metrics.L1(), metrics.TotalVariation()])
def test_norms_get_a_weber_point_whose_pool_shrinks_as_the_attack_grows(
    metric: metrics.Metric,
) -> None:
    found = [best_center(metric, NOISE, shift * SIGMA) for shift in (0.0, 0.5, 1.0, 1.5)]
    assert all(isinstance(center, cs.WeberPoint) for center in found)
    pools = [center.pool for center in found if isinstance(center, cs.WeberPoint)]
    assert pools == sorted(pools, reverse=True)
    assert pools[0] > pools[-1] > 1


def test_the_choice_knows_eps_over_sigma_alone() -> None:
    metric = metrics.TotalVariation()
    for shift in SHIFTS:
        found = {best_center(metric, cs.Gaussian(s), shift * s) for s in (0.01, 0.25, 40.0)}
        assert len(found) == 1


def test_candidates_are_paid_for_by_the_number_of_samples() -> None:
    metric = metrics.TotalVariation()
    for n in (20, 99, 999, 9_999):
        center = best_medoid(metric, 2 * SIGMA, n)
        assert center == cs.Medoid() or center.draws <= 2 * n


@pytest.mark.parametrize("metric", [metrics.L1(), metrics.L2(), metrics.Discrete()])
@pytest.mark.parametrize("shift", [0.5, 2.0, 20.0])
def test_proposals_come_best_first_and_say_what_no_samples_decide(
    metric: metrics.Metric, shift: float
) -> None:
    found = proposals(wish(metric, shift))
    assert [p.predicted for p in found[1:]] == sorted(p.predicted for p in found[1:])
    assert found[0].predicted <= 1.01 * min(p.predicted for p in found)
    assert all(p.decided == (p.predicted < math.inf) for p in found)
    for one in found:
        theorem = theorem_for(one.center, NOISE, metric, Sizes(999, 4_000), Joint(0.01))
        assert theorem.decides(shift * SIGMA) or not one.decided
    kinds = {cs.Medoid, cs.GeometricMedian, cs.ClippedMean, cs.WeberPoint}
    assert {type(p.center) for p in found} <= kinds
    assert len(KINDS) >= 2


def test_the_prediction_is_that_of_a_cloud() -> None:
    """Candidates drawn from a Gaussian cloud of 10 directions, samples at a right angle to it."""
    found = {p.center: p.predicted for p in proposals(wish(metrics.L1(), 1.0))}
    generator = np.random.default_rng(0)
    for candidates, pool in ((100, 1), (200, 4), (100, 8)):
        out = (generator.standard_normal((4_000, 10)) ** 2).mean(axis=1) / pool
        away = np.sqrt(1 + out)
        center = cs.Medoid(candidates, pool)
        level = Joint(0.01 if center == cs.Medoid() else 0.005)
        theorem = theorem_for(center, NOISE, metrics.L1(), Sizes(999, 4_000), level)
        _, rank = theorem.outer_ranks(SIGMA)  # type: ignore[attr-defined]
        share = rank / (candidates + 1)
        wanted = np.quantile(away, 0.01) + np.quantile(away, share)
        assert found[center] == pytest.approx(wanted, rel=0.03)


# ---- through a smoother


def test_a_smoother_keeps_the_center_it_was_designed_with() -> None:
    metric = metrics.L1()
    made = cs.Smoother(linear, NOISE, metric, design_eps=0.25, progress=False)
    assert made.center == best_center(metric, NOISE, 0.25) != cs.Medoid()
    certificate = made.certify(linear_input(), samples=4_000, seed=1)
    assert certificate.center == made.center
    assert certificate.evaluations == made.center.draws + 999 + 4_000
    assert certificate.bound(0.25) < smoother_bound(metric)


def linear_input():  # type: ignore[no-untyped-def]
    from tiny_models import X

    return X


def smoother_bound(metric: metrics.Metric) -> float:
    made = smoother(metric=metric, answer_samples=999)
    return made.certify(linear_input(), samples=4_000, seed=1).bound(0.25)


@pytest.mark.parametrize("eps", [-0.1, math.nan, math.inf, "0.1"])
def test_a_design_needs_an_attack(eps: object) -> None:
    with refused(ArgumentError, "a finite design_eps >= 0"):
        smoother(design_eps=eps)


def test_a_center_is_either_chosen_or_designed() -> None:
    with refused(ArgumentError, "center or design_eps", "both"):
        smoother(center=cs.Medoid(), design_eps=0.1)


@pytest.mark.parametrize("metric", [metrics.Discrete(), metrics.clipped(metrics.Levenshtein(), 9)])
def test_a_pool_is_refused_where_outputs_cannot_be_averaged(metric: metrics.Metric) -> None:
    with refused(ArgumentError, "a metric that can pool outputs"):
        smoother(metric=metric, center=cs.Medoid(pool=3))
