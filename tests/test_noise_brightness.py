from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.special import ndtri
from scipy.stats import kstest, norm

import centersmooth as cs
from centersmooth.errors import ArgumentError
from centersmooth.noise import Brightness
from noise_laws import GRID, claims_and_is_refuted, generator, two_valued_smoother

NOISE = Brightness(0.2)
IMAGE = torch.linspace(0.2, 0.7, 6, dtype=torch.float64).reshape(1, 2, 3)


def test_brightenings_add_up() -> None:
    """T_a T_b = T_(a+b): noise on an attacked image is the image moved by attack plus noise."""
    attacked = NOISE.sample(IMAGE + 0.1, generator(3), 50)
    plain = NOISE.sample(IMAGE, generator(3), 50)
    torch.testing.assert_close(attacked, plain + 0.1, rtol=0, atol=1e-15)


def test_clipping_breaks_the_sum() -> None:
    """Why clipped attackers are outside: brightening twice and clipping is not one brightening."""
    twice = ((IMAGE + 0.5).clamp(0, 1) - 0.5).clamp(0, 1)
    assert not torch.allclose(twice, IMAGE)


def test_one_normal_number_per_copy() -> None:
    offsets = NOISE.sample(IMAGE, generator(), 20_000) - IMAGE
    torch.testing.assert_close(offsets, offsets[:, :1, :1, :1].expand_as(offsets))
    assert kstest(offsets[:, 0, 0, 0].numpy(), norm(scale=0.2).cdf).pvalue > 1e-6


def test_the_dimension_does_not_matter() -> None:
    expected = cs.Gaussian(0.2).mass_left(GRID, 0.1)
    np.testing.assert_array_equal(NOISE.mass_left(GRID, 0.1), expected)
    assert NOISE.reach(0.5, 0.8) == pytest.approx(0.2 * ndtri(0.8))
    assert NOISE.mass_needed(0.5, 0.1) == cs.Gaussian(0.2).mass_needed(0.5, 0.1)


def test_a_threshold_on_the_mean_attains_psi() -> None:
    count, p, eps = 100_000, 0.8, 0.15
    cut, error = float(IMAGE.mean()) + 0.2 * ndtri(p), 5 * 0.5 / np.sqrt(count)
    for x, want in ((IMAGE, p), (IMAGE + eps, NOISE.mass_left(p, eps))):
        mass = (NOISE.sample(x, generator(7), count).mean(dim=(1, 2, 3)) <= cut).double().mean()
        assert abs(float(mass) - want) < error
    assert abs(want - NOISE.mass_left(p, eps / 2)) > error


def test_a_certificate_holds_for_the_brightest_attack_and_a_wrong_one_does_not() -> None:
    smoother = two_valued_smoother(NOISE, lambda z: z.mean(dim=(1, 2, 3)) <= 0.45 + 0.17)
    assert claims_and_is_refuted(smoother, IMAGE, IMAGE + 0.1, 0.1) == (True, False)
    assert claims_and_is_refuted(smoother, IMAGE, IMAGE + 0.2, 0.1) == (True, True)


def test_the_range_limits_how_bright_it_can_get() -> None:
    assert NOISE.largest_move(IMAGE, (0.0, 1.0)) == pytest.approx(0.3)
    assert NOISE.largest_move(IMAGE, (-1.0, 1.0)) == pytest.approx(1.2)


def test_sigma_must_be_positive() -> None:
    with pytest.raises(ArgumentError, match="spread of the brightness"):
        Brightness(0.0)
