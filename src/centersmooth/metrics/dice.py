"""The Dice (F1) distance between binary masks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from centersmooth.metrics.masks import MaskJaccard


@dataclass(frozen=True)
class Dice(MaskJaccard):
    """``d(a, b) = 1 - 2 |a and b| / (|a| + |b|)`` of masks of any shape. Range [0, 1]. Theorem B.

    Not a metric, but ``d = J / (2 - J)`` for the Jaccard distance J, which is one: lengths are
    J, and gamma is 1. The published procedure needs gamma = 3/2, no less: J / (2 - J) is convex
    in J and largest at 1, so ``d(a, c) / (d(a, b) + d(b, c))`` is at most ``1 / (1/3 + 1/3)``,
    which {1}, {1, 2}, {2} attain. Two empty masks are at distance 0.
    """

    published_gamma: ClassVar[float] = 1.5

    def value(self, rho: Any) -> Any:
        jaccard = np.minimum(rho, 1.0)
        return jaccard / (2.0 - jaccard)
