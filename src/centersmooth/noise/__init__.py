"""Threat models: each noise samples itself and owns its shift."""

from centersmooth.noise.ablation import Ablation, PatchAblation
from centersmooth.noise.anisotropic import AnisotropicGaussian
from centersmooth.noise.base import Noise
from centersmooth.noise.bits import BitFlips
from centersmooth.noise.brightness import Brightness
from centersmooth.noise.gaussian import Gaussian
from centersmooth.noise.gaussian_linf import GaussianLinf
from centersmooth.noise.laplace import LaplaceL1
from centersmooth.noise.shifts import GaussianShift, UniformShift
from centersmooth.noise.tokens import TokenDeletion, TokenSubstitution
from centersmooth.noise.uniform import UniformL1, UniformLinf

__all__ = [
    "Ablation",
    "AnisotropicGaussian",
    "BitFlips",
    "Brightness",
    "Gaussian",
    "GaussianLinf",
    "GaussianShift",
    "LaplaceL1",
    "Noise",
    "PatchAblation",
    "TokenDeletion",
    "TokenSubstitution",
    "UniformL1",
    "UniformLinf",
    "UniformShift",
]
