from __future__ import annotations

import math

import pytest

from centersmooth.errors import ArgumentError
from centersmooth.noise import options


@pytest.mark.parametrize("value", [0, -1.0, math.inf, math.nan, "1", None, True])
def test_positive_refuses(value: object) -> None:
    with pytest.raises(ArgumentError, match="expected a positive, finite sigma, got"):
        options.positive(value, "sigma", "It is a size.")


@pytest.mark.parametrize("value", [1, 1.0, 2.5, True, None])
def test_whole_refuses(value: object) -> None:
    with pytest.raises(ArgumentError, match=r"expected a whole keep >= 2, got .* It counts"):
        options.whole(value, "keep", 2, "It counts.")


@pytest.mark.parametrize("value", [-0.1, 1, 1.0, math.nan, "0.5", True])
def test_probability_refuses(value: object) -> None:
    with pytest.raises(ArgumentError, match="expected 0 <= p < 1, got"):
        options.probability(value, "p", "It is a probability.")


@pytest.mark.parametrize("value", [3, (3,), (3, 0), (3, 4, 5), (2.0, 3), "33"])
def test_sizes_refuses(value: object) -> None:
    with pytest.raises(ArgumentError):
        options.sizes(value, "image", "It is a size.")


def test_what_is_right_passes() -> None:
    options.positive(0.1, "sigma", "")
    options.whole(2, "keep", 2, "")
    options.probability(0, "p", "")
    assert options.sizes([3, 4], "image", "") == (3, 4)
