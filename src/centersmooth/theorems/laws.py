"""Laws of distances that are known by a few of their levels, and tails of sums."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from centersmooth.binomial import FloatArray

_POINTS = 192
"""More points make the law of a mean a little sharper, and slower."""
_STEEPEST = 1e3
"""Keeps the rounding of exponents far below what bounds leave room for."""


@dataclass(frozen=True)
class Law:
    """A random distance is within ``radii[i]`` with probability ``masses[i]`` at least.

    Both nondecreasing. What is not within the last radius may be anywhere.
    """

    radii: FloatArray
    masses: FloatArray

    @property
    def weights(self) -> FloatArray:
        """The farthest law there can be: the mass at every radius, and at infinity."""
        return np.diff(self.masses, prepend=0.0, append=1.0)

    def within(self, radii: FloatArray) -> FloatArray:
        """The least probability of a distance within each of these."""
        masses = np.append(0.0, self.masses)
        found: FloatArray = masses[np.searchsorted(self.radii, radii, side="right")]
        return found

    def of_mean(self) -> Law:
        """The mean of two independent such distances.

        Of the sums of two radii only some are kept: the mass between two goes to the larger.
        """
        middles = (self.radii[:, None] + self.radii[None, :]).ravel() / 2.0
        radii = _thinned(np.unique(middles))
        masses = self.weights[:-1] @ self.within(2.0 * radii[None, :] - self.radii[:, None])
        return Law(radii, np.maximum.accumulate(masses))

    def and_also(self, other: Law) -> Law:
        """What both say of one distance."""
        radii = np.unique(np.concatenate((self.radii, other.radii)))
        return Law(radii, np.maximum(self.within(radii), other.within(radii)))


def _thinned(radii: FloatArray) -> FloatArray:
    if len(radii) <= _POINTS:
        return radii
    kept: FloatArray = radii[np.linspace(0, len(radii) - 1, _POINTS).round().astype(int)]
    return kept


def log_tail(weights: FloatArray, values: FloatArray) -> float:
    """The least over s >= 0 of ``log E exp(-s X)``, from above: n times it is Chernoff's bound on
    the logarithm of P[sum of n values <= 0].

    Any s gives a bound, so how exactly the least is found cannot make it wrong.
    """
    used = weights > 0
    values = values[used]
    if not values.size or float(weights[used] @ values) <= 0:
        return 0.0
    least = float(values.min())
    if least > 0:
        return -math.inf
    s, best, weights = 0.0, 0.0, weights[used]
    for _ in range(40):
        # The least value has the largest term, so nothing overflows.
        terms = weights * np.exp(-s * (values - least))
        total = float(terms.sum())
        best = min(best, math.log(total) - s * least)
        mean = float(terms @ values) / total
        variance = float(terms @ (values - mean) ** 2) / total
        step = mean / variance if variance > 0 else 0.0
        s = min(max(0.0, s + min(step, 1.0 + s)), _STEEPEST)
        if abs(step) <= 1e-4 * s:
            break
    return best
