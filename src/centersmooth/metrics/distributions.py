"""Distances between probability distributions over the same classes or bins."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from centersmooth import kernels
from centersmooth.errors import OutputError, expected
from centersmooth.metrics.base import Block, Hilbert, Metric, flat_rows, mean_pool
from centersmooth.metrics.vectors import unflatten
from centersmooth.outputs import Outputs

_TOLERANCE = 1e-3
_SINGLE = 2.0**-21  # how far casting a distribution to float32 can move it, generously
_SLAB = 2**15  # numbers that stay in the processor's cache


def distribution_rows(outputs: Outputs, metric: Metric) -> tuple[torch.Tensor, torch.Tensor]:
    """Rows in float64 that add up to one, and which of them could be made so."""
    rows, valid = flat_rows(outputs, metric)
    rows = rows.double()
    totals = rows.sum(dim=1, keepdim=True)
    empty = totals == 0
    odd = ((totals - 1).abs() > _TOLERANCE) & ~empty | (rows < 0).any(dim=1, keepdim=True)
    if bool(odd.any()):
        place = int(odd[:, 0].nonzero()[0, 0])
        got = f"one with least entry {float(rows[place].min()):g}, total {float(totals[place]):g}"
        fix = "Return probabilities, e.g. logits.softmax(dim=1); divide a histogram by its total."
        raise OutputError(expected("distributions that add up to 1", got, fix))
    rows = torch.where(empty, 0.0, rows / torch.where(empty, 1.0, totals))
    return rows, valid & ~empty[:, 0].cpu()


class _Distribution(Metric):
    """One output is a vector of probabilities, an all-zero one being invalid.

    Balls are convex, for d or its square is a convex function of each argument: a mean of
    outputs stays in a ball that holds them.
    """

    mean_stays_in_ball: ClassVar[bool] = True

    def collate(self, outputs: Outputs) -> Block:
        return Block(*distribution_rows(outputs, self))

    def pool(self, outputs: Outputs, size: int) -> torch.Tensor:
        """The mean of each run."""
        return mean_pool(outputs, size, self)


@dataclass(frozen=True)
class VariationDistance(_Distribution):
    """``d(a, b) = 1/2 sum |a_i - b_i|``, the total variation distance. Range [0, 1]. Theorem B.

    The largest difference of the probabilities that a and b give to any event.
    """

    diameter: float = field(default=1.0, init=False)

    def lengths(self, a: Any, b: Any) -> torch.Tensor:
        return kernels.l1(a, b).mul_(0.5).clamp_(max=1.0)


@dataclass(frozen=True)
class Hellinger(_Distribution):
    """``d(a, b) = sqrt(1/2 sum (sqrt a_i - sqrt b_i)^2)``. Range [0, 1]. Theorem C.

    Rows are ``sqrt a``, vectors of length one, so d is an l2 distance over sqrt 2. A point
    within delta < 1 of sqrt w is decoded by dropping its negative entries, which brings it
    no further from sqrt w, and squaring its direction, which is within the angle arcsin(delta):
    the distance to w is at most ``sqrt 2 sin(arcsin(delta) / 2)``.
    """

    diameter: float = field(default=1.0, init=False)
    spherical: ClassVar[bool] = True

    def collate(self, outputs: Outputs) -> Block:
        rows, valid = distribution_rows(outputs, self)
        return Block(rows.sqrt(), valid)

    def lengths(self, a: Any, b: Any) -> torch.Tensor:
        return kernels.l2(a, b).mul_(math.sqrt(0.5)).clamp_(max=1.0)

    @property
    def hilbert(self) -> Hilbert:
        return _SquareRoots()


@dataclass(frozen=True)
class _SquareRoots:
    """Coordinates are square roots of probabilities."""

    scale_free: ClassVar[bool] = True

    def decode(self, point: torch.Tensor, like: Outputs) -> torch.Tensor:
        squares = point.clamp(min=0).square()
        if not bool(squares.sum() > 0):  # no direction: far from every w, whatever is answered
            squares = torch.ones_like(squares)
        return unflatten(squares / squares.sum(), like)

    def bound(self, delta: float) -> float:
        if delta >= 1:
            return 1.0
        return min(1.0, math.sqrt(2.0) * math.sin(math.asin(delta) / 2) + _SINGLE)


@dataclass(frozen=True)
class JensenShannon(_Distribution):
    """``d(a, b) = sqrt(1/2 KL(a, m) + 1/2 KL(b, m))`` with m = (a + b) / 2. Theorem B.

    In nats, range [0, sqrt(log 2)]. A metric (Endres and Schindelin 2003), while its square,
    the divergence itself, is none. Its Euclidean space has no way back to distributions.
    """

    diameter: float = field(default=math.sqrt(math.log(2.0)), init=False)

    def lengths(self, a: Any, b: Any) -> torch.Tensor:
        kernels.check_widths(a, b)
        a, b = a.cpu(), b.cpu()
        divergence = torch.from_numpy(_divergence(a.numpy(), b.numpy()))
        near = (divergence < 1e-6).nonzero()
        for part in torch.split(near, max(1, 16 * _SLAB // max(1, a.shape[1]))):
            i, j = part[:, 0], part[:, 1]
            divergence[i, j] = _terms(a[i], b[j]).sum(dim=1)
        return divergence.sqrt_().clamp_(max=self.diameter)


def _divergence(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """By entropies, ``H((p + q) / 2) - H(p) / 2 - H(q) / 2``: one logarithm per pair and entry.

    Entropies of d classes are at most log d, with a relative rounding error of (d + 4) 2^-53.
    """
    d = b.shape[1]
    half_a, half_b = _entropies(a) / 2, _entropies(b) / 2
    found = np.empty((len(a), len(b)))
    size = max(1, _SLAB // max(1, d))
    for start in range(0, len(b), size):
        part = slice(start, start + size)
        for i, row in enumerate(a):
            found[i, part] = _entropies((row + b[part]) * 0.5) - half_a[i] - half_b[part]
    found += 2 * (d + 4) * 2.0**-53 * math.log(max(2, d))
    return found


def _entropies(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    logs = np.log(np.maximum(rows, 1e-300))
    entropies: NDArray[np.float64] = -np.einsum("ij,ij->i", rows, logs)
    return entropies


def _terms(p: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
    """The terms of the divergence, all >= 0, each with a relative error below 1e-8.

    With x = (p - q) / (p + q): (p + q) / 4 times ``(1 + x) log(1 + x) + (1 - x) log(1 - x)``,
    which is x^2 + x^4 / 6 + ... < x^2 (1 + x^2 / 3) for small x, where logarithms cancel.
    """
    total = p + q
    x = torch.where(total > 0, (p - q) / torch.where(total > 0, total, 1.0), 0.0)
    logs = torch.xlogy(1 + x, 1 + x) + torch.xlogy(1 - x, 1 - x)
    square = x.square()
    return total / 4 * torch.where(square < 1e-6, square * (1 + square / 3), logs)
