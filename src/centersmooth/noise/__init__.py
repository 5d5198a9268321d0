"""Threat models: each noise samples itself and owns its shift."""

from centersmooth.noise.base import Noise
from centersmooth.noise.gaussian import Gaussian

__all__ = ["Gaussian", "Noise"]
