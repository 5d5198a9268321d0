"""Several metrics as one, for outputs with several parts."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch

from centersmooth import outputs as out
from centersmooth.errors import ArgumentError, OutputError, expected
from centersmooth.metrics.base import Block, Hilbert, Metric, one_tensor
from centersmooth.outputs import Outputs

_MOST_PARTS = 4
_GRID = 512

Parts = Mapping[Hashable, Metric] | Sequence[Metric]
Weights = Mapping[Hashable, float] | Sequence[float]


@dataclass(frozen=True)
class Combination(Metric):
    """``d(a, b) = (sum over parts (w_k d_k(a[k], b[k]))^p)^(1/p)``, or the maximum for p = inf.

    Built by `weighted_sum`, `euclidean_sum` and `maximum`. A norm of metrics is a metric; of
    parts that obey a relaxed triangle inequality it has the largest of their gammas. Range
    [0, the same norm of the parts' diameters]. The empty output of a part is that part's affair.
    """

    keys: tuple[Hashable, ...]
    parts: tuple[Metric, ...]
    weights: tuple[float, ...]
    order: float

    @property
    def diameter(self) -> float:  # type: ignore[override]
        return float(self._norm([np.float64(part.diameter) for part in self.parts]))

    @property
    def gamma(self) -> float:  # type: ignore[override]
        return max(part.published_gamma for part in self.parts)

    @property
    def published_gamma(self) -> float:  # type: ignore[override]
        return self.gamma

    @property
    def hilbert(self) -> Hilbert | None:
        """The parts' spaces side by side, where every part has one and is a true metric.

        The l2 norm over parts is within sqrt(parts) of the sum and of the maximum, so with more
        than four parts Theorem B is the sharper one for those.
        """
        spaces = [part.hilbert for part in self.parts]
        few = self.order == 2 or len(self.parts) <= _MOST_PARTS
        if not few or self.gamma > 1 or any(space is None for space in spaces):
            return None
        return side_by_side(self, tuple(space for space in spaces if space is not None))

    def collate(self, outputs: Outputs) -> Block:
        columns = [[_part(output, key) for output in outputs] for key in self.keys]
        blocks = [part.collate(column) for part, column in zip(self.parts, columns, strict=True)]
        valid = torch.stack([block.valid for block in blocks]).all(dim=0)
        space = self.hilbert
        if isinstance(space, SideBySide):
            return Block(space.joined([block.rows for block in blocks]), valid)
        return Block(Columns(tuple(block.rows for block in blocks)), valid)

    def lengths(self, a: Any, b: Any) -> torch.Tensor:
        space = self.hilbert
        split = space.split if isinstance(space, SideBySide) else columns_of
        pairs = zip(self.parts, split(a), split(b), strict=True)
        found = [_distances(part, one, other) for part, one, other in pairs]
        return torch.from_numpy(np.asarray(self._norm(found)))

    def _norm(self, distances: Sequence[Any]) -> Any:
        weighted = [w * distance for w, distance in zip(self.weights, distances, strict=True)]
        if self.order == math.inf:
            return np.max(weighted, axis=0)
        return np.sum([part**self.order for part in weighted], axis=0) ** (1.0 / self.order)

    @property
    def name(self) -> str:
        kind = {1.0: "Sum", 2.0: "EuclideanSum"}.get(self.order, "Maximum")
        return f"{kind} of {', '.join(part.name for part in self.parts)}"


def combination(parts: Parts, weights: Weights | None, order: float) -> Combination:
    """Parts by key (a dict) or by place (a sequence), with weights of 1 unless given."""
    named = dict(parts) if isinstance(parts, Mapping) else dict(enumerate(parts))
    if not named or not all(isinstance(part, Metric) for part in named.values()):
        fix = "Give a dict from keys to metrics, or a list of them for tuples."
        raise ArgumentError(expected("at least one metric", repr(parts), fix))
    given = _by_key(weights, tuple(named))
    if given.keys() != named.keys() or not all(0 < w < math.inf for w in given.values()):
        fix = "Give every part a weight, or leave them out."
        raise ArgumentError(expected("one positive weight per part", repr(weights), fix))
    ordered = tuple(float(given[key]) for key in named)
    return Combination(tuple(named), tuple(named.values()), ordered, order)


def _by_key(weights: Weights | None, keys: Sequence[Hashable]) -> dict[Hashable, float]:
    if weights is None:
        return dict.fromkeys(keys, 1.0)
    if isinstance(weights, Mapping):
        return dict(weights)
    return dict(zip(keys, weights, strict=True)) if len(weights) == len(keys) else {}


def _part(output: Any, key: Hashable) -> Any:
    try:
        return output[key]
    except (KeyError, IndexError, TypeError) as error:
        got = f"{type(output).__name__} without it"
        fix = "Return one dict (or tuple) per input, with all the parts that are compared."
        raise OutputError(expected(f"an output with a part {key!r}", got, fix)) from error


def _distances(part: Metric, a: Any, b: Any) -> np.ndarray:
    """d of one part, raised by the rounding that its lengths may have."""
    rho = part.lengths(a, b).cpu().numpy() * (1.0 + part.rounding)
    return np.asarray(np.minimum(part.value(rho), part.diameter))


@dataclass(frozen=True)
class Columns:
    """The prepared rows of every part."""

    parts: tuple[Any, ...]

    def __getitem__(self, place: slice) -> Columns:
        return Columns(tuple(rows[place] for rows in self.parts))

    def __iter__(self) -> Iterator[Columns]:
        return (self[place : place + 1] for place in range(len(self.parts[0])))


def columns_of(rows: Columns | Sequence[Columns]) -> tuple[Any, ...]:
    """The rows of each part; joined blocks come as a list of single outputs."""
    if isinstance(rows, Columns):
        return rows.parts
    return tuple(out.join(parts) for parts in zip(*(row.parts for row in rows), strict=True))


@dataclass(frozen=True)
class SideBySide:
    """The Euclidean spaces of all parts as one.

    A row is the parts' rows one after the other, each times a scale that makes lengths about as
    large as the weighted distances. In front are the widths of the parts: equal in all rows,
    they add nothing to any distance, and they are whole, so no mean changes them.
    """

    combination: Combination
    spaces: tuple[Hilbert, ...]
    scales: tuple[float, ...]
    scale_free: ClassVar[bool] = False

    def joined(self, rows: Sequence[torch.Tensor]) -> torch.Tensor:
        """One row per output, in double precision: scaling then costs no accuracy."""
        device = rows[0].device
        parts = [s * part.double().to(device) for s, part in zip(self.scales, rows, strict=True)]
        widths = torch.tensor([part.shape[1] for part in rows], dtype=torch.float64, device=device)
        return torch.cat((widths.expand(len(parts[0]), -1), *parts), dim=1)

    def split(self, rows: torch.Tensor) -> list[torch.Tensor]:
        """The parts' own rows again."""
        count = len(self.spaces)
        if not len(rows):
            return [rows[:, :0]] * count
        widths = [round(width) for width in rows[0, :count].tolist()]
        parts = torch.split(rows[:, count:], widths, dim=1)
        return [part / scale for part, scale in zip(parts, self.scales, strict=True)]

    def decode(self, point: torch.Tensor, like: Outputs) -> Any:
        """An output like the others, its parts in double precision."""
        keys, rows = self.combination.keys, self.split(point[None])
        decoded = {}
        for key, space, row in zip(keys, self.spaces, rows, strict=True):
            column = [one_tensor(output[key]).double() for output in like]
            decoded[key] = space.decode(row[0], column)
        return decoded if isinstance(like[0], Mapping) else tuple(decoded.values())

    def bound(self, delta: float) -> float:
        """The largest distance of a point within delta.

        Parts share delta^2; whatever the shares, rounding each up to a grid keeps their sum
        below one plus as many steps as there are parts, and bounds grow with their share.
        """
        order, count = self.combination.order, len(self.spaces)
        if not math.isfinite(delta):
            return self.combination.diameter
        if order == math.inf:
            return max(self._at(k, delta) for k in range(count))
        steps = [delta * math.sqrt(n / _GRID) for n in range(_GRID + count)]
        tables = [np.array([self._at(k, s) ** order for s in steps]) for k in range(count)]
        worst = tables[0]
        for table in tables[1:]:
            worst = _best_sums(worst, table)
        return min(float(worst[-1] ** (1.0 / order)) * (1 + 1e-12), self.combination.diameter)

    def _at(self, k: int, delta: float) -> float:
        """The weighted bound of one part, if all of delta were its own."""
        bound = self.spaces[k].bound(delta / self.scales[k] * (1 + 1e-12))
        return self.combination.weights[k] * min(bound, self.combination.parts[k].diameter)


def side_by_side(combination: Combination, spaces: tuple[Hilbert, ...]) -> SideBySide:
    """With scales of weight times distance per length, for short lengths."""
    slopes = [space.bound(1e-3) / 1e-3 for space in spaces]
    scales = [w * slope for w, slope in zip(combination.weights, slopes, strict=True)]
    return SideBySide(combination, spaces, tuple(scales))


def _best_sums(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """For each n the largest ``a[i] + b[n - i]``."""
    return np.array([np.max(a[: n + 1] + b[n::-1]) for n in range(len(a))])
