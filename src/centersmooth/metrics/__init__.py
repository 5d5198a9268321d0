"""Distances between outputs, one file per kind of output."""

from centersmooth.metrics.base import Block, Hilbert, Metric
from centersmooth.metrics.boxes import BoxJaccard
from centersmooth.metrics.custom import Custom
from centersmooth.metrics.images import TotalVariation
from centersmooth.metrics.masks import MaskJaccard
from centersmooth.metrics.sets import SetJaccard
from centersmooth.metrics.vectors import L1, L2, Angular, Cosine, Discrete, SquaredL2

__all__ = [
    "L1",
    "L2",
    "Angular",
    "Block",
    "BoxJaccard",
    "Cosine",
    "Custom",
    "Discrete",
    "Hilbert",
    "MaskJaccard",
    "Metric",
    "SetJaccard",
    "SquaredL2",
    "TotalVariation",
]
