"""Noises whose laws at x and at x' agree on a part of their mass and nowhere else."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from centersmooth.noise.base import Noise

# p - 1 + s is off by three roundings of numbers below 2 at most.
_ROUNDING = 4 * 2.0**-53


class SharedMass(Noise):
    """``mass_left(p, eps) = p - 1 + s^fold``, clipped at 0.

    s is the mass that the law of the noisy input at x shares with the one at any x' within
    eps. A set of mass p at x leaves at least p - (1 - s) of its mass to the shared part, which
    is as heavy at x'. Exact where the rest of the two laws never meet (docs/theory/noises.md).
    """

    @abstractmethod
    def shared(self, eps: float) -> float:
        """s, rounded down; 1 if no attack of size eps changes anything."""

    def mass_left(self, p: Any, eps: float, fold: int = 1) -> Any:
        """p - 1 + s^fold: all draws of a fold fall into the shared part, or none is safe."""
        p = np.asarray(p, dtype=float)
        shared = self.shared(eps)
        if shared >= 1:
            return p[()]
        # pow is accurate to one unit in the last place, but s itself enters it fold times.
        shared = shared**fold * (1.0 - fold * 2.0**-51)
        return np.maximum(p - (1.0 - shared) - _ROUNDING, 0.0)[()]
