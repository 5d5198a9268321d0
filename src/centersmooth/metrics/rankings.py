"""Distances between rankings of the same items."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numba
import numpy as np
import torch

from centersmooth import kernels
from centersmooth.errors import ArgumentError, OutputError, expected
from centersmooth.metrics import bits
from centersmooth.metrics.base import Block, Metric, flat_rows
from centersmooth.outputs import Outputs


class _Ranking(Metric):
    """One output is a vector with a score, or a rank, for each item."""

    items: int | None
    rounding: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        if self.items is not None and not (isinstance(self.items, int) and self.items >= 1):
            fix = "It is the number of items ranked; leave it out if it is not known."
            raise ArgumentError(expected("items >= 1", repr(self.items), fix))

    def _scores(self, outputs: Outputs) -> tuple[torch.Tensor, torch.Tensor]:
        scores, valid = flat_rows(outputs, self)
        if self.items is not None and len(scores) and scores.shape[1] != self.items:
            fix = "Return one score or rank per item, in a fixed order of the items."
            got = f"{scores.shape[1]} of them"
            raise OutputError(expected(f"scores of {self.items} items", got, fix))
        return scores.cpu(), valid


@dataclass(frozen=True)
class KendallTau(_Ranking):
    """``d(a, b) = the number of pairs of items that a and b order differently``. Theorem B.

    Range [0, inf), or [0, n (n - 1) / 2] once the number of `items` n is given. One output
    holds a score or a rank for each item (an order of items, best first, becomes ranks by
    ``order.argsort()``). A pair that only one of the rankings ties counts one half. A metric:
    half the number of ordered pairs that one ranking contains and the other does not.
    """

    items: int | None = None
    unit: ClassVar[str] = "pairs"

    @property
    def diameter(self) -> float:  # type: ignore[override]
        return math.inf if self.items is None else self.items * (self.items - 1) / 2

    def collate(self, outputs: Outputs) -> Block:
        """A bit for every ordered pair: whether the first item comes before the second."""
        scores, valid = self._scores(outputs)
        before = [(row[:, None] < row[None, :]).reshape(-1) for row in scores]
        pairs = torch.stack(before) if before else torch.zeros((0, 1), dtype=torch.bool)
        return Block(bits.packed(pairs), valid)

    def lengths(self, a: Any, b: Any) -> torch.Tensor:
        kernels.check_widths(a, b)
        return bits.differing(a, b).mul_(0.5)


@dataclass(frozen=True)
class SpearmanFootrule(_Ranking):
    """``d(a, b) = sum over items |rank in a - rank in b|``. Theorem B.

    Range [0, inf), or [0, floor(n^2 / 2)] once the number of `items` n is given. One output
    holds a score or a rank for each item; tied items share the mean of their ranks. A metric:
    the l1 distance of the vectors of ranks.
    """

    items: int | None = None
    unit: ClassVar[str] = "ranks"

    @property
    def diameter(self) -> float:  # type: ignore[override]
        return math.inf if self.items is None else float(self.items**2 // 2)

    def collate(self, outputs: Outputs) -> Block:
        scores, valid = self._scores(outputs)
        return Block(_ranks(scores), valid)

    def lengths(self, a: Any, b: Any) -> torch.Tensor:
        # Ranks are halves of whole numbers, and so are their sums: rounding makes them exact.
        return kernels.l1(a, b).mul_(2.0).round_().mul_(0.5)


def _ranks(scores: torch.Tensor) -> torch.Tensor:
    """Ranks from 1 within each row; items with one score share the mean of theirs."""
    table = scores.numpy()
    return torch.from_numpy(_mean_ranks(table, np.argsort(table, axis=1)))


@numba.njit(cache=True, nogil=True)
def _mean_ranks(scores, order):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    ranks = np.empty(scores.shape)
    for i in range(len(scores)):
        start = 0
        for stop in range(1, order.shape[1] + 1):
            if stop < order.shape[1] and scores[i, order[i, stop]] == scores[i, order[i, start]]:
                continue
            for k in range(start, stop):
                ranks[i, order[i, k]] = (start + stop + 1) / 2.0
            start = stop
    return ranks
