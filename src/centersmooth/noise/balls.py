"""Where an attacker may go: balls around an input, as an attack needs them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import torch

from centersmooth.noise.inputs import InputRange

_SHRINK = 1e-7


class Ball(ABC):
    """The moves ``delta`` of an input that an attacker of size eps can make."""

    @abstractmethod
    def length(self, delta: torch.Tensor) -> float:
        """The size of the attack that makes this move."""

    @abstractmethod
    def project(self, delta: torch.Tensor, eps: float) -> torch.Tensor:
        """A move within eps close to delta, and delta itself if it is one."""

    @abstractmethod
    def steepest(self, gradient: torch.Tensor, eps: float) -> torch.Tensor:
        """The move within eps along which a linear function with this gradient grows most."""

    @abstractmethod
    def random(self, x: torch.Tensor, eps: float, generator: torch.Generator) -> torch.Tensor:
        """A random move of size eps."""

    def clip(self, x: torch.Tensor, delta: torch.Tensor, input_range: InputRange) -> torch.Tensor:
        """A move no larger that does not leave the range of inputs (x lies within it)."""
        if input_range is None:
            return delta
        return (x + delta).clamp(*input_range) - x

    def moved(
        self, x: torch.Tensor, delta: torch.Tensor, eps: float, input_range: InputRange
    ) -> torch.Tensor:
        """x + delta in the precision of x, surely within eps of x and within the range."""
        delta = self.clip(x.double(), self.project(delta.double(), eps), input_range)
        share = 1.0
        there = x
        for attempt in range(24):  # rounding to the precision of x may carry it out again
            there = (x.double() + share * delta).to(x.dtype)
            if input_range is not None:
                there = there.clamp(*input_range)
            if self.length(there.double() - x.double()) <= eps:
                return there
            share *= 1 - min(0.5, _SHRINK * 4.0**attempt)
        return x.clone()


@dataclass(frozen=True, eq=False)
class L2Ball(Ball):
    """``sum (delta_i / spread_i)^2 <= eps^2``; a spread of 1 everywhere without one."""

    spread: torch.Tensor | None = None

    def _white(self, delta: torch.Tensor) -> torch.Tensor:
        return delta if self.spread is None else delta / self.spread.to(delta)

    def _coloured(self, white: torch.Tensor) -> torch.Tensor:
        return white if self.spread is None else white * self.spread.to(white)

    def length(self, delta: torch.Tensor) -> float:
        """The length of the whitened move."""
        return float(self._white(delta).norm())

    def project(self, delta: torch.Tensor, eps: float) -> torch.Tensor:
        """Shortened to eps."""
        length = self.length(delta)
        return delta if length <= eps else delta * (eps / length)

    def steepest(self, gradient: torch.Tensor, eps: float) -> torch.Tensor:
        """Along the whitened gradient."""
        white = self._coloured(gradient)
        return self._coloured(white * (eps / white.norm().clamp(min=1e-300)))

    def random(self, x: torch.Tensor, eps: float, generator: torch.Generator) -> torch.Tensor:
        """Uniform on the sphere."""
        return self.steepest(_normal(x, generator), eps)


@dataclass(frozen=True)
class L1Ball(Ball):
    """``sum |delta_i| <= eps``."""

    def length(self, delta: torch.Tensor) -> float:
        """The sum of all changes."""
        return float(delta.abs().sum())

    def project(self, delta: torch.Tensor, eps: float) -> torch.Tensor:
        """The nearest move: every value shrunk by the same amount, to 0 at most."""
        sizes = delta.abs().flatten()
        if float(sizes.sum()) <= eps:
            return delta
        ordered = sizes.sort(descending=True).values
        excess = (ordered.cumsum(0) - eps) / torch.arange(1, len(ordered) + 1).to(ordered)
        threshold = excess[int((ordered > excess).nonzero().max())]
        return delta.sign() * (delta.abs() - threshold).clamp(min=0)

    def steepest(self, gradient: torch.Tensor, eps: float) -> torch.Tensor:
        """All of it at the value that matters most."""
        delta = torch.zeros_like(gradient).flatten()
        place = int(gradient.abs().argmax())
        delta[place] = eps * torch.sign(gradient.flatten()[place])
        return delta.reshape(gradient.shape)

    def random(self, x: torch.Tensor, eps: float, generator: torch.Generator) -> torch.Tensor:
        """One random value, for a corner of the ball is where a convex function is largest."""
        return self.steepest(_normal(x, generator), eps)


@dataclass(frozen=True)
class LinfBall(Ball):
    """``|delta_i| <= eps`` for every value."""

    def length(self, delta: torch.Tensor) -> float:
        """The largest change."""
        return float(delta.abs().max()) if delta.numel() else 0.0

    def project(self, delta: torch.Tensor, eps: float) -> torch.Tensor:
        """Every value cut to eps."""
        return delta.clamp(-eps, eps)

    def steepest(self, gradient: torch.Tensor, eps: float) -> torch.Tensor:
        """Every value by eps, in the direction of its sign."""
        return eps * torch.sign(gradient)

    def random(self, x: torch.Tensor, eps: float, generator: torch.Generator) -> torch.Tensor:
        """Random signs: a corner of the cube."""
        return self.steepest(_normal(x, generator), eps)


@dataclass(frozen=True)
class Line(Ball):
    """One number of size eps at most, added to every value."""

    def length(self, delta: torch.Tensor) -> float:
        """The number's size."""
        return float(delta.abs().max()) if delta.numel() else 0.0

    def project(self, delta: torch.Tensor, eps: float) -> torch.Tensor:
        """The mean of all values, cut to eps."""
        return torch.ones_like(delta) * delta.mean().clamp(-eps, eps)

    def steepest(self, gradient: torch.Tensor, eps: float) -> torch.Tensor:
        """Up or down, by eps."""
        return torch.ones_like(gradient) * (eps * torch.sign(gradient.sum()))

    def random(self, x: torch.Tensor, eps: float, generator: torch.Generator) -> torch.Tensor:
        """Up or down, by eps."""
        return self.steepest(_normal(x, generator), eps)

    def clip(self, x: torch.Tensor, delta: torch.Tensor, input_range: InputRange) -> torch.Tensor:
        """As much of it as every value can take: the attacker does not clip."""
        if input_range is None:
            return delta
        low, high = input_range[0] - float(x.min()), input_range[1] - float(x.max())
        return delta.clamp(min(low, 0.0), max(high, 0.0))


def _normal(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    return torch.randn(x.shape, generator=generator, dtype=torch.float64).to(x.device)
