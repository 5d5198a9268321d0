"""Structural similarity of images, as a distance."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numba
import numpy as np
import torch
import torch.nn.functional as F

from centersmooth.errors import ArgumentError, OutputError, expected
from centersmooth.metrics.base import Block, Metric, as_tensor, flat_rows
from centersmooth.outputs import Outputs

_K1, _K2 = 0.01, 0.03


@dataclass(frozen=True)
class SSIM(Metric):
    """``d(a, b) = sqrt(1 - SSIM(a, b))``, the mean over windows. Range [0, sqrt 2]. Theorem B.

    SSIM as Wang et al. (2004) have it: ``(2 m_a m_b + C1) (2 s_ab + C2) / ((m_a^2 + m_b^2 +
    C1) (s_a^2 + s_b^2 + C2))`` with local means m and covariances s over uniform windows of
    `window` pixels a side, averaged over windows and channels.

    A metric: ``1 / (u + v)`` is a positive definite kernel of u, v > 0, for it is the integral
    of ``exp(-t u) exp(-t v)``; so is ``2 <x, y> + C``, so are products and means of kernels,
    hence SSIM. A kernel with k(x, x) = 1 is an inner product of unit vectors, and
    ``sqrt(1 - k)`` their l2 distance over sqrt 2. ``power(SSIM(), 2)`` is 1 - SSIM itself.

    One output is an image (H, W) or (C, H, W) with values in about `value_range`. Means and
    variances of windows are computed once per output.
    """

    window: int = 7
    value_range: tuple[float, float] = (0.0, 1.0)
    diameter: float = field(default=math.sqrt(2.0), init=False)

    def __post_init__(self) -> None:
        if not (isinstance(self.window, int) and self.window >= 2):
            fix = "7 is usual; one pixel has no structure."
            raise ArgumentError(expected("window >= 2", repr(self.window), fix))
        if not self.value_range[0] < self.value_range[1]:
            fix = "value_range=(0, 1) declares outputs between 0 and 1."
            raise ArgumentError(expected("low < high", repr(self.value_range), fix))

    def collate(self, outputs: Outputs) -> Block:
        """For each channel the image, its local means and its local variances, padded."""
        tensor = as_tensor(outputs, self).cpu()
        if tensor.dim() not in (3, 4) or min(tensor.shape[-2:]) < self.window:
            fix = "Return images (H, W) or (C, H, W), or lower SSIM(window=...)."
            got = f"shape {tuple(tensor.shape[1:])}"
            raise OutputError(expected(f"images of {self.window} pixels a side", got, fix))
        values, valid = flat_rows(tensor, self)
        _check_values(values[valid], self.value_range)
        low = torch.where(valid[:, None], self.value_range[0], 0.0)
        channels = math.prod(tensor.shape[1:-2])
        images = (values.double() - low).reshape(-1, channels, *tensor.shape[-2:])
        means = F.avg_pool2d(images, self.window, stride=1)
        spread = (F.avg_pool2d(images**2, self.window, stride=1) - means**2).clamp_(min=0)
        spread *= self.window**2 / (self.window**2 - 1)
        room = (0, self.window - 1, 0, self.window - 1)
        return Block(torch.stack((images, F.pad(means, room), F.pad(spread, room)), dim=2), valid)

    def lengths(self, a: Any, b: Any) -> torch.Tensor:
        if a.shape[1:] != b.shape[1:]:
            got = f"shapes {tuple(a.shape[3:])} and {tuple(b.shape[3:])}"
            fix = "Give the model's outputs (and a target) one shape."
            raise OutputError(expected("images of one shape", got, fix))
        width = self.value_range[1] - self.value_range[0]
        constants = (self.window, (_K1 * width) ** 2, (_K2 * width) ** 2)
        one, other = (np.ascontiguousarray(rows.numpy()) for rows in (a, b))
        return torch.from_numpy(_dissimilarity(one, other, *constants)).sqrt_()


def _check_values(values: torch.Tensor, value_range: tuple[float, float]) -> None:
    """Eight-bit images measured with constants for [0, 1] would give quite another number."""
    low, high = value_range
    if not bool(((values >= 2 * low - high) & (values <= 2 * high - low)).all()):
        got = f"values from {float(values.min()):g} to {float(values.max()):g}"
        fix = "Declare SSIM(value_range=(low, high)): its constants depend on it."
        raise OutputError(expected(f"images with values in about {value_range}", got, fix))


@numba.njit(cache=True, nogil=True)
def _dissimilarity(a, b, window, c1, c2):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """1 - SSIM for all pairs."""
    channels, height, width = a.shape[1], a.shape[3], a.shape[4]
    out = np.empty((len(a), len(b)))
    room = np.empty((2, height, width))
    lines = np.empty((4, width))
    for i in range(len(a)):
        for j in range(len(b)):
            total = 0.0
            for c in range(channels):
                total += _dissimilar(a[i, c], b[j, c], window, c1, c2, room, lines)
            windows = channels * (height - window + 1) * (width - window + 1)
            out[i, j] = max(0.0, total / windows)
    return out


@numba.njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "nsz", "contract"})
def _dissimilar(a, b, window, c1, c2, room, lines):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """The sum over windows of one channel, from the difference e of the images.

    One minus the factors of SSIM are ``mean(e)^2 / (...)`` and ``var(e) / (...)``, in which
    nothing cancels.
    """
    error, square = room[0], room[1]
    height, width = error.shape
    tall, wide, area = height - window + 1, width - window + 1, window * window
    down, down_square, sums, sums_square = lines[0], lines[1], lines[2], lines[3]
    for y in range(height):
        for x in range(width):
            error[y, x] = a[0, y, x] - b[0, y, x]
            square[y, x] = error[y, x] * error[y, x]
    total = 0.0
    for y in range(tall):
        for x in range(width):
            one, other = 0.0, 0.0
            for k in range(window):
                one += error[y + k, x]
                other += square[y + k, x]
            down[x], down_square[x] = one, other
        for x in range(wide):
            one, other = 0.0, 0.0
            for k in range(window):
                one += down[x + k]
                other += down_square[x + k]
            sums[x], sums_square[x] = one, other
        for x in range(wide):
            mean = sums[x] / area
            variance = abs(sums_square[x] - mean * sums[x]) / (area - 1)
            one = mean * mean / (a[1, y, x] * a[1, y, x] + b[1, y, x] * b[1, y, x] + c1)
            other = variance / (a[2, y, x] + b[2, y, x] + c2)
            total += one + other - one * other
    return total
