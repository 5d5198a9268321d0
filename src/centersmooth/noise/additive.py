"""Noise that is drawn without looking at the input and added to it."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import torch

from centersmooth.noise.base import Noise
from centersmooth.noise.inputs import InputRange, real_tensor


class Additive(Noise):
    """x + Z, Z drawn anew for every copy; never clipped, for that would break the guarantee."""

    @abstractmethod
    def draw(
        self, x: torch.Tensor, generator: torch.Generator, count: int, dtype: torch.dtype
    ) -> torch.Tensor:
        """`count` values of Z, of a shape that can be added to x."""

    def sample(self, x: torch.Tensor, generator: torch.Generator, count: int) -> torch.Tensor:
        """`count` noisy copies of x."""
        # Half precision is perturbed in single: the rounding back is part of the model.
        dtype = x.dtype if x.dtype in (torch.float32, torch.float64) else torch.float32
        return (self.draw(x, generator, count, dtype) + x).to(x.dtype)

    def check_input(self, x: Any, input_range: InputRange) -> torch.Tensor:
        """A finite floating-point tensor inside the declared range."""
        return real_tensor(x, input_range, type(self).__name__)
