"""Distances between outputs that are vectors, or can be read as one."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numba
import numpy as np
import torch
from numpy.typing import NDArray

from centersmooth import kernels
from centersmooth.errors import OutputError, expected
from centersmooth.metrics.base import (
    Block,
    Hilbert,
    Metric,
    Normed,
    check_diameter,
    flat_rows,
    mean_pool,
    one_tensor,
)
from centersmooth.outputs import Outputs

_SINGLE = 2.0**-21
"""More than rounding two directions to float32 can turn them, in radians."""


def unflatten(point: torch.Tensor, like: Outputs) -> torch.Tensor:
    """A flat point in the shape of the outputs, in single precision only if they are floats."""
    first = one_tensor(like[0])
    single = first.is_floating_point() and first.dtype != torch.float64
    return point.reshape(first.shape).to(torch.float32 if single else torch.float64)


class _Normed(Metric):
    """Rows are the flattened outputs."""

    mean_stays_in_ball: ClassVar[bool] = True

    def collate(self, outputs: Outputs) -> Block:
        return Block(*flat_rows(outputs, self))

    def pool(self, outputs: Outputs, size: int) -> torch.Tensor:
        """The mean of each run."""
        return mean_pool(outputs, size, self)


@dataclass(frozen=True)
class L1(_Normed):
    """``d(a, b) = sum |a_i - b_i|``. Range [0, inf) unless a diameter is given.

    Theorem B; Theorem C for norms with ``center=cs.WeberPoint()``.
    """

    diameter: float = math.inf
    rounding: ClassVar[float] = kernels.L1_ROUNDING

    def __post_init__(self) -> None:
        check_diameter(self.diameter)

    def lengths(self, a: Any, b: Any) -> torch.Tensor:
        return kernels.l1(a, b)

    @property
    def normed(self) -> Normed:
        return _Coordinates()


@dataclass(frozen=True)
class _Coordinates:
    """The median of every coordinate has the least mean l1 distance: an output has that value
    there, so nothing is rounded unless the answer is."""

    floor: ClassVar[float] = 0.0

    def approach(
        self, outputs: torch.Tensor, dtype: torch.dtype
    ) -> Iterator[tuple[torch.Tensor, float]]:
        """The median, rounded at first; its gap is how far rounding moves it."""
        middle = outputs.median(dim=0).values.double()
        for precision in dict.fromkeys((dtype, torch.float64)):
            moved = (middle.to(precision).double() - middle).abs().sum()
            yield middle.to(precision), 1.0000001 * float(moved)


@dataclass(frozen=True)
class L2(_Normed):
    """``d(a, b) = ||a - b||_2``. Range [0, inf) unless a diameter is given. Theorem C."""

    diameter: float = math.inf

    def __post_init__(self) -> None:
        check_diameter(self.diameter)

    def lengths(self, a: Any, b: Any) -> torch.Tensor:
        return kernels.l2(a, b)

    @property
    def hilbert(self) -> Hilbert:
        return _Flat()


@dataclass(frozen=True)
class SquaredL2(_Normed):
    """``d(a, b) = ||a - b||_2^2``: the square of a metric, so lengths are its root. Theorem C.

    Range [0, inf) unless a diameter is given. The published procedure pays its relaxed triangle
    inequality with a factor of 10; adding up roots costs at most 9, and Theorem C squares a
    single length.
    """

    diameter: float = math.inf
    published_gamma: ClassVar[float] = 2.0

    def __post_init__(self) -> None:
        check_diameter(self.diameter)

    def lengths(self, a: Any, b: Any) -> torch.Tensor:
        return kernels.l2(a, b)

    def value(self, rho: Any) -> Any:
        return rho * rho

    @property
    def hilbert(self) -> Hilbert:
        return _Flat(squared=True)


@dataclass(frozen=True)
class _Flat:
    """Outputs are their own coordinates."""

    squared: bool = False
    scale_free: ClassVar[bool] = False

    def decode(self, point: torch.Tensor, like: Outputs) -> torch.Tensor:
        return unflatten(point, like)

    def bound(self, delta: float) -> float:
        return delta * delta if self.squared else delta


class _Directional(Metric):
    """Rows are the outputs scaled to length one; lengths are angles in radians."""

    spherical: ClassVar[bool] = True
    meaning: ClassVar[str] = "An output of zeros has no direction."

    def collate(self, outputs: Outputs) -> Block:
        rows, valid = flat_rows(outputs, self)
        norms = torch.linalg.vector_norm(rows, dim=1, keepdim=True, dtype=torch.float64)
        # Squares of still smaller or larger numbers leave the range of float64.
        directed = (norms > 1e-150) & torch.isfinite(norms)
        inverse = torch.where(directed, 1.0 / norms, torch.zeros_like(norms))
        fits = rows.dtype == torch.float64 or bool(((inverse < 1e30) & (norms < 1e30)).all())
        units = rows * inverse.to(rows.dtype) if fits else (rows * inverse).to(rows.dtype)
        return Block(units, valid & directed[:, 0].cpu())

    def lengths(self, a: Any, b: Any) -> torch.Tensor:
        # The chord is accurate where arccos of a cosine near one loses every digit. Rows in
        # single precision are only nearly of length one, which matters for opposite ones.
        halves = (torch.linalg.vector_norm(r, dim=1, dtype=torch.float64).sqrt() for r in (a, b))
        chord = kernels.l2(a, b).div_(torch.outer(*halves).mul_(2.0))
        half = chord.clamp_(max=1.0)
        # numpy's arcsin is several times faster, to the last digit but one; so is torch's.
        angles = torch.from_numpy(np.arcsin(half.numpy())) if half.is_cpu else half.arcsin_()
        return angles.mul_(2.0).add_(angles > 0, alpha=_SINGLE)  # never below that of the outputs

    def pool(self, outputs: Outputs, size: int) -> torch.Tensor:
        """The mean of each run."""
        return mean_pool(outputs, size, self)


@dataclass(frozen=True)
class Angular(_Directional):
    """``d(a, b) = arccos(<a, b> / (|a| |b|)) / pi``. Range [0, 1]. Theorem C.

    An output of zeros has no direction and counts as invalid.
    """

    diameter: float = field(default=1.0, init=False)
    unit: ClassVar[str] = "half turns"

    def value(self, rho: Any) -> Any:
        return np.minimum(rho / math.pi, 1.0)

    @property
    def hilbert(self) -> Hilbert:
        return _Direction(cosine=False)


@dataclass(frozen=True)
class Cosine(_Directional):
    """``d(a, b) = 1 - <a, b> / (|a| |b|)``. Range [0, 2]. Theorem C.

    Not a metric: lengths are angles, which are one, and ``d = 1 - cos(angle)``.
    """

    diameter: float = field(default=2.0, init=False)
    published_gamma: ClassVar[float] = 2.0

    def value(self, rho: Any) -> Any:
        square = np.tan(np.minimum(rho, math.pi) / 2.0) ** 2  # numpy's sine is ten times slower
        return 2.0 * square / (1.0 + square)

    @property
    def hilbert(self) -> Hilbert:
        return _Direction(cosine=True)


@dataclass(frozen=True)
class _Direction:
    """Coordinates are unit vectors; a point within delta < 1 of one is within arcsin(delta)."""

    cosine: bool
    scale_free: ClassVar[bool] = True

    def decode(self, point: torch.Tensor, like: Outputs) -> torch.Tensor:
        """The direction of the point, at the typical length of the outputs."""
        if not bool(point.norm() > 0):  # no direction: far from every w, whatever is answered
            return one_tensor(like[0])
        length = torch.stack([one_tensor(output).double().norm() for output in like]).median()
        return unflatten(point * (length / point.norm()), like)

    def bound(self, delta: float) -> float:
        angle = math.asin(delta) + _SINGLE if delta < 1 else math.pi
        return 2.0 * math.sin(angle / 2) ** 2 if self.cosine else min(angle / math.pi, 1.0)


@dataclass(frozen=True)
class Discrete(Metric):
    """``d(a, b) = 0 if a == b else 1``, for labels, strings, anything. Range [0, 1]. Theorem B.

    Outputs are compared by a 256-bit digest, so each is read once.
    """

    diameter: float = field(default=1.0, init=False)
    rounding: ClassVar[float] = 0.0

    def collate(self, outputs: Outputs) -> Block:
        if isinstance(outputs, torch.Tensor):
            outputs = list(outputs)
        names, places = _named(outputs)
        rows = np.array([name or bytes(32) for name in names], dtype="V32").view(np.uint64)
        valid = np.array([name is not None for name in names], dtype=bool)
        words = torch.from_numpy(rows.reshape(-1, 4).view(np.int64)[places])
        return Block(words, torch.from_numpy(valid[places]))

    def lengths(self, a: Any, b: Any) -> torch.Tensor:
        return torch.from_numpy(_unequal(a.numpy(), np.ascontiguousarray(b.numpy().T)))


@numba.njit(cache=True, nogil=True)
def _unequal(a, b):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """1 for rows of four words that differ anywhere, else 0; b word by word, for SIMD."""
    out = np.empty((len(a), b.shape[1]))
    b_one, b_two, b_three, b_four = b[0], b[1], b[2], b[3]
    for i in range(len(a)):
        one, two, three, four = a[i, 0], a[i, 1], a[i, 2], a[i, 3]
        for j in range(b.shape[1]):
            apart = (one ^ b_one[j]) | (two ^ b_two[j]) | (three ^ b_three[j]) | (four ^ b_four[j])
            out[i, j] = 1.0 if apart != 0 else 0.0
    return out


def _named(outputs: Sequence[Any]) -> tuple[list[bytes | None], NDArray[np.intp]]:
    """A digest per value, and which of them each output has; labels repeat, and are read once."""
    if outputs and set(map(type, outputs)) <= {str}:
        places = {value: place for place, value in enumerate(dict.fromkeys(outputs))}
        found = np.fromiter(map(places.__getitem__, outputs), dtype=np.intp, count=len(outputs))
        return list(map(_digest, places)), found
    return list(map(_digest, outputs)), np.arange(len(outputs))


def _digest(output: Any) -> bytes | None:
    """A name for the value of an output; None where it cannot be compared (NaN)."""
    key = _key(output)
    return None if key is None else hashlib.blake2b(key, digest_size=32).digest()


def _key(output: Any) -> bytes | None:
    """All of the value, part by part: the repr of a tensor inside a tuple shows four digits."""
    if isinstance(output, np.generic):
        output = output.item()
    if isinstance(output, (torch.Tensor, np.ndarray)):
        return _key_of_tensor(torch.as_tensor(output).detach().cpu())
    if isinstance(output, (tuple, frozenset)):
        parts = [_digest(part) for part in output]
        named = [part for part in parts if part is not None]
        if len(named) < len(parts):
            return None
        ordered = sorted(named) if isinstance(output, frozenset) else named
        return type(output).__name__.encode() + b"".join(ordered)
    if isinstance(output, (str, bytes, int, float, type(None))):
        if output != output:
            return None
        return repr(output + 0.0 if isinstance(output, float) else output).encode()
    fix = "Return tensors, strings, numbers, tuples or frozensets from the model."
    raise OutputError(expected("outputs that can be compared", type(output).__name__, fix))


def _key_of_tensor(tensor: torch.Tensor) -> bytes | None:
    if tensor.is_floating_point() or tensor.is_complex():
        if bool(torch.isnan(tensor).any()):
            return None
        tensor = tensor + 0.0  # -0.0 and 0.0 are equal
    raw = tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
    return f"{tensor.dtype}{tuple(tensor.shape)}".encode() + raw


__all__ = ["L1", "L2", "Angular", "Cosine", "Discrete", "SquaredL2"]
