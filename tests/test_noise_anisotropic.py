from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.special import ndtri
from scipy.stats import kstest, norm

import centersmooth as cs
from centersmooth.errors import ArgumentError, InputError
from centersmooth.noise import AnisotropicGaussian
from noise_laws import GRID, claims_and_is_refuted, generator, two_valued_smoother

PER_CHANNEL = AnisotropicGaussian((0.5, 2.0))
IMAGE = torch.zeros(2, 1, 3)


def test_eps_counts_standard_deviations() -> None:
    expected = cs.Gaussian(1.0).mass_left(GRID, 0.7)
    np.testing.assert_array_equal(PER_CHANNEL.mass_left(GRID, 0.7), expected)
    assert PER_CHANNEL.reach(0.5, 0.8) == pytest.approx(ndtri(0.8))


def test_per_channel_and_per_value_mean_what_they_say() -> None:
    per_value = AnisotropicGaussian(torch.tensor([0.5, 0.5, 0.5, 2.0, 2.0, 2.0]))
    one = PER_CHANNEL.sample(IMAGE, generator(), 7)
    assert torch.equal(one, per_value.sample(IMAGE, generator(), 7))
    assert one.shape == (7, 2, 1, 3)


def test_samples_are_normal_with_their_own_sigma() -> None:
    x = torch.zeros(2, 1, dtype=torch.float64)
    offsets = PER_CHANNEL.sample(x, generator(), 20_000)[:, :, 0].numpy()
    for values, sigma in zip(offsets.T, (0.5, 2.0), strict=True):
        assert kstest(values, norm(scale=sigma).cdf).pvalue > 1e-6
    assert abs(np.corrcoef(offsets.T)[0, 1]) < 5 / np.sqrt(20_000)


@pytest.mark.parametrize("direction", [(1.0, 0.0), (0.0, 1.0), (0.6, -0.8)])
def test_a_half_space_attains_psi_in_every_direction_of_the_ellipsoid(direction) -> None:
    x, eps, p, count = torch.zeros(2, 1), 0.6, 0.8, 100_000
    u, sigma = torch.tensor(direction), torch.tensor([0.5, 2.0])
    worst = x + (eps * sigma * u)[:, None]  # on the border of the ellipsoid
    cut, error = float(ndtri(p)), 5 * 0.5 / np.sqrt(count)
    for point, want in ((x, p), (worst, PER_CHANNEL.mass_left(p, eps))):
        whitened = PER_CHANNEL.sample(point, generator(5), count)[:, :, 0] / sigma
        assert abs(float((whitened @ u <= cut).double().mean()) - want) < error
    assert abs(want - PER_CHANNEL.mass_left(p, eps / 2)) > error


def test_a_certificate_holds_on_the_ellipsoid_and_not_beyond_it() -> None:
    x = torch.zeros(2, 1)
    worst = torch.tensor([[0.0], [1.0]])  # half of the second sigma
    smoother = two_valued_smoother(PER_CHANNEL, lambda z: z[:, 1, 0] / 2 <= 0.85)
    assert claims_and_is_refuted(smoother, x, worst, 0.5) == (True, False)
    assert claims_and_is_refuted(smoother, x, 2 * worst, 0.5) == (True, True)


def test_the_largest_move_is_the_whitened_diagonal() -> None:
    assert PER_CHANNEL.largest_move(IMAGE, (0, 1)) == pytest.approx((3 * 4 + 3 / 4) ** 0.5)
    assert AnisotropicGaussian([2.0] * 6).largest_move(IMAGE, (0, 1)) == pytest.approx(1.5**0.5)


def test_sigma_comes_in_any_form_and_prints_short() -> None:
    many = AnisotropicGaussian(np.linspace(0.1, 1.0, 3072))
    assert repr(many) == "AnisotropicGaussian(sigma=<3072 values from 0.1 to 1>)"
    assert AnisotropicGaussian([0.5, 2.0]) == PER_CHANNEL == AnisotropicGaussian(np.array([0.5, 2]))
    assert repr(PER_CHANNEL) == "AnisotropicGaussian(sigma=(0.5, 2.0))"
    assert AnisotropicGaussian(0.5).sigma == (0.5,)  # type: ignore[arg-type]


@pytest.mark.parametrize("sigma", [(), (0.5, 0.0), (0.5, -1.0), "text", (np.nan,)])
def test_every_sigma_must_be_positive(sigma) -> None:
    with pytest.raises(ArgumentError, match="sigma"):
        AnisotropicGaussian(sigma)


def test_the_input_must_fit() -> None:
    with pytest.raises(InputError, match="expected an input of 2 channels or values, got shape"):
        PER_CHANNEL.check_input(torch.zeros(3, 4), None)
    with pytest.raises(InputError, match="channels or values"):
        PER_CHANNEL.check_input(torch.zeros(()), None)
