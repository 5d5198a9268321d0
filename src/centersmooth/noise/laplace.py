"""Laplace noise against an l1 attacker."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import torch

from centersmooth.noise.additive import Additive
from centersmooth.noise.balls import Ball, L1Ball
from centersmooth.noise.options import positive
from centersmooth.noise.regions import Curve, FloatArray, fill, sums

_UNDERFLOW = 700.0
"""exp(-700) is the last that doubles can hold with all its digits."""
_TANGENTS, _MOST_FOLDED = 129, 64


@dataclass(frozen=True)
class LaplaceL1(Additive):
    """x + Laplace(b) on every value, against an l1 attacker, in any dimension.

    ``mass_left(p, eps) = F(F^-1(p) - eps)``, F the Laplace distribution function. Exact; a
    fold has no closed form and is bounded from below, at most 1e-4 too small for eps <= 5 b.
    """

    b: float
    norm: ClassVar[str] = "l1"

    def __post_init__(self) -> None:
        positive(self.b, "b", "b is the mean size of the noise, in the units of the input.")

    def ball(self, x: torch.Tensor) -> Ball:
        """l1."""
        return L1Ball()

    @property
    def scale(self) -> float:
        """b."""
        return self.b

    def draw(
        self, x: torch.Tensor, generator: torch.Generator, count: int, dtype: torch.dtype
    ) -> torch.Tensor:
        """The difference of two exponential variables."""
        pair = torch.empty((2, count, *x.shape), device=x.device, dtype=dtype)
        pair.exponential_(generator=generator)
        return (pair[0] - pair[1]).mul_(self.b)

    def mass_left(self, p: Any, eps: float, fold: int = 1) -> Any:
        """With u = eps / b: p e^-u; 1 - (1 - p) e^u near 1; between, e^-u / (4 (1 - p))."""
        p = np.asarray(p, dtype=float)
        if 1 < fold <= _MOST_FOLDED and 0 < eps / self.b <= _UNDERFLOW:
            return _folded(eps / self.b, fold)(p)[()]
        return _left(p, fold * eps / self.b)[()]

    def largest_move(self, x: torch.Tensor, input_range: tuple[float, float]) -> float:
        """Every value from one end of the range to the other."""
        return (input_range[1] - input_range[0]) * x.numel()


def _left(p: FloatArray, u: float) -> FloatArray:
    """psi of one draw at u = eps / b, rounded down."""
    if u == 0:
        return p
    if u > _UNDERFLOW:
        return np.where(p >= 1, 1.0, 0.0)
    rest = 1.0 - p
    shrink = np.exp(-u)
    between = shrink / (4.0 * np.maximum(rest, shrink / 2))
    left = np.where(p <= 0.5, p * shrink, between)
    left = np.where(rest <= shrink / 2, 1.0 - rest / shrink, left)
    # exp multiplies the rounding of u by u; a set of full mass keeps it all.
    return np.where(p >= 1, 1.0, left * (1.0 - (4.0 + u) * 2.0**-51))


@lru_cache(maxsize=512)
def _folded(u: float, fold: int) -> Curve:
    """psi of several draws, from the tangents to psi of one whose slopes are e^v.

    The largest of the tangents is psi of a finite experiment, in which the attack shows a
    little more (docs/theory/noises.md): draws of it add up their v.
    """
    v = np.linspace(-u, u, _TANGENTS)
    step = 2 * u / (_TANGENTS - 1)
    here = np.exp(-(u + v) / 2) * np.tanh(step / 4)
    here[0] = 1 / (1 + np.exp(-step / 2))
    here[-1] = np.exp(-u) * here[0]
    return fill(sums(here, fold)[fold], sums(here[::-1], fold)[fold])
