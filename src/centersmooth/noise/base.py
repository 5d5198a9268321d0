"""What a smoothing noise must know about itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
import torch

from centersmooth.noise.balls import Ball
from centersmooth.noise.inputs import InputRange


class Noise(ABC):
    """A smoothing noise together with the attacker it defends against.

    A set of outputs that has mass p at the input x keeps at least ``mass_left(p, eps)`` at
    every x' within eps of x (psi in docs/theory/notation.md). ``mass_needed`` is its inverse.
    Nothing outside this class may know which noise it is.

    With ``fold=l`` both speak of l independent draws taken together.
    """

    norm: ClassVar[str]
    """In which norm the attacker's eps is measured."""

    def ball(self, x: torch.Tensor) -> Ball | None:
        """The moves an attacker can make, where they are numbers that are added to the input."""
        return None

    def attacks(
        self, x: Any, eps: float, count: int, generator: torch.Generator, input_range: InputRange
    ) -> list[Any]:
        """Random inputs that an attacker of size eps may choose, as far from x as it can go.

        None where the noise cannot list any: an audit then needs the user's own.
        """
        ball = self.ball(x) if isinstance(x, torch.Tensor) else None
        if ball is None:
            return []
        moves = [ball.random(x, eps, generator) for _ in range(count)]
        return [ball.moved(x, move, eps, input_range) for move in moves]

    @abstractmethod
    def sample(self, x: Any, generator: torch.Generator, count: int) -> Any:
        """`count` noisy copies of x, stacked as a batch."""

    @abstractmethod
    def mass_left(self, p: Any, eps: float, fold: int = 1) -> Any:
        """psi: the least mass that a set of mass p can have after any move of size eps."""

    def mass_needed(self, p: float, eps: float, fold: int = 1) -> float | None:
        """The least q <= 1 with ``mass_left(q, eps) >= p``; None if there is none.

        By bisection on `mass_left` itself, rounded up: whatever it rounds, the q suffices.
        """
        low, high = 0.0, 1.0
        if not self.mass_left(high, eps, fold) >= p:
            return None
        for _ in range(64):
            middle = (low + high) / 2
            if self.mass_left(middle, eps, fold) >= p:
                high = middle
            else:
                low = middle
        return high

    @abstractmethod
    def check_input(self, x: Any, input_range: tuple[float, float] | None) -> Any:
        """x in the form that `sample` takes, or an InputError."""

    def largest_move(self, x: Any, input_range: tuple[float, float]) -> float:
        """The diameter of the declared input range in the attacker's norm."""
        return float(np.inf)

    @property
    @abstractmethod
    def scale(self) -> float:
        """A natural unit of eps, for tables and plots."""

    def chi_squared(self, eps: float) -> float | None:
        """The variance under the noise at x of its likelihood ratio to that at x'.

        The largest for any x' within eps, rounded up; None where it is not known. Theorem D.
        """
        return None

    def reach(self, p: float, q: float) -> float:
        """The largest eps at which a set of mass q still keeps mass p (bisection, rounded down)."""
        if self.mass_left(q, 0.0) < p:
            return 0.0
        low, high = 0.0, 1.0
        while self.mass_left(q, high) >= p and high < 1e12:
            low, high = high, high * 2
        for _ in range(60):
            middle = (low + high) / 2
            if self.mass_left(q, middle) >= p:
                low = middle
            else:
                high = middle
        return low
