"""From counted distances to a bound, one theorem per center. Proofs in docs/theory/."""

from __future__ import annotations

from centersmooth.centers import Center, GeometricMedian, Medoid, WeberPoint
from centersmooth.confidence import Confidence
from centersmooth.errors import ArgumentError, expected
from centersmooth.metrics import Metric
from centersmooth.noise import Noise
from centersmooth.theorems.base import InBall, Sizes, Theorem, ball_rank
from centersmooth.theorems.geometric_median import MedianTheorem
from centersmooth.theorems.medoid import MedoidTheorem
from centersmooth.theorems.weber_point import WeberTheorem

__all__ = [
    "InBall",
    "MedianTheorem",
    "MedoidTheorem",
    "Sizes",
    "Theorem",
    "WeberTheorem",
    "ball_rank",
    "theorem_for",
]


def theorem_for(
    center: Center, noise: Noise, metric: Metric, sizes: Sizes, level: Confidence
) -> Theorem:
    """The theorem that belongs to a center."""
    if isinstance(center, Medoid):
        return MedoidTheorem(center, noise, metric, sizes, level)
    if isinstance(center, GeometricMedian):
        return MedianTheorem(center, noise, metric, sizes, level)
    if isinstance(center, WeberPoint):
        return WeberTheorem(center, noise, metric, sizes, level)
    fix = "Use cs.Medoid(), cs.GeometricMedian() or cs.WeberPoint()."
    raise ArgumentError(expected("a center with a theorem", type(center).__name__, fix))
