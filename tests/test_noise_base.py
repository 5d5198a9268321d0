"""What every noise must obey, whatever it is."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import centersmooth as cs
from centersmooth import noise as threats
from centersmooth.noise import Noise
from centersmooth.specification import describe, restore
from noise_laws import GRID, generator

IMAGE = torch.linspace(0, 1, 12).reshape(1, 3, 4)
BITS = torch.tensor([0.0, 1.0, 0.0, 0.0, 1.0])
WORDS = ["the", "cat", "sat", "on", "a", "mat"]

EVERY: list[tuple[Noise, object, list[float]]] = [
    (cs.Gaussian(0.5), IMAGE, [0.1, 0.5, 1.0]),
    (threats.GaussianLinf(0.5, 12), IMAGE, [0.01, 0.1, 0.4]),
    (threats.AnisotropicGaussian((0.5,)), IMAGE, [0.1, 1.0, 2.0]),
    (threats.UniformL1(0.5), IMAGE, [0.01, 0.2, 0.7]),
    (threats.UniformLinf(0.5, 12), IMAGE, [0.001, 0.02, 0.1]),
    (threats.LaplaceL1(0.5), IMAGE, [0.01, 0.3, 2.0]),
    (threats.Ablation(3, 12), IMAGE, [1, 2, 3]),
    (threats.Ablation(3, 12, channels=True, absent=0.5), IMAGE, [1, 2, 3]),
    (threats.PatchAblation((1, 2), (3, 4)), IMAGE, [1, 2, 3]),
    (threats.BitFlips(0.1, 0.6), BITS, [1, 2, 5]),
    (threats.BitFlips(0.0, 0.6, most_deletions=1), BITS, [1, 2, 5]),
    (threats.TokenDeletion(0.8), WORDS, [1, 2, 4]),
    (threats.TokenSubstitution(0.6, 9), [1, 8, 0, 3], [1, 2, 4]),
    (threats.GaussianShift(2.0), IMAGE, [1, 2, 4]),
    (threats.UniformShift(3), IMAGE, [1, 2, 4]),
    (threats.Brightness(0.3), IMAGE, [0.05, 0.3, 0.6]),
]
NAMES = [f"{type(noise).__name__}-{i}" for i, (noise, _, _) in enumerate(EVERY)]
every = pytest.mark.parametrize(("noise", "x", "points"), EVERY, ids=NAMES)


def test_every_public_noise_is_tried_here() -> None:
    public = {getattr(threats, name) for name in threats.__all__} - {Noise}
    assert {type(noise) for noise, _, _ in EVERY} == public


@every
def test_psi_is_nondecreasing_in_p_and_falls_with_eps(noise, x, points) -> None:
    before = GRID
    for eps in points:
        for fold in (1, 2):
            left = noise.mass_left(GRID, eps, fold)
            assert left.shape == GRID.shape
            assert ((left >= 0) & (left <= GRID + 1e-14)).all()
            assert (np.diff(left) >= -1e-15).all()
            assert (left <= before + 1e-12).all()
            before = left if fold == 1 else before
        assert (left < noise.mass_left(GRID, eps) + 1e-12).all(), "two draws are seen better"


@every
def test_psi_is_convex_where_all_attacks_are_alike(noise, x, points) -> None:
    p = np.linspace(0, 1, 501)
    for eps in points:
        left = noise.mass_left(p, eps)
        if isinstance(noise, threats.BitFlips):
            left = noise.curves(int(eps), 1)[0](p)
        assert (np.diff(left, 2) >= -1e-12).all()


@every
def test_no_attack_leaves_everything(noise, x, points) -> None:
    np.testing.assert_allclose(noise.mass_left(GRID, 0.0), GRID, rtol=0, atol=1e-15)
    assert noise.mass_needed(0.6, 0.0) == pytest.approx(0.6, abs=1e-15)


@every
@settings(derandomize=True, deadline=None, max_examples=25)
@given(p=st.floats(1e-4, 1 - 1e-4), share=st.floats(0, 1), fold=st.integers(1, 3))
def test_needed_mass_suffices_and_is_the_least(noise, x, points, p, share, fold) -> None:
    eps = share * points[-1]
    q = noise.mass_needed(p, eps, fold)
    if q is None:
        assert noise.mass_left(1.0, eps, fold) < p
        return
    assert 0 <= q <= 1
    assert noise.mass_left(q, eps, fold) >= p
    assert noise.mass_left(q - 1e-9, eps, fold) < p


@every
def test_scalars_and_arrays_agree(noise, x, points) -> None:
    for eps in points:
        scalars = [float(noise.mass_left(float(p), eps)) for p in GRID]
        np.testing.assert_array_equal(noise.mass_left(GRID, eps), scalars)


@every
def test_reach_is_the_last_eps_that_keeps_the_mass(noise, x, points) -> None:
    reach = noise.reach(0.55, 0.97)
    assert noise.mass_left(0.97, reach * (1 - 1e-9)) >= 0.55
    assert noise.mass_left(0.97, reach * (1 + 1e-9) + 1e-4) < 0.55
    assert noise.reach(0.9, 0.5) == 0


@every
def test_nothing_is_promised_against_an_attacker_without_limits(noise, x, points) -> None:
    assert noise.mass_left(0.999, 1e18) == 0


@every
def test_samples_are_a_batch_that_the_same_stream_repeats(noise, x, points) -> None:
    x = noise.check_input(x, None)
    first, again = (noise.sample(x, generator(3), 5) for _ in range(2))
    other = noise.sample(x, generator(4), 5)
    assert len(first) == 5
    if isinstance(first, torch.Tensor):
        assert torch.equal(first, again)
        assert not torch.equal(first, other)
    else:
        assert first == again != other


@every
def test_json_gives_the_noise_back(noise, x, points) -> None:
    again = restore(json.loads(json.dumps(describe(noise))), threats, Noise)
    assert again == noise
    assert hash(again) == hash(noise)
    assert type(noise).__name__ in repr(noise)


@every
def test_moves_inside_a_range_are_finite(noise, x, points) -> None:
    if not isinstance(noise, threats.TokenDeletion):  # which takes no range
        largest = noise.largest_move(noise.check_input(x, None), (0.0, 1.0))
        assert 0 <= largest < np.inf
    assert isinstance(noise.norm, str)
    assert noise.scale > 0


class Halving(Noise):
    """psi(p) = p / 2: as little as the base class needs to be told."""

    norm = "l2"

    def sample(self, x, generator, count):
        return x.expand(count, *x.shape)

    def mass_left(self, p, eps, fold=1):
        return p / 2 if eps else p

    def check_input(self, x, input_range):
        return x

    @property
    def scale(self):
        return 1.0


def test_the_inverse_comes_with_the_base_class() -> None:
    noise = Halving()
    assert noise.mass_needed(0.5, 1.0) == 1.0
    assert noise.mass_needed(0.25, 1.0) == pytest.approx(0.5, abs=1e-15)
    assert noise.mass_needed(np.nextafter(0.5, 1), 1.0) is None


@every
def test_chi_squared_bounds_what_any_region_gains(noise, x, points) -> None:
    """By Cauchy and Schwarz a mass p at x is at most p + sqrt(p (1 - p) chi^2) at any x'."""
    if noise.chi_squared(0.0) is None:
        assert all(noise.chi_squared(eps) is None for eps in points)
        return
    assert noise.chi_squared(0.0) == 0
    found = [noise.chi_squared(eps) for eps in points]
    assert found == sorted(found)
    for eps, square in zip(points, found, strict=True):
        gained = (1 - noise.mass_left(1 - GRID, eps)) - GRID
        assert (gained <= np.sqrt(GRID * (1 - GRID) * square) + 1e-12).all()
    assert noise.chi_squared(1e6) > 1e30
