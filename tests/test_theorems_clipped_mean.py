"""The pieces of Theorem D read as the page says."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
import torch

import centersmooth as cs
from centersmooth import binomial
from centersmooth import noise as threats
from centersmooth.certificates import Certificate
from centersmooth.errors import ArgumentError, FormatError
from centersmooth.planning import plan, theorem_of
from centersmooth.theorems import ClippedMeanTheorem, Sizes, theorem_for
from centersmooth.theorems.clipped_mean import budget
from refusals import refused
from tiny_models import TARGET, X, certificate, linear, smoother

L2, JOINT, SPLIT = cs.metrics.L2(), cs.Joint(0.01), cs.Split(0.01, 0.02)


@pytest.fixture(scope="module", params=[JOINT, SPLIT, "radius"], ids=["joint", "split", "radius"])
def one(request: pytest.FixtureRequest) -> Certificate:
    level = JOINT if request.param == "radius" else request.param
    center = cs.ClippedMean(20.0 if request.param == "radius" else None)
    return certificate(center=center, answer_samples=499, samples=2_000, target=TARGET, alpha=level)


def parts(one: Certificate) -> tuple[ClippedMeanTheorem, Any]:
    assert isinstance(one.theorem, ClippedMeanTheorem)
    assert one.ranked.moments is not None
    return one.theorem, one.ranked.moments


def test_the_budget_is_spent_once() -> None:
    """Both sides of the split form by themselves; in the joint form all of them together."""
    for level in (JOINT, SPLIT):
        spent = budget(level)
        certified = spent.band + spent.top + spent.mean + 2 * spent.pairs
        queried = 3 * spent.median + 2 * spent.scale + spent.deviation
        if isinstance(level, cs.Joint):
            assert certified + queried + spent.outside.total == pytest.approx(level.alpha)
        else:
            assert isinstance(spent.outside, cs.Split)
            assert certified + spent.outside.certificate == pytest.approx(level.certificate)
            assert queried + spent.outside.query == pytest.approx(level.query)
    assert len(fields(spent)) == 8


def test_every_part_grows_with_eps(one: Certificate) -> None:
    proved, moments = parts(one)
    points = np.linspace(0, 0.25, 26)
    median = [proved.median_bound(one.ranked, eps) for eps in points]
    for grown in (
        [proved.bound(one.ranked, 0, eps) for eps in points],
        [proved.bound(one.ranked, 1, eps) for eps in points],
        [proved.outside(eps, 0) for eps in points],
        [proved.outside(eps, 3) for eps in points],
        median,
        [proved.farthest(one.ranked, e, m) for e, m in zip(points, median, strict=True)],
        [proved.mean_bound(moments, 0, eps) for eps in points],
        [proved.deviation(one.ranked, moments, eps) for eps in points],
        [not proved.unclipped(moments, e, m) for e, m in zip(points, median, strict=True)],
    ):
        assert grown == sorted(grown)


def test_the_bound_is_the_sum_of_its_parts(one: Certificate) -> None:
    proved, moments = parts(one)
    eps = 0.05
    median = proved.median_bound(one.ranked, eps)
    assert proved.unclipped(moments, eps, median)
    position = proved._position(one.ranked, moments.region.radius)
    assert position is not None
    wanted = (
        proved.mean_bound(moments, 0, eps)
        + proved.deviation(one.ranked, moments, eps)
        + proved.outside(eps, position) / 499 * proved.farthest(one.ranked, eps, median)
    )
    assert one.bound(eps) == pytest.approx(wanted, rel=1e-4)
    assert one.error(eps) <= one.bound(eps) + L2(one.value, TARGET) * (1 + 1e-6)
    assert one.error(eps) >= L2(one.value, TARGET)


def test_outside_is_the_least_count_that_keeps_its_level() -> None:
    sizes, noise, eps, position = Sizes(99, 1_000), cs.Gaussian(1.0), 0.4, 1
    joint = ClippedMeanTheorem(cs.ClippedMean(), noise, L2, sizes, JOINT)

    def risk(most: int) -> float:
        def beyond(u: np.ndarray) -> np.ndarray:
            return binomial.at_most(99, noise.mass_left(u, eps), 99 - most - 1)

        return binomial.expected_failure(1_000, 999, beyond)

    most = joint.outside(eps, position)
    level = joint.budget.outside.part(1 / 4).total
    assert risk(most) <= level < risk(most - 1)
    split = ClippedMeanTheorem(cs.ClippedMean(), noise, L2, sizes, SPLIT)
    share = split.budget.outside.part(1 / 4)
    assert isinstance(share, cs.Split)
    mass = noise.mass_left(binomial.shown_mass(1_000, 999, share.certificate), eps)
    count = split.outside(eps, position)
    assert binomial.at_most(99, mass, 99 - count - 1) <= share.query
    assert binomial.at_most(99, mass, 99 - count) > share.query


def test_unseen_masses_are_filled_with_the_region(one: Certificate) -> None:
    """V is between the mean square of the distances and the square of the region."""
    proved, moments = parts(one)
    radius = moments.region.radius
    lengths = np.array([one.ranked.smallest(0, j) for j in range(1, 2_001)])
    least = float((np.minimum(lengths, radius) ** 2).mean())
    assert 0.95 * least <= proved.square_bound(one.ranked, radius, 0.0) < 1.6 * least
    assert proved.square_bound(one.ranked, radius, 5.0) == pytest.approx(radius**2, rel=0.01)


def test_the_radius_inverts_the_split_bound(one: Certificate) -> None:
    proved, _ = parts(one)
    split = theorem_for(one.center, one.noise, one.metric, one.sizes, one.level.as_split())
    for eps in (0.02, 0.06):
        tau = split.bound(one.ranked, 0, eps)
        assert eps * (1 - 1e-9) <= one.radius(tau) < 1.1 * eps
        assert split.bound(one.ranked, 0, one.radius(tau)) <= tau
        assert split.bound(one.ranked, 0, one.radius(tau) * (1 + 1e-6) + 1e-9) > tau
    assert proved.radius(one.ranked, 0, 0.0) == 0


def test_a_bound_vanishes_with_eps_where_theorem_c_has_a_floor() -> None:
    """The same samples: what is left at eps = 0 is sampling error."""
    made = smoother(center=cs.ClippedMean(), answer_samples=9_999)
    other = smoother(center=cs.GeometricMedian(), answer_samples=9_999)
    clipped, median = cs.certify_together([made, other], X, 20_000, seed=1)
    assert clipped.bound(0.0) < 0.12 * median.bound(0.0)
    assert clipped.bound(0.025) < 0.25 * median.bound(0.025)


def test_other_noises_are_refused_before_anything_is_drawn() -> None:
    for noise in (threats.LaplaceL1(0.2), threats.UniformL1(0.2)):
        made = cs.Smoother(linear, noise, L2, cs.ClippedMean(), batch_size=64, progress=False)
        for call in (lambda m=made: m.certify(X, 200), lambda m=made: plan(m, 0.1)):
            with refused(
                ArgumentError, "chi-squared", type(noise).__name__, "cs.GeometricMedian()"
            ):
                call()


def test_whitened_and_maximum_norms_come_with_their_own_chi_squared() -> None:
    white = threats.AnisotropicGaussian((0.1, 0.2, 0.3, 0.1, 0.2, 0.3))
    for noise, eps in ((white, 0.05), (threats.GaussianLinf(0.25, 6), 0.01)):
        made = cs.Smoother(linear, noise, L2, cs.ClippedMean(), 499, batch_size=64, progress=False)
        found = made.certify(X, 2_000, seed=1)
        assert found.status(eps) == "certified"
        assert 0 < found.bound(eps) < 2.0


def test_plans_and_words_know_it() -> None:
    made = smoother(center=cs.ClippedMean(), answer_samples=999)
    planned = plan(made, [0.05, 0.25, 2.0], samples=4_000)
    assert [point.decided for point in planned.points] == [True, True, False]
    assert planned.largest_eps == pytest.approx(theorem_of(made, 4_000, JOINT).largest_eps())
    assert planned.points[0].least_samples is not None
    assert planned.points[0].least_samples < 4_000
    found = made.certify(X, 1_000)
    assert "ClippedMean" in str(found)
    assert "with probability at least 99 %" in found.explain(0.05)
    assert found.explain(2.0).startswith("Undecided at eps = 2")
    assert found.bound(2.0) == math.inf
    with refused(ArgumentError, "a certificate of a Medoid"):
        found.bound_seen(0.05, 1.0)


def test_a_file_whose_moments_belong_to_another_center_is_refused() -> None:
    clipped = certificate(center=cs.ClippedMean(), target=TARGET).to_json()
    plain = certificate(target=TARGET).to_json()
    for text, kind, other in (
        (clipped, '"ClippedMean", "fields": {"radius": null}', '"GeometricMedian", "fields": {}'),
        (plain, '"GeometricMedian", "fields": {"tolerance": 0.001}', '"ClippedMean", "fields": {}'),
    ):
        assert kind in text
        with refused(FormatError, "moments that belong to"):
            Certificate.from_json(text.replace(kind, other))


def test_a_target_behind_a_direction_is_as_far_as_can_be() -> None:
    made = smoother(metric=cs.metrics.Angular(), center=cs.ClippedMean(5.0), answer_samples=199)
    found = made.certify(X, 600, target=-linear(X[None])[0])
    assert found.error(0.01) == 1.0
    assert found.bound(0.01) < 0.2


def test_no_moments_at_the_origin_of_a_constant() -> None:
    """Nothing moves, so nothing is claimed but rounding."""
    made = smoother(lambda b: torch.ones(len(b), 2), center=cs.ClippedMean(), answer_samples=199)
    found = made.certify(X, 600)
    assert found.bound(0.1) < 1e-5
    _, moments = parts(found)
    assert moments.top == 0
    assert replace(moments, pairs=1).pairs == 1
