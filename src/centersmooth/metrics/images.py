"""Distances between signals and images."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from centersmooth import kernels
from centersmooth.errors import ArgumentError, OutputError, expected
from centersmooth.metrics.base import Block, Metric, Normed, as_tensor, flat_rows, mean_pool
from centersmooth.metrics.gradients import GradientFit
from centersmooth.outputs import Outputs


@dataclass(frozen=True)
class TotalVariation(Metric):
    """``d(a, b) = TV(a - b)``, the sum of |differences| over all edges of the grid.

    Theorem B; Theorem C for norms with ``center=cs.WeberPoint()``.

    Edges join each sample to the next (signals of shape ``(L,)``), or each pixel to its right
    and lower neighbour (grey images ``(H, W)``, colour images ``(C, H, W)``, every channel by
    itself). A pseudometric: images that differ by a constant are at distance 0.

    Range [0, inf), or [0, 2 (high - low) times the number of edges] once `value_range` and
    the `shape` of one output are given; a checkerboard and its negative attain it.
    """

    value_range: tuple[float, float] | None = None
    shape: tuple[int, ...] | None = None
    mean_stays_in_ball: ClassVar[bool] = True
    rounding: ClassVar[float] = kernels.L1_ROUNDING

    def __post_init__(self) -> None:
        if self.value_range is not None and not self.value_range[0] < self.value_range[1]:
            fix = "value_range=(0, 1) declares outputs between 0 and 1."
            raise ArgumentError(expected("low < high", repr(self.value_range), fix))

    @property
    def diameter(self) -> float:  # type: ignore[override]
        if self.value_range is None or self.shape is None:
            return math.inf
        return 2 * (self.value_range[1] - self.value_range[0]) * edges(self.shape)

    def collate(self, outputs: Outputs) -> Block:
        tensor = as_tensor(outputs, self)
        if not 2 <= tensor.dim() <= 4:
            fix = "Reshape the model's output to (L,), (H, W) or (C, H, W)."
            got = f"shape {tuple(tensor.shape[1:])}"
            raise OutputError(expected("a signal, a grey or a colour image", got, fix))
        rows, valid = flat_rows(tensor, self)
        if self.value_range is not None:
            _check_range(rows[valid.to(rows.device)], self.value_range)
        return Block(differences(rows.reshape(tensor.shape)), valid)

    def lengths(self, a: Any, b: Any) -> torch.Tensor:
        return kernels.l1(a, b)

    @property
    def normed(self) -> Normed:
        return _Gradients(self.value_range)

    def pool(self, outputs: Outputs, size: int) -> torch.Tensor:
        """The mean of each run."""
        return mean_pool(outputs, size, self)


@dataclass(frozen=True)
class _Gradients:
    """Rows are gradients: their l1 norm is minimised over those that belong to an image."""

    value_range: tuple[float, float] | None
    """In which answers must lie, as outputs do: distances between them end at the diameter."""
    floor: ClassVar[float] = 2.0**-23

    def approach(
        self, outputs: torch.Tensor, dtype: torch.dtype
    ) -> Iterator[tuple[torch.Tensor, float]]:
        """Steps of the solver; constants cost nothing, so every channel gets a typical level.

        The gap is that of the image after it was moved into the range.
        """
        shape = tuple(outputs.shape[1:])
        by_channel = outputs.cpu().reshape(len(outputs), *_channels(shape))
        levels = by_channel.mean(dim=-1, dtype=torch.float64).median(dim=0).values
        fit = GradientFit(outputs.cpu().reshape(len(outputs), -1).numpy(), *ends(shape))
        for flat, flow in fit.steps():
            point = self._placed(torch.from_numpy(flat).reshape(_channels(shape)), levels)
            for precision in dict.fromkeys((dtype, torch.float64)):
                image = point.reshape(shape).to(precision)
                row = differences(image[None])[0].double().numpy()
                yield image.to(outputs.device), fit.gap(row, flow)

    def _placed(self, point: torch.Tensor, levels: torch.Tensor) -> torch.Tensor:
        """Channels at these mean levels, or at the nearest at which their values are in range."""
        up = levels - point.mean(dim=-1)
        if self.value_range is None:
            return point + up[:, None]
        low, high = self.value_range
        up = up.minimum(high - point.amax(dim=-1)).maximum(low - point.amin(dim=-1))
        return (point + up[:, None]).clamp(low, high)


def _channels(shape: tuple[int, ...]) -> tuple[int, int]:
    """One row of pixels per channel; signals and grey images have one."""
    count = shape[0] if len(shape) == 3 else 1
    return count, math.prod(shape) // max(1, count)


def _check_range(values: torch.Tensor, value_range: tuple[float, float]) -> None:
    """Values beyond the range would make distances beyond the diameter, where bounds end."""
    low, high = value_range
    if bool(((values < low) | (values > high)).any()):
        got = f"values from {float(values.min()):g} to {float(values.max()):g}"
        fix = "Declare the range that outputs really have, or clamp them inside the model."
        raise OutputError(expected(f"images with values in {value_range}", got, fix))


def differences(images: torch.Tensor) -> torch.Tensor:
    """The differences along every edge, one row per image: TV is their l1 norm.

    Written straight into the rows: temporaries would cost more than the subtractions.
    """
    count, shape = len(images), tuple(images.shape[1:])
    rows = images.new_empty((count, edges(shape)))
    right, left = images[..., 1:], images[..., :-1]
    across = math.prod(right.shape[1:])
    torch.sub(right, left, out=rows[:, :across].view(right.shape))
    if len(shape) > 1:
        lower, upper = images[..., 1:, :], images[..., :-1, :]
        torch.sub(lower, upper, out=rows[:, across:].view(lower.shape))
    return rows


def edges(shape: tuple[int, ...]) -> int:
    """How many edges the grid of one output has."""
    if len(shape) == 1:
        return shape[0] - 1
    height, width = shape[-2:]
    return math.prod(shape[:-2]) * (height * (width - 1) + width * (height - 1))


def ends(shape: tuple[int, ...]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The two pixels of every edge, in the order of `differences`: head minus tail."""
    pixels = np.arange(math.prod(shape)).reshape(shape)
    heads, tails = [pixels[..., 1:].ravel()], [pixels[..., :-1].ravel()]
    if len(shape) > 1:
        heads.append(pixels[..., 1:, :].ravel())
        tails.append(pixels[..., :-1, :].ravel())
    return np.concatenate(heads), np.concatenate(tails)
