"""From counted distances to a bound, one theorem per center. Proofs in docs/theory/."""

from __future__ import annotations

from centersmooth.centers import Center, ClippedMean, GeometricMedian, Medoid, WeberPoint
from centersmooth.confidence import Confidence
from centersmooth.errors import ArgumentError, expected
from centersmooth.metrics import Metric
from centersmooth.noise import Noise
from centersmooth.theorems.base import InBall, Sizes, Theorem, ball_rank
from centersmooth.theorems.clipped_mean import ClippedMeanTheorem
from centersmooth.theorems.geometric_median import MedianTheorem
from centersmooth.theorems.medoid import MedoidTheorem
from centersmooth.theorems.weber_point import WeberTheorem

__all__ = [
    "ClippedMeanTheorem",
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
    center: Center,
    noise: Noise,
    metric: Metric,
    sizes: Sizes,
    level: Confidence,
    share: float = 1.0,
) -> Theorem:
    """The theorem that belongs to a center; at one of several looks, with that look's share.

    A theorem that knows nothing of looks is simply used at the smaller level.
    """
    if isinstance(center, Medoid):
        return MedoidTheorem(center, noise, metric, sizes, level, share)
    if isinstance(center, GeometricMedian):
        return MedianTheorem(center, noise, metric, sizes, level.at_look(share))
    if isinstance(center, ClippedMean):
        return ClippedMeanTheorem(center, noise, metric, sizes, level.at_look(share))
    if isinstance(center, WeberPoint):
        return WeberTheorem(center, noise, metric, sizes, level.at_look(share))
    fix = "Use cs.Medoid(), cs.GeometricMedian(), cs.WeberPoint() or cs.ClippedMean()."
    raise ArgumentError(expected("a center with a theorem", type(center).__name__, fix))
