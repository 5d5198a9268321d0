"""The edge of a condition, from the safe side."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from centersmooth.monotone import largest, least


@pytest.mark.parametrize("limit", [0.0, 1e-9, 0.3, 7.0, 1e9])
def test_largest_and_least_find_the_edge(limit: float) -> None:
    assert largest(lambda v: v <= limit) == pytest.approx(limit, rel=1e-9, abs=1e-12)
    assert largest(lambda v: v <= limit) <= limit
    assert least(lambda v: v >= limit) == pytest.approx(limit, rel=1e-9)
    assert least(lambda v: v >= limit) >= limit


def test_largest_without_an_edge() -> None:
    always: Callable[[float], bool] = lambda v: True  # noqa: E731
    assert largest(always) == math.inf
