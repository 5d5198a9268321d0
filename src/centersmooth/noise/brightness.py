"""Gaussian noise on the brightness of an input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch

from centersmooth.noise.additive import Additive
from centersmooth.noise.balls import Ball, Line
from centersmooth.noise.gaussian import Gaussian
from centersmooth.noise.options import positive


@dataclass(frozen=True)
class Brightness(Additive):
    """x + a, one number a ~ N(0, sigma^2) added to every value; the attacker adds one too.

    eps bounds the size of the number that the attacker adds, in the units of the input.
    ``mass_left(p, eps) = Phi(Phi^-1(p) - eps / sigma)``. Exact, and free of the dimension.

    Adding a and then b adds a + b: that is all the proof needs, and clipping to a range of
    values would break it. An attacker whose images are clipped is not covered.
    """

    sigma: float
    norm: ClassVar[str] = "brightness"

    def __post_init__(self) -> None:
        positive(self.sigma, "sigma", "sigma is the spread of the brightness, e.g. 0.2 for [0, 1].")

    def ball(self, x: torch.Tensor) -> Ball:
        """One number for all values."""
        return Line()

    @property
    def scale(self) -> float:
        """sigma."""
        return self.sigma

    def draw(
        self, x: torch.Tensor, generator: torch.Generator, count: int, dtype: torch.dtype
    ) -> torch.Tensor:
        """One normal number per copy."""
        shape = (count, *(1 for _ in x.shape))
        unit = torch.randn(shape, generator=generator, device=x.device, dtype=dtype)
        return unit.mul_(self.sigma)

    def mass_left(self, p: Any, eps: float, fold: int = 1) -> Any:
        """Phi(Phi^-1(p) - sqrt(fold) eps / sigma)."""
        return Gaussian(self.sigma).mass_left(p, eps, fold)

    def mass_needed(self, p: float, eps: float, fold: int = 1) -> float | None:
        """Phi(Phi^-1(p) + sqrt(fold) eps / sigma)."""
        return Gaussian(self.sigma).mass_needed(p, eps, fold)

    def chi_squared(self, eps: float) -> float:
        """exp((eps / sigma)^2) - 1."""
        return Gaussian(self.sigma).chi_squared(eps)

    def reach(self, p: float, q: float) -> float:
        """sigma (Phi^-1(q) - Phi^-1(p)), at least 0."""
        return Gaussian(self.sigma).reach(p, q)

    def largest_move(self, x: torch.Tensor, input_range: tuple[float, float]) -> float:
        """How far the brightness can go before a value leaves the range."""
        return max(input_range[1] - float(x.max()), float(x.min()) - input_range[0])
