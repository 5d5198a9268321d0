"""Gaussian noise of a different size per channel or per value."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch

from centersmooth.errors import InputError, expected
from centersmooth.noise.additive import Additive
from centersmooth.noise.balls import Ball, L2Ball
from centersmooth.noise.gaussian import Gaussian
from centersmooth.noise.inputs import InputRange
from centersmooth.noise.options import positive

_SHOWN = 6


@dataclass(frozen=True, repr=False)
class AnisotropicGaussian(Additive):
    """x + N(0, diag(sigma^2)); eps is measured in the norm that the noise whitens.

    The attacker moves x by delta with ``sum (delta_i / sigma_i)^2 <= eps^2``: an ellipsoid with
    half-axes eps sigma_i. ``mass_left(p, eps) = Phi(Phi^-1(p) - eps)``. Exact.

    `sigma` holds one number per channel (the first axis of x), or one per value of x in the
    order of ``x.flatten()``; a tuple, a list, an array or a tensor.
    """

    sigma: tuple[float, ...]
    norm: ClassVar[str] = "whitened l2"

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", _numbers(self.sigma))
        for value in self.sigma:
            positive(value, "sigma", "sigma holds noise levels in the units of each channel.")
        positive(len(self.sigma), "number of sigmas", "Give one per channel or one per value.")

    def __repr__(self) -> str:
        if len(self.sigma) <= _SHOWN:
            return f"AnisotropicGaussian(sigma={self.sigma})"
        span = f"{len(self.sigma)} values from {min(self.sigma):g} to {max(self.sigma):g}"
        return f"AnisotropicGaussian(sigma=<{span}>)"

    @property
    def scale(self) -> float:
        """1: eps counts standard deviations."""
        return 1.0

    def ball(self, x: torch.Tensor) -> Ball:
        """The ellipsoid."""
        return L2Ball(self._spread(x, torch.float64))

    def draw(
        self, x: torch.Tensor, generator: torch.Generator, count: int, dtype: torch.dtype
    ) -> torch.Tensor:
        """Normal numbers times sigma."""
        shape = (count, *x.shape)
        unit = torch.randn(shape, generator=generator, device=x.device, dtype=dtype)
        return unit.mul_(self._spread(x, dtype))

    def mass_left(self, p: Any, eps: float, fold: int = 1) -> Any:
        """Phi(Phi^-1(p) - sqrt(fold) eps)."""
        return Gaussian(1.0).mass_left(p, eps, fold)

    def mass_needed(self, p: float, eps: float, fold: int = 1) -> float | None:
        """Phi(Phi^-1(p) + sqrt(fold) eps)."""
        return Gaussian(1.0).mass_needed(p, eps, fold)

    def chi_squared(self, eps: float) -> float:
        """exp(eps^2) - 1."""
        return Gaussian(1.0).chi_squared(eps)

    def reach(self, p: float, q: float) -> float:
        """Phi^-1(q) - Phi^-1(p), at least 0."""
        return Gaussian(1.0).reach(p, q)

    def check_input(self, x: Any, input_range: InputRange) -> torch.Tensor:
        """A finite floating-point tensor with a sigma for every channel or value."""
        tensor = super().check_input(x, input_range)
        if len(self.sigma) not in (tensor.numel(), *tensor.shape[:1]):
            what = f"an input of {len(self.sigma)} channels or values"
            fix = "Give one sigma per channel (the first axis) or one per value of the input."
            raise InputError(expected(what, f"shape {tuple(tensor.shape)}", fix))
        return tensor

    def largest_move(self, x: torch.Tensor, input_range: tuple[float, float]) -> float:
        """The whitened diagonal of the box of allowed inputs."""
        weights = self._spread(x, torch.float64).pow(-2).expand(x.shape)
        return (input_range[1] - input_range[0]) * math.sqrt(float(weights.sum()))

    def _spread(self, x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
        """sigma in a shape that goes with x. Where both readings fit, they are the same."""
        sigma = torch.tensor(self.sigma, device=x.device, dtype=dtype)
        if len(self.sigma) == x.numel():
            return sigma.reshape(x.shape)
        return sigma.reshape(-1, *(1 for _ in x.shape[1:]))


def _numbers(sigma: Any) -> tuple[Any, ...]:
    values = sigma.detach().cpu() if isinstance(sigma, torch.Tensor) else sigma
    return tuple(np.asarray(values).reshape(-1).tolist())
