from __future__ import annotations

import math

import numpy as np
import pytest

import centersmooth as cs
from centersmooth import binomial
from centersmooth.sketch import Ranked, Sketch
from centersmooth.theorems import Sizes, WeberTheorem
from centersmooth.theorems.weber_point import levels, pull

NOISE = cs.Gaussian(0.5)
L1, TV = cs.metrics.L1(), cs.metrics.TotalVariation()


def theorem(pool: int = 1, n: int = 199, m: int = 2_000, level: object = None) -> WeberTheorem:
    chosen = level or cs.Joint(0.01)
    return WeberTheorem(cs.WeberPoint(pool), NOISE, L1, Sizes(n, m), chosen)  # type: ignore[arg-type]


def ranked(distances: np.ndarray) -> Ranked:
    sketch = Sketch(len(distances))
    sketch.add(distances)
    return sketch.ranked()


def spread_out(pool: int = 1, m: int = 2_000, points: int = 1, seed: int = 0) -> Ranked:
    views = cs.WeberPoint(pool).views
    numbers = np.random.default_rng(seed)
    return ranked(numbers.lognormal(0, 0.2, (views * points, m // pool)))


def test_equal_distances_bound_by_twice_them_and_the_tail() -> None:
    """All at distance 1 at x: at x' all but a mass u, which is at infinity: p D = 2 p + u D."""
    one = theorem(n=10**9)
    found = one.bound(ranked(np.ones((1, 2_000))), 0, 0.5)
    p = float(NOISE.mass_left(one.levels[1][1][-1], 0.5))
    gap = one.center.gap(L1)
    assert found == pytest.approx(2 * p / (2 * p - 1 - gap), rel=1e-3)
    assert found >= 2 * p / (2 * p - 1 - gap)


def test_the_levels_are_the_two_inversions() -> None:
    ranks, masses = levels(1_000, 0.01)
    spent = [binomial.at_least(1_000, q, j) for j, q in zip(ranks, masses, strict=True)]
    assert sum(spent) <= 0.01
    assert sum(spent) > 0.009999
    assert list(ranks) == sorted(set(ranks))
    assert ranks[-1] == 1_000
    assert levels(0, 0.01)[0] == ()


def test_scales_share_the_level_of_the_certificate() -> None:
    one = theorem(pool=4, level=cs.Split(0.03, 0.01))
    assert list(one.levels) == [1, 2, 4]
    for scale, (ranks, masses) in one.levels.items():
        m = 2_000 // scale
        spent = (binomial.at_least(m, q, j) for j, q in zip(ranks, masses, strict=True))
        assert sum(spent) == pytest.approx(0.01, rel=1e-4)


def test_pull_is_what_the_triangle_inequality_gives() -> None:
    found = pull(np.array([0.0, 0.5, 1.0, 1.5, 9.0]), 2.0)
    assert found.tolist() == [1.0, 0.5, 0.0, -0.5, -1.0]
    assert pull(np.zeros(2), 0.0).tolist() == [1.0, 1.0]
    assert pull(np.ones(2), 0.0).tolist() == [-1.0, -1.0]


@pytest.mark.parametrize("pool", [1, 2, 4])
@pytest.mark.parametrize("level", [cs.Joint(0.01), cs.Split(0.005, 0.005)])
def test_bounds_are_monotone_in_eps_and_end_at_the_diameter(pool: int, level: object) -> None:
    one, rows = theorem(pool, level=level), spread_out(pool)
    attacks = [0.05 * i for i in range(31)]
    bounds = [one.bound(rows, 0, eps) for eps in attacks]
    assert bounds == sorted(bounds)
    assert bounds[-1] == math.inf
    decided = [one.decides(eps) for eps in attacks]
    assert decided == sorted(decided, reverse=True)
    assert [bound < math.inf for bound in bounds] == decided


@pytest.mark.parametrize("pool", [1, 2])
def test_rows_of_w_and_the_target_are_kept_apart(pool: int) -> None:
    views, m = cs.WeberPoint(pool).views, 2_000
    near = np.random.default_rng(0).lognormal(0, 0.2, (views, m // pool))
    both = np.stack((near, 3 * near), axis=1).reshape(2 * views, m // pool)
    one, rows = theorem(pool), ranked(both)
    assert one.bound(rows, 0, 0.3) == one.bound(ranked(near), 0, 0.3)
    assert one.bound(rows, 1, 0.3) == one.bound(ranked(3 * near), 0, 0.3)


def test_smaller_scales_reach_where_the_largest_has_no_samples_left() -> None:
    """Means of four alone end at eps / sigma = 1.2; parts of them carry on."""
    one, rows = theorem(4, n=999), spread_out(4)
    whole = WeberTheorem(cs.WeberPoint(), cs.Gaussian(0.25), L1, Sizes(249, 500), cs.Joint(0.01))
    assert one.largest_eps() > 1.2 * whole.largest_eps()
    assert one.bound(rows, 0, one.largest_eps()) < math.inf


def test_pooling_pays_where_means_are_closer() -> None:
    """Distances of means of four are half as large: so is nearly the bound, at small eps."""
    m = 40_000
    single = spread_out(1, m)
    numbers = np.random.default_rng(1)
    parts = [(4 // s) * [1 / math.sqrt(s)] for s in (1, 2, 4)]
    scales = np.array([scale for part in parts for scale in part])
    pooled = ranked(scales[:, None] * numbers.lognormal(0, 0.2, (7, m // 4)))
    one, four = theorem(1, 9_999, m), theorem(4, 9_999, m)
    assert four.bound(pooled, 0, 0.25) < 0.6 * one.bound(single, 0, 0.25)


@pytest.mark.parametrize("pool", [1, 2])
@pytest.mark.parametrize("eps", [0.1, 0.5])
def test_least_samples_is_the_first_that_decides(pool: int, eps: float) -> None:
    one = theorem(pool)
    need = one.least_samples(eps)
    assert need is not None
    assert one.with_samples(need).decides(eps)
    assert not one.with_samples(need - 1).decides(eps)
    assert not theorem(8, n=5).decides(0.0)


@pytest.mark.parametrize("pool", [1, 2])
def test_radius_inverts_the_split_bound(pool: int) -> None:
    rows, split = spread_out(pool), cs.Split(0.005, 0.005)
    joint, one = theorem(pool), theorem(pool, level=split)
    radii = [joint.radius(rows, 0, tau) for tau in (0.5, 2.0, 2.5, 3.0, 4.0)]
    assert radii == sorted(radii)
    assert radii[0] == 0.0
    assert one.bound(rows, 0, radii[3]) <= 3.0 < one.bound(rows, 0, radii[3] * 1.001)


def test_failed_outputs_make_bounds_larger_never_wrong() -> None:
    distances = np.random.default_rng(0).lognormal(0, 0.2, (1, 2_000))
    broken = distances.copy()
    broken[0, :20] = math.inf
    one = theorem()
    assert one.bound(ranked(distances), 0, 0.2) < one.bound(ranked(broken), 0, 0.2) < math.inf
    broken[0, :900] = math.inf
    assert one.bound(ranked(broken), 0, 0.2) == math.inf


def test_total_variation_pays_for_its_gap_and_the_rounding_of_rows() -> None:
    center = cs.WeberPoint(tolerance=1e-2)
    rows = spread_out()
    sizes, level = Sizes(199, 2_000), cs.Joint(0.01)
    exact = WeberTheorem(cs.WeberPoint(tolerance=1e-9), NOISE, TV, sizes, level)
    loose = WeberTheorem(center, NOISE, TV, sizes, level)
    assert 1.005 < loose.bound(rows, 0, 0.2) / exact.bound(rows, 0, 0.2) < 1.1
    assert center.gap(TV) > 2e-2
    assert center.gap(TV) == pytest.approx(center.gap(L1), rel=1e-4)
