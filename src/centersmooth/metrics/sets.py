"""Distances between finite sets."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array

from centersmooth.errors import OutputError, expected
from centersmooth.metrics.base import Block, Metric
from centersmooth.outputs import Outputs


@dataclass(frozen=True)
class SetJaccard(Metric):
    """``d(a, b) = 1 - |a & b| / |a | b|`` of finite sets. Range [0, 1]. Theorem B.

    One output is a set or any collection of hashable items. Two empty sets are at distance 0.
    """

    diameter: float = field(default=1.0, init=False)

    def collate(self, outputs: Outputs) -> Block:
        rows = [_as_set(output) for output in outputs]
        valid = [all(item == item for item in row) for row in rows]  # NaN does not equal itself
        return Block(rows, torch.tensor(valid, dtype=torch.bool))

    def lengths(self, a: Any, b: Any) -> torch.Tensor:
        places: dict[Any, int] = {}
        of_b = _incidence(b, places)  # numbered first: a may then bring items b has not
        of_a = _incidence(a, places)
        of_b.resize((len(b), len(places)))
        shared = (of_a @ of_b.T).toarray()
        sizes_a, sizes_b = (np.array([len(s) for s in block], dtype=float) for block in (a, b))
        union = sizes_a[:, None] + sizes_b[None, :] - shared
        distance = np.divide(union - shared, union, out=np.zeros_like(union), where=union > 0)
        return torch.from_numpy(distance)


def _as_set(output: Any) -> frozenset[Any]:
    if isinstance(output, torch.Tensor):
        output = output.tolist()
    got = type(output).__name__
    if isinstance(output, Collection) and not isinstance(output, (str, bytes)):
        try:
            return frozenset(output)
        except TypeError as error:
            got += f" with an {error}"
    fix = "Return a set (or list) of numbers, strings or tuples from the model."
    raise OutputError(expected("a finite set", got, fix))


def _incidence(sets: list[frozenset[Any]], places: dict[Any, int]) -> csr_array:
    """One row per set, one column per item, numbered as they are met."""
    columns = [places.setdefault(item, len(places)) for items in sets for item in items]
    starts = np.cumsum([0, *(len(items) for items in sets)])
    ones = np.ones(len(columns))
    return csr_array((ones, np.array(columns, dtype=int), starts), shape=(len(sets), len(places)))
