"""Exact ranks and masses for order statistics: pure scalars, no torch.

Every function here errs on the safe side: ranks and masses are rounded up, failure
probabilities are bounded from above. Notation of docs/theory/notation.md.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, betainc, betaincinv

FloatArray = NDArray[np.float64]
Failure = Callable[[FloatArray], FloatArray]

# Left end points lie this many standard deviations of the Beta law apart.
_STEP = 0.08
_LOW, _HIGH = -9.0, 7.0


def at_least(m: int, q: float, j: int) -> float:
    """P[Bin(m, q) >= j]."""
    if j <= 0:
        return 1.0
    if j > m:
        return 0.0
    return float(betainc(j, m - j + 1, q))


def at_most(n: int, p: Any, k: int) -> Any:
    """P[Bin(n, p) <= k], for a number or an array p."""
    return bdtr(k, n, p) if k >= 0 else np.zeros_like(np.asarray(p, dtype=float))


def upper_rank(m: int, q: float | None, alpha: float) -> int | None:
    """The least j with P[Bin(m, q) >= j] <= alpha, or None if no j <= m has it.

    The j-th smallest of m iid values is then at least their q-quantile with probability
    at least 1 - alpha, atoms and ties included.
    """
    if q is None or at_least(m, q, m) > alpha:
        return None
    low, high = 0, m  # at_least(low) > alpha >= at_least(high)
    while high - low > 1:
        middle = (low + high) // 2
        if at_least(m, q, middle) <= alpha:
            high = middle
        else:
            low = middle
    return high


def needed_mass(n: int, k: int, alpha: float) -> float:
    """The least p with P[Bin(n, p) <= k - 1] <= alpha.

    The Beta quantile is raised until the tail really is at most alpha: rounding leaves it
    above in half of all cases.
    """
    p = 1.0 - float(betaincinv(n - k + 1, k, alpha))
    while at_most(n, p, k - 1) > alpha:
        p += max(np.spacing(p), p * 1e-15)
    return min(p, 1.0)


def shown_mass(m: int, j: int, alpha: float) -> float:
    """The largest q with P[Bin(m, q) >= j] <= alpha: the mass that a j-th smallest shows.

    The ball up to the j-th smallest of m distances has at least this mass with probability at
    least 1 - alpha. The Beta quantile is lowered until the tail really is at most alpha.
    """
    q = float(betaincinv(j, m - j + 1, alpha))
    while q > 0 and at_least(m, q, j) > alpha:
        q -= max(float(np.spacing(q)), q * 1e-15)
    return max(q, 0.0)


def expected_failure(m: int, j: int, failure: Failure) -> float:
    """An upper bound on E failure(u) for u ~ Beta(j, m - j + 1), failure nonincreasing in u.

    Left end points: on each interval the failure is at most its value at the left end.
    """
    mean = j / (m + 1)
    deviation = np.sqrt(mean * (1 - mean) / (m + 2))
    nodes = mean + deviation * np.arange(_LOW, _HIGH, _STEP)
    nodes = nodes[(nodes > 0) & (nodes < 1)]
    below = np.concatenate(([0.0], betainc(j, m - j + 1, nodes), [1.0]))
    worst = failure(np.concatenate(([0.0], nodes)))
    return float(np.dot(np.diff(below), worst))


def joint_rank(m: int, alpha: float, failure: Failure) -> int | None:
    """The least j whose expected failure is at most alpha, or None if j = m fails too.

    The mass of the ball up to the j-th smallest of m distances is stochastically at least
    Beta(j, m - j + 1); `failure(u)` is the chance that a query fails when that mass is u.
    """
    if alpha <= 0 or expected_failure(m, m, failure) > alpha:
        return None
    low, high = 0, m  # the expectation is nonincreasing in j
    while high - low > 1:
        middle = (low + high) // 2
        if expected_failure(m, middle, failure) <= alpha:
            high = middle
        else:
            low = middle
    return high
