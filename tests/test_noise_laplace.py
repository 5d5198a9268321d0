from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.stats import expon, kstest, laplace

from centersmooth.errors import ArgumentError
from centersmooth.noise import LaplaceL1
from centersmooth.noise.laplace import _folded
from noise_laws import (
    GRID,
    NOWHERE,
    assert_valid,
    claims_and_is_refuted,
    generator,
    independent,
    least_of_ball,
    promises_too_much,
    repeated,
    two_valued_smoother,
)

INNER = GRID[(GRID > 0) & (GRID < 1)]
STEP = 0.25


def cells(distribution, reach: float = 24.0):
    """What is seen of x + noise through cells of width STEP, the outer ones without end."""
    edges = np.arange(-reach, reach + STEP, STEP)

    def one(place: int):
        masses = np.diff(distribution.cdf(edges - place * STEP), prepend=0, append=1)
        return dict(enumerate(masses))

    return lambda x: independent([one(place) for place in x])


@pytest.mark.parametrize("eps", [1e-6, 0.1, 0.5, 1.0, 3.0, 30.0])
@pytest.mark.parametrize("b", [0.2, 1.0])
def test_formula_is_the_shifted_distribution_function(eps: float, b: float) -> None:
    law = laplace(scale=b)
    want = law.cdf(law.ppf(INNER) - eps)
    np.testing.assert_allclose(LaplaceL1(b).mass_left(INNER, eps), want, rtol=1e-9, atol=1e-14)
    assert LaplaceL1(b).mass_left(1.0, eps) == 1
    assert LaplaceL1(b).mass_left(0.0, eps) == 0


@pytest.mark.parametrize("steps", [1, 3])
def test_exact_on_the_line_where_cells_begin(steps: int) -> None:
    """Gathering into cells loses nothing of half-lines that end where a cell does."""
    law, eps = cells(laplace), steps * STEP
    ends = laplace.cdf(np.arange(-8, 8, STEP))
    exact = least_of_ball(law, (0,), [(s,) for s in range(-steps, steps + 1)])
    psi = LaplaceL1(1.0).mass_left(GRID, eps)
    assert_valid(psi, exact)
    at_ends = least_of_ball(law, (0,), [(steps,)], ends)
    np.testing.assert_allclose(LaplaceL1(1.0).mass_left(ends, eps), at_ends, atol=NOWHERE)
    assert promises_too_much(LaplaceL1(1.0).mass_left(GRID, eps / 2), exact)


def test_one_moved_value_is_the_worst_of_the_ball_in_two_dimensions() -> None:
    law = cells(laplace, reach=8.0)
    here = least_of_ball(law, (0, 0), [(4, 0)])
    for other in [(3, 1), (2, 2), (-2, 2), (1, -1)]:
        exact = least_of_ball(law, (0, 0), [other])
        assert_valid(LaplaceL1(1.0).mass_left(GRID, 4 * STEP), exact)
        assert (exact >= here - 1e-9).all()


@pytest.mark.parametrize(("steps", "fold"), [(1, 2), (4, 2), (2, 3)])
def test_several_draws_are_promised_a_hair_too_little(steps: int, fold: int) -> None:
    """Seen through cells the attack shows less than it does: exact masses lie in between."""
    eps = steps * STEP
    law = repeated(cells(laplace, reach=3.0), fold)
    exact = least_of_ball(law, (0,), [(steps,)])
    psi = LaplaceL1(1.0).mass_left(GRID, eps, fold)
    assert_valid(psi, exact)
    assert (exact - psi).max() < 0.01
    assert promises_too_much(LaplaceL1(1.0).mass_left(GRID, eps, fold - 1), exact)


def test_a_fold_of_one_moved_value_is_the_worst_too() -> None:
    law = repeated(cells(laplace, reach=1.0), 2)
    for other in [(2, 0), (1, 1), (-1, 1)]:
        exact = least_of_ball(law, (0, 0), [other])
        assert_valid(LaplaceL1(1.0).mass_left(GRID, 2 * STEP, fold=2), exact)


def test_tangents_touch_the_curve_of_one_draw() -> None:
    for u in (1e-3, 0.5, 2.0, 30.0):
        curve = _folded(u, 1)(GRID)
        single = LaplaceL1(1.0).mass_left(GRID, u)
        assert (curve <= single + 1e-14).all()
        assert (single - curve).max() < 1e-4 or u > 5


def test_a_large_fold_falls_back_on_the_sum_of_attacks() -> None:
    noise = LaplaceL1(1.0)
    np.testing.assert_array_equal(
        noise.mass_left(GRID, 0.01, fold=100), noise.mass_left(GRID, 0.01 * 100)
    )
    assert (noise.mass_left(GRID, 0.02, fold=64) >= noise.mass_left(GRID, 1.28) - 1e-9).all()


def test_the_symmetric_formula_is_wrong_for_asymmetric_noise() -> None:
    """Exponential noise: pushed against its edge, mass 1 - e^-eps falls off."""
    eps = 2 * STEP
    exact = least_of_ball(cells(expon), (0,), [(-2,), (2,)])
    formula = expon.cdf(np.maximum(expon.ppf(INNER) - eps, 0))
    assert (formula > np.interp(INNER, GRID, exact) + 1e-3).any()


def test_samples_are_laplace_and_independent() -> None:
    x = torch.tensor([2.0, -1.0], dtype=torch.float64)
    offsets = (LaplaceL1(0.3).sample(x, generator(), 20_000) - x).numpy()
    for values in offsets.T:
        assert kstest(values, laplace(scale=0.3).cdf).pvalue > 1e-6
    signs = np.sign(offsets).prod(axis=1)
    assert abs(signs.mean()) < 5 / np.sqrt(20_000)
    assert np.isfinite(offsets).all()


def test_a_certificate_holds_at_the_worst_input_and_a_wrong_one_does_not() -> None:
    noise, x = LaplaceL1(1.0), torch.zeros(1)
    smoother = two_valued_smoother(noise, lambda z: z[:, 0] <= 0.8)
    assert claims_and_is_refuted(smoother, x, x + 0.5, 0.5) == (True, False)
    smoother = two_valued_smoother(noise, lambda z: z[:, 0] <= 0.47)
    assert claims_and_is_refuted(smoother, x, x + 0.5, 0.5) == (False, False)
    assert claims_and_is_refuted(smoother, x, x + 0.5, 0.25) == (True, True)


def test_b_must_be_positive() -> None:
    with pytest.raises(ArgumentError, match="b is the mean size"):
        LaplaceL1(-1.0)
    assert LaplaceL1(1.0).largest_move(torch.zeros(3), (0, 2)) == 6
