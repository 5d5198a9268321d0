"""The Hausdorff distance between finite sets of points, or of anything with a metric."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import torch
from numpy.typing import NDArray

from centersmooth.errors import OutputError, expected
from centersmooth.metrics.base import Block, Metric, check_diameter
from centersmooth.metrics.ragged import end_to_end
from centersmooth.outputs import Outputs

_SLAB = 2**22


@dataclass(frozen=True)
class Hausdorff(Metric):
    """``d(a, b) = max(max_x min_y g(x, y), max_y min_x g(x, y))`` of points x of a, y of b.

    Range [0, cutoff]. Theorem B.

    One output is a point cloud, an (n, D) tensor, and g the Euclidean distance; or, with a
    `ground` metric, a list of whatever that metric compares. A metric whenever g is one: from
    any x of a there is a y of b within d(a, b), and from that a z of c within d(b, c). With a
    relaxed g the same gamma does. d(none, none) = 0, d(none, a) = `cutoff`, infinite unless
    given. (The Chamfer distance, with sums in place of maxima, is no metric.)
    """

    ground: Metric | None = None
    cutoff: float = math.inf

    def __post_init__(self) -> None:
        check_diameter(self.cutoff)

    @property
    def diameter(self) -> float:  # type: ignore[override]
        return min(self.cutoff, math.inf if self.ground is None else self.ground.diameter)

    @property
    def gamma(self) -> float:  # type: ignore[override]
        return 1.0 if self.ground is None else self.ground.gamma

    @property
    def published_gamma(self) -> float:  # type: ignore[override]
        return 1.0 if self.ground is None else self.ground.published_gamma

    @property
    def rounding(self) -> float:  # type: ignore[override]
        return Metric.rounding if self.ground is None else self.ground.rounding

    def value(self, rho: Any) -> Any:
        return np.minimum(rho if self.ground is None else self.ground.value(rho), self.cutoff)

    def collate(self, outputs: Outputs) -> Block:
        if self.ground is not None:
            none = Block([], torch.ones(0, dtype=torch.bool))  # whatever the ground compares
            items = [_items(output) for output in outputs]
            blocks = [self.ground.collate(part) if len(part) else none for part in items]
            return Block(blocks, torch.tensor([bool(b.valid.all()) for b in blocks]))
        clouds = [_cloud(output) for output in outputs]
        valid = [bool(np.isfinite(cloud).all()) for cloud in clouds]
        return Block(clouds, torch.tensor(valid, dtype=torch.bool))

    def lengths(self, a: Any, b: Any) -> torch.Tensor:
        if self.ground is not None:
            return _over_ground(self.ground, a, b)
        widths = {cloud.shape[1] for cloud in (*a, *b) if len(cloud)}
        if len(widths) > 1:
            got = f"points of {' and '.join(map(str, sorted(widths)))} coordinates"
            raise OutputError(expected("points of one dimension", got, "Return (n, D) tensors."))
        empty = np.zeros((0, widths.pop() if widths else 1))
        one, other = ([cloud if len(cloud) else empty for cloud in rows] for rows in (a, b))
        squared = _squared(*end_to_end(one, empty), *end_to_end(other, empty))
        return torch.from_numpy(np.sqrt(squared))


def _items(output: Any) -> Any:
    if isinstance(output, (torch.Tensor, list, tuple)):
        return output
    if isinstance(output, (set, frozenset)):
        return list(output)
    fix = "Return a list of what the ground metric compares, an empty one for none."
    raise OutputError(expected("a list of items", type(output).__name__, fix))


def _cloud(output: Any) -> NDArray[np.float64]:
    try:
        cloud = torch.as_tensor(output).detach().cpu().double().numpy()
    except (RuntimeError, TypeError, ValueError) as error:
        got = type(output).__name__
        fix = "Return an (n, D) tensor of points, or give Hausdorff a ground metric."
        raise OutputError(expected("a point cloud", got, fix)) from error
    if cloud.size == 0:
        return np.zeros((0, 1))
    if cloud.ndim != 2:
        fix = "Return an (n, D) tensor, (0, D) for no points."
        raise OutputError(expected("points of shape (n, D)", f"shape {cloud.shape}", fix))
    return np.ascontiguousarray(cloud)


@numba.njit(cache=True, nogil=True)
def _squared(a, starts_a, b, starts_b):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    out = np.zeros((starts_a.size - 1, starts_b.size - 1))
    for i in range(starts_a.size - 1):
        one = a[starts_a[i] : starts_a[i + 1]]
        for j in range(starts_b.size - 1):
            other = b[starts_b[j] : starts_b[j + 1]]
            if len(one) == 0 or len(other) == 0:
                out[i, j] = 0.0 if len(one) == len(other) else np.inf
            else:
                out[i, j] = _beyond(other, one, _beyond(one, other, 0.0))
    return out


@numba.njit(cache=True, nogil=True)
def _beyond(points, others, most):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """The largest of `most` and each point's squared distance to the others.

    A point is given up as soon as one of the others is within `most` (Taha and Hanbury 2015).
    """
    for p in range(len(points)):
        nearest = np.inf
        for q in range(len(others)):
            squared = 0.0
            for axis in range(points.shape[1]):
                squared += (points[p, axis] - others[q, axis]) ** 2
            nearest = min(nearest, squared)
            if nearest <= most:
                break
        most = max(most, nearest)
    return most


def _over_ground(ground: Metric, a: Sequence[Block], b: Sequence[Block]) -> torch.Tensor:
    """All ground lengths of a few outputs at a time, then minima and maxima within outputs."""
    out = np.zeros((len(a), len(b)))
    sizes = np.array([len(block) for block in b])
    full = [block for block in b if len(block)]
    others = Block.join(full).rows if full else None
    starts = np.cumsum([0, *(len(block) for block in full)])[:-1]
    for i, block in enumerate(a):
        out[i] = np.where(sizes > 0, np.inf, 0.0 if len(block) == 0 else np.inf)
        if len(block) and others is not None:
            table = ground.lengths(block.rows, others).cpu().numpy()
            to_b = np.minimum.reduceat(table, starts, axis=1).max(axis=0)
            to_a = np.maximum.reduceat(table.min(axis=0), starts)
            out[i, sizes > 0] = np.maximum(to_a, to_b)
    return torch.from_numpy(out)
