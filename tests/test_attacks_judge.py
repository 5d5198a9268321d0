from __future__ import annotations

import math
from typing import Any

import pytest
import torch

import centersmooth as cs
from centersmooth.attacks.judge import Judge
from tiny_models import X, failing, linear, smoother


def judge(made: cs.Smoother, reference: torch.Tensor, samples: int = 51) -> Judge:
    source, _ = made.source(X, 3)
    return Judge(source, made.party, made.metric.collate(reference[None]), samples)


@pytest.mark.parametrize("center", [cs.GeometricMedian(), cs.Medoid(20)])
def test_movements_compare_because_they_share_their_noise(center: Any) -> None:
    made = smoother(center=center)
    found = judge(made, linear(X[None])[0])
    step = torch.tensor([1.0, 0, 0, 0, 0, 0])
    movements = [found.movement(X + length * step) for length in (0.5, 1.0, 2.0, 4.0)]
    assert movements == sorted(movements)
    assert movements[0] == found.movement(X + 0.5 * step)
    exact = float(linear(step[None]).norm())
    assert movements[-1] - movements[-2] == pytest.approx(2 * exact, rel=0.2)
    assert found.evaluations == 5 * (51 + center.draws)


def test_an_input_without_an_answer_does_not_stop_the_search() -> None:
    made = smoother(failing(0.2), on_invalid="far")
    far = X.clone()
    far[0] = -100.0  # there the model always fails
    assert judge(made, linear(X[None])[0]).movement(far) == 0.0
    assert 0 < judge(made, linear(X[None])[0]).movement(X) < math.inf
