"""Distances between bounding boxes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

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
        return Block(torch.where(valid[:, None], rows, torch.zeros_like(rows)), valid)

    def lengths(self, a: Any, b: Any) -> torch.Tensor:
        low = torch.maximum(a[:, None, :2], b[None, :, :2])
        high = torch.minimum(a[:, None, 2:], b[None, :, 2:])
        shared = (high - low).clamp_(min=0).prod(dim=2)
        union = _area(a)[:, None] + _area(b)[None, :] - shared
        # An empty union means that neither output has a box: they agree.
        distance = torch.where(union > 0, (union - shared) / union, torch.zeros_like(union))
        return distance.clamp_(min=0, max=1)

    def pool(self, outputs: Outputs, size: int) -> list[torch.Tensor]:
        """The median of each coordinate over the boxes of a run, none if most have none."""
        boxes = [_box(output) for output in outputs]
        return [_median_box(boxes[i : i + size]) for i in range(0, len(boxes), size)]


def _area(boxes: torch.Tensor) -> torch.Tensor:
    return (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])


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
