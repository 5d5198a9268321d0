"""Why to believe pooled candidates: the attacker moves all outputs of a pool, and that is paid for.

The good candidates are a half-space of the mean noise, which attains the shift of l draws
together. All samples lie at one point, so that nothing but the candidates decides the answer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest
import torch
from scipy.special import ndtri

import centersmooth as cs
from centersmooth.metrics import Block, Metric
from centersmooth.theorems import MedoidTheorem
from centersmooth.theorems.medoid import _outer_ranks
from coverage_models import ORIGIN, SIGMA, moved, refuted

NOISE = cs.Gaussian(SIGMA)
POOL, EPS, ALPHA, ROUNDS = 9, 1.0, 0.1, 60
GOOD, BAD = 1.0, 5.0


@dataclass(frozen=True)
class Wheel(Metric):
    """Samples at the hub; pooled candidates at the end of a spoke, short below a threshold."""

    threshold: float
    rounding = 0.0

    def collate(self, outputs: Any) -> Block:
        spokes = torch.where(outputs[:, 0] <= self.threshold, GOOD, BAD)
        rows = torch.where(outputs[:, 1] > 0, spokes, torch.zeros_like(spokes))
        return Block(rows, torch.ones(len(rows), dtype=torch.bool))

    def lengths(self, a: Any, b: Any) -> torch.Tensor:
        return (a[:, None] + b[None, :]) * (a[:, None] != b[None, :])

    def pool(self, outputs: Any, size: int) -> torch.Tensor:
        means = outputs[:, 0].reshape(-1, size).mean(dim=1)
        return torch.stack((means, torch.ones_like(means)), dim=1)


def flat(batch: torch.Tensor) -> torch.Tensor:
    """The noisy input, marked as no candidate."""
    return torch.cat((batch, torch.zeros_like(batch)), dim=1)


class Unfolded(MedoidTheorem):
    """The twin that shifts a pool like a single draw."""

    def outer_ranks(self, eps: float) -> tuple[int, int] | None:
        single = replace(self.center, pool=1)
        return _outer_ranks(single, self.noise, eps, self.sizes, self.level, self.share)


def violations(mass: float, kind: type[MedoidTheorem]) -> tuple[int, int]:
    """Answers beyond the bound, and bounds that claim a good candidate; at the worst x'."""
    metric = Wheel(threshold=float(ndtri(mass)) / POOL**0.5)
    center = cs.Medoid(200, POOL)
    smoother = cs.Smoother(
        flat, NOISE, metric, center, answer_samples=51, batch_size=4096, progress=False
    )
    wrong = claimed = 0
    for i in range(ROUNDS):
        c = smoother.certify(ORIGIN, 300, ALPHA, target=torch.zeros(2), seed=i)
        theorem = kind(center, NOISE, metric, c.sizes, c.level)
        bound = theorem.bound(c.ranked, 1, EPS)
        answer = smoother.predict(moved(EPS), seed=10_000 + i).value
        wrong += metric(torch.zeros(2), answer) > bound
        claimed += bound <= GOOD
    return wrong, claimed


@pytest.mark.parametrize("mass", [0.3, 0.82, 0.93])
def test_pools_cover_and_the_shift_of_a_single_draw_does_not(mass: float) -> None:
    wrong, claimed = violations(mass, MedoidTheorem)
    assert not refuted(wrong, ROUNDS, ALPHA)
    if mass > 0.9:  # enough candidates are good to say so
        assert claimed > ROUNDS / 2
    if mass < 0.5:
        twin, _ = violations(mass, Unfolded)
        assert refuted(twin, ROUNDS, ALPHA)
