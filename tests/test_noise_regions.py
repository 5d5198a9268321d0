from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from centersmooth.noise import BitFlips
from centersmooth.noise.regions import fill, sums
from noise_laws import GRID, least_mass, promises_too_much


def test_sums_are_binomial_and_keep_their_tails() -> None:
    laws = sums((0.7, 0.3), 60)
    for count in (0, 1, 17, 60):
        want = binom.pmf(np.arange(count + 1), count, 0.3)
        np.testing.assert_allclose(laws[count], want, rtol=1e-12)


def test_sums_have_the_relative_accuracy_that_fill_allows_for() -> None:
    count, step = 40, (0.1, 0.9)
    exact = [Fraction(1)]
    for _ in range(count):
        padded = [Fraction(0), *exact, Fraction(0)]
        low, high = (Fraction(value) for value in step)
        exact = [low * padded[i + 1] + high * padded[i] for i in range(len(padded) - 1)]
    computed = [Fraction(float(value)) for value in sums(step, count)[count]]
    worst = max(abs(c - e) / e for c, e in zip(computed, exact, strict=True))
    assert worst < 4 * (count + 1) * Fraction(1, 2**52)


def test_fill_never_promises_more_than_the_regions_hold() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        here, there = rng.dirichlet(np.ones(6)), rng.dirichlet(np.ones(6))
        order = np.argsort(there / here)
        curve = fill(here[order], there[order])
        want = least_mass(dict(enumerate(here)), dict(enumerate(there)))
        assert (curve(GRID) <= want).all()
        np.testing.assert_allclose(curve(GRID), want, atol=1e-12)


def test_filling_in_the_wrong_order_is_caught() -> None:
    here, there = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])
    want = least_mass(dict(enumerate(here)), dict(enumerate(there)))
    assert promises_too_much(fill(here[::-1], there[::-1])(GRID), want)


def test_a_region_that_x_never_reaches_is_lost() -> None:
    """Otherwise a set of mass 1 at x would be promised mass 1 at x'."""
    curve = fill(np.array([1.0, 0.0]), np.array([0.25, 0.75]))
    assert curve(1.0) == pytest.approx(0.25, abs=1e-12)


def test_too_many_changes_promise_nothing_but_cost_nothing() -> None:
    noise = BitFlips(0.45, 0.45)
    assert noise.mass_left(0.9, 1001) == 0
    assert noise.mass_left(0.9, 101, fold=10) == 0
    assert noise.mass_left(0.9, 3.9) == noise.mass_left(0.9, 3)
