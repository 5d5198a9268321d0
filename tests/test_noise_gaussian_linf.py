from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.special import ndtri

import centersmooth as cs
from centersmooth.errors import ArgumentError, InputError
from centersmooth.noise import GaussianLinf
from noise_laws import GRID, assert_valid, claims_and_is_refuted, generator, two_valued_smoother

NOISE = GaussianLinf(sigma=1.0, dimension=4)


def test_is_the_euclidean_noise_at_the_corner_of_the_cube() -> None:
    psi = NOISE.mass_left(GRID, 0.25)
    np.testing.assert_allclose(psi, cs.Gaussian(1.0).mass_left(GRID, 0.5), rtol=1e-12)
    assert_valid(psi, cs.Gaussian(1.0).mass_left(GRID, 0.5))
    assert NOISE.mass_needed(0.6, 0.25, fold=2) == pytest.approx(
        cs.Gaussian(1.0).mass_needed(0.6, 0.5, fold=2), abs=1e-12
    )


def test_the_half_space_along_the_diagonal_attains_it() -> None:
    """p at x, by Monte Carlo; the formula without the dimension promises twice the distance."""
    x, eps, p, count = torch.zeros(4), 0.3, 0.8, 100_000
    masses = [
        (noisy.sum(dim=1) / 2 <= ndtri(p)).double().mean()
        for noisy in (
            NOISE.sample(x, generator(1), count),
            NOISE.sample(x + eps, generator(2), count),
        )
    ]
    error = 5 * 0.5 / np.sqrt(count)
    assert abs(float(masses[0]) - p) < error
    assert abs(float(masses[1]) - NOISE.mass_left(p, eps)) < error
    assert float(masses[1]) < cs.Gaussian(1.0).mass_left(p, eps) - error


def test_a_certificate_holds_at_the_corner_and_a_wrong_one_does_not() -> None:
    x = torch.zeros(4)
    smoother = two_valued_smoother(NOISE, lambda z: z.sum(dim=1) / 2 <= 0.85)
    assert claims_and_is_refuted(smoother, x, x + 0.25, 0.25) == (True, False)
    smoother = two_valued_smoother(NOISE, lambda z: z.sum(dim=1) / 2 <= 0.48)
    assert claims_and_is_refuted(smoother, x, x + 0.25, 0.25) == (False, False)
    assert claims_and_is_refuted(smoother, x, x + 0.25, 0.25 / 2) == (True, True)


def test_the_dimension_is_checked_against_the_input() -> None:
    with pytest.raises(InputError, match=r"expected an input of 4 values, got 3\. .*dimension=3"):
        NOISE.check_input(torch.zeros(3), None)
    with pytest.raises(InputError, match="floating-point"):
        NOISE.check_input(torch.zeros(4).long(), None)
    with pytest.raises(ArgumentError, match="dimension"):
        GaussianLinf(1.0, 2.0)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="sigma"):
        GaussianLinf(-1.0, 2)
    assert NOISE.scale == 0.5
    assert NOISE.largest_move(torch.zeros(4), (0, 2)) == 2
