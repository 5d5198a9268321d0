"""Whether the samples at a look settle a question.

Any rule is valid here: the looks are paid for (docs/theory/anytime.md). This one compares the
bound of the look with a forecast of what the looks still to come could give.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from centersmooth import binomial
from centersmooth.confidence import Confidence
from centersmooth.goals import (
    EXHAUSTED,
    GOAL_MET,
    GOAL_MISSED,
    TOLERANCE_REACHED,
    Question,
)
from centersmooth.looks import Looks, TheoremAt
from centersmooth.sketch import Ranked

_DOUBT = 0.002
"""The chance, per order statistic, that a later look does better than its forecast."""


@dataclass(frozen=True)
class Stopped:
    """Where sampling stopped, and why."""

    looks: Looks
    place: int
    question: Question
    outcome: str

    @property
    def share(self) -> float:
        """What the look at which it stopped may spend of the failure probability."""
        return self.looks.shares[self.place]


class Foreseen(Ranked):
    """Order statistics of m distances as seen from the first few of them, at their most hopeful.

    The j-th smallest of m values is not below the one that is returned, but for a small chance:
    if it were, too few of the first values would lie below it. Given how many of all m do, the
    number among the first is hypergeometric, for the samples are exchangeable.
    """

    def __init__(self, ranked: Ranked, m: int) -> None:
        self._seen, self.total = ranked, m
        self.moments = ranked.moments  # of as many outputs as were seen: sums have no ranks

    @property
    def rows(self) -> int:
        """As many as were seen."""
        return self._seen.rows

    def smallest(self, row: int, j: int) -> float:
        """A hopeful j-th smallest of m."""
        rank = self._rank(row, j)
        return self._seen.smallest(row, rank) if rank else 0.0

    def smallest_together(self, rows: Sequence[int], j: int) -> float:
        """The same of the distances of several rows."""
        total, seen = self.total * len(rows), self._seen.total * len(rows)
        rank = binomial.foreseen_rank(total, j, seen, _DOUBT)
        least = sum(self._seen.least_rank(row) for row in rows)
        return self._seen.smallest_together(rows, rank) if rank >= least else 0.0

    def smallest_of_rows(self, first: int, j: int) -> NDArray[np.float64]:
        """The same for each row from `first` on."""
        rank = self._rank(self.rows - 1, j)
        if not rank:
            return np.zeros(self.rows - first)
        return self._seen.smallest_of_rows(first, rank)

    def _rank(self, row: int, j: int) -> int:
        """Below the least rank that is kept: 0, for the most hopeful there is."""
        rank = binomial.foreseen_rank(self.total, j, self._seen.total, _DOUBT)
        return rank if rank >= self._seen.least_rank(row) else 0


class Stopping:
    """The question of one certificate, to be asked at each of its looks."""

    foreseen: ClassVar[type[Foreseen]] = Foreseen

    def __init__(self, question: Question, looks: Looks, theorem_at: TheoremAt) -> None:
        self.question, self.looks, self.theorem_at = question, looks, theorem_at
        self.theorems = [theorem_at(*look) for look in zip(looks.sizes, looks.shares, strict=True)]

    def at(self, ranked: Ranked, samples: int) -> Stopped | None:
        """The end, if so many samples are at a look that settles the question or is the last."""
        if samples not in self.looks.sizes:
            return None
        place = self.looks.sizes.index(samples)
        outcome = self._outcome(ranked, place)
        if outcome is None and samples < self.looks.last:
            return None
        return Stopped(self.looks, place, self.question, outcome or EXHAUSTED)

    def same_as(self, other: Stopping) -> bool:
        """Whether a run under the other may go on under this one."""
        return self._asked == other._asked

    @property
    def _asked(self) -> tuple[Question, Looks, Confidence]:
        return self.question, self.looks, self.theorems[0].level

    def _outcome(self, ranked: Ranked, place: int) -> str | None:
        goal, tolerance = self.question.goal, self.question.tolerance
        later = range(place + 1, len(self.looks.sizes))
        now = self.theorems[place]
        if goal and now.bound(ranked, goal.row, goal.eps) <= goal.bound:
            return GOAL_MET
        if not later:
            return None
        if tolerance and all(
            self._forecast(ranked, later, 0, eps)
            >= (1 - tolerance.share) * now.bound(ranked, 0, eps)
            for eps in tolerance.eps
        ):
            return TOLERANCE_REACHED
        if goal and self._forecast(ranked, later, goal.row, goal.eps) > goal.bound:
            return GOAL_MISSED
        return None

    def _forecast(self, ranked: Ranked, later: Sequence[int], row: int, eps: float) -> float:
        """The least bound that the looks still to come can be expected to give."""
        group = self.looks.sizes[later[0] - 1] // ranked.total  # outputs behind one distance
        ahead = ((self.theorems[place], self.looks.sizes[place] // group) for place in later)
        return min(theorem.bound(self.foreseen(ranked, m), row, eps) for theorem, m in ahead)
