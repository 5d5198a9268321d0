"""What sampling may stop for: a question about the bound, known before anything is sampled."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, TypeAlias

from centersmooth.errors import ArgumentError, expected

GOAL_MET = "goal met"
GOAL_MISSED = "goal missed"
TOLERANCE_REACHED = "tolerance reached"
EXHAUSTED = "samples exhausted"
OUTCOMES = (GOAL_MET, GOAL_MISSED, TOLERANCE_REACHED, EXHAUSTED)


@dataclass(frozen=True)
class Goal:
    """Is the bound at `eps` at most `bound`? About the answer, or about the target."""

    eps: float
    bound: float
    of_target: bool = False

    def __post_init__(self) -> None:
        fix = "goal=(0.25, 1.5) asks whether an attack of size 0.25 moves the answer by 1.5."
        for name, least in (("eps", 0.0), ("bound", 0.0)):
            value = getattr(self, name)
            if not (isinstance(value, Real) and least <= float(value) < math.inf):
                raise ArgumentError(expected(f"a finite {name} >= 0", repr(value), fix))
            object.__setattr__(self, name, float(value))

    @property
    def row(self) -> int:
        """The row of the counted distances that the question is about."""
        return int(self.of_target)


@dataclass(frozen=True)
class Tolerance:
    """May the bound at any of these eps still shrink by more than this share of itself?"""

    share: float
    eps: tuple[float, ...]

    def __post_init__(self) -> None:
        if not (isinstance(self.share, Real) and 0 < float(self.share) < 1):
            fix = "tolerance=0.05 stops when 5 % of the bound is the most that is left to gain."
            raise ArgumentError(expected("0 < tolerance < 1", repr(self.share), fix))
        if not self.eps or not all(0 <= eps < math.inf for eps in self.eps):
            fix = "Declare the attacks it is about: certify(x, grid=[0.25], tolerance=0.05)."
            raise ArgumentError(expected("a tolerance at some eps", repr(self.eps), fix))


@dataclass(frozen=True)
class Question:
    """A goal, a tolerance, or both: sampling stops at whichever is settled first."""

    goal: Goal | None = None
    tolerance: Tolerance | None = None

    def __bool__(self) -> bool:
        return self.goal is not None or self.tolerance is not None

    @property
    def eps(self) -> tuple[float, ...]:
        """All attack sizes that are asked about, in increasing order."""
        asked = {self.goal.eps} if self.goal else set()
        return tuple(sorted(asked | set(self.tolerance.eps if self.tolerance else ())))


GoalLike: TypeAlias = Goal | tuple[float, float] | None
ToleranceLike: TypeAlias = Tolerance | float | None


def question(goal: Any, tolerance: Any, grid: Sequence[float] | None) -> Question:
    """What was asked, checked; a tolerance speaks of the declared grid, or of the goal's eps."""
    asked = _goal(goal)
    if asked is not None and grid:
        asked = Goal(_rounded_up(asked.eps, grid), asked.bound, asked.of_target)
    if tolerance is None or isinstance(tolerance, Tolerance):
        return Question(asked, _on_grid(tolerance, grid))
    points = tuple(grid) if grid else ((asked.eps,) if asked else ())
    return Question(asked, Tolerance(tolerance, points))


def _goal(goal: Any) -> Goal | None:
    if goal is None or isinstance(goal, Goal):
        return goal
    try:
        eps, bound = goal
    except (TypeError, ValueError) as error:
        fix = "goal=(0.25, 1.5) asks whether an attack of size 0.25 moves the answer by 1.5."
        raise ArgumentError(expected("a goal (eps, bound)", repr(goal), fix)) from error
    return Goal(eps, bound)


def _on_grid(tolerance: Tolerance | None, grid: Sequence[float] | None) -> Tolerance | None:
    if tolerance is None or not grid:
        return tolerance
    points = {_rounded_up(eps, grid) for eps in tolerance.eps}
    return Tolerance(tolerance.share, tuple(sorted(points)))


def _rounded_up(eps: float, grid: Sequence[float]) -> float:
    """The point of the declared grid at which a certificate answers this eps."""
    if eps > grid[-1]:
        fix = "Declare a larger grid, or ask about an eps that it covers."
        raise ArgumentError(expected(f"eps <= {grid[-1]:g}", f"{eps:g}", fix))
    return next(point for point in grid if eps <= point)
