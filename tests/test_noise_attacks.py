"""The inputs that a noise lists for an attack: as far as the attacker goes, never farther."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from centersmooth import noise as noises
from centersmooth.noise import Noise

IMAGE = torch.rand(3, 6, 6, generator=torch.Generator().manual_seed(0))
BITS = (IMAGE > 0.7).float()
WORDS = ["the", "quick", "brown", "fox", "jumps", "over", "the", "lazy", "dog"]


def levenshtein(a: list[str], b: list[str]) -> int:
    row = list(range(len(b) + 1))
    for i, one in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, other in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (one != other))
    return row[-1]


def shift_between(x: torch.Tensor, there: torch.Tensor) -> tuple[int, int]:
    """The shortest cyclic shift that makes one of the other."""
    steps = [(i, j) for i in range(-3, 3) for j in range(-3, 3)]
    fitting = [s for s in steps if torch.equal(x.roll(s, (1, 2)), there)]
    return min(fitting, key=lambda s: s[0] ** 2 + s[1] ** 2)


@pytest.mark.parametrize(
    ("noise", "x", "eps", "size"),
    [
        (noises.Ablation(5, 36, channels=True), IMAGE, 3, lambda a, b: changed_pixels(a, b)),
        (noises.Ablation(5, 108), IMAGE, 3, lambda a, b: int((a != b).sum())),
        (noises.PatchAblation((2, 2), (6, 6)), IMAGE, 2, lambda a, b: side(a, b)),
        (noises.BitFlips(0.1, 0.3), BITS, 4, lambda a, b: int((a != b).sum())),
        (noises.TokenDeletion(0.5), WORDS, 2, levenshtein),
        (
            noises.TokenSubstitution(0.4, 9),
            list(range(9)),
            2,
            lambda a, b: sum(s != t for s, t in zip(a, b, strict=True)),
        ),
        (noises.GaussianShift(2.0), IMAGE, 2, lambda a, b: math.hypot(*shift_between(a, b))),
        (
            noises.UniformShift(2),
            IMAGE,
            1,
            lambda a, b: max(abs(step) for step in shift_between(a, b)),
        ),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Noise) else "",
)
def test_the_attacks_that_a_noise_lists_are_within_eps(
    noise: Noise, x: Any, eps: float, size: Any
) -> None:
    generator = torch.Generator().manual_seed(1)
    found = noise.attacks(noise.check_input(x, None), eps, 40, generator, None)
    sizes = [size(x, there) for there in found]
    assert len(found) == 40
    assert max(sizes) == pytest.approx(eps)
    for there in noise.attacks(noise.check_input(x, None), 0, 3, generator, None):
        assert size(x, there) == 0


def changed_pixels(a: torch.Tensor, b: torch.Tensor) -> int:
    return int((a != b).any(dim=0).sum())


def side(a: torch.Tensor, b: torch.Tensor) -> int:
    """Of the square that holds all changes."""
    places = (a != b).any(dim=0).nonzero()
    return int((places.amax(dim=0) - places.amin(dim=0)).max()) + 1 if len(places) else 0


def test_flips_keep_to_their_limits() -> None:
    noise = noises.BitFlips(0.1, 0.3, most_additions=0)
    generator = torch.Generator().manual_seed(1)
    for there in noise.attacks(BITS, 3, 20, generator, None):
        assert int((there > BITS).sum()) == 0
        assert int((there < BITS).sum()) == 3


@pytest.mark.parametrize(
    "noise",
    [
        noises.Gaussian(0.25),
        noises.GaussianLinf(0.25, 108),
        noises.UniformLinf(0.25, 108),
        noises.UniformL1(0.25),
        noises.LaplaceL1(0.25),
        noises.Brightness(0.25),
        noises.AnisotropicGaussian((0.1, 0.2, 0.3)),
    ],
    ids=lambda noise: type(noise).__name__,
)
def test_noise_that_is_added_has_a_ball(noise: Noise) -> None:
    ball = noise.ball(IMAGE)
    assert ball is not None
    generator = torch.Generator().manual_seed(1)
    for there in noise.attacks(IMAGE, 0.5, 5, generator, None):
        assert ball.length(there.double() - IMAGE.double()) == pytest.approx(0.5, abs=1e-5)
    for there in noise.attacks(IMAGE, 0.5, 5, generator, (0.0, 1.0)):
        assert 0 <= float(there.min()) <= float(there.max()) <= 1
