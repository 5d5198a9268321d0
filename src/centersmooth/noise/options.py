"""Checks of the numbers a noise is built from."""

from __future__ import annotations

import math
from typing import Any

from centersmooth.errors import ArgumentError, expected


def positive(value: Any, name: str, meaning: str) -> None:
    """Refuse anything but a positive, finite number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < math.inf:
        raise ArgumentError(expected(f"a positive, finite {name}", repr(value), meaning))


def whole(value: Any, name: str, least: int, meaning: str) -> None:
    """Refuse anything but a whole number that is large enough."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ArgumentError(expected(f"a whole {name} >= {least}", repr(value), meaning))


def probability(value: Any, name: str, meaning: str) -> None:
    """Refuse anything but a number from 0 up to, but not including, 1."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1:
        raise ArgumentError(expected(f"0 <= {name} < 1", repr(value), meaning))


def sizes(value: Any, name: str, meaning: str) -> tuple[int, int]:
    """A pair of positive whole numbers."""
    pair = tuple(value) if isinstance(value, (list, tuple)) else ()
    if len(pair) != 2:
        raise ArgumentError(expected(f"{name} as a pair (height, width)", repr(value), meaning))
    for size in pair:
        whole(size, name, 1, meaning)
    return pair
