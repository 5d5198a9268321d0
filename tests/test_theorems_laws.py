from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from centersmooth.theorems.laws import Law, log_tail


def law(count: int = 40, seed: int = 0) -> Law:
    numbers = np.random.default_rng(seed)
    radii = np.sort(numbers.lognormal(0, 0.5, count))
    return Law(radii, np.sort(numbers.random(count)) * 0.9)


def draws(of: Law, count: int, seed: int) -> np.ndarray:
    numbers = np.random.default_rng(seed)
    return numbers.choice(np.append(of.radii, np.inf), count, p=of.weights)


def test_within_is_the_mass_up_to_a_radius() -> None:
    one = Law(np.array([1.0, 2.0]), np.array([0.25, 0.75]))
    found = one.within(np.array([0.5, 1.0, 1.5, 2.0, 9.0]))
    assert found.tolist() == [0.0, 0.25, 0.25, 0.75, 0.75]
    assert one.weights.tolist() == [0.25, 0.5, 0.25]


def test_the_mean_of_two_atoms_is_exact() -> None:
    one = Law(np.array([0.0, 2.0]), np.array([0.5, 0.75]))
    mean = one.of_mean()
    assert mean.radii.tolist() == [0.0, 1.0, 2.0]
    assert mean.masses == pytest.approx([0.25, 0.5, 0.5625])


@pytest.mark.parametrize("count", [3, 40, 150])
def test_a_mean_is_never_within_less_than_it_says(count: int) -> None:
    one = law(count)
    exact = (draws(one, 200_000, 1) + draws(one, 200_000, 2)) / 2
    mean = one.of_mean()
    seen = np.array([(exact <= radius * (1 + 1e-12)).mean() for radius in mean.radii])
    assert (mean.masses <= seen + 0.006).all()
    assert (mean.masses >= seen - 0.03).all()  # little is lost by keeping some radii only


def test_two_laws_of_one_distance_say_what_the_better_says() -> None:
    one, other = law(seed=1), law(seed=2)
    both = one.and_also(other)
    radii = np.linspace(0, 5, 300)
    assert (both.within(radii) == np.maximum(one.within(radii), other.within(radii))).all()


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.floats(0.55, 0.999), st.integers(5, 400))
def test_the_tail_of_a_coin_is_bounded(share: float, n: int) -> None:
    """Exact binomial tails lie below, and not by more than Chernoff's bound must."""
    bound = n * log_tail(np.array([share, 1 - share]), np.array([1.0, -1.0]))
    exact = binom.cdf(n // 2, n, share)
    assert math.log(max(exact, 1e-300)) <= bound + 1e-9
    best = n * (0.5 * math.log(4 * share * (1 - share)))
    assert bound == pytest.approx(best, rel=1e-6)


def test_tails_that_are_certain_or_impossible() -> None:
    weights = np.array([0.5, 0.5])
    assert log_tail(weights, np.array([1.0, -1.0])) == 0.0
    assert log_tail(weights, np.array([1.0, -2.0])) == 0.0
    assert log_tail(weights, np.array([1.0, 0.5])) == -math.inf
    assert log_tail(np.zeros(0), np.zeros(0)) == 0.0


def test_what_has_no_weight_does_not_matter() -> None:
    plain = log_tail(np.array([0.8, 0.2]), np.array([1.0, -1.0]))
    more = log_tail(np.array([0.8, 0.0, 0.2]), np.array([1.0, -50.0, -1.0]))
    assert plain == more
