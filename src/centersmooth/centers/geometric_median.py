"""The point with the least mean distance to the samples, in a Euclidean space."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch

from centersmooth import kernels
from centersmooth.centers.base import Answer, Center, Gathering
from centersmooth.centers.rows import RowGathering, check_euclidean, euclidean
from centersmooth.errors import ArgumentError, CenterError, expected
from centersmooth.metrics import Block, Hilbert, Metric
from centersmooth.outputs import Outputs


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


def residual_pull(point: torch.Tensor, rows: torch.Tensor) -> tuple[float, torch.Tensor]:
    """How much unit vectors towards the rows exceed what rows at the point itself can hold.

    Returns ``max(0, |sum over z != y of unit(z - y)| - #{z = y})`` and the Weiszfeld step.
    """
    total = torch.zeros_like(point)
    weights = point.new_zeros(())
    here = 0
    for part in torch.split(rows, max(1, 2**23 // max(1, rows.shape[1]))):
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
    point = rows.double().mean(dim=0)
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
        point = point + stretch * step
    fix = "Raise GeometricMedian(tolerance=...) or use Medoid()."
    raise CenterError(expected(f"a median within {steps} steps", f"a pull of {excess:.3g}", fix))
