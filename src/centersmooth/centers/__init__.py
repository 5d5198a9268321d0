"""The point that stands for many outputs; each center owns its theorem's constants."""

from __future__ import annotations

from centersmooth.centers.base import Answer, Center, Gathering
from centersmooth.centers.clipped_mean import ClippedMean
from centersmooth.centers.geometric_median import GeometricMedian
from centersmooth.centers.medoid import Medoid
from centersmooth.centers.weber_point import WeberPoint
from centersmooth.metrics import Metric

__all__ = [
    "Answer",
    "Center",
    "ClippedMean",
    "Gathering",
    "GeometricMedian",
    "Medoid",
    "WeberPoint",
]


def default_center(metric: Metric) -> Center:
    """The sharpest center that the metric supports."""
    return Medoid() if metric.hilbert is None else GeometricMedian()
