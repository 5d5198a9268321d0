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
