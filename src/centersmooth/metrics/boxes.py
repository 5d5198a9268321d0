"""Distances between bounding boxes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numba
import numpy as np
import torch

from centersmooth.errors import OutputError, expected
from centersmooth.metrics.base import Block, Metric
from centersmooth.outputs import Outputs


@dataclass(frozen=True)
class BoxJaccard(Metric):
    """``d(a, b) = 1 - IoU(a, b)`` of one box each, given as xyxy. Range [0, 1]. Theorem B.

    One output is a ``(4,)`` or ``(1, 4)`` tensor, or an empty ``(0, 4)`` one for "no box":
    d(none, none) = 0 and d(none, box) = 1. A box without area equals "no box".
    """

    diameter: float = field(default=1.0, init=False)
    meaning: ClassVar[str] = "A box is x1, y1, x2, y2 with x1 <= x2 and y1 <= y2."

    def collate(self, outputs: Outputs) -> Block:
        rows = torch.zeros((len(outputs), 4), dtype=torch.float64)
        if isinstance(outputs, torch.Tensor) and outputs.dim() == 2 and outputs.shape[1] == 4:
            rows = outputs.detach().double().cpu()
        else:
            for place, output in enumerate(outputs):
                box = _box(output)
                if len(box):
                    rows[place] = box[0]
        ordered = (rows[:, 0] <= rows[:, 2]) & (rows[:, 1] <= rows[:, 3])
        valid = torch.isfinite(rows).all(dim=1) & ordered
        rows = torch.where(valid[:, None], rows, torch.zeros_like(rows))
        return Block(rows.contiguous(), valid)

    def lengths(self, a: Any, b: Any) -> torch.Tensor:
        return torch.from_numpy(_overlap_errors(a.numpy(), b.numpy()))

    def pool(self, outputs: Outputs, size: int) -> list[torch.Tensor]:
        """The median of each coordinate over the boxes of a run, none if most have none."""
        boxes = [_box(output) for output in outputs]
        return [_median_box(boxes[i : i + size]) for i in range(0, len(boxes), size)]


@numba.njit(cache=True, nogil=True)
def _overlap_errors(a, b):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    out = np.empty((len(a), len(b)))
    for i in range(len(a)):
        for j in range(len(b)):
            out[i, j] = overlap_error(a[i], b[j])
    return out


@numba.njit(cache=True, nogil=True)
def overlap_error(one, other):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """1 - IoU, from differences of coordinates: exact to the last digits for close boxes too.

    The area that only one of two overlapping boxes covers is its width times what it has beyond
    the common height, plus what it has beyond the common width times that height: sums of
    products of numbers >= 0, each the rounded difference of two coordinates. Without any area
    there is no box, and nothing to disagree about.
    """
    left, top = max(one[0], other[0]), max(one[1], other[1])
    right, bottom = min(one[2], other[2]), min(one[3], other[3])
    width, height = max(0.0, right - left), max(0.0, bottom - top)
    apart = 0.0
    for box in (one, other):
        if width == 0.0 or height == 0.0:
            apart += (box[2] - box[0]) * (box[3] - box[1])
        else:
            beyond_x = (left - box[0]) + (box[2] - right)
            beyond_y = (top - box[1]) + (box[3] - bottom)
            apart += (box[2] - box[0]) * beyond_y + beyond_x * height
    union = width * height + apart
    return apart / union if union > 0.0 else 0.0


def _median_box(boxes: list[torch.Tensor]) -> torch.Tensor:
    present = [box for box in boxes if len(box)]
    if 2 * len(present) <= len(boxes):
        return torch.zeros((0, 4))
    return torch.cat(present).double().quantile(0.5, dim=0, keepdim=True)


def _box(output: Any) -> torch.Tensor:
    """One output as a (0, 4) or (1, 4) tensor."""
    box = torch.as_tensor(output).detach().cpu()
    if box.numel() == 0:
        return torch.zeros((0, 4))
    if box.shape not in ((4,), (1, 4)):
        fix = "Return one xyxy box per input, or an empty (0, 4) tensor for none."
        raise OutputError(expected("one box of shape (4,) or (1, 4)", f"{tuple(box.shape)}", fix))
    return box.reshape(1, 4)
