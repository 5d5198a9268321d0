"""Gaussian noise against an l2 attacker."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from scipy.special import ndtr, ndtri

from centersmooth.errors import ArgumentError, expected
from centersmooth.noise.balls import Ball, L2Ball
from centersmooth.noise.base import Noise
from centersmooth.noise.inputs import real_tensor


@dataclass(frozen=True)
class Gaussian(Noise):
    """x + N(0, sigma^2 I): ``mass_left(p, eps) = Phi(Phi^-1(p) - eps / sigma)``.

    The Neyman-Pearson lemma makes this exact: a half-space attains it.
    """

    sigma: float
    norm: ClassVar[str] = "l2"

    def __post_init__(self) -> None:
        if not (isinstance(self.sigma, (int, float)) and 0 < self.sigma < math.inf):
            fix = "sigma is the noise level in the units of the input, e.g. 0.25 for [0, 1]."
            raise ArgumentError(expected("a positive, finite sigma", repr(self.sigma), fix))

    def ball(self, x: torch.Tensor) -> Ball:
        """l2."""
        return L2Ball()

    @property
    def scale(self) -> float:
        """sigma."""
        return self.sigma

    def sample(self, x: torch.Tensor, generator: torch.Generator, count: int) -> torch.Tensor:
        """`count` noisy copies; never clipped, for clipping would break the guarantee."""
        # Half precision is perturbed in single: the rounding back is part of the model.
        dtype = x.dtype if x.dtype in (torch.float32, torch.float64) else torch.float32
        noise = torch.randn((count, *x.shape), generator=generator, device=x.device, dtype=dtype)
        return noise.mul_(self.sigma).add_(x).to(x.dtype)

    def mass_left(self, p: Any, eps: float, fold: int = 1) -> Any:
        """Phi(Phi^-1(p) - sqrt(fold) eps / sigma)."""
        return ndtr(ndtri(p) - math.sqrt(fold) * eps / self.sigma)

    def mass_needed(self, p: float, eps: float, fold: int = 1) -> float | None:
        """Phi(Phi^-1(p) + sqrt(fold) eps / sigma), raised until it really suffices."""
        q = float(ndtr(ndtri(p) + math.sqrt(fold) * eps / self.sigma))
        while q < 1 and self.mass_left(q, eps, fold) < p:
            q = min(1.0, float(np.nextafter(q, 2.0)) + q * 1e-16)
        return q

    def chi_squared(self, eps: float) -> float:
        """exp((eps / sigma)^2) - 1."""
        square = (eps / self.sigma) ** 2 * (1.0 + 2.0**-48)
        return math.expm1(square) * (1.0 + 2.0**-48) if square < 700 else math.inf

    def reach(self, p: float, q: float) -> float:
        """sigma (Phi^-1(q) - Phi^-1(p)), at least 0."""
        return max(0.0, self.sigma * float(ndtri(q) - ndtri(p)))

    def largest_move(self, x: torch.Tensor, input_range: tuple[float, float]) -> float:
        """The diagonal of the box of allowed inputs."""
        return (input_range[1] - input_range[0]) * math.sqrt(x.numel())

    def check_input(self, x: Any, input_range: tuple[float, float] | None) -> torch.Tensor:
        """A finite floating-point tensor inside the declared range."""
        return real_tensor(x, input_range, "Gaussian")
