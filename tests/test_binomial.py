"""Ranks and masses against exact rational arithmetic."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate
from scipy.stats import beta

from centersmooth import binomial

quiet = settings(derandomize=True, deadline=None, max_examples=60)


def exact_at_least(m: int, q: Fraction, j: int) -> Fraction:
    return sum((comb(m, i) * q**i * (1 - q) ** (m - i) for i in range(j, m + 1)), Fraction(0))


@quiet
@given(st.integers(1, 40), st.integers(1, 99), st.integers(1, 60))
def test_upper_rank_is_the_least_exact_one(m: int, percent: int, per_mille: int) -> None:
    q, alpha = Fraction(percent, 100), Fraction(per_mille, 1000)
    wanted = next((j for j in range(m + 1) if exact_at_least(m, q, j) <= alpha), None)
    assert binomial.upper_rank(m, float(q), float(alpha)) == wanted


def test_the_classical_59_samples() -> None:
    """The largest of 59 samples covers the 95 % quantile with 95 % confidence, of 58 none does."""
    assert binomial.upper_rank(59, 0.95, 0.05) == 59
    assert binomial.upper_rank(58, 0.95, 0.05) is None


@pytest.mark.parametrize("q", [None, 1.0])
def test_no_rank_covers_all_mass(q: float | None) -> None:
    assert binomial.upper_rank(10**6, q, 0.4) is None


@quiet
@given(st.integers(1, 2000), st.floats(0.01, 1.0), st.floats(1e-9, 0.4))
def test_needed_mass_suffices_and_is_least(n: int, share: float, alpha: float) -> None:
    k = max(1, round(share * n))
    p = binomial.needed_mass(n, k, alpha)
    assert binomial.at_most(n, p, k - 1) <= alpha
    assert binomial.at_most(n, p * (1 - 1e-9), k - 1) > alpha


@quiet
@given(st.integers(1, 2000), st.floats(0.01, 1.0), st.floats(1e-9, 0.4))
def test_shown_mass_is_sure_and_largest(m: int, share: float, alpha: float) -> None:
    """The inverse of `upper_rank`."""
    j = max(1, round(share * m))
    q = binomial.shown_mass(m, j, alpha)
    assert binomial.at_least(m, q, j) <= alpha
    assert binomial.at_least(m, q * (1 + 1e-9), j) > alpha
    assert binomial.upper_rank(m, q, alpha) == j or q == 0


@pytest.mark.parametrize(("m", "j"), [(20, 15), (200, 190), (4000, 3900), (50, 50), (3, 1)])
@pytest.mark.parametrize("steepness", [5.0, 60.0])
def test_expected_failure_is_a_tight_upper_bound(m: int, j: int, steepness: float) -> None:
    def failure(u: np.ndarray) -> np.ndarray:
        return 1.0 / (1.0 + np.exp(steepness * (np.asarray(u) - 0.9)))

    law = beta(j, m - j + 1)
    low, high = law.ppf(1e-14), law.ppf(1 - 1e-14)
    true, _ = integrate.quad(lambda u: failure(u) * law.pdf(u), low, high, limit=500)
    found = binomial.expected_failure(m, j, failure)
    assert true * (1 - 1e-9) <= found <= true * 1.25 + 1e-12


def test_joint_rank_is_the_least_that_keeps_the_level() -> None:
    def failure(u: np.ndarray) -> np.ndarray:
        return binomial.at_most(99, u, 60)

    rank = binomial.joint_rank(300, 0.05, failure)
    assert rank is not None
    assert binomial.expected_failure(300, rank, failure) <= 0.05
    assert binomial.expected_failure(300, rank - 1, failure) > 0.05


def test_joint_rank_knows_when_there_is_none() -> None:
    assert binomial.joint_rank(10, 0.01, lambda u: np.ones_like(u)) is None
    assert binomial.joint_rank(10, 0.0, lambda u: np.zeros_like(u)) is None


@pytest.mark.parametrize("alpha", [1e-4, 1e-8, 1e-12])
def test_small_levels_are_only_a_matter_of_samples(alpha: float) -> None:
    """The largest of enough distances serves any level: a Beta law has no mass left out."""

    def failure(u: np.ndarray) -> np.ndarray:
        return binomial.at_most(999, u, 499)

    rank = binomial.joint_rank(100_000, alpha, failure)
    assert rank is not None
    # Half of 100,000 is the least that could do; the slack is of the order of its deviation.
    assert 50_000 < rank < 50_000 + 12 * np.sqrt(100_000 * 1000 / 4 / 10)
    assert binomial.joint_rank(200, alpha, failure) is not None


@pytest.mark.parametrize(
    ("n", "p", "k", "error"), [(999, 0.55, 499, 1e-12), (9999, 0.8, 7749, 1e-11)]
)
def test_tails_are_as_accurate_as_the_page_on_arithmetic_says(
    n: int, p: float, k: int, error: float
) -> None:
    share = Fraction(p)
    weight = share**k * (1 - share) ** (n - k) * comb(n, k)
    total = 0.0
    first = float(weight)
    ratio = 1.0
    for i in range(k, max(-1, k - 600), -1):
        total += ratio
        ratio *= i / (n - i + 1) * (1 - p) / p
    assert binomial.at_most(n, p, k) == pytest.approx(first * total, rel=error, abs=0)


@pytest.mark.parametrize("guess", [-5.0, 1.0, 200.0, 250.0, 263.4, 299.0, 300.0, 1e9])
@pytest.mark.parametrize("k", [60, 70, 90, 98])
def test_a_guess_saves_search_and_changes_nothing(guess: float, k: int) -> None:
    def failure(u: np.ndarray) -> np.ndarray:
        return binomial.at_most(99, u, k)

    assert binomial.joint_rank(300, 0.05, failure, guess) == binomial.joint_rank(300, 0.05, failure)


@quiet
@given(st.integers(1, 60), st.floats(0, 1), st.sampled_from([1e-6, 0.01, 0.3]))
def test_shown_mass_is_the_largest_that_the_count_refutes(
    m: int, share: float, alpha: float
) -> None:
    count = round(share * m)
    p = binomial.shown_mass(m, count, alpha)
    if not count:
        assert p == 0
        return
    assert exact_at_least(m, Fraction(p), count) <= Fraction(alpha) * (1 + Fraction(1, 10**9))
    larger = min(1.0, p * (1 + 1e-6))
    assert p == 1 or exact_at_least(m, Fraction(larger), count) > Fraction(alpha)


@quiet
@given(st.floats(0, 1), st.integers(1, 10**6), st.sampled_from([1e-6, 0.01, 0.3]))
def test_mean_shown_inverts_the_divergence_and_lies_above(
    mean: float, m: int, alpha: float
) -> None:
    p = binomial.mean_shown(mean, m, alpha)
    assert mean <= p <= 1
    if 1e-9 < mean < p < 1 - 1e-9:
        gap = mean * np.log(mean / p) + (1 - mean) * np.log((1 - mean) / (1 - p))
        assert m * gap == pytest.approx(-np.log(alpha), rel=1e-3, abs=1e-6)
    if mean == 0:
        assert p == pytest.approx(1 - alpha ** (1 / m), rel=1e-6)
