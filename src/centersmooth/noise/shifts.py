"""Noise on the position of an input: cyclic shifts by whole steps."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import torch

from centersmooth.errors import InputError, expected
from centersmooth.noise.base import Noise
from centersmooth.noise.counts import SCALE, changes
from centersmooth.noise.gaussian import Gaussian
from centersmooth.noise.inputs import InputRange, any_tensor
from centersmooth.noise.options import positive, whole
from centersmooth.noise.shared import SharedMass

_AXES = "It counts the last axes of the input that move: 2 for images, 1 for signals."


class _Shift(Noise):
    """x moved cyclically by a random number of whole steps along its last axes.

    Whole cyclic shifts by a and then by b make one by a + b: that is all the proof needs.
    Shifts by fractions (resampling) or over a border (padding, cropping) do not.
    """

    axes: int

    @abstractmethod
    def steps(self, x: torch.Tensor, generator: torch.Generator, count: int) -> torch.Tensor:
        """The shifts of `count` copies: whole numbers of shape (count, axes)."""

    def sample(self, x: torch.Tensor, generator: torch.Generator, count: int) -> torch.Tensor:
        """`count` shifted copies of x."""
        return shifted(x, self.steps(x, generator, count))

    def check_input(self, x: Any, input_range: InputRange) -> torch.Tensor:
        """A tensor with enough axes."""
        tensor = any_tensor(x, input_range, type(self).__name__)
        if tensor.dim() < self.axes:
            fix = f"Build the noise with axes={tensor.dim()} or give an input with more axes."
            raise InputError(expected(f"an input with {self.axes} axes", tensor.dim(), fix))
        return tensor

    def attacks(
        self, x: Any, eps: float, count: int, generator: torch.Generator, input_range: InputRange
    ) -> list[Any]:
        """Random whole shifts."""
        steps = self.moves(eps, count, generator)
        return list(shifted(x, steps.to(x.device)))

    @abstractmethod
    def moves(self, eps: float, count: int, generator: torch.Generator) -> torch.Tensor:
        """Whole shifts that an attacker of size eps can make: of shape (count, axes)."""

    def _farthest(self, x: torch.Tensor) -> list[int]:
        """Half-way round along each axis."""
        return [size // 2 for size in x.shape[x.dim() - self.axes :]]


@dataclass(frozen=True)
class GaussianShift(_Shift):
    """A cyclic shift by N(0, sigma^2 I), rounded to whole steps, along the last `axes` axes.

    eps bounds the l2 length of the shift that the attacker makes, in steps (pixels).
    ``mass_left(p, eps) = Phi(Phi^-1(p) - eps / sigma)``: never too large, and exact at the
    masses of half-spaces of whole shifts as long as no shift goes once round.
    """

    sigma: float
    axes: int = 2
    norm: ClassVar[str] = "l2 translation"

    def __post_init__(self) -> None:
        positive(self.sigma, "sigma", "sigma is the spread of the shift, in pixels.")
        whole(self.axes, "axes", 1, _AXES)

    @property
    def scale(self) -> float:
        """sigma."""
        return self.sigma

    def steps(self, x: torch.Tensor, generator: torch.Generator, count: int) -> torch.Tensor:
        """Rounded normal numbers."""
        draws = torch.randn((count, self.axes), generator=generator, device=x.device)
        # floor(z + 1/2) commutes with whole shifts; rounding halves to even does not.
        return torch.floor(draws * self.sigma + 0.5).long()

    def moves(self, eps: float, count: int, generator: torch.Generator) -> torch.Tensor:
        """Shifts of about eps in any direction: the nearest whole one if it is no longer."""
        directions = torch.randn((count, self.axes), generator=generator)
        lengths = directions.norm(dim=1, keepdim=True).clamp(min=1e-9)
        exact = directions / lengths * (eps * (1 + 1e-6))
        nearest = exact.round()
        fits = nearest.norm(dim=1, keepdim=True) <= eps * (1 + 1e-6)
        return torch.where(fits, nearest, exact.trunc()).long()

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
        """Half-way round along every axis."""
        return math.hypot(*self._farthest(x))


@dataclass(frozen=True)
class UniformShift(_Shift, SharedMass):
    """A cyclic shift by -most, ..., most steps, all alike, along each of the last `axes` axes.

    eps bounds the attacker's shift along every axis, in whole steps (2.7 allows 2).
    ``mass_left(p, eps) = p - 1 + (1 - eps / (2 most + 1))^axes``, clipped at 0. Exact as long
    as no shift goes once round.
    """

    most: int
    axes: int = 2
    norm: ClassVar[str] = "linf translation"

    def __post_init__(self) -> None:
        whole(self.most, "most", 1, "It is the farthest shift that the noise makes, in pixels.")
        whole(self.axes, "axes", 1, _AXES)

    @property
    def scale(self) -> float:
        """Four steps, so that tables show 1, 2, 4, 6 and 8."""
        return SCALE

    def steps(self, x: torch.Tensor, generator: torch.Generator, count: int) -> torch.Tensor:
        """Whole numbers from -most to most."""
        shape = (count, self.axes)
        return torch.randint(-self.most, self.most + 1, shape, generator=generator, device=x.device)

    def moves(self, eps: float, count: int, generator: torch.Generator) -> torch.Tensor:
        """As far as allowed along every axis, or not along it."""
        most = changes(eps)
        choices = torch.tensor([-most, most, -most, most, 0])
        return choices[torch.randint(5, (count, self.axes), generator=generator)]

    def shared(self, eps: float) -> float:
        """(1 - eps / (2 most + 1))^axes: the shifts that both windows hold."""
        places = 2 * self.most + 1
        both = max(0, places - changes(eps))
        share = both**self.axes / places**self.axes
        return share if both in (0, places) else math.nextafter(share, 0.0)

    def largest_move(self, x: torch.Tensor, input_range: tuple[float, float]) -> float:
        """Half-way round the longest axis."""
        return float(max(self._farthest(x)))


def shifted(x: torch.Tensor, steps: torch.Tensor) -> torch.Tensor:
    """One copy of x per row of `steps`, moved cyclically along the last axes."""
    count, axes = steps.shape
    batch = x.expand(count, *x.shape)
    for axis in range(axes):
        dim = batch.dim() - axes + axis
        size = batch.shape[dim]
        places = (torch.arange(size, device=x.device) - steps[:, axis, None]) % size
        shape = [count, *(1 for _ in x.shape)]
        shape[dim] = size
        batch = torch.take_along_dim(batch, places.reshape(shape), dim)
    return batch
