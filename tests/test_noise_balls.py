from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from centersmooth.noise.balls import Ball, L1Ball, L2Ball, Line, LinfBall
from metric_laws import generator

SPREAD = torch.tensor([[0.5], [2.0]], dtype=torch.float64)
BALLS = [L1Ball(), L2Ball(), L2Ball(SPREAD), LinfBall(), Line()]
quiet = settings(derandomize=True, deadline=None, max_examples=10)


def normal(seed: int) -> torch.Tensor:
    return torch.randn(2, 3, generator=generator(seed), dtype=torch.float64)


@pytest.mark.parametrize("ball", BALLS, ids=lambda ball: type(ball).__name__)
@quiet
@given(st.integers(0, 10**6), st.floats(0.01, 10))
def test_a_projection_is_within_and_leaves_what_is(ball: Ball, seed: int, eps: float) -> None:
    there = ball.project(normal(seed) * 3, eps)
    assert ball.length(there) <= eps * (1 + 1e-12)
    assert torch.allclose(ball.project(there, eps), there, atol=1e-12)


@pytest.mark.parametrize("ball", [L1Ball(), L2Ball(), LinfBall(), Line()])
@quiet
@given(st.integers(0, 10**6))
def test_a_projection_is_the_nearest_move(ball: Ball, seed: int) -> None:
    """Seen from it, every other move of the ball lies on the far side."""
    delta = normal(seed) * 2
    there = ball.project(delta, 1.0)
    for other in range(20):
        move = ball.project(normal(seed + 1 + other) * 5, 1.0)
        assert float(((delta - there) * (move - there)).sum()) <= 1e-9


@pytest.mark.parametrize("ball", BALLS, ids=lambda ball: type(ball).__name__)
@quiet
@given(st.integers(0, 10**6))
def test_no_move_climbs_more_than_the_steepest(ball: Ball, seed: int) -> None:
    gradient = normal(seed)
    best = ball.steepest(gradient, 0.7)
    assert ball.length(best) == pytest.approx(0.7)
    for other in range(20):
        move = ball.project(normal(seed + 1 + other) * 5, 0.7)
        assert float((gradient * move).sum()) <= float((gradient * best).sum()) + 1e-9


@pytest.mark.parametrize("ball", BALLS, ids=lambda ball: type(ball).__name__)
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
@pytest.mark.parametrize("limits", [None, (0.0, 1.0)])
def test_what_was_moved_is_surely_within_eps_and_in_range(
    ball: Ball, dtype: torch.dtype, limits: tuple[float, float] | None
) -> None:
    x = torch.rand(2, 3, generator=generator(1)).to(dtype)
    for seed in range(20):
        move = ball.random(x, 0.75, generator(seed))
        there = ball.moved(x, move, 0.25, limits)
        assert there.dtype == dtype
        length = ball.length(there.double() - x.double())
        assert length <= 0.25
        if limits is None:
            assert length >= 0.2
        else:
            assert bool((there >= 0).all() and (there <= 1).all())


def test_a_zero_gradient_is_survived() -> None:
    for ball in BALLS:
        assert torch.isfinite(ball.steepest(torch.zeros(2, 3).double(), 1.0)).all()
        assert ball.project(torch.zeros(2, 3).double(), 0.0).abs().sum() == 0


def test_the_lengths_are_those_of_the_norms() -> None:
    delta = torch.tensor([[3.0, 0.0, 0.0], [0.0, 4.0, 0.0]], dtype=torch.float64)
    assert [ball.length(delta) for ball in BALLS[:2]] == [7.0, 5.0]
    assert L2Ball(SPREAD).length(delta) == pytest.approx((36 + 4) ** 0.5)
    assert LinfBall().length(delta) == 4.0
    assert Line().length(torch.full((2, 3), -0.5)) == 0.5
