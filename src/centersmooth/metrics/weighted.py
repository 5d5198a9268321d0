"""Distances between sets whose items carry weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from centersmooth import kernels
from centersmooth.errors import OutputError, expected
from centersmooth.metrics.base import Block, Metric, as_tensor, flat_rows
from centersmooth.outputs import Outputs


@dataclass(frozen=True)
class WeightedJaccard(Metric):
    """``d(a, b) = 1 - sum_i min(a_i, b_i) / sum_i max(a_i, b_i)``. Range [0, 1]. Theorem B.

    One output is a mapping from items to weights >= 0 (tags with scores, a word count), or a
    tensor of weights of one shape. Without any weight it is empty: d(none, none) = 0 and
    d(none, a) = 1. With the l1 distance L it is ``2 L / (|a| + |b| + L)``, which keeps the
    triangle inequality of L (Yujian and Bo 2007); on weights of 0 and 1 it is SetJaccard.
    """

    diameter: float = field(default=1.0, init=False)

    def collate(self, outputs: Outputs) -> Block:
        if any(isinstance(output, Mapping) for output in outputs):
            rows = [_weights(output) for output in outputs]
            finite = [all(np.isfinite(weight) for weight in row.values()) for row in rows]
            rows = [row if fine else {} for row, fine in zip(rows, finite, strict=True)]
            _check_signs(min((min(row.values(), default=0.0) for row in rows), default=0.0))
            return Block(rows, torch.tensor(finite, dtype=torch.bool))
        tensor, valid = flat_rows(as_tensor(outputs, self), self)
        _check_signs(float(tensor.min()) if tensor.numel() else 0.0)
        return Block(tensor.double(), valid)

    def lengths(self, a: Any, b: Any) -> torch.Tensor:
        if not len(a) or not len(b):  # mappings or tensors: nothing tells
            return torch.zeros((len(a), len(b)), dtype=torch.float64)
        if isinstance(a, list) or isinstance(b, list):
            a, b = _tables(a, b)
        apart = kernels.l1(a, b)
        total = a.sum(dim=1)[:, None] + b.sum(dim=1)[None, :] + apart
        return torch.where(total > 0, 2 * apart / total, 0.0).clamp_(max=1.0)


def _weights(output: Any) -> dict[Any, float]:
    if not isinstance(output, Mapping):
        fix = "Return a dict from items to weights for every input, an empty one for none."
        raise OutputError(expected("a mapping to weights", type(output).__name__, fix))
    try:
        return {item: float(weight) for item, weight in output.items()}
    except (TypeError, ValueError) as error:
        fix = "Give every item a number."
        raise OutputError(expected("a mapping to weights", str(error), fix)) from error


def _check_signs(least: float) -> None:
    if least < 0:
        fix = "Clip them, or use L1()."
        raise OutputError(expected("weights >= 0", f"one of {least:g}", fix))


def _tables(a: Any, b: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """Both blocks with one column per item that occurs in either."""
    if not (isinstance(a, list) and isinstance(b, list)):
        fix = "Give the model's outputs (and a target) one form."
        raise OutputError(expected("mappings only, or tensors only", "both", fix))
    places: dict[Any, int] = {}
    for row in (*a, *b):
        for item in row:
            places.setdefault(item, len(places))
    return _table(a, places), _table(b, places)


def _table(rows: Sequence[Mapping[Any, float]], places: dict[Any, int]) -> torch.Tensor:
    table = np.zeros((len(rows), max(1, len(places))))
    for place, row in enumerate(rows):
        table[place, [places[item] for item in row]] = list(row.values())
    return torch.from_numpy(table)
