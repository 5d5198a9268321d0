from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from centersmooth.directions import WIDEST, FrequentDirections, Matrix, directions


def rows(count: int, width: int, seed: int, decay: float = 0.9) -> np.ndarray:
    random = np.random.default_rng(seed)
    basis = np.linalg.qr(random.standard_normal((width, width)))[0]
    return random.standard_normal((count, width)) * decay ** np.arange(width) @ basis


def top(data: np.ndarray) -> float:
    return float(np.linalg.svd(data, compute_uv=False)[0] ** 2)


def test_moderate_widths_are_kept_whole_and_wide_ones_are_not() -> None:
    assert isinstance(directions(WIDEST), Matrix)
    assert isinstance(directions(WIDEST + 1), FrequentDirections)


@pytest.mark.parametrize("kind", [Matrix, lambda width: FrequentDirections(width, 8)])
def test_nothing_seen_spreads_nowhere(kind: object) -> None:
    empty = kind(5)  # type: ignore[operator]
    assert empty.top() == 0.0
    empty.add(np.zeros((40, 5)))
    assert empty.top() == 0.0


def test_the_matrix_gives_the_top_eigenvalue() -> None:
    data = rows(300, 20, 1)
    whole, one, other = Matrix(20), Matrix(20), Matrix(20)
    whole.add(data)
    one.add(data[:111])
    other.add(data[111:])
    one.merge(other)
    assert whole.top() == pytest.approx(top(data), rel=1e-8)
    assert whole.top() >= top(data)
    assert one.top() == pytest.approx(whole.top(), rel=1e-12)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(1, 12),
    st.integers(2, 40),
    st.sampled_from([1.0, 0.7, 0.2, 1e-3]),
    st.integers(0, 200),
)
def test_frequent_directions_bound_the_top_eigenvalue_from_above(
    seed: int, kept: int, width: int, decay: float, cut: int
) -> None:
    """Whatever the spectrum, in one go or merged from two; and by no more than trace / kept."""
    data = rows(200, width, seed, decay)
    one, other = FrequentDirections(width, kept), FrequentDirections(width, kept)
    one.add(data[:cut])
    for row in data[cut:]:
        other.add(row[None])
    one.merge(other)
    truth = top(data)
    assert one.top() >= truth * (1 - 1e-12)
    assert one.lost <= (data**2).sum() / kept * (1 + 1e-6)
    assert one.top() <= truth + one.lost + 1e-6 * truth


def test_forgetting_what_was_lost_would_be_too_small() -> None:
    """The twin: B alone, without the number that belongs to it."""
    data = rows(400, 60, 3, decay=1.0)
    sketched = FrequentDirections(60, 4)
    sketched.add(data)
    assert sketched.top() - sketched.lost < top(data) <= sketched.top()


def test_a_dominant_direction_is_kept_almost_exactly() -> None:
    data = rows(2_000, 300, 4, decay=0.95)
    sketched = FrequentDirections(300, 64)
    sketched.add(data)
    assert top(data) <= sketched.top() < 1.01 * top(data)


@pytest.mark.parametrize("make", [lambda: Matrix(6), lambda: FrequentDirections(6, 2)])
def test_the_state_comes_back(make: object) -> None:
    one, other = make(), make()  # type: ignore[operator]
    one.add(rows(33, 6, 1))
    other.load(one.arrays())
    assert other.top() == one.top()
    other.add(rows(5, 6, 2))
    one.add(rows(5, 6, 2))
    assert other.top() == one.top()
    for bad in (directions(7).arrays(), FrequentDirections(7, 2).arrays()):
        with pytest.raises((ValueError, KeyError)):
            make().load(bad)  # type: ignore[operator]
