from __future__ import annotations

from typing import Any

import pytest
import torch

import centersmooth as cs
from centersmooth.attacks.judge import Judge
from centersmooth.attacks.search import Search
from centersmooth.noise import Noise
from test_attacks_ascent import Linear
from tiny_models import X, linear, smoother

ROWS = linear(torch.eye(6)).T
EPS = 0.25


def search(model: Any, noise: Noise, x: Any = X, input_range: Any = None, **options: Any) -> Search:
    made = smoother(model, noise=noise, answer_samples=199, **options)
    source, _ = made.source(x, 3)
    reference = made(x)
    block = made.metric.collate(made.metric.single(reference))
    judge = Judge(source, made.party, block, 199)
    return Search(source, made.party, reference, EPS, input_range, judge)


def worst(noise: Noise) -> float:
    """The largest movement of the linear model: a singular value, a column, or a corner."""
    if noise.norm == "l1":
        return EPS * float(ROWS.norm(dim=0).max())
    if noise.norm == "linf":
        corners = torch.cartesian_prod(*[torch.tensor([-1.0, 1.0])] * 6)
        return EPS * float((corners @ ROWS.T).norm(dim=1).max())
    return EPS * float(torch.linalg.svdvals(ROWS)[0])


@pytest.mark.parametrize("model", [linear, Linear().eval()], ids=["black box", "module"])
@pytest.mark.parametrize(
    "noise",
    [cs.Gaussian(0.25), cs.noise.LaplaceL1(0.25), cs.noise.GaussianLinf(0.25, 6)],
    ids=lambda noise: noise.norm,
)
def test_the_worst_case_of_a_linear_model_is_found(model: Any, noise: Noise) -> None:
    found = search(model, noise)
    best = found.run(())
    moved = float(linear((best[0].x - X)[None]).norm())
    assert moved == pytest.approx(worst(noise), rel=0.05)
    ball = noise.ball(X)
    assert ball is not None
    assert all(ball.length((c.x - X).double()) <= EPS for c in best)
    assert [c.movement for c in best] == sorted((c.movement for c in best), reverse=True)
    assert found.evaluations > 199 * len(best)


def test_the_declared_range_is_kept() -> None:
    for candidate in search(linear, cs.Gaussian(0.25), input_range=(0.0, 1.0)).run(()):
        assert 0 <= float(candidate.x.min()) <= float(candidate.x.max()) <= 1


def test_the_callers_inputs_are_tried() -> None:
    """A spike that no search would find."""

    def spiked(batch: torch.Tensor) -> torch.Tensor:
        near = (batch - hidden).norm(dim=1, keepdim=True) < 0.05
        return linear(batch) + 100.0 * near

    hidden = X + 0.24 * torch.tensor([0.0, 0.6, 0, 0, 0.8, 0])
    best = search(spiked, cs.Gaussian(0.01)).run([hidden])
    assert best[0].found_by.startswith("the caller")


def test_inputs_that_are_no_numbers_are_searched_at_random() -> None:
    def longest(batch: list[list[str]]) -> list[str]:
        return [max(words, key=len, default="") for words in batch]

    noise = cs.noise.TokenDeletion(0.3)
    words = ["a", "bb", "ccc", "dddd"]
    made = smoother(longest, cs.metrics.Discrete(), noise=noise, center=cs.Medoid(20))
    source, _ = made.source(words, 3)
    block = made.metric.collate(["dddd"])
    judge = Judge(source, made.party, block, 51)
    found = Search(source, made.party, "dddd", 1.0, None, judge).run(())
    assert len(found) == 24
    assert found[0].movement == 1.0
    assert found[0].found_by == "random search"


def test_a_noise_that_lists_nothing_leaves_it_to_the_caller() -> None:
    class Own(cs.Gaussian):
        def ball(self, x: torch.Tensor) -> None:  # type: ignore[override]
            return None

    assert search(linear, Own(0.25)).run(()) == []
    assert search(linear, Own(0.25)).run([X + 0.01])[0].found_by == "the caller"
