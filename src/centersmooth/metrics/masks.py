"""Distances between binary masks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch

from centersmooth import kernels
from centersmooth.errors import OutputError, expected
from centersmooth.metrics.base import Block, Metric, as_tensor, flat_rows
from centersmooth.outputs import Outputs


@dataclass(frozen=True)
class MaskJaccard(Metric):
    """``d(a, b) = 1 - |a and b| / |a or b|`` of masks of any shape. Range [0, 1]. Theorem B.

    Masks hold 0 and 1 (or False and True). Two empty masks are at distance 0.
    """

    diameter: float = field(default=1.0, init=False)

    def collate(self, outputs: Outputs) -> Block:
        tensor = as_tensor(outputs, self)
        if tensor.dtype == torch.bool:
            rows = tensor.flatten(1).float()
            return Block(rows, torch.ones(len(rows), dtype=torch.bool))
        rows, valid = flat_rows(tensor, self)
        if not bool(((rows == 0) | (rows == 1)).all()):
            got = f"values from {float(rows.min()):g} to {float(rows.max()):g}"
            fix = "Threshold inside the model, e.g. return probabilities > 0.5."
            raise OutputError(expected("masks of 0 and 1", got, fix))
        return Block(rows.float(), valid)

    def lengths(self, a: Any, b: Any) -> torch.Tensor:
        kernels.check_widths(a, b)
        # Products of zeros and ones add up exactly in float32 below 2^24 pixels.
        exact = a if a.shape[1] < 2**24 else a.double()
        shared = (exact @ b.to(exact.dtype).T).double()
        union = a.double().sum(1)[:, None] + b.double().sum(1)[None, :] - shared
        return torch.where(union > 0, (union - shared) / union, torch.zeros_like(union))

    def pool(self, outputs: Outputs, size: int) -> torch.Tensor:
        """The majority vote of each run; ties count as outside."""
        tensor = as_tensor(outputs, self)
        votes = tensor.double().reshape(-1, size, *tensor.shape[1:]).sum(dim=1)
        return (2 * votes > size).to(tensor.dtype)
