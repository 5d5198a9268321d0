"""The theorems read as their pages say: ranks from the level, bounds from the ranks."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import centersmooth as cs
from centersmooth import binomial
from centersmooth.centers.base import majority
from centersmooth.confidence import Confidence
from centersmooth.errors import ArgumentError
from centersmooth.sketch import Ranked, Sketch
from centersmooth.theorems import (
    InBall,
    MedianTheorem,
    MedoidTheorem,
    Sizes,
    ball_rank,
    theorem_for,
)
from centersmooth.theorems.medoid import Shares

NOISE = cs.Gaussian(0.5)
L1 = cs.metrics.L1()
SIZES = Sizes(99, 1_000)


def ranked(rows: list[np.ndarray]) -> Ranked:
    sketch = Sketch(len(rows))
    sketch.add(np.stack(rows))
    return sketch.ranked()


def even(last: float, m: int = SIZES.m) -> np.ndarray:
    """Distances spread evenly up to `last`."""
    return last * np.arange(1, m + 1) / m


def test_split_rank_is_the_two_inversions() -> None:
    level, eps, k = cs.Split(0.01, 0.02), 0.3, 50
    p = binomial.needed_mass(99, k, 0.02)
    wanted = binomial.upper_rank(1_000, NOISE.mass_needed(p, eps), 0.01)
    assert ball_rank(NOISE, eps, SIZES, k, level) == wanted


def test_joint_rank_meets_its_level_and_beats_the_split_one() -> None:
    eps, k = 0.3, 50
    rank = ball_rank(NOISE, eps, SIZES, k, cs.Joint(0.02))
    assert rank is not None

    def failure(u: np.ndarray) -> np.ndarray:
        return binomial.at_most(99, NOISE.mass_left(u, eps), k - 1)

    assert binomial.expected_failure(1_000, rank, failure) <= 0.02
    assert binomial.expected_failure(1_000, rank - 1, failure) > 0.02
    split = ball_rank(NOISE, eps, SIZES, k, cs.Split(0.01, 0.01))
    assert split is not None
    assert rank < split


def test_few_candidates_cost_rank_in_theorem_a() -> None:
    eps = 0.2
    alone = ball_rank(NOISE, eps, SIZES, 50, cs.Joint(0.05))
    with_two = ball_rank(NOISE, eps, SIZES, 50, cs.Joint(0.05), InBall(2, 1))
    with_many = ball_rank(NOISE, eps, SIZES, 50, cs.Joint(0.05), InBall(50, 1))
    assert alone is not None
    assert with_two is not None
    assert with_many == alone
    assert with_two > alone


@pytest.mark.parametrize("candidates", [1, 3, 10, 100])
def test_split_query_level_covers_the_count_and_the_candidates(candidates: int) -> None:
    """Both ways to fail share alpha_q: few candidates must be paid for with a larger ball."""
    level, eps = cs.Split(0.05, 0.02), 0.1
    rank = ball_rank(NOISE, eps, SIZES, 50, level, InBall(candidates, 1))
    if candidates == 1:
        assert rank is None or rank > 990
        return
    assert rank is not None
    masses = np.linspace(0.5, 1, 100_001)
    fails = binomial.at_most(99, masses, 49) + (1 - masses) ** candidates
    least_mass = masses[fails <= 0.02][0]
    wanted = binomial.upper_rank(1_000, NOISE.mass_needed(least_mass, eps), 0.05)
    assert rank == wanted


@pytest.mark.parametrize("level", [cs.Joint(0.01), cs.Split(0.004, 0.006)])
def test_shares_add_up_to_the_level(level: Confidence) -> None:
    shares = Shares.of(level)
    rest = shares.rest(level)
    certificate, query = shares.balls + shares.outer, shares.count + shares.candidate
    if isinstance(level, cs.Split):
        assert certificate * level.certificate + rest.certificate == pytest.approx(0.004)
        assert query * level.query + rest.query == pytest.approx(0.006)
    else:
        assert (certificate + query) * level.alpha + rest.alpha == pytest.approx(0.01)


def test_theorem_a_is_three_radii() -> None:
    theorem = MedoidTheorem(cs.Medoid(outer=0), NOISE, L1, SIZES, cs.Joint(0.01))
    rows = ranked([even(1.0)])
    rank = theorem.radius_rank(0.2)
    assert rank is not None
    assert theorem.bound(rows, 0, 0.2) == pytest.approx(3 * rank / SIZES.m, rel=2e-3)
    assert theorem.bound(rows, 0, 0.2) >= 3 * rank / SIZES.m


def test_relaxed_triangle_costs_gamma_and_its_double() -> None:
    relaxed = cs.metrics.Custom(lambda a, b: (a - b) ** 2, relaxation=2.0)
    theorem = MedoidTheorem(cs.Medoid(outer=0), NOISE, relaxed, SIZES, cs.Joint(0.01))
    rank = theorem.radius_rank(0.2)
    assert rank is not None
    bound = theorem.bound(ranked([even(1.0)]), 0, 0.2)
    assert bound == pytest.approx(2 * (1 + 2 * 2) * rank / SIZES.m, rel=2e-3)


@pytest.mark.parametrize(("outer", "takes_t"), [(0.5, True), (5.0, False)])
def test_theorem_b_takes_the_smaller_of_t_and_two_radii(outer: float, takes_t: bool) -> None:
    theorem = MedoidTheorem(cs.Medoid(50), NOISE, L1, SIZES, cs.Joint(0.01))
    rows = ranked([even(1.0)] + [even(outer)] * 50)
    radius = rows.smallest(0, theorem.radius_rank(0.2) or 0)
    ranks = theorem.outer_ranks(0.2)
    assert ranks is not None
    t = rows.smallest(1, ranks[0])
    wanted = radius + t if takes_t else 3 * radius
    assert theorem.bound(rows, 0, 0.2) == pytest.approx(wanted * (1 + L1.rounding), rel=1e-12)


def test_t_is_the_order_statistic_of_the_outer_points() -> None:
    theorem = MedoidTheorem(cs.Medoid(60), NOISE, L1, SIZES, cs.Joint(0.01))
    scales = np.linspace(0.01, 0.6, 60)
    rows = ranked([even(1.0)] + [even(s) for s in np.random.default_rng(0).permutation(scales)])
    ranks = theorem.outer_ranks(0.2)
    assert ranks is not None
    t = scales[ranks[1] - 1] * ranks[0] / SIZES.m
    radius = (theorem.radius_rank(0.2) or 0) / SIZES.m
    assert theorem.bound(rows, 0, 0.2) == pytest.approx(radius + t, rel=2e-3)


def test_pooled_boxes_have_no_worst_case() -> None:
    """A coordinate median may leave the ball, so without t there is no bound."""
    few = Sizes(99, 30)
    boxes = MedoidTheorem(
        cs.Medoid(100, pool=4), NOISE, cs.metrics.BoxJaccard(), few, cs.Joint(0.1)
    )
    assert boxes.outer_ranks(0.3) is None
    assert not boxes.decides(0.3)
    assert boxes.bound(ranked([even(1.0, 30)] * 101), 0, 0.3) == 1.0
    single = MedoidTheorem(cs.Medoid(100), NOISE, cs.metrics.BoxJaccard(), few, cs.Joint(0.1))
    assert single.decides(0.3)


def build(kind: str, sizes: Sizes, level: object) -> MedoidTheorem | MedianTheorem:
    if kind == "medoid":
        return MedoidTheorem(cs.Medoid(30), NOISE, L1, sizes, level)  # type: ignore[arg-type]
    return MedianTheorem(cs.GeometricMedian(), NOISE, cs.metrics.L2(), sizes, level)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["medoid", "median"])
@pytest.mark.parametrize("level", [cs.Joint(0.01), cs.Split(0.005, 0.005)])
@settings(derandomize=True, deadline=None, max_examples=25)
@given(st.lists(st.floats(0.0, 2.5), min_size=2, max_size=6), st.integers(0, 2**32 - 1))
def test_bounds_are_monotone_in_eps(
    kind: str, level: object, shifts: list[float], seed: int
) -> None:
    theorem = build(kind, SIZES, level)
    rows = ranked(list(np.random.default_rng(seed).lognormal(0, 1, (31, SIZES.m))))
    bounds = [theorem.bound(rows, 0, 0.5 * h) for h in sorted(shifts)]
    assert bounds == sorted(bounds)


@pytest.mark.parametrize("kind", ["medoid", "median"])
@pytest.mark.parametrize("eps", [0.1, 0.5, 1.0])
def test_least_samples_is_the_first_that_decides(kind: str, eps: float) -> None:
    theorem = build(kind, Sizes(99, 10), cs.Joint(0.01))
    need = theorem.least_samples(eps)
    assert need is not None
    assert theorem.with_samples(need).decides(eps)
    assert not theorem.with_samples(need - 1).decides(eps)


@pytest.mark.parametrize("kind", ["medoid", "median"])
def test_largest_eps_separates_decided_from_undecided(kind: str) -> None:
    theorem = build(kind, SIZES, cs.Joint(0.01))
    reach = theorem.largest_eps()
    assert theorem.decides(reach)
    assert not theorem.decides(reach * 1.0001)
    rows = ranked([even(1.0)] * 31)
    assert theorem.bound(rows, 0, reach * 1.01) == math.inf


def median(sizes: Sizes, level: Confidence = cs.Joint(0.01)) -> MedianTheorem:  # noqa: B008
    return MedianTheorem(cs.GeometricMedian(), NOISE, cs.metrics.L2(), sizes, level)


@pytest.mark.parametrize("level", [cs.Joint(0.01), cs.Split(0.004, 0.006)])
def test_levels_share_alpha_equally_and_fall_away_as_eps_grows(level: Confidence) -> None:
    sizes = Sizes(999, 4_000)
    theorem = median(sizes, level)
    found = theorem.levels(0.1)
    assert [x.k for x in found] == sorted({x.k for x in found})
    for x in found:
        assert x.rank == ball_rank(NOISE, 0.1, sizes, x.k, level.part(1 / len(found)))
    counts = [len(theorem.levels(0.5 * h)) for h in (0.2, 1.5, 2.0, 2.4, 2.75, 4.0)]
    assert counts == sorted(counts, reverse=True)
    assert counts[-2:] == [1, 0]


def test_the_last_level_has_all_of_alpha() -> None:
    """Where it is alone it reaches as far as a single level can."""
    sizes = Sizes(999, 4_000)
    (only,) = median(sizes).levels(0.5 * 2.8)
    assert only.k == 550
    assert only.rank == ball_rank(NOISE, 0.5 * 2.8, sizes, 550, cs.Joint(0.01))


@pytest.mark.parametrize("h", [0.3, 1.0, 1.8])
def test_median_bound_is_the_root_of_its_equation(h: float) -> None:
    center, theorem = cs.GeometricMedian(), median(SIZES)
    rows = ranked([np.random.default_rng(1).lognormal(0, 0.5, SIZES.m)])
    bound = theorem.bound(rows, 0, 0.5 * h) / (1 + cs.metrics.L2().rounding)
    levels = theorem.levels(0.5 * h)

    def excess(point: float) -> float:
        total, before = 0.0, 0.0
        for level in levels:
            s, p = rows.smallest(0, level.rank) / point, level.k / SIZES.n
            total += (p - before) * (math.sqrt(1 - s * s) if s < 1 else -1.0)
            before = p
        return total - (1 - before + center.tolerance)

    assert excess(bound * (1 + 1e-9)) > 0 >= excess(bound * (1 - 1e-9))
    for level in levels:
        single = center.factor(level.k / SIZES.n) * rows.smallest(0, level.rank)
        assert bound <= single * (1 + 1e-9)


@pytest.mark.parametrize("h", [0.5, 1.0, 1.5, 2.0])
def test_several_levels_beat_the_best_single_one_chosen_afterwards(h: float) -> None:
    """On outputs that spread as they do in practice: not even an oracle's p is as good."""
    sizes, center = Sizes(999, 4_000), cs.GeometricMedian()
    rows = ranked([np.random.default_rng(2).lognormal(0, 0.25, sizes.m)])
    single = math.inf
    for k in range(510, 960, 10):
        rank = ball_rank(NOISE, 0.5 * h, sizes, k, cs.Joint(0.01))
        if rank is not None:
            single = min(single, center.factor(k / 999) * rows.smallest(0, rank))
    assert median(sizes).bound(rows, 0, 0.5 * h) < 0.97 * single


@pytest.mark.parametrize("kind", ["medoid", "median"])
def test_radius_is_monotone_in_tau(kind: str) -> None:
    theorem = build(kind, SIZES, cs.Joint(0.01))
    rows = ranked([even(1.0)] * 31)
    radii = [theorem.radius(rows, 0, tau) for tau in (0.0, 0.5, 1.0, 1.5, 2.0, 3.0)]
    assert radii == sorted(radii)
    assert radii[0] == 0.0
    assert radii[-1] > 0


def test_seen_spread_replaces_t() -> None:
    theorem = MedoidTheorem(cs.Medoid(30), NOISE, L1, SIZES, cs.Joint(0.01))
    rows = ranked([even(1.0)] * 31)
    rank = ball_rank(NOISE, 0.2, SIZES, majority(SIZES.n), cs.Joint(0.01))
    wanted = rows.smallest(0, rank or 0) + 0.25
    slack = 1 + L1.rounding
    assert theorem.bound_seen(rows, 0, 0.2, 0.25) == pytest.approx(wanted * slack, rel=1e-9)
    assert theorem.bound_seen(rows, 0, 0.2, 0.25) >= wanted
    assert theorem.bound_seen(rows, 0, 99.0, 0.25) == math.inf


def test_unknown_center_is_refused() -> None:
    with pytest.raises(ArgumentError, match="a center with a theorem"):
        theorem_for(object(), NOISE, L1, SIZES, cs.Joint(0.1))  # type: ignore[arg-type]


def test_bound_never_exceeds_the_diameter() -> None:
    theorem = MedoidTheorem(cs.Medoid(30), NOISE, cs.metrics.BoxJaccard(), SIZES, cs.Joint(0.01))
    assert theorem.bound(ranked([even(1.0)] * 31), 0, 0.9) == 1.0


def test_the_radius_uses_the_worst_case_only_where_its_own_level_allows_for_it() -> None:
    """17 candidates all miss the ball too seldom for the certificate's level, not for a third."""
    level, center = cs.Joint(0.01), cs.Medoid(17)
    theorem = MedoidTheorem(center, NOISE, L1, SIZES, level)
    third = MedoidTheorem(center, NOISE, L1, SIZES, level.as_split().over_grid(3))
    assert theorem._worst_case
    assert not third._worst_case
    rows = ranked([even(1.0), *[np.full(SIZES.m, np.inf)] * 17])  # t says nothing
    assert theorem.bound(rows, 0, 0.1) < 3
    assert theorem.radius(rows, 0, 4.0) == 0
