from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from studies.mean_smoothing import mean_answer, mean_bound

from centersmooth.noise import Gaussian


def test_the_papers_figures_but_for_its_rounding() -> None:
    assert mean_bound(2, 28 * 28) == pytest.approx(19.04, rel=0.005)
    assert mean_bound(2, 3 * 32 * 32) == pytest.approx(37.69, rel=0.005)
    assert mean_bound(0, 784) == 0


@pytest.mark.parametrize("h", [0.1, 1.0, 2.0])
def test_a_step_attains_the_bound(h: float) -> None:
    """f = 1 on a half-space: its mean moves by as much as any coordinate of any model can."""
    noise = Gaussian(0.25)
    masses = np.linspace(0.001, 0.999, 4001)
    moved = masses - np.array([noise.mass_left(p, h * 0.25) for p in masses])
    assert moved.max() <= mean_bound(h, 1) + 1e-12
    assert moved.max() == pytest.approx(mean_bound(h, 1), rel=1e-4)


def test_the_mean_of_a_linear_model_is_its_output() -> None:
    weights = torch.randn(3, 5, generator=torch.Generator().manual_seed(0))
    x = torch.rand(5, generator=torch.Generator().manual_seed(1))

    def model(batch: torch.Tensor) -> torch.Tensor:
        return batch @ weights.T

    answer = mean_answer(model, x, 0.1, 4_001, seed=2)
    error = 0.1 * float(weights.norm()) / math.sqrt(4_001)
    assert float((answer - model(x[None])[0].double()).norm()) < 3 * error
    assert torch.equal(answer, mean_answer(model, x, 0.1, 4_001, seed=2))
