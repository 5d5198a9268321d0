"""Distances between sets of detections of any size."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import torch
from numpy.typing import NDArray

from centersmooth.errors import ArgumentError, OutputError, expected
from centersmooth.metrics.base import Block, Metric
from centersmooth.metrics.boxes import overlap_error
from centersmooth.metrics.ragged import end_to_end
from centersmooth.outputs import Outputs

_BASES = ("iou", "center")
_WIDTH = 6  # x1, y1, x2, y2, label, score


@dataclass(frozen=True)
class OSPA(Metric):
    """Optimal subpattern assignment of detections (Schuhmacher, Vo and Vo 2008). Theorem B.

    ``d(a, b) = ((sum over the best pairing of e(x, y)^p + c^p (n - m)) / n)^(1/p)`` for m <= n
    detections, with cut-off c and order p. Range [0, c]; d(none, none) = 0, d(none, a) = c.

    ``e(x, y) = min(c, base + score_weight |score_x - score_y|)``, and c where labels differ;
    base is 1 - IoU, or with ``base="center"`` the distance of the centers. Each is a metric,
    so is their sum, and a cut-off and the maximum with c [labels differ] keep one; OSPA of a
    metric e <= c is a metric on finite sets. Any pairing gives an upper bound, so a pairing
    that rounding spoils cannot make a distance too small.

    One output is a dict of ``boxes`` (n, 4) as xyxy and, where there are any, ``labels`` (n,)
    and ``scores`` (n,); or the boxes alone. Scores below `min_score` are no detections.
    """

    cutoff: float = 1.0
    order: float = 1.0
    base: str = "iou"
    min_score: float = 0.0
    score_weight: float = 0.0

    def __post_init__(self) -> None:
        if not 0 < self.cutoff < math.inf:
            fix = "1 suits base='iou'; for base='center' give pixels."
            raise ArgumentError(expected("a positive, finite cutoff", repr(self.cutoff), fix))
        if not 1 <= self.order < math.inf:
            fix = "1 averages errors, 2 their squares."
            raise ArgumentError(expected("1 <= order < inf", repr(self.order), fix))
        if self.base not in _BASES:
            fix = "It is the distance of two boxes."
            raise ArgumentError(expected("base='iou' or 'center'", repr(self.base), fix))
        if not 0 <= self.score_weight < math.inf:
            fix = "0 ignores scores."
            raise ArgumentError(expected("score_weight >= 0", repr(self.score_weight), fix))

    @property
    def diameter(self) -> float:  # type: ignore[override]
        return self.cutoff

    def collate(self, outputs: Outputs) -> Block:
        tables = [_table(output) for output in outputs]
        valid = torch.tensor([_measurable(table) for table in tables], dtype=torch.bool)
        rows = [
            table[table[:, 5] >= self.min_score] if fine else table[:0]
            for table, fine in zip(tables, valid.tolist(), strict=True)
        ]
        return Block(rows, valid)

    def lengths(self, a: Any, b: Any) -> torch.Tensor:
        empty = np.zeros((0, _WIDTH))
        options = (self.cutoff, self.order, self.base == "iou", self.score_weight)
        table = _distances(*end_to_end(a, empty), *end_to_end(b, empty), *options)
        return torch.from_numpy(np.asarray(table))


def _table(output: Any) -> NDArray[np.float64]:
    """One output as rows of x1, y1, x2, y2, label, score."""
    fields = output if isinstance(output, Mapping) else {"boxes": output}
    if "boxes" not in fields:
        fix = "Return {'boxes': ..., 'labels': ..., 'scores': ...} per input."
        raise OutputError(expected("detections with boxes", f"{sorted(map(str, fields))}", fix))
    boxes = _numbers(fields["boxes"])
    if boxes.size == 0:
        boxes = boxes.reshape(0, 4)
    if boxes.ndim != 2 or boxes.shape[1] != 4:
        fix = "Return xyxy boxes of shape (n, 4), (0, 4) for none."
        raise OutputError(expected("boxes of shape (n, 4)", f"{boxes.shape}", fix))
    table = np.zeros((len(boxes), _WIDTH))
    table[:, :4], table[:, 5] = boxes, 1.0
    for column, name in ((4, "labels"), (5, "scores")):
        if fields.get(name) is not None:
            values = _numbers(fields[name])
            if values.size != len(boxes):
                fix = "Return one entry per box."
                got = f"{values.size} for {len(boxes)} boxes"
                raise OutputError(expected(f"as many {name} as boxes", got, fix))
            table[:, column] = values.reshape(-1)
    return table


def _numbers(values: Any) -> NDArray[np.float64]:
    try:
        if isinstance(values, torch.Tensor):
            values = values.detach().cpu()
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        fix = "Return boxes, labels and scores as tensors; number the labels."
        raise OutputError(expected("detections as numbers", type(values).__name__, fix)) from error


def _measurable(table: NDArray[np.float64]) -> bool:
    ordered = (table[:, 0] <= table[:, 2]) & (table[:, 1] <= table[:, 3])
    return bool(np.isfinite(table).all() and ordered.all())


@numba.njit(cache=True, nogil=True)
def _distances(a, starts_a, b, starts_b, cutoff, order, iou, weight):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    sizes_a, sizes_b = np.diff(starts_a), np.diff(starts_b)
    most = max(sizes_a.max(), sizes_b.max()) if sizes_a.size and sizes_b.size else 0
    errors = np.empty((most, most))
    rows, columns = np.empty(most + 1), np.empty(most + 1)
    owner, way = np.empty(most + 1, dtype=np.int64), np.empty(most + 1, dtype=np.int64)
    least, used = np.empty(most + 1), np.empty(most + 1, dtype=np.bool_)
    out = np.zeros((sizes_a.size, sizes_b.size))
    for i in range(sizes_a.size):
        one = a[starts_a[i] : starts_a[i + 1]]
        for j in range(sizes_b.size):
            other = b[starts_b[j] : starts_b[j + 1]]
            few, many = (one, other) if len(one) <= len(other) else (other, one)
            if len(many) == 0:
                continue
            for k in range(len(few)):
                for m in range(len(many)):
                    errors[k, m] = _error(few[k], many[m], cutoff, iou, weight)
            costs = errors[: len(few), : len(many)].copy()
            if order != 1.0:
                costs = (costs / cutoff) ** order
            _assign(costs, len(few), len(many), rows, columns, owner, way, least, used)
            out[i, j] = min(cutoff, _mean(errors, owner, len(few), len(many), cutoff, order))
    return out


@numba.njit(cache=True, nogil=True)
def _mean(errors, owner, few, many, cutoff, order):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """The mean of order p over the pairing, the unpaired at the cut-off.

    Errors are divided by the largest one: powers of small numbers would vanish.
    """
    largest = cutoff if many > few else 0.0
    for j in range(1, many + 1):
        if owner[j]:
            largest = max(largest, errors[owner[j] - 1, j - 1])
    if largest == 0.0:
        return 0.0
    total = float(many - few)
    for j in range(1, many + 1):
        if owner[j]:
            share = errors[owner[j] - 1, j - 1] / largest
            total += share if order == 1.0 else share**order
    mean = total / many
    return largest * (mean if order == 1.0 else mean ** (1.0 / order))


@numba.njit(cache=True, nogil=True)
def _error(one, other, cutoff, iou, weight):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """The distance of two detections."""
    if one[4] != other[4]:
        return cutoff
    if iou:
        base = overlap_error(one, other)
    else:
        across = (one[0] + one[2] - other[0] - other[2]) / 2
        down = (one[1] + one[3] - other[1] - other[3]) / 2
        base = math.sqrt(across * across + down * down)
    return min(cutoff, base + weight * abs(one[5] - other[5]))


@numba.njit(cache=True, nogil=True)
def _assign(costs, few, many, rows, columns, owner, way, least, used):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Give each of the few one of the many, at the least total cost (Hungarian method).

    `owner[j]` is the row that column j is given to, both counted from 1; column 0 is where a
    row that looks for a column starts, and `way` leads back along its alternating path.
    """
    rows[: few + 1], columns[: many + 1], owner[: many + 1] = 0.0, 0.0, 0
    for row in range(1, few + 1):
        owner[0], column = row, 0
        least[: many + 1], used[: many + 1] = np.inf, False
        while True:
            used[column] = True
            here, step, following = owner[column], np.inf, 0
            for j in range(1, many + 1):
                if used[j]:
                    continue
                reduced = costs[here - 1, j - 1] - rows[here] - columns[j]
                if reduced < least[j]:
                    least[j], way[j] = reduced, column
                if least[j] < step:
                    step, following = least[j], j
            for j in range(many + 1):
                if used[j]:
                    rows[owner[j]] += step
                    columns[j] -= step
                else:
                    least[j] -= step
            column = following
            if owner[column] == 0:
                break
        while column:
            owner[column] = owner[way[column]]
            column = way[column]
