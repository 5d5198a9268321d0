from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

import centersmooth as cs
from centersmooth.attacks.ascent import Ascent, differentiable
from tiny_models import X, linear

NOISE = cs.Gaussian(0.25)


class Linear(nn.Module):
    """The linear model of the other tests, with gradients."""

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        return linear(batch)


class Labels(nn.Module):
    """No gradient leads through a label."""

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        return linear(batch).argmax(dim=1)


class Pair(nn.Module):
    """Not one tensor."""

    def forward(self, batch: torch.Tensor) -> Any:
        return [(row, row) for row in batch]


@pytest.mark.parametrize("noise", [NOISE, cs.noise.LaplaceL1(0.1), cs.noise.UniformLinf(0.3, 6)])
def test_ascent_finds_what_no_random_move_does(noise: cs.noise.Noise) -> None:
    ball = noise.ball(X)
    assert ball is not None
    generator = torch.Generator().manual_seed(0)
    ascent = Ascent(Linear(), noise, X, linear(X[None])[0], seed=1)
    best = 0.0
    for _ in range(4):
        delta = ascent.climb(ball, ball.random(X, 0.25, generator), 0.25, 20)
        assert ball.length(delta) <= 0.25 * (1 + 1e-9)
        best = max(best, float(linear(delta.float()[None]).norm()))
    random = [ball.random(X, 0.25, generator).float() for _ in range(200)]
    assert best >= 0.97 * max(float(linear(delta[None]).norm()) for delta in random)
    assert ascent.evaluations == 4 * 20 * 32


def test_ascent_finds_the_top_singular_vector() -> None:
    ball = NOISE.ball(X)
    ascent = Ascent(Linear(), NOISE, X, linear(X[None])[0], seed=1)
    start = ball.random(X, 0.25, torch.Generator().manual_seed(2))
    delta = ascent.climb(ball, start, 0.25, 20)
    rows = linear(torch.eye(6)).T
    assert float(linear(delta.float()[None]).norm()) == pytest.approx(
        0.25 * float(torch.linalg.svdvals(rows)[0]), rel=0.03
    )


def test_only_modules_with_a_gradient_and_the_references_shape_are_climbed() -> None:
    reference = linear(X[None])[0]
    assert differentiable(Linear(), X, reference)
    assert not differentiable(linear, X, reference)
    assert not differentiable(Labels(), X, reference)
    assert not differentiable(Pair(), X, reference)
    assert not differentiable(Linear(), X, reference[:2])
    assert not differentiable(Linear(), X, "text")
    assert not differentiable(Linear(), [1, 2, 3], reference)
    assert not differentiable(Linear(), X.long(), reference)
