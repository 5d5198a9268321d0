from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import hypergeom

import centersmooth as cs
from centersmooth import binomial
from centersmooth.goals import EXHAUSTED, GOAL_MET, GOAL_MISSED, TOLERANCE_REACHED, question
from centersmooth.looks import looks_for
from centersmooth.sketch import Ranked, Sketch
from centersmooth.stopping import Foreseen, Stopped, Stopping
from centersmooth.theorems import Sizes, Theorem, theorem_for

NOISE, LEVEL, EPS, MOST = cs.Gaussian(1.0), cs.Joint(0.05), 0.7, 2_000
UNIFORM = np.random.default_rng(5).random((1, MOST))


def theorem_at(m: int, share: float) -> Theorem:
    center, metric = cs.Medoid(20, outer=0), cs.metrics.L1()
    return theorem_for(center, NOISE, metric, Sizes(501, m), LEVEL, share)


def at_other_level(m: int, share: float) -> Theorem:
    center, metric = cs.Medoid(20, outer=0), cs.metrics.L1()
    return theorem_for(center, NOISE, metric, Sizes(501, m), cs.Joint(0.04), share)


LOOKS = looks_for(theorem_at, EPS, MOST)


def first(count: int) -> Ranked:
    sketch = Sketch(1)
    sketch.add(UNIFORM[:, :count])
    return sketch.ranked()


def ended(goal: float | None, tolerance: float | None = None) -> Stopped:
    asked = question(goal and (EPS, goal), tolerance, [EPS])
    rule = Stopping(asked, LOOKS, theorem_at)
    return next(end for size in LOOKS.sizes if (end := rule.at(first(size), size)))


def bounds() -> list[float]:
    looks = zip(LOOKS.sizes, LOOKS.shares, strict=True)
    return [theorem_at(*look).bound(first(look[0]), 0, EPS) for look in looks]


def test_a_goal_within_reach_is_met_at_the_first_look_that_proves_it() -> None:
    reached = bounds()
    for goal in (10.0, reached[2], reached[-1] * 1.03):
        end = ended(goal)
        assert end.outcome == GOAL_MET
        assert reached[end.place] <= goal < min([np.inf, *reached[: end.place]])
        assert end.share == LOOKS.shares[end.place]


def test_a_goal_out_of_reach_is_given_up_the_sooner_the_farther_it_is() -> None:
    goals = [0.5 * bounds()[-1], 0.9 * bounds()[-1], 0.98 * bounds()[-1]]
    ends = [ended(goal) for goal in goals]
    assert all(end.outcome == GOAL_MISSED for end in ends)
    assert ends[0].place == 0
    assert [end.place for end in ends] == sorted(end.place for end in ends)


def test_what_only_all_the_samples_could_tell_exhausts_them() -> None:
    end = ended(bounds()[-1] * (1 - 1e-6))
    assert (end.outcome, end.place) == (EXHAUSTED, len(LOOKS.sizes) - 1)


@pytest.mark.parametrize("share", [0.3, 0.1, 0.05])
def test_a_tolerance_is_kept(share: float) -> None:
    end = ended(None, share)
    assert end.outcome == TOLERANCE_REACHED
    assert bounds()[-1] >= (1 - share) * bounds()[end.place]


def test_a_smaller_tolerance_costs_more() -> None:
    places = [ended(None, share).place for share in (0.3, 0.1, 0.05, 0.001)]
    assert places == sorted(places)
    assert places[0] < places[-1]
    assert ended(None, 0.001).outcome == EXHAUSTED


def test_the_sooner_of_goal_and_tolerance_ends_it() -> None:
    assert ended(10.0, 0.05).outcome == GOAL_MET
    assert ended(bounds()[-1] * (1 - 1e-6), 0.1).outcome == TOLERANCE_REACHED


def test_between_looks_nothing_is_settled() -> None:
    rule = Stopping(question((EPS, 10.0), None, None), LOOKS, theorem_at)
    assert rule.at(first(LOOKS.sizes[0] - 1), LOOKS.sizes[0] - 1) is None
    assert rule.at(first(LOOKS.sizes[0]), LOOKS.sizes[0]) is not None


def test_a_run_goes_on_under_the_same_question_and_looks_only() -> None:
    one = Stopping(question((EPS, 1.0), None, None), LOOKS, theorem_at)
    assert one.same_as(Stopping(question((EPS, 1.0), None, None), LOOKS, theorem_at))
    assert not one.same_as(Stopping(question((EPS, 1.1), None, None), LOOKS, theorem_at))
    surer = Stopping(question((EPS, 1.0), None, None), LOOKS, at_other_level)
    assert not one.same_as(surer)
    fewer = looks_for(theorem_at, EPS, 1_000)
    assert not one.same_as(Stopping(question((EPS, 1.0), None, None), fewer, theorem_at))


# -------------------------------------------------------------------------------------- forecast


@pytest.mark.parametrize(("m", "j", "seen"), [(100, 90, 10), (4000, 3600, 128), (64, 64, 64)])
@pytest.mark.parametrize("doubt", [0.5, 0.01, 1e-4])
def test_the_foreseen_rank_is_the_largest_with_so_little_doubt(
    m: int, j: int, seen: int, doubt: float
) -> None:
    rank = binomial.foreseen_rank(m, j, seen, doubt)
    fewer = hypergeom(m, j, seen)
    assert fewer.cdf(rank - 1) <= doubt * (1 + 1e-9)
    assert rank == min(j, seen) or fewer.cdf(rank) > doubt


def test_a_forecast_is_seldom_too_high_and_close_when_most_is_seen() -> None:
    generator, high = np.random.default_rng(6), 0
    for _ in range(300):
        values = generator.random((1, 400))
        part, whole = Sketch(1), Sketch(1)
        part.add(values[:, :100])
        whole.add(values)
        high += Foreseen(part.ranked(), 400).smallest(0, 360) > whole.ranked().smallest(0, 360)
    assert high <= 5  # 1/500 each
    assert Foreseen(first(MOST), MOST).smallest(0, 1_700) == first(MOST).smallest(0, 1_700)


def test_below_what_is_kept_a_forecast_is_as_hopeful_as_can_be() -> None:
    ranked = first(64)
    assert Foreseen(ranked, MOST).smallest(0, MOST // 2 + 1) > 0
    assert Foreseen(ranked, MOST).smallest(0, MOST // 10 + 1) == 0
    assert Foreseen(ranked, MOST).smallest_of_rows(0, MOST // 10 + 1).tolist() == [0.0]
    assert Foreseen(ranked, MOST).rows == 1
