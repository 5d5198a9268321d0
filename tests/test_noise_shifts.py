from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from scipy.special import ndtr

import centersmooth as cs
from centersmooth.errors import ArgumentError, InputError
from centersmooth.noise import GaussianShift, UniformShift
from centersmooth.noise.shifts import shifted
from noise_laws import (
    GRID,
    NOWHERE,
    Law,
    assert_exact,
    assert_samples_follow,
    assert_valid,
    claims_and_is_refuted,
    gathered,
    generator,
    independent,
    least_of_ball,
    promises_too_much,
    repeated,
    two_valued_smoother,
)

RING = 40
SIGNAL = torch.arange(RING).float()


def rounded_normal(sigma: float) -> Law:
    steps = range(-30, 31)
    masses = np.diff(ndtr(np.array([s - 0.5 for s in steps][1:]) / sigma), prepend=0, append=1)
    return dict(zip(steps, masses, strict=True))


def moved_round(step: Law, axes: int, ring: int):
    """Where the origin lands on a ring (or torus) after attack and noise."""
    noise = independent([step] * axes)

    def law(attack: tuple[int, ...]) -> Law:
        return gathered(
            (tuple((a + s) % ring for a, s in zip(attack, steps, strict=True)), p)
            for steps, p in noise.items()
        )

    return law


def test_shifted_is_torch_roll() -> None:
    x = torch.arange(2 * 3 * 4).reshape(2, 3, 4)
    steps = torch.tensor([[0, 0], [1, 0], [0, -1], [5, 7], [-4, 2]])
    for copy, (down, right) in zip(shifted(x, steps), steps.tolist(), strict=True):
        assert torch.equal(copy, torch.roll(x, (down, right), dims=(1, 2)))
    assert torch.equal(shifted(x, steps[:, :1])[3], torch.roll(x, 5, dims=2))


@pytest.mark.parametrize("noise", [GaussianShift(2.0), UniformShift(2)])
def test_shifts_add_up(noise) -> None:
    """T_a T_b = T_(a+b): noise on an attacked image is the noisy image attacked."""
    x = torch.arange(2 * 5 * 6).reshape(2, 5, 6)
    attacked = noise.sample(torch.roll(x, (1, -2), dims=(1, 2)), generator(3), 40)
    plain = noise.sample(x, generator(3), 40)
    assert torch.equal(attacked, torch.roll(plain, (1, -2), dims=(2, 3)))


def test_shifts_that_pad_do_not_add_up() -> None:
    """Why zero padding is outside: what has left the picture does not come back."""

    def padded(x: torch.Tensor, step: int) -> torch.Tensor:
        grown = torch.nn.functional.pad(x, (20, 20))
        return torch.roll(grown, step)[20:-20]

    assert not torch.equal(padded(padded(SIGNAL, 3), -3), SIGNAL)


@pytest.mark.parametrize("radius", [1, 2, 4])
def test_gaussian_shift_is_exact_at_half_lines_and_valid_elsewhere(radius: int) -> None:
    noise, law = GaussianShift(1.5, axes=1), moved_round(rounded_normal(1.5), 1, RING)
    around = [(a,) for a in range(-radius, radius + 1)]
    exact = least_of_ball(law, (0,), around)
    assert_valid(noise.mass_left(GRID, radius), exact + NOWHERE)  # 1e-9 of the noise goes round
    ends = ndtr((np.arange(-6, 7) + 0.5) / 1.5)
    at_ends = least_of_ball(law, (0,), around, ends)
    np.testing.assert_allclose(noise.mass_left(ends, radius), at_ends, atol=1e-7)
    assert promises_too_much(noise.mass_left(GRID, radius / 2), exact)


def test_gaussian_shift_on_a_torus_is_valid_over_the_whole_disc() -> None:
    law = moved_round(rounded_normal(1.0), 2, 9)
    disc = [(a, b) for a, b in itertools.product(range(-2, 3), repeat=2) if a * a + b * b <= 4]
    exact = least_of_ball(law, (0, 0), disc)
    assert_valid(GaussianShift(1.0).mass_left(GRID, 2.0), exact + 1e-12)
    assert promises_too_much(GaussianShift(1.0).mass_left(GRID, 1.0), exact)


@pytest.mark.parametrize("fold", [1, 2])
@pytest.mark.parametrize("radius", [1, 3, 7])
def test_uniform_shift_is_exact(radius: int, fold: int) -> None:
    noise = UniformShift(3, axes=1)
    single = moved_round(dict.fromkeys(range(-3, 4), 1 / 7), 1, RING)
    law = repeated(single, fold)
    exact = least_of_ball(law, (0,), [(a,) for a in range(-radius, radius + 1)])
    assert_exact(noise.mass_left(GRID, radius + 0.5, fold), exact)
    assert promises_too_much(noise.mass_left(GRID, radius - 1, fold), exact)


def test_uniform_shift_of_images_is_exact_and_needs_both_axes() -> None:
    law = moved_round(dict.fromkeys(range(-2, 3), 1 / 5), 2, 12)
    exact = least_of_ball(law, (0, 0), itertools.product((-1, 0, 1), repeat=2))
    assert_exact(UniformShift(2).mass_left(GRID, 1), exact)
    assert promises_too_much(UniformShift(2, axes=1).mass_left(GRID, 1), exact)


def test_going_round_only_helps() -> None:
    law = moved_round(dict.fromkeys(range(-3, 4), 1 / 7), 1, 5)
    exact = least_of_ball(law, (0,), [(a,) for a in range(-2, 3)])
    assert_valid(UniformShift(3, axes=1).mass_left(GRID, 2), exact)


def test_samples_follow_the_laws() -> None:
    delta = torch.zeros(9)
    delta[0] = 1
    for noise, step in (
        (UniformShift(2, axes=1), dict.fromkeys(range(-2, 3), 1 / 5)),
        (GaussianShift(1.3, axes=1), rounded_normal(1.3)),
    ):
        places = noise.sample(delta, generator(), 20_000).argmax(dim=1)
        assert_samples_follow(moved_round(step, 1, 9)((0,)), [(int(p),) for p in places])


@pytest.mark.parametrize(
    ("noise", "right", "wrong"),
    [(GaussianShift(4.0, axes=1), 5, 2), (UniformShift(8, axes=1), 5, 3)],
)
def test_a_certificate_holds_at_the_worst_shift_and_a_wrong_one_does_not(
    noise, right: int, wrong: int
) -> None:
    """The answer 0 while the largest value lies up to `right` steps past its place."""
    delta = torch.zeros(80)
    delta[40] = 1
    worst = torch.roll(delta, 3)
    smoother = two_valued_smoother(noise, lambda z: z.argmax(dim=1) <= 40 + right)
    assert claims_and_is_refuted(smoother, delta, worst, 3.0) == (True, False)
    smoother = two_valued_smoother(noise, lambda z: z.argmax(dim=1) <= 40 + wrong)
    assert claims_and_is_refuted(smoother, delta, worst, 3.0) == (False, False)
    assert claims_and_is_refuted(smoother, delta, worst, 1.0) == (True, True)


def test_any_kind_of_tensor_and_nothing_with_too_few_axes() -> None:
    eight_bit = torch.arange(12, dtype=torch.uint8).reshape(3, 4)
    assert UniformShift(1).sample(eight_bit, generator(), 3).dtype == torch.uint8
    with pytest.raises(InputError, match=r"expected an input with 2 axes, got 1\. .*axes=1"):
        UniformShift(1).check_input(SIGNAL, None)
    for options in ({"most": 0}, {"most": 1, "axes": 0}):
        with pytest.raises(ArgumentError, match="whole"):
            UniformShift(**options)
    with pytest.raises(ArgumentError, match="pixels"):
        GaussianShift(0.0)


def test_no_shift_is_farther_than_half_way_round() -> None:
    x = torch.zeros(3, 9, 12)
    assert UniformShift(1).largest_move(x, (0, 1)) == 6
    assert GaussianShift(1.0).largest_move(x, (0, 1)) == pytest.approx((16 + 36) ** 0.5)
    assert GaussianShift(1.0).reach(0.5, 0.8) == cs.Gaussian(1.0).reach(0.5, 0.8)
