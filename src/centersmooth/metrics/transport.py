"""Wasserstein distances: what it costs to carry one distribution over to another."""

from __future__ import annotations

import importlib.util
import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numba
import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array

from centersmooth import kernels
from centersmooth.errors import ArgumentError, OutputError, expected
from centersmooth.metrics.base import Block, Metric, mean_pool
from centersmooth.metrics.distributions import distribution_rows
from centersmooth.outputs import Outputs

Table = NDArray[np.float64]

_POT = importlib.util.find_spec("ot") is not None


class _Transport(Metric):
    """d(a, b) is a convex function of (a, b): means of outputs stay in a ball that holds them."""

    mean_stays_in_ball: ClassVar[bool] = True

    def pool(self, outputs: Outputs, size: int) -> torch.Tensor:
        """The mean of each run."""
        return mean_pool(outputs, size, self)


@dataclass(frozen=True)
class Wasserstein1(_Transport):
    """The least work that turns one histogram over a line into another. Theorem B.

    ``d(a, b) = sum_i |A_i - B_i| (t_{i+1} - t_i)`` for cumulative sums A, B and bins at
    `positions` t, or at 0, 1, 2, ... when None. An l1 distance of rows, so a metric. Range
    [0, last - first position], [0, inf) while the positions are not given. One output is a
    vector of probabilities; an all-zero one is invalid.
    """

    positions: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if self.positions is None:
            return
        positions = np.asarray(self.positions, dtype=float)
        finite = positions.ndim == 1 and len(positions) > 1 and bool(np.isfinite(positions).all())
        if not finite or not bool((np.diff(positions) > 0).all()):
            fix = "Give the position of every bin, e.g. ages of 1, 2, 5."
            raise ArgumentError(expected("increasing positions", repr(self.positions), fix))
        object.__setattr__(self, "positions", tuple(positions.tolist()))

    @property
    def diameter(self) -> float:  # type: ignore[override]
        return math.inf if self.positions is None else self.positions[-1] - self.positions[0]

    def collate(self, outputs: Outputs) -> Block:
        rows, valid = distribution_rows(outputs, self)
        if self.positions is not None and len(rows) and rows.shape[1] != len(self.positions):
            fix = "Return one probability per position."
            got = f"{rows.shape[1]} of them"
            raise OutputError(expected(f"{len(self.positions)} probabilities", got, fix))
        cumulative = rows.cumsum(dim=1)[:, :-1]
        if self.positions is not None:
            gaps = torch.tensor(self.positions, dtype=torch.float64).diff()
            cumulative = cumulative * gaps.to(cumulative.device)
        return Block(cumulative.contiguous(), valid)

    def lengths(self, a: Any, b: Any) -> torch.Tensor:
        return kernels.l1(a, b)


@dataclass(frozen=True)
class EarthMover(_Transport):
    """``d(a, b) = the least sum_ij T_ij cost_ij`` of plans T that carry a to b. Theorem B.

    The Wasserstein-1 distance. `cost` is the table of ground distances between classes, itself
    a metric; d is one then, for plans from a to b and from b to c glue together. Range [0,
    largest cost]. Solved by POT where it is installed (``pip install POT``), else by scipy's
    linear programming, some fifty times slower. Either plan is corrected until its margins are
    a and b but for rounding; carrying that over, too, would cost 2^-50 (n + 8) times the largest
    cost for n classes, which is added. So tolerances can only make a distance larger.
    """

    cost: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        table = np.asarray(self.cost, dtype=float)
        _check_cost(table)
        object.__setattr__(self, "cost", tuple(tuple(row) for row in table.tolist()))

    @property
    def diameter(self) -> float:  # type: ignore[override]
        return max(map(max, self.cost))

    def collate(self, outputs: Outputs) -> Block:
        rows, valid = distribution_rows(outputs, self)
        if len(rows) and rows.shape[1] != len(self.cost):
            fix = "Return one probability per row of the cost table."
            got = f"{rows.shape[1]} of them"
            raise OutputError(expected(f"{len(self.cost)} probabilities", got, fix))
        return Block(rows.cpu(), valid)

    def lengths(self, a: Any, b: Any) -> torch.Tensor:
        table = np.asarray(self.cost)
        plan_for = _plan_by_pot if _POT else _plan_by_scipy
        work = [[_work(p, q, table, plan_for) for q in b.numpy()] for p in a.numpy()]
        return torch.tensor(work, dtype=torch.float64).reshape(len(a), len(b))


def _check_cost(table: Table) -> None:
    square = table.ndim == 2 and table.shape[0] == table.shape[1] and len(table) > 0
    if not square or not bool(np.isfinite(table).all()) or bool((table < 0).any()):
        fix = "Give one row and one column per class."
        raise ArgumentError(expected("a square table of costs >= 0", f"{table.shape}", fix))
    if bool(np.diagonal(table).any()) or not np.array_equal(table, table.T):
        fix = "cost[i][j] is the distance from class i to class j."
        raise ArgumentError(expected("a symmetric table with a zero diagonal", "another", fix))
    detour = min(float((table[:, j, None] + table[j] - table).min()) for j in range(len(table)))
    if detour < -1e-9 * float(table.max()):
        fix = "Use shortest paths: scipy.sparse.csgraph.shortest_path(cost)."
        got = f"a detour that saves {-detour:.3g}"
        raise ArgumentError(expected("costs with the triangle inequality", got, fix))


def _work(p: Table, q: Table, cost: Table, plan_for: Any) -> float:
    if np.array_equal(p, q):
        return 0.0
    work = _corrected_cost(np.maximum(plan_for(p, q, cost), 0.0), p, q, cost)
    return float(work) + (len(p) + 8) * 2.0**-50 * float(cost.max())


@numba.njit(cache=True, nogil=True)
def _corrected_cost(plan, p, q, cost):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """The cost of the plan once its margins are p and q.

    Rows and columns with too much mass are scaled down; what then is missing goes from the
    rows to the columns in proportion (Altschuler, Weed and Rigollet 2017).
    """
    size = p.size
    for i in range(size):
        total = plan[i].sum()
        if total > p[i]:
            plan[i] *= p[i] / total
    for j in range(size):
        total = plan[:, j].sum()
        if total > q[j]:
            plan[:, j] *= q[j] / total
    missing_p, missing_q = np.empty(size), np.empty(size)
    for i in range(size):
        missing_p[i] = max(0.0, p[i] - plan[i].sum())
        missing_q[i] = max(0.0, q[i] - plan[:, i].sum())
    rest = max(missing_p.sum(), missing_q.sum())
    work = 0.0
    for i in range(size):
        for j in range(size):
            extra = missing_p[i] * missing_q[j] / rest if rest > 0.0 else 0.0
            work += (plan[i, j] + extra) * cost[i, j]
    return work


def _plan_by_pot(p: Table, q: Table, cost: Table) -> Table:
    import ot

    return np.asarray(ot.emd(p, q, cost, check_marginals=False))


def _plan_by_scipy(p: Table, q: Table, cost: Table) -> Table:
    from scipy.optimize import linprog

    margins = np.concatenate((p, q))[:-1]  # the last one follows from the others
    solved = linprog(cost.ravel(), A_eq=_margins(len(p)), b_eq=margins, method="highs")
    return np.asarray(solved.x).reshape(cost.shape) if solved.status == 0 else np.outer(p, q)


@lru_cache(maxsize=8)
def _margins(size: int) -> csr_array:
    """The equations that sum a flattened plan over columns, then over rows; the last follows."""
    places = np.arange(size * size)
    rows = np.concatenate((places // size, size + places % size))
    equations = csr_array((np.ones(len(rows)), (rows, np.tile(places, 2))))
    return equations[:-1]
