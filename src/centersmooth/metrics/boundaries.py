"""Distances between the outlines of masks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import torch
from numpy.typing import NDArray

from centersmooth import kernels
from centersmooth.errors import OutputError, expected
from centersmooth.metrics.base import Block, Metric, as_tensor, check_diameter, flat_rows
from centersmooth.metrics.ragged import end_to_end
from centersmooth.outputs import Outputs

_NO_OUTLINE = 2**31 - 1


@dataclass(frozen=True)
class BoundaryHausdorff(Metric):
    """``d(a, b) =`` the Hausdorff distance of two masks' outlines, in pixels. Theorem B.

    The largest distance of an outline pixel of one to the outline of the other; range [0,
    cutoff]. An outline consists of the mask's pixels next to one outside (over an
    edge, or over the border of the image). A pseudometric: masks with one outline, a disc and
    its rim, are at distance 0. Two empty masks are at distance 0; an empty mask is at distance
    `cutoff` from all others, which is infinite unless given. The map of distances to the
    outline is computed once per output.
    """

    cutoff: float = math.inf

    def __post_init__(self) -> None:
        check_diameter(self.cutoff)

    @property
    def diameter(self) -> float:  # type: ignore[override]
        return self.cutoff

    def collate(self, outputs: Outputs) -> Block:
        """Squared distances to the outline, whole numbers that are 0 on the outline itself."""
        masks = as_tensor(outputs, self)
        if masks.dim() == 4 and masks.shape[1] == 1:
            masks = masks[:, 0]
        if masks.dim() != 3:
            got = f"shape {tuple(masks.shape[1:])}"
            raise OutputError(expected("masks of shape (H, W)", got, "Return one mask per input."))
        values, valid = flat_rows(masks.cpu(), self)
        if not bool(((values == 0) | (values == 1)).all()):
            fix = "Threshold inside the model, e.g. return probabilities > 0.5."
            raise OutputError(expected("masks of 0 and 1", "other values", fix))
        shapes = values.bool().reshape(masks.shape).numpy()
        rows = np.array([_squared_distances(mask).ravel() for mask in shapes], dtype=np.int32)
        return Block(torch.from_numpy(rows.reshape(values.shape)), valid)

    def lengths(self, a: Any, b: Any) -> torch.Tensor:
        kernels.check_widths(a, b)
        one, other = (np.ascontiguousarray(rows.numpy()) for rows in (a, b))
        none = np.zeros(0, dtype=np.int64)
        outlines = (
            end_to_end([np.flatnonzero(row == 0) for row in rows], none) for rows in (one, other)
        )
        squared = _farthest(one, other, *next(outlines), *next(outlines))
        lengths = np.sqrt(np.where(squared == _NO_OUTLINE, np.inf, squared))
        return torch.from_numpy(np.minimum(lengths, self.cutoff))


def _squared_distances(mask: NDArray[np.bool_]) -> NDArray[np.float64]:
    from scipy import ndimage  # half a second that no other metric needs

    inside = ndimage.binary_erosion(mask, border_value=0)
    outline = mask & ~inside
    if not outline.any():
        return np.full(mask.shape, float(_NO_OUTLINE))
    distances: NDArray[np.float64] = ndimage.distance_transform_edt(~outline)
    return np.rint(distances**2)


@numba.njit(cache=True, nogil=True)
def _farthest(a, b, outline_a, starts_a, outline_b, starts_b):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    out = np.zeros((len(a), len(b)))
    for i in range(len(a)):
        for j in range(len(b)):
            most = 0
            for k in range(starts_a[i], starts_a[i + 1]):
                most = max(most, b[j, outline_a[k]])
            for k in range(starts_b[j], starts_b[j + 1]):
                most = max(most, a[i, outline_b[k]])
            out[i, j] = most
    return out
