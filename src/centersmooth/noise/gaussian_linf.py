"""Gaussian noise against an l-infinity attacker."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import torch

from centersmooth.noise.balls import Ball, LinfBall
from centersmooth.noise.base import Noise
from centersmooth.noise.gaussian import Gaussian
from centersmooth.noise.inputs import InputRange, check_dimension
from centersmooth.noise.options import whole


@dataclass(frozen=True)
class GaussianLinf(Noise):
    """x + N(0, sigma^2 I) against an l-infinity attacker: `Gaussian` at sqrt(dimension) eps.

    Exact: moving every value by eps is a move of that l2 length. `dimension` is the number of
    values of an input: x.numel().
    """

    sigma: float
    dimension: int
    norm: ClassVar[str] = "linf"

    def __post_init__(self) -> None:
        self._euclidean()
        whole(self.dimension, "dimension", 1, "It is the number of values of an input: x.numel().")

    def ball(self, x: torch.Tensor) -> Ball:
        """l-infinity."""
        return LinfBall()

    @property
    def scale(self) -> float:
        """sigma / sqrt(dimension)."""
        return self.sigma / math.sqrt(self.dimension)

    def sample(self, x: torch.Tensor, generator: torch.Generator, count: int) -> torch.Tensor:
        """`count` noisy copies, the same as those of `Gaussian`."""
        return self._euclidean().sample(x, generator, count)

    def mass_left(self, p: Any, eps: float, fold: int = 1) -> Any:
        """Phi(Phi^-1(p) - sqrt(fold dimension) eps / sigma)."""
        return self._euclidean().mass_left(p, self._length(eps), fold)

    def mass_needed(self, p: float, eps: float, fold: int = 1) -> float | None:
        """Phi(Phi^-1(p) + sqrt(fold dimension) eps / sigma)."""
        return self._euclidean().mass_needed(p, self._length(eps), fold)

    def chi_squared(self, eps: float) -> float:
        """exp(dimension (eps / sigma)^2) - 1."""
        return self._euclidean().chi_squared(self._length(eps))

    def check_input(self, x: Any, input_range: InputRange) -> torch.Tensor:
        """A finite floating-point tensor of the declared dimension, inside the range."""
        return check_dimension(self._euclidean().check_input(x, input_range), self.dimension)

    def largest_move(self, x: torch.Tensor, input_range: tuple[float, float]) -> float:
        """The width of the range."""
        return input_range[1] - input_range[0]

    def _euclidean(self) -> Gaussian:
        return Gaussian(self.sigma)

    def _length(self, eps: float) -> float:
        return math.sqrt(self.dimension) * eps * (1.0 + 2.0**-50)
