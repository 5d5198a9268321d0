"""Exact ranks and masses for order statistics: pure scalars, no torch.

Every function here errs on the safe side: ranks and masses are rounded up, failure
probabilities are bounded from above. Notation of docs/theory/notation.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, betainc, betaincinv, gammaln, rel_entr

FloatArray = NDArray[np.float64]
Failure = Callable[[FloatArray], FloatArray]

# Left end points, in standard deviations of the Beta law from its mean: close together where its
# mass is, ever farther apart below. A Beta law near 1 has a long lower tail; whatever of it lies
# below the last point counts as failed, which no level under that mass would survive.
_POINTS = np.concatenate((-np.geomspace(60.0, 9.0, 40)[:-1], np.arange(-9.0, 5.0, 0.08)))
_PATIENCE = 12  # steps of a search before it bisects


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


def shown_mass(m: int, count: int, alpha: float) -> float:
    """The largest p with P[Bin(m, p) >= count] <= alpha, rounded down.

    What was seen `count` times among m has at least this mass, but for alpha; this holds for a
    set fixed beforehand and, since distances are ranked, for the ball up to their count-th too.
    """
    if count <= 0:
        return 0.0
    p = float(betaincinv(count, m - count + 1, alpha))
    while p > 0 and at_least(m, p, count) > alpha:
        p = max(0.0, p - max(float(np.spacing(p)), p * 1e-15))
    return p


def mean_shown(mean: float, m: int, alpha: float) -> float:
    """The largest p with ``m kl(mean, p) <= log(1 / alpha)`` above the mean, rounded up.

    The expectation of numbers in [0, 1] exceeds it with probability alpha at most, `mean` being
    that of m independent ones (Hoeffding 1963, theorem 1).
    """
    low, high = min(max(mean, 0.0), 1.0), 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if middle > mean and m * float(rel_entr(mean, middle) + rel_entr(1 - mean, 1 - middle)) > (
            -math.log(alpha)
        ):
            high = middle
        else:
            low = middle
    return high


def expected_failure(m: int, j: int, failure: Failure) -> float:
    """An upper bound on E failure(u) for u ~ Beta(j, m - j + 1), failure nonincreasing in u.

    Left end points: on each interval the failure is at most its value at the left end.
    """
    mean = j / (m + 1)
    deviation = np.sqrt(mean * (1 - mean) / (m + 2))
    nodes = mean + deviation * _POINTS
    nodes = nodes[(nodes > 0) & (nodes < 1)]
    below = np.concatenate(([0.0], betainc(j, m - j + 1, nodes), [1.0]))
    worst = failure(np.concatenate(([0.0], nodes)))
    return float(np.dot(np.diff(below), worst))


def joint_rank(m: int, alpha: float, failure: Failure, guess: float | None = None) -> int | None:
    """The least j whose expected failure is at most alpha, or None if j = m fails too.

    The mass of the ball up to the j-th smallest of m distances is stochastically at least
    Beta(j, m - j + 1); `failure(u)` is the chance that a query fails when that mass is u.
    A good guess saves most of the search and changes nothing else.
    """
    if alpha <= 0:
        return None
    tried = {m + 1: -math.inf}  # by rank: the logarithm of expected failure over alpha
    low, high = 0, m + 1  # the expectation is nonincreasing in j
    j = m // 2 if guess is None else round(guess)
    while high - low > 1:
        j = min(max(j, low + 1), high - 1)
        value = expected_failure(m, j, failure)
        tried[j] = math.log(value / alpha) if value > 0 else -math.inf
        low, high = (low, j) if value <= alpha else (j, high)
        j = _next_rank(low, high, tried)
    return high if high <= m else None


def _next_rank(low: int, high: int, tried: dict[int, float]) -> int:
    """Where the search goes on: by interpolation between two sides, else in growing steps."""
    step = 1 << min(len(tried), 40)
    if low not in tried:
        return high - step
    if math.isinf(tried[high]):
        return low + step
    if len(tried) > _PATIENCE:
        return (low + high) // 2
    return low + math.ceil((high - low) * tried[low] / (tried[low] - tried[high]))


@lru_cache(maxsize=4096)
def foreseen_rank(m: int, j: int, seen: int, doubt: float) -> int:
    """The largest s with P[H <= s - 1] <= doubt, H of the j least of m values among the first seen.

    H is hypergeometric for exchangeable values. The j-th smallest of all m is then at least the
    s-th smallest of the first, but for `doubt`.
    """
    most, fewest = min(j, seen), max(0, seen - (m - j))
    here = np.arange(fewest, most + 1, dtype=float)
    rest = seen - here
    log_chance = (
        _log_choose(j, here) + _log_choose(m - j, rest) - _log_choose(m, np.array(float(seen)))
    )
    below = np.cumsum(np.exp(log_chance))
    return fewest + int(np.searchsorted(below, doubt, side="right"))


def _log_choose(n: int, k: FloatArray) -> FloatArray:
    """log of n over k."""
    found: FloatArray = gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)
    return found
