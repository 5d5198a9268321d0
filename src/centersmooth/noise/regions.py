"""Noises on finite spaces, where psi is found by filling regions of equal likelihood ratio."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from centersmooth.noise.base import Noise
from centersmooth.noise.counts import SCALE, changes

FloatArray = NDArray[np.float64]

_MOST = 1000
"""Beyond so many changes (times the fold) nothing is promised: the sums would take too long."""


@dataclass(frozen=True, eq=False)
class Curve:
    """psi for one attack: least masses at x' against masses at x, linear between the knots."""

    here: FloatArray
    there: FloatArray

    def __call__(self, p: Any) -> Any:
        """The least mass at x' of a set of mass p at x."""
        return np.interp(p, self.here, self.there)


def fill(here: FloatArray, there: FloatArray) -> Curve:
    """The curve of regions given by their masses at x and at x', likelihood ratio rising.

    Greedy filling is the Neyman-Pearson lemma: the cheapest mass at x' comes first. The masses
    are sums of products of positive numbers, at most four roundings per region each; knots are
    moved right and down by more than that, so that the curve only ever promises too little.
    """
    slack = 8.0 * (len(here) + 1) * 2.0**-52
    knots = np.concatenate(([0.0], np.cumsum(here) * (1.0 + slack)))
    values = np.concatenate(([0.0], np.cumsum(there) * (1.0 - slack)))
    return Curve(knots, values)


def sums(step: Sequence[float], most: int) -> list[FloatArray]:
    """The laws of sums of 0, 1, ..., most independent copies of a variable on 0, 1, 2, ..."""
    laws = [np.ones(1)]
    for _ in range(most):
        laws.append(np.convolve(laws[-1], np.asarray(step, dtype=float)))
    return laws


class Regions(Noise):
    """A noise that acts on every bit or token alike; the attacker makes a number of changes."""

    @abstractmethod
    def curves(self, changes: int, fold: int) -> tuple[Curve, ...]:
        """psi of every attack with so many changes that differs in kind."""

    @property
    def scale(self) -> float:
        """Four changes, so that tables show 1, 2, 4, 6 and 8."""
        return SCALE

    def mass_left(self, p: Any, eps: float, fold: int = 1) -> Any:
        """The least of the curves: the attacker picks the kind."""
        p = np.asarray(p, dtype=float)
        count = changes(eps)
        if count == 0:
            return p[()]
        if count * fold > _MOST:
            return np.zeros_like(p)[()]
        return np.minimum.reduce([curve(p) for curve in self.curves(count, fold)])[()]
