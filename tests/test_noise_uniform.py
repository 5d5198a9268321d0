from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.stats import kstest, triang, uniform

from centersmooth.errors import ArgumentError, InputError
from centersmooth.noise import UniformL1, UniformLinf
from noise_laws import (
    GRID,
    assert_exact,
    assert_valid,
    claims_and_is_refuted,
    generator,
    independent,
    least_of_ball,
    promises_too_much,
    repeated,
    two_valued_smoother,
)

COUNT = 20_000


def cells(noise_width: int):
    """Uniform noise on so many cells of a lattice: attacks by whole cells lose nothing."""

    def law(x: tuple[int, ...]):
        line = range(noise_width)
        return independent([{place + k: 1 / noise_width for k in line} for place in x])

    return law


def ball(radius: int, norm) -> list[tuple[int, int]]:
    steps = range(-radius, radius + 1)
    return [(a, b) for a in steps for b in steps if norm(a, b) <= radius]


@pytest.mark.parametrize("radius", [1, 2, 5])
def test_l1_is_exact_over_a_whole_ball(radius: int) -> None:
    around = ball(radius, lambda a, b: abs(a) + abs(b))
    exact = least_of_ball(cells(8), (0, 0), around)
    assert_exact(UniformL1(4.0).mass_left(GRID, radius), exact)
    assert promises_too_much(UniformL1(4.0).mass_left(GRID, radius / 2), exact)


@pytest.mark.parametrize("radius", [1, 2, 5])
def test_linf_is_exact_over_a_whole_ball(radius: int) -> None:
    around = ball(radius, lambda a, b: max(abs(a), abs(b)))
    exact = least_of_ball(cells(8), (0, 0), around)
    assert_exact(UniformLinf(4.0, 2).mass_left(GRID, radius), exact)
    assert promises_too_much(UniformL1(4.0).mass_left(GRID, radius), exact), "the l1 formula"
    assert promises_too_much(UniformLinf(4.0, 1).mass_left(GRID, radius), exact)


def test_several_draws_are_exact_too() -> None:
    exact = least_of_ball(repeated(cells(6), 2), (0, 0), ball(1, lambda a, b: abs(a) + abs(b)))
    assert_exact(UniformL1(3.0).mass_left(GRID, 1, fold=2), exact)
    assert promises_too_much(UniformL1(3.0).mass_left(GRID, 1), exact)


def test_extremal_sets_in_the_sampler_itself() -> None:
    """A half-space for l1, the corner outside the shared cube for linf, by Monte Carlo."""
    x = torch.zeros(3, dtype=torch.float64)
    noise, eps, p = UniformLinf(0.5, 3), 0.1, 0.5
    lost = 1 - 0.9**3

    def inside(z: torch.Tensor) -> torch.Tensor:
        shared = (z > -0.5 + eps).all(dim=1)
        return ~shared & (z < 0.5).all(dim=1) | shared & (z[:, 0] < cut) & (z <= 0.5).all(dim=1)

    cut = -0.4 + 0.9 * (p - lost) / (1 - lost)
    here = inside(noise.sample(x, generator(1), 200_000)).double().mean()
    there = inside(noise.sample(x + eps, generator(2), 200_000)).double().mean()
    error = 5 * 0.5 / np.sqrt(200_000)
    assert abs(float(here) - p) < error
    assert abs(float(there) - noise.mass_left(p, eps)) < error
    assert abs(float(there) - noise.mass_left(p, eps / 2)) > error


def test_the_dimension_can_be_large() -> None:
    noise = UniformLinf(0.5, 150_528)
    exact = 1 - np.exp(150_528 * np.log1p(-1e-6))
    assert noise.mass_left(0.9, 1e-6) == pytest.approx(0.9 - exact, abs=1e-12)
    assert noise.mass_left(0.9, 1e-18) < 0.9
    assert_valid(noise.mass_left(GRID, 1e-18), GRID)


@pytest.mark.parametrize("noise", [UniformL1(0.3), UniformLinf(0.3, 2)])
def test_samples_are_uniform_and_independent(noise) -> None:
    x = torch.tensor([2.0, -1.0])
    offsets = (noise.sample(x, generator(), COUNT) - x).double().numpy()
    assert np.abs(offsets).max() <= 0.3 + 1e-6
    for values in offsets.T:
        assert kstest(values, uniform(-0.3, 0.6).cdf).pvalue > 1e-6
    assert kstest(offsets[:, 0] + offsets[:, 1], triang(0.5, -0.6, 1.2).cdf).pvalue > 1e-6


def test_a_certificate_holds_at_the_worst_input_and_a_wrong_one_does_not() -> None:
    """1-D threshold: mass .62 is left of 1; with the noise believed twice as wide, .45."""
    right, x = UniformL1(1.0), torch.zeros(1)
    smoother = two_valued_smoother(right, lambda z: z[:, 0] <= 0.74)
    assert claims_and_is_refuted(smoother, x, x + 0.5, 0.5) == (True, False)
    smoother = two_valued_smoother(right, lambda z: z[:, 0] <= 0.44)
    assert claims_and_is_refuted(smoother, x, x + 0.5, 0.5) == (False, False)
    assert claims_and_is_refuted(smoother, x, x + 0.5, 0.25) == (True, True)


def test_a_certificate_holds_at_the_corner_and_a_wrong_one_does_not() -> None:
    """The extremal set: all that x' never shows, and a part of the square that both show."""
    noise, x, eps = UniformLinf(1.0, 2), torch.zeros(2), 0.2

    def inside(cut: float):
        return lambda z: (z < eps - 1).any(dim=1) | (z[:, 0] <= cut) & (z[:, 1] <= 1)

    smoother = two_valued_smoother(noise, inside(0.87))  # .94 at x, .75 at the corner
    assert claims_and_is_refuted(smoother, x, x + eps, eps) == (True, False)
    smoother = two_valued_smoother(noise, inside(0.29))  # .68 at x, .49 at the corner
    assert claims_and_is_refuted(smoother, x, x + eps, eps) == (False, False)
    assert claims_and_is_refuted(smoother, x, x + eps, eps / 4) == (True, True)


def test_options_and_inputs_are_checked() -> None:
    with pytest.raises(ArgumentError, match="half_width"):
        UniformL1(0.0)
    with pytest.raises(ArgumentError, match="dimension"):
        UniformLinf(1.0, 0)
    with pytest.raises(InputError, match="dimension=3"):
        UniformLinf(1.0, 2).check_input(torch.zeros(3), None)
    assert UniformL1(1.0).largest_move(torch.zeros(3), (0, 2)) == 6
    assert UniformLinf(1.0, 3).largest_move(torch.zeros(3), (0, 2)) == 2
