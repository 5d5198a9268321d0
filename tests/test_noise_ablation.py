from __future__ import annotations

import itertools
import warnings
from math import comb

import pytest
import torch

import centersmooth as cs
from centersmooth.errors import ArgumentError, InputError
from centersmooth.noise import Ablation, PatchAblation
from noise_laws import (
    GRID,
    Law,
    assert_exact,
    assert_samples_follow,
    assert_valid,
    changed_in,
    claims_and_is_refuted,
    gathered,
    generator,
    least_of_ball,
    promises_too_much,
    repeated,
    two_valued_smoother,
)

ABSENT = None


def shown(keep: int, marker=ABSENT):
    """The law of what is shown of x: hidden features carry a marker."""

    def law(x: tuple) -> Law:
        subsets = list(itertools.combinations(range(len(x)), keep))
        return gathered(
            (tuple(v if i in kept else marker for i, v in enumerate(x)), 1 / len(subsets))
            for kept in map(set, subsets)
        )

    return law


@pytest.mark.parametrize("keep", [1, 2, 4])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_exact_over_every_ball(keep: int, count: int) -> None:
    x = (0, 1, 1, 0)
    exact = least_of_ball(shown(keep), x, changed_in(x, count, (0, 1)))
    assert_exact(Ablation(keep, 4).mass_left(GRID, count + 0.4), exact)
    if count <= 4 - keep:  # else nothing is left to promise too much of
        assert promises_too_much(Ablation(keep, 4).mass_left(GRID, count - 1), exact)


def test_several_draws_are_exact_too() -> None:
    law, x = repeated(shown(2), 2), (0, 1, 1, 0)
    exact = least_of_ball(law, x, changed_in(x, 1, (0, 1)))
    assert_exact(Ablation(2, 4).mass_left(GRID, 1, fold=2), exact)
    assert promises_too_much(Ablation(2, 4).mass_left(GRID, 1), exact)


def test_a_null_value_that_features_have_shows_less() -> None:
    x = (0, 1, 1, 0)
    exact = least_of_ball(shown(2, marker=0), x, changed_in(x, 1, (0, 1)))
    assert_valid(Ablation(2, 4, absent=0).mass_left(GRID, 1), exact)
    assert (exact > Ablation(2, 4).mass_left(GRID, 1) + 0.01).any()


def test_independent_masking_would_need_another_formula() -> None:
    """Twin: each feature shown with chance keep / D. Two changes are seen less often then."""
    x, rate = (0, 1, 1, 0), 0.5

    def law(y: tuple) -> Law:
        masks = itertools.product((True, False), repeat=4)
        return gathered(
            (tuple(v if m else ABSENT for v, m in zip(y, mask, strict=True)), rate**4)
            for mask in masks
        )

    exact = least_of_ball(law, x, changed_in(x, 2, (0, 1)))
    assert Ablation(2, 4).mass_left(1.0, 2) == pytest.approx(1 / 6)
    assert exact[-1] == pytest.approx(rate**2)


def test_the_probability_is_exact_for_large_inputs() -> None:
    assert Ablation(45, 784).shared(10) == pytest.approx(comb(774, 45) / comb(784, 45), rel=1e-15)
    large = Ablation(1000, 150_528)
    assert large.mass_left(1.0, 50) == pytest.approx((1 - 1000 / 150_528) ** 50, rel=1e-3)
    assert large.mass_left(1.0, 150_000) == 0


def test_every_subset_is_shown_as_often() -> None:
    x = torch.tensor([3.0, 4.0, 5.0, 6.0])
    copies = Ablation(2, 4).sample(x, generator(), 20_000)
    assert copies.shape == (20_000, 2, 4)
    assert bool((copies[:, 0] == torch.where(copies[:, 1] == 1, 0.0, x)).all())
    outcomes = [
        tuple(ABSENT if gone else value for value, gone in zip(*row, strict=True))
        for row in copies.tolist()
    ]
    assert_samples_follow(shown(2)((3.0, 4.0, 5.0, 6.0)), outcomes)


def test_channels_are_hidden_together() -> None:
    x = torch.arange(1, 25).reshape(2, 3, 4)
    copies = Ablation(5, 12, channels=True).sample(x, generator(), 8)
    assert copies.shape == (8, 3, 3, 4)
    assert copies.dtype == x.dtype
    gone = copies[:, 2].bool()
    assert gone.sum(dim=(1, 2)).tolist() == [7] * 8
    assert bool((copies[:, :2] == torch.where(gone[:, None], 0, x)).all())


def test_a_declared_null_value_keeps_the_shape() -> None:
    x = torch.rand(2, 3, 4)
    pixels = Ablation(5, 12, channels=True, absent=-1.0).sample(x, generator(), 8)
    values = Ablation(5, 24, absent=0.5).sample(x, generator(), 8)
    assert pixels.shape == values.shape == (8, 2, 3, 4)
    assert (pixels == -1).sum(dim=(1, 2, 3)).tolist() == [14] * 8
    assert (values == 0.5).sum(dim=(1, 2, 3)).tolist() == [19] * 8


# -------------------------------------------------------------------------------- patches


def block_shown(block: tuple[int, int], image: tuple[int, int]):
    height, width = image

    def law(x: tuple) -> Law:
        outcomes = []
        for top, left in itertools.product(range(height), range(width)):
            rows = {(top + i) % height for i in range(block[0])}
            columns = {(left + j) % width for j in range(block[1])}
            kept = tuple(
                v if i // width in rows and i % width in columns else ABSENT
                for i, v in enumerate(x)
            )
            outcomes.append((kept, 1 / (height * width)))
        return gathered(outcomes)

    return law


def patched(x: tuple, side: int, image: tuple[int, int]) -> list[tuple]:
    """x with every pixel of a square patch flipped, for each place of the patch."""
    height, width = image
    found = []
    for top in range(max(1, height - side + 1)):
        for left in range(max(1, width - side + 1)):
            inside = [
                top <= i // width < top + side and left <= i % width < left + side
                for i in range(len(x))
            ]
            found.append(tuple(1 - v if hit else v for v, hit in zip(x, inside, strict=True)))
    return found


@pytest.mark.parametrize("block", [(1, 1), (2, 2), (4, 1), (2, 5)])
@pytest.mark.parametrize("side", [1, 2, 3, 5])
def test_patches_are_exact_at_every_place(block: tuple[int, int], side: int) -> None:
    image, x = (4, 5), (0, 1) * 10
    noise = PatchAblation(block, image)
    exact = least_of_ball(block_shown(block, image), x, patched(x, side, image))
    assert_exact(noise.mass_left(GRID, side + 0.3), exact)
    if noise.shared(side) > 0:
        assert promises_too_much(noise.mass_left(GRID, side - 1), exact)


def test_every_block_is_shown_as_often_and_goes_round() -> None:
    image, x = (3, 4), tuple(range(5, 17))
    noise = PatchAblation((2, 3), image)
    copies = noise.sample(torch.tensor(x).reshape(image), generator(), 20_000)
    assert copies.shape == (20_000, 2, 3, 4)
    outcomes = [
        tuple(ABSENT if gone else v for v, gone in zip(*row, strict=True))
        for row in copies.reshape(20_000, 2, 12).tolist()
    ]
    assert_samples_follow(block_shown((2, 3), image)(x), outcomes)


def test_blocks_hide_all_channels() -> None:
    x = torch.rand(3, 6, 8)
    copies = PatchAblation((6, 2), (6, 8), absent=0.0).sample(x, generator(), 5)
    assert copies.shape == (5, 3, 6, 8)
    assert bool(((copies != 0).any(dim=(1, 2)).sum(dim=1) == 2).all())


# ------------------------------------------------------------------------------ end to end


@pytest.mark.parametrize("noise", [Ablation(1, 10), PatchAblation((1, 1), (1, 10))])
def test_a_certificate_holds_at_the_worst_input_and_a_wrong_one_does_not(noise) -> None:
    """One place in ten is shown; the attacker changes one place, and the model knows it."""
    x = torch.ones(noise.image if isinstance(noise, PatchAblation) else 10)
    worst = x.clone()
    worst.view(-1)[0] = -1

    def upto(last: int):
        """0 for the true value of place 0 and for places up to the last; 1 for all else."""
        return lambda z: (z[:, 0].flatten(1)[:, : last + 1] > 0).any(dim=1)

    assert claims_and_is_refuted(two_valued_smoother(noise, upto(7)), x, worst, 1) == (True, False)
    smoother = two_valued_smoother(noise, upto(5))  # .6 at x, .5 at the worst x'
    assert claims_and_is_refuted(smoother, x, worst, 1) == (False, False)
    assert claims_and_is_refuted(smoother, x, worst, 0.5) == (True, True)


def test_a_patch_certificate_on_eight_bit_images() -> None:
    """Hiding needs no arithmetic: the input stays in bytes."""
    image = torch.full((1, 8, 8), 200, dtype=torch.uint8)
    noise = PatchAblation((3, 3), (8, 8))

    def bright(batch: torch.Tensor) -> torch.Tensor:
        seen = 1.0 - batch[:, 1].float().mean(dim=(1, 2))
        return (batch[:, 0].float().mean(dim=(1, 2)) / seen)[:, None]

    smoother = cs.Smoother(bright, noise, cs.metrics.L1(), answer_samples=101, progress=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # sigma has no units here: nothing to warn about
        certificate = smoother.certify(image, samples=1000, seed=0)
    assert float(certificate.value) == pytest.approx(200)
    assert certificate.bound(1) == 0  # every noisy copy answers 200
    assert certificate.status(2) == "certified"
    assert certificate.status(5) == "undecided"
    assert "patch distance 1" in certificate.explain(1)


# ---------------------------------------------------------------------------------- checks


@pytest.mark.parametrize(
    "build",
    [
        lambda: Ablation(0, 4),
        lambda: Ablation(5, 4),
        lambda: Ablation(2, 4.0),
        lambda: Ablation(2, 4, absent=float("nan")),
        lambda: PatchAblation((5, 1), (4, 5)),
        lambda: PatchAblation((0, 1), (4, 5)),
        lambda: PatchAblation(3, (4, 5)),
        lambda: PatchAblation((1, 1), (4, 5), absent="black"),
    ],
)
def test_options_that_make_no_sense(build) -> None:
    with pytest.raises(ArgumentError, match="expected"):
        build()


@pytest.mark.parametrize(
    ("noise", "x", "message"),
    [
        (Ablation(2, 4), torch.zeros(5), r"expected an input of 4 features, got 5\. .*features=5"),
        (Ablation(2, 4, channels=True), torch.zeros(4), "first axis of the input holds channels"),
        (Ablation(2, 4, channels=True), torch.zeros(4, 2), "4 features, got 2"),
        (Ablation(2, 4, absent=-1), torch.zeros(4, dtype=torch.uint8), "can hold the absent value"),
        (Ablation(2, 4, absent=0.5), torch.zeros(4, dtype=torch.long), "can hold the absent value"),
        (PatchAblation((1, 1), (4, 5)), torch.zeros(5, 4), r"shape \(4, 5\), with or without"),
        (PatchAblation((1, 1), (4, 5)), torch.zeros(1, 1, 4, 5), r"got \(1, 1, 4, 5\)"),
        (Ablation(2, 4), ["a"] * 4, "works on tensors"),
    ],
)
def test_inputs_that_do_not_fit(noise, x, message: str) -> None:
    with pytest.raises(InputError, match=message):
        noise.check_input(x, None)


def test_no_attack_changes_more_than_everything() -> None:
    assert Ablation(2, 4).largest_move(torch.zeros(4), (0, 1)) == 4
    assert PatchAblation((1, 1), (4, 5)).largest_move(torch.zeros(4, 5), (0, 1)) == 5
