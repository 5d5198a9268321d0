"""Distances between outputs, one file per kind of output."""

from centersmooth.metrics.base import Block, Hilbert, Metric
from centersmooth.metrics.boundaries import BoundaryHausdorff
from centersmooth.metrics.boxes import BoxJaccard
from centersmooth.metrics.checking import MetricReport, check
from centersmooth.metrics.combinators import (
    clipped,
    euclidean_sum,
    maximum,
    power,
    symmetrised,
    through,
    weighted_sum,
)
from centersmooth.metrics.custom import Custom
from centersmooth.metrics.detections import OSPA
from centersmooth.metrics.dice import Dice
from centersmooth.metrics.distributions import Hellinger, JensenShannon, VariationDistance
from centersmooth.metrics.hamming import Hamming
from centersmooth.metrics.hausdorff import Hausdorff
from centersmooth.metrics.images import TotalVariation
from centersmooth.metrics.labels import LabelJaccard
from centersmooth.metrics.masks import MaskJaccard
from centersmooth.metrics.perceptual import LPIPS
from centersmooth.metrics.rankings import KendallTau, SpearmanFootrule
from centersmooth.metrics.regions import UnionJaccard
from centersmooth.metrics.sets import SetJaccard
from centersmooth.metrics.shapes import Keypoints, Rotation
from centersmooth.metrics.structure import SSIM
from centersmooth.metrics.text import Levenshtein, NormalizedLevenshtein
from centersmooth.metrics.transport import EarthMover, Wasserstein1
from centersmooth.metrics.vectors import L1, L2, Angular, Cosine, Discrete, SquaredL2
from centersmooth.metrics.weighted import WeightedJaccard

__all__ = [
    "L1",
    "L2",
    "LPIPS",
    "OSPA",
    "SSIM",
    "Angular",
    "Block",
    "BoundaryHausdorff",
    "BoxJaccard",
    "Cosine",
    "Custom",
    "Dice",
    "Discrete",
    "EarthMover",
    "Hamming",
    "Hausdorff",
    "Hellinger",
    "Hilbert",
    "JensenShannon",
    "KendallTau",
    "Keypoints",
    "LabelJaccard",
    "Levenshtein",
    "MaskJaccard",
    "Metric",
    "MetricReport",
    "NormalizedLevenshtein",
    "Rotation",
    "SetJaccard",
    "SpearmanFootrule",
    "SquaredL2",
    "TotalVariation",
    "UnionJaccard",
    "VariationDistance",
    "Wasserstein1",
    "WeightedJaccard",
    "check",
    "clipped",
    "euclidean_sum",
    "maximum",
    "power",
    "symmetrised",
    "through",
    "weighted_sum",
]
