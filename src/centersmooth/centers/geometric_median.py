"""The point with the least mean distance to the samples, in a Euclidean space."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from centersmooth import kernels
from centersmooth.centers.base import Answer, Center, Gathering
from centersmooth.centers.rows import RowGathering, check_euclidean, euclidean
from centersmooth.errors import ArgumentError, CenterError, expected
from centersmooth.metrics import Block, Hilbert, Metric
from centersmooth.outputs import Outputs

_ROUNDING = 1e-12  # far more than a sum of twenty terms loses
_NORM = 2.0**-20  # more than the squared length of a row of length one is off by

# How far along the ray of w the reference point may lie: the tangent points of cones of up to
# 75 degrees. A fixed list, so that the bound stays monotone in the radii.
_ALONG = 1.0 / np.cos(np.radians(np.linspace(0.0, 75.0, 26)))


@dataclass(frozen=True)
class GeometricMedian(Center):
    """The point with the least mean distance to the samples (Theorem C).

    For metrics whose outputs live in a Euclidean space and can be decoded from it. `tolerance`
    bounds how far from stationary the point may be: eta in docs/theory/theorem-c.md.
    """

    tolerance: float = 1e-3

    def __post_init__(self) -> None:
        if not 1e-9 <= self.tolerance <= 0.1:
            fix = "1e-3 costs 0.05 % of the bound."
            raise ArgumentError(expected("1e-9 <= tolerance <= 0.1", self.tolerance, fix))

    def check(self, metric: Metric) -> None:
        check_euclidean(metric)

    def gather(self, metric: Metric, samples: int) -> Gathering:
        return _MedianGathering(self, metric, samples)

    def measure(self, metric: Metric, a: Block, b: Block) -> torch.Tensor:
        return euclidean(a, b)

    def factor(self, p: float) -> float:
        """If a share p of the samples lies within R of w, the median lies within factor(p) R."""
        rest = 1.0 - p + self.tolerance
        return p / math.sqrt(p * p - rest * rest) if rest < p else math.inf

    def furthest(self, shares: Sequence[float], radii: Sequence[float]) -> float:
        """If for each i a share p_i of the samples lies within R_i of w, the median is no further.

        The root D of ``sum (p_i - p_{i-1}) phi(R_i / D) = 1 - p_K + tolerance``, rounded up, with
        ``phi(s) = sqrt(1 - s^2)`` for s < 1, else -1. Shares rise. With one level it is
        ``factor(p) R``, and it never exceeds that of any of its levels.
        """
        return self._root(shares, np.asarray(radii, dtype=float)[None])

    def widest(self, shares: Sequence[float], radii: Sequence[float]) -> float:
        """The same on a sphere: the sine of the angle between the median and w, of length one.

        A sample on the unit sphere within R of w is within ``sqrt((1 - a)^2 + a R^2)`` of a w, for
        every a > 0 at once. A median within D of a w is seen from the origin within the
        angle ``arcsin(D / a)`` of w. The a with the least D / a is taken.
        """
        along = _ALONG[:, None]
        chords = np.asarray(radii, dtype=float)[None]
        norms = _NORM * (along - 1.0) * (along + 1.0)
        moved = np.sqrt((along - 1.0) ** 2 + norms + along * chords**2)
        return self._root(shares, moved / along)

    def _root(self, shares: Sequence[float], radii: NDArray[np.float64]) -> float:
        """The least of the roots of all rows, each an alternative."""
        factors = np.array([self.factor(p) for p in shares])
        enough = factors < math.inf
        high = float((factors[enough] * radii[:, enough]).min(initial=math.inf))
        if not 0 < high < math.inf:
            return high
        weights = np.diff(shares, prepend=0.0)
        rest = 1.0 - shares[-1] + self.tolerance + _ROUNDING

        def beyond(point: float) -> bool:
            s = radii / point
            pull = np.where(s < 1, np.sqrt(np.maximum(0.0, 1.0 - s * s)), -1.0)
            return bool(((weights * pull).sum(axis=1) > rest).any())

        low = 0.0
        while not beyond(high):
            low, high = high, high * 2
        while low < (middle := (low + high) / 2) < high:  # to the last bit: monotone in the radii
            low, high = (low, middle) if beyond(middle) else (middle, high)
        return high * (1.0 + _ROUNDING)


_ROWS_TRIED = 64


class _MedianGathering(RowGathering):
    def __init__(self, center: GeometricMedian, metric: Metric, samples: int) -> None:
        super().__init__(metric, samples)
        self._slack = center.tolerance * samples

    def answer(self) -> Answer:
        block, rows = self.collected()
        # Outputs that failed pull nowhere; the theorem already grants them the worst pull.
        point = geometric_median(rows, self._slack)
        value = _decode(self.hilbert, point, rows, self.like, self._slack)
        reference = self.metric.collate(self.metric.single(value))
        return Answer(value, reference, None, self.spread(reference, block))


def _decode(
    hilbert: Hilbert, point: torch.Tensor, rows: torch.Tensor, like: Outputs, slack: float
) -> Any:
    """The output at the point, in the model's precision if rounding leaves it a median."""
    rounded = point.to(rows.dtype)
    if residual_pull(rounded.double(), rows)[0] > slack:
        like = [torch.as_tensor(output).double() for output in like]
        return hilbert.decode(point, like)
    return hilbert.decode(rounded.double(), like)


def _pieces(rows: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Pieces whose float64 copies stay small beside the rows."""
    return torch.split(rows, max(1, 2**21 // max(1, rows.shape[1])))


def _mean(rows: torch.Tensor) -> torch.Tensor:
    total = torch.zeros_like(rows[0], dtype=torch.float64)
    for part in _pieces(rows):
        total += part.double().sum(dim=0)
    return total / len(rows)


def residual_pull(point: torch.Tensor, rows: torch.Tensor) -> tuple[float, torch.Tensor]:
    """How much unit vectors towards the rows exceed what rows at the point itself can hold.

    Returns ``max(0, |sum over z != y of unit(z - y)| - #{z = y})`` and the Weiszfeld step.
    """
    total = torch.zeros_like(point)
    weights = point.new_zeros(())
    here = 0
    for part in _pieces(rows):
        offsets = part.double() - point
        distances = torch.linalg.vector_norm(offsets, dim=1)
        inverse = torch.where(distances > 0, 1.0 / distances, torch.zeros_like(distances))
        total += inverse @ offsets
        weights += inverse.sum()
        here += int((distances == 0).sum())
    pull = float(total.norm())
    excess = max(0.0, pull - here)
    step = total / weights * (excess / pull if pull > 0 else 0.0)
    return excess, step


def geometric_median(rows: torch.Tensor, slack: float, steps: int = 20_000) -> torch.Tensor:
    """A point whose residual pull is at most half of slack (Weiszfeld, Vardi and Zhang).

    Steps are stretched while that helps. Where the median is a row or close to one, plain
    iterations crawl, so the nearest row is tried now and then.
    """
    point = _mean(rows)
    stretch, before = 1.0, math.inf
    for count in range(steps):
        excess, step = residual_pull(point, rows)
        if excess <= slack / 2:
            return point
        if count % 8 == 7:
            nearest = rows[int(kernels.l2(point[None], rows).argmin())].double()
            if residual_pull(nearest, rows)[0] <= slack / 2:
                return nearest
        stretch = min(stretch * 1.3, 50.0) if excess < before else 1.0
        before = excess
        moved = point + stretch * step
        if torch.equal(moved, point):  # the step is below the last digit
            break
        point = moved
    for place in kernels.l2(point[None], rows)[0].argsort()[:_ROWS_TRIED]:
        if residual_pull(rows[place].double(), rows)[0] <= slack / 2:
            return rows[place].double()
    fix = "Raise GeometricMedian(tolerance=...) or use Medoid()."
    raise CenterError(expected(f"a median within {steps} steps", f"a pull of {excess:.3g}", fix))
