"""Uniform noise against l1 and against l-infinity attackers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import torch

from centersmooth.noise.additive import Additive
from centersmooth.noise.balls import Ball, L1Ball, LinfBall
from centersmooth.noise.inputs import InputRange, check_dimension
from centersmooth.noise.options import positive, whole
from centersmooth.noise.shared import SharedMass

_HALF_WIDTH = "half_width is the reach of the noise on either side, in the units of the input."


class _Uniform(Additive, SharedMass):
    """Every value moves by Uniform[-half_width, half_width], independently."""

    half_width: float

    def draw(
        self, x: torch.Tensor, generator: torch.Generator, count: int, dtype: torch.dtype
    ) -> torch.Tensor:
        """Uniform numbers, one per value of x."""
        shape = (count, *x.shape)
        unit = torch.rand(shape, generator=generator, device=x.device, dtype=dtype)
        return unit.mul_(2.0).sub_(1.0).mul_(self.half_width)


@dataclass(frozen=True)
class UniformL1(_Uniform):
    """x + Uniform[-half_width, half_width] on every value, against an l1 attacker.

    ``mass_left(p, eps) = p - eps / (2 half_width)`` in any dimension, clipped at 0. Exact.
    """

    half_width: float
    norm: ClassVar[str] = "l1"

    def __post_init__(self) -> None:
        positive(self.half_width, "half_width", _HALF_WIDTH)

    def ball(self, x: torch.Tensor) -> Ball:
        """l1."""
        return L1Ball()

    @property
    def scale(self) -> float:
        """Half of half_width: nothing is left to certify at twice half_width."""
        return self.half_width / 2

    def shared(self, eps: float) -> float:
        """1 - eps / (2 half_width): the cubes overlap least when one value is moved."""
        lost = eps / (2 * self.half_width)
        return max(0.0, math.nextafter(1.0 - lost, -1.0)) if eps > 0 else 1.0

    def largest_move(self, x: torch.Tensor, input_range: tuple[float, float]) -> float:
        """Every value from one end of the range to the other."""
        return (input_range[1] - input_range[0]) * x.numel()


@dataclass(frozen=True)
class UniformLinf(_Uniform):
    """x + Uniform[-half_width, half_width] on every value, against an l-infinity attacker.

    ``mass_left(p, eps) = p - 1 + (1 - eps / (2 half_width))^dimension``, clipped at 0. Exact.
    `dimension` is the number of values of an input: x.numel().
    """

    half_width: float
    dimension: int
    norm: ClassVar[str] = "linf"

    def __post_init__(self) -> None:
        positive(self.half_width, "half_width", _HALF_WIDTH)
        whole(self.dimension, "dimension", 1, "It is the number of values of an input: x.numel().")

    def ball(self, x: torch.Tensor) -> Ball:
        """l-infinity."""
        return LinfBall()

    @property
    def scale(self) -> float:
        """Half of half_width, shared among the dimensions."""
        return self.half_width / (2 * self.dimension)

    def shared(self, eps: float) -> float:
        """(1 - eps / (2 half_width))^dimension: every value is moved by eps."""
        lost = eps / (2 * self.half_width)
        if eps <= 0 or lost >= 1:
            return 1.0 if eps <= 0 else 0.0
        # Through log1p: a power would multiply the rounding of its base by the dimension.
        exponent = self.dimension * math.log1p(-lost)
        return math.exp(exponent * (1.0 + 2.0**-50)) * (1.0 - 2.0**-50)

    def check_input(self, x: Any, input_range: InputRange) -> torch.Tensor:
        """A finite floating-point tensor of the declared dimension, inside the range."""
        return check_dimension(super().check_input(x, input_range), self.dimension)

    def largest_move(self, x: torch.Tensor, input_range: tuple[float, float]) -> float:
        """The width of the range."""
        return input_range[1] - input_range[0]
