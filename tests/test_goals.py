from __future__ import annotations

import math
from typing import Any

import pytest

from centersmooth.errors import ArgumentError
from centersmooth.goals import Goal, Question, Tolerance, question
from refusals import refused


def test_a_pair_is_a_goal_about_the_answer() -> None:
    asked = question((0.25, 1), None, None)
    assert asked.goal == Goal(0.25, 1.0)
    assert asked.goal.row == 0
    assert Goal(0.25, 1.0, of_target=True).row == 1
    assert question(asked.goal, None, None) == asked


def test_a_question_is_something_asked() -> None:
    assert not question(None, None, [0.1])
    assert question((0.1, 1), None, None)
    assert question(None, 0.1, [0.1])
    assert question(None, 0.1, [0.1]).eps == (0.1,)
    assert question((0.3, 1), Tolerance(0.1, (0.2, 0.1)), None).eps == (0.1, 0.2, 0.3)
    assert Question().eps == ()


def test_a_tolerance_speaks_of_the_grid_or_of_the_goals_eps() -> None:
    assert question(None, 0.1, [0.1, 0.2]).tolerance == Tolerance(0.1, (0.1, 0.2))
    assert question((0.3, 1), 0.1, None).tolerance == Tolerance(0.1, (0.3,))
    with refused(ArgumentError, "a tolerance at some eps", "grid=[0.25]"):
        question(None, 0.1, None)


def test_all_is_asked_at_points_of_the_grid() -> None:
    """Where a certificate with that grid answers."""
    asked = question((0.15, 1), Tolerance(0.1, (0.05, 0.1, 0.2)), [0.1, 0.2])
    assert asked.goal == Goal(0.2, 1.0)
    assert asked.tolerance == Tolerance(0.1, (0.1, 0.2))
    with refused(ArgumentError, "eps <= 0.2", "0.3"):
        question((0.3, 1), None, [0.1, 0.2])


@pytest.mark.parametrize("goal", [0.5, "met", (0.1,), (0.1, 1, 2), [None]])
def test_what_is_no_pair_is_no_goal(goal: Any) -> None:
    with refused(ArgumentError, "a goal (eps, bound)"):
        question(goal, None, None)


@pytest.mark.parametrize(
    "numbers", [(-0.1, 1), (math.nan, 1), (math.inf, 1), ("0.1", 1), (0.1, -1), (0.1, math.inf)]
)
def test_goals_without_sense_are_refused(numbers: Any) -> None:
    with refused(ArgumentError, "a finite", ">= 0"):
        question(numbers, None, None)


@pytest.mark.parametrize("share", [0, 1, -0.1, 1.5, math.nan, "0.1"])
def test_tolerances_without_sense_are_refused(share: Any) -> None:
    with refused(ArgumentError, "0 < tolerance < 1"):
        question(None, share, [0.1])
