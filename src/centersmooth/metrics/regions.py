"""Distances between regions that are covered by boxes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numba
import numpy as np
import torch

from centersmooth.errors import OutputError, expected
from centersmooth.metrics.base import Block, Metric
from centersmooth.metrics.ragged import end_to_end
from centersmooth.outputs import Outputs

_UNIT = 2.0**-53


@dataclass(frozen=True)
class UnionJaccard(Metric):
    """``d(a, b) = 1 - |a and b| / |a or b|`` of the areas that two sets of boxes cover.

    Range [0, 1]. Theorem B. A metric on regions, as the Jaccard distance of any measure is:
    boxes may overlap and be split without changing the output. One output is an (n, 4) tensor
    of xyxy boxes; none, or none with an area, is the empty region: d(none, none) = 0 and
    d(none, a) = 1. Areas are exact, from the covered intervals between neighbouring edges.
    """

    diameter: float = field(default=1.0, init=False)

    def collate(self, outputs: Outputs) -> Block:
        boxes = [_boxes(output) for output in outputs]
        valid = [bool(np.isfinite(b).all() and (b[:, :2] <= b[:, 2:]).all()) for b in boxes]
        rows = [_disjoint(b if fine else b[:0]) for b, fine in zip(boxes, valid, strict=True)]
        return Block(rows, torch.tensor(valid, dtype=torch.bool))

    def lengths(self, a: Any, b: Any) -> torch.Tensor:
        empty = np.zeros((0, 4))
        return torch.from_numpy(_regions_apart(*end_to_end(a, empty), *end_to_end(b, empty)))


def _boxes(output: Any) -> np.ndarray:
    """One output as an (n, 4) array."""
    boxes = torch.as_tensor(output).detach().cpu().double().numpy()
    if boxes.size == 0:
        return np.zeros((0, 4))
    if boxes.ndim != 2 or boxes.shape[1] != 4:
        fix = "Return xyxy boxes, an empty (0, 4) tensor for none."
        raise OutputError(expected("boxes of shape (n, 4)", f"{boxes.shape}", fix))
    return np.ascontiguousarray(boxes)


@numba.njit(cache=True, nogil=True)
def _disjoint(boxes):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Boxes without common area that cover the same region: slabs between neighbouring x edges."""
    edges = np.unique(boxes[:, ::2].copy().ravel())
    by_top = boxes[np.argsort(boxes[:, 1])]
    out = np.empty((max(0, edges.size - 1) * len(boxes), 4))
    count = 0
    for slab in range(edges.size - 1):
        left, right = edges[slab], edges[slab + 1]
        covered = -np.inf
        for k in range(len(by_top)):
            box = by_top[k]
            if box[0] > left or box[2] < right or box[3] <= max(covered, box[1]):
                continue
            if box[1] > covered:
                out[count] = (left, box[1], right, box[3])
                count += 1
            else:
                out[count - 1, 3] = box[3]
            covered = box[3]
    return out[:count].copy()


@numba.njit(cache=True, nogil=True)
def _regions_apart(a, starts_a, b, starts_b):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Jaccard distances, raised by a bound on the rounding of areas; equal lists are at 0."""
    out = np.zeros((starts_a.size - 1, starts_b.size - 1))
    for i in range(starts_a.size - 1):
        one = a[starts_a[i] : starts_a[i + 1]]
        for j in range(starts_b.size - 1):
            other = b[starts_b[j] : starts_b[j + 1]]
            if one.shape == other.shape and np.all(one == other):
                continue
            area = _covered(one) + _covered(other)
            common = 0.0
            for k in range(len(one)):
                for m in range(len(other)):
                    width = min(one[k, 2], other[m, 2]) - max(one[k, 0], other[m, 0])
                    height = min(one[k, 3], other[m, 3]) - max(one[k, 1], other[m, 1])
                    if width > 0.0 and height > 0.0:
                        common += width * height
            if area > 0.0:
                slack = (2 * (len(one) + len(other) + len(one) * len(other)) + 16) * _UNIT * area
                out[i, j] = min(1.0, (area - 2 * common + slack) / (area - common))
    return out


@numba.njit(cache=True, nogil=True)
def _covered(boxes):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    area = 0.0
    for box in boxes:
        area += (box[2] - box[0]) * (box[3] - box[1])
    return area
