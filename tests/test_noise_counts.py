from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from centersmooth.noise.counts import changes


@pytest.mark.parametrize(
    ("eps", "count"), [(0.0, 0), (0.99, 0), (1.0, 1), (2.7, 2), (3.0, 3), (3.2, 3), (1e18, 10**18)]
)
def test_fractions_of_a_change_cannot_be_made(eps: float, count: int) -> None:
    assert changes(eps) == count


@settings(derandomize=True, deadline=None, max_examples=200)
@given(st.floats(0, 999))
def test_an_eps_that_prints_as_a_whole_number_is_one(eps: float) -> None:
    """Bounds on eps are printed with three digits at least: they must not say too much."""
    for near in (eps, math.nextafter(round(eps), 0.0), round(eps) * (1 - 1e-4)):
        assert changes(near) >= math.floor(near)
        if float(f"{near:.3g}").is_integer():
            assert changes(near) >= float(f"{near:.3g}")


def test_just_below_three_counts_as_three() -> None:
    assert changes(math.nextafter(3.0, 0.0)) == 3
    assert changes(2.999) == 3
    assert changes(2.98) == 2
