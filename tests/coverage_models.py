"""Extremal models for the coverage tests, and the verdict on a count of violations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from scipy.special import ndtr
from scipy.stats import binom

from centersmooth.metrics import Custom

SIGMA = 1.0
ORIGIN = torch.zeros(1, dtype=torch.float64)
CAUGHT = 1e-4
"""A count of violations this improbable under the promise refutes it."""


def refuted(violations: int, rounds: int, alpha: float) -> bool:
    """Whether so many violations would be a miracle if each had probability alpha at most."""
    return bool(binom.sf(violations - 1, rounds, alpha) < CAUGHT)


def moved(eps: float) -> torch.Tensor:
    """The worst x' for models that increase along the input."""
    return ORIGIN + eps


def two_valued(threshold: float) -> Callable[[torch.Tensor], torch.Tensor]:
    """0 up to the threshold, 1 beyond: a half-space, which attains the shift."""

    def model(batch: torch.Tensor) -> torch.Tensor:
        return (batch > threshold).double()

    return model


def increasing(batch: torch.Tensor) -> torch.Tensor:
    """Continuous and increasing: every ball around its infimum 0 is a half-space."""
    return torch.special.ndtr(batch)


def mass_within(radius: float) -> float:
    """The mass at the origin of the ball of `increasing` around 0."""
    return float(np.clip(radius, 0.0, 1.0))


def threshold_with_mass(mass: float) -> float:
    """Where to cut so that this mass lies below, at the origin."""
    low, high = -40.0, 40.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if ndtr(middle) < mass else (low, middle)
    return low


# The geometry that attains the factor 3 of Theorem A: w, a majority one away from w and two
# from each other, and a coincident minority nearly two from the majority, nearly three from w.
NU = 0.01
W, MINORITY = 0.0, -1.0


def star(a: float, b: float) -> float:
    """Distances of that geometry; majority points are any distinct positive numbers."""
    if a == b:
        return 0.0
    kinds = {"w" if p == W else "minority" if p == MINORITY else "majority" for p in (a, b)}
    if kinds == {"w", "majority"}:
        return 1.0
    if kinds == {"majority"}:
        return 2.0
    return 2.0 - NU if kinds == {"minority", "majority"} else 3.0 - NU


STAR = Custom(star, diameter=3.0)


def star_model(first: float, second: float) -> Callable[[torch.Tensor], list[float]]:
    """w below `first`, distinct majority points up to `second`, the minority beyond."""

    def model(batch: torch.Tensor) -> list[float]:
        def place(value: float) -> float:
            if value <= first:
                return W
            return 100.0 + value if value <= second else MINORITY

        return [place(float(row)) for row in batch]

    return model
