from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import trapezoid
from scipy.stats import kstest

from centersmooth.errors import ArgumentError, InputError
from centersmooth.noise import Gaussian, Noise
from refusals import refused

LAW = settings(derandomize=True, deadline=None, max_examples=100)
MASSES = [1e-12, 1e-6, 0.01, 0.3, 0.5, 0.7, 0.99, 1 - 1e-6, 1 - 1e-12]
SHIFTS = [0.0, 0.1, 0.5, 1.0, 2.0, 4.0]
masses = st.floats(1e-9, 1 - 1e-9)
shifts = st.floats(0.0, 6.0)


def exact(p: float, shift: float) -> mpmath.mpf:
    """Phi(Phi^-1(p) - shift) with fifty digits."""
    with mpmath.workdps(50):
        z = mpmath.sqrt(2) * mpmath.erfinv(2 * mpmath.mpf(p) - 1)
        return mpmath.ncdf(z - mpmath.mpf(shift))


@pytest.mark.parametrize("p", MASSES)
@pytest.mark.parametrize("shift", SHIFTS)
def test_the_shift_is_exact(p: float, shift: float) -> None:
    sigma = 0.5
    left = Gaussian(sigma).mass_left(p, shift * sigma)
    truth = exact(p, shift)
    assert abs(left - truth) <= 1e-11 * min(truth, 1 - truth) + 1e-15


@pytest.mark.parametrize("p", MASSES)
@pytest.mark.parametrize("shift", SHIFTS)
def test_the_mass_needed_suffices_and_no_less_would(p: float, shift: float) -> None:
    noise = Gaussian(2.0)
    q = noise.mass_needed(p, 2 * shift)
    assert q is not None
    assert q <= 1
    assert noise.mass_left(q, 2 * shift) >= p
    with mpmath.workdps(50):
        least = 1 - exact(1 - mpmath.mpf(p), shift)  # Phi(Phi^-1(p) + shift)
        assert -1e-15 <= q - least <= 1e-12 * least + 1e-15


def test_nothing_and_everything_stay_what_they_are() -> None:
    noise = Gaussian(1.0)
    for eps in (0.0, 1.0, 100.0):
        assert noise.mass_left(0.0, eps) == 0.0
        assert noise.mass_left(1.0, eps) == 1.0
        assert noise.mass_needed(0.0, eps) == 0.0
        assert noise.mass_needed(1.0, eps) == 1.0
    assert noise.mass_needed(0.5, 100.0) == 1.0


@LAW
@given(masses, masses, shifts)
def test_the_shift_is_monotone(p: float, q: float, eps: float) -> None:
    noise = Gaussian(1.0)
    low, high = sorted((p, q))
    assert noise.mass_left(low, eps) <= noise.mass_left(high, eps)
    assert noise.mass_left(p, eps) <= p + 1e-12
    assert noise.mass_left(p, eps + 0.1) <= noise.mass_left(p, eps)


@LAW
@given(masses, masses, st.floats(0, 1), shifts)
def test_the_shift_is_convex(p: float, q: float, weight: float, eps: float) -> None:
    noise = Gaussian(1.0)
    between = noise.mass_left(weight * p + (1 - weight) * q, eps)
    chord = weight * noise.mass_left(p, eps) + (1 - weight) * noise.mass_left(q, eps)
    assert between <= chord + 1e-12


@LAW
@given(masses, shifts, st.integers(1, 16))
def test_draws_taken_together_shift_by_the_root_of_their_number(
    p: float, eps: float, fold: int
) -> None:
    noise = Gaussian(1.0)
    assert noise.mass_left(p, eps, fold) == noise.mass_left(p, eps * math.sqrt(fold))
    q = noise.mass_needed(p, eps, fold)
    assert q is not None
    assert noise.mass_left(q, eps, fold) >= p


@LAW
@given(masses, masses)
def test_the_reach_is_where_the_mass_is_just_left(p: float, q: float) -> None:
    noise = Gaussian(0.7)
    reach = noise.reach(p, q)
    by_bisection = Noise.reach(noise, p, q)
    assert reach == pytest.approx(by_bisection, rel=1e-6, abs=1e-6)
    if q <= p:
        assert reach == pytest.approx(0, abs=1e-6)
    else:
        assert noise.mass_left(q, reach) == pytest.approx(p, rel=1e-6)


def draw(x: torch.Tensor, sigma: float, count: int) -> torch.Tensor:
    return Gaussian(sigma).sample(x, torch.Generator().manual_seed(5), count)


def test_samples_are_normal_independent_and_of_the_right_scale() -> None:
    x = torch.tensor([[0.2, -3.0], [40.0, 0.0]])
    noise = ((draw(x, 0.3, 20_000) - x) / 0.3).reshape(20_000, 4).double().numpy()
    for column in noise.T:
        assert kstest(column, "norm").pvalue > 1e-3
    correlation = np.corrcoef(noise.T) - np.eye(4)
    assert np.abs(correlation).max() < 5 / math.sqrt(20_000)


def test_a_half_space_loses_exactly_what_the_shift_says() -> None:
    sigma, eps, p = 0.5, 0.4, 0.8
    moved = draw(torch.full((1,), eps), sigma, 50_000)  # moved out of {z <= c} by eps
    inside = float((moved <= sigma * 0.8416212335729143).double().mean())
    left = Gaussian(sigma).mass_left(p, eps)
    assert abs(inside - left) < 5 * math.sqrt(left * (1 - left) / 50_000)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_samples_keep_the_type_of_the_input(dtype: torch.dtype) -> None:
    x = torch.zeros(3, dtype=dtype)
    batch = draw(x, 1.0, 64)
    assert batch.dtype == dtype
    assert batch.shape == (64, 3)


def test_samples_are_never_clipped() -> None:
    batch = draw(torch.tensor([0.0, 1.0]), 0.25, 1000)
    assert batch.min() < 0
    assert batch.max() > 1


@pytest.mark.parametrize("sigma", [0, -0.1, math.nan, math.inf, "0.25", None, np.array([0.25])])
def test_a_sigma_that_is_no_noise_level_is_refused(sigma: object) -> None:
    with refused(ArgumentError, "sigma", "0.25"):
        Gaussian(sigma)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("x", "words"),
    [
        ([0.1, 0.2], ("a torch tensor or numpy array", "list")),
        ("a string", ("a torch tensor or numpy array", "str")),
        (torch.zeros(3, dtype=torch.uint8), ("floating-point", "x.float() / 255")),
        (np.zeros(3, dtype=np.int64), ("floating-point", "int64")),
        (np.array(["a"], dtype=object), ("numbers", "object")),
        (torch.tensor([0.0, math.nan, math.inf]), ("finite", "2 NaN or infinite")),
    ],
)
def test_an_input_that_noise_cannot_be_added_to_is_refused(
    x: object, words: tuple[str, ...]
) -> None:
    with refused(InputError, *words):
        Gaussian(1.0).check_input(x, None)


@pytest.mark.parametrize("value", [-0.01, 1.01, 255.0])
def test_an_input_outside_its_declared_range_is_refused(value: float) -> None:
    with refused(InputError, "within [0, 1]", f"{value:g}", "input_range"):
        Gaussian(1.0).check_input(torch.tensor([0.5, value]), (0.0, 1.0))


def test_arrays_are_taken_whatever_their_memory_layout() -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)[:, ::-1]
    taken = Gaussian(1.0).check_input(x, (0.0, 5.0))
    assert torch.equal(taken, torch.tensor([[2.0, 1.0, 0.0], [5.0, 4.0, 3.0]]))


def test_the_largest_move_is_the_diagonal_of_the_range() -> None:
    noise = Gaussian(1.0)
    corner, opposite = torch.full((3, 4), -1.0), torch.full((3, 4), 2.0)
    largest = noise.largest_move(corner, (-1.0, 2.0))
    assert largest == pytest.approx(float((corner - opposite).norm()))


def test_the_scale_is_sigma() -> None:
    assert Gaussian(0.3).scale == 0.3
    assert Gaussian(0.3).norm == "l2"


@pytest.mark.parametrize("eps", [0.05, 0.4, 1.1])
def test_chi_squared_is_the_variance_of_the_likelihood_ratio(eps: float) -> None:
    """Integrated numerically along the attack; the other directions do not matter."""
    sigma = 0.5
    grid = np.linspace(-12, 14, 400_001)
    density = np.exp(-(grid**2) / 2) / math.sqrt(2 * math.pi)
    ratio = np.exp(grid * eps / sigma - (eps / sigma) ** 2 / 2)
    variance = float(trapezoid(density * (ratio - 1) ** 2, grid))
    assert Gaussian(sigma).chi_squared(eps) == pytest.approx(variance, rel=1e-6)
    assert Gaussian(sigma).chi_squared(100.0) == math.inf
