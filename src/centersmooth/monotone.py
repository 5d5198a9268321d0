"""The edge of a condition on numbers, by bisection, rounded to the safe side."""

from __future__ import annotations

import math
from collections.abc import Callable


def largest(holds: Callable[[float], bool]) -> float:
    """The largest number at which a condition that is lost for good still holds, rounded down."""
    if not holds(0.0):
        return 0.0
    low, high = 0.0, 1e-6
    while holds(high):
        low, high = high, high * 4
        if high > 1e18:
            return math.inf
    for _ in range(50):
        middle = (low + high) / 2
        if holds(middle):
            low = middle
        else:
            high = middle
    return low


def least(holds: Callable[[float], bool]) -> float:
    """The least number at which a condition that stays once it holds does, rounded up."""
    if holds(0.0):
        return 0.0
    below = largest(lambda value: not holds(value))
    return math.inf if math.isinf(below) else below * (1 + 1e-12)
