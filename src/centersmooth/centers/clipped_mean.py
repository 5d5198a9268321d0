"""The mean of the samples, far ones pulled in, in a Euclidean space."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch

from centersmooth.centers.base import Answer, Center, Gathering
from centersmooth.centers.geometric_median import geometric_median
from centersmooth.centers.rows import RowGathering, check_euclidean, euclidean
from centersmooth.errors import ArgumentError, expected
from centersmooth.metrics import Block, Metric
from centersmooth.moments import Moments, Reference, Region, neighbours

TOLERANCE = 1e-3
"""How far from stationary the geometric median may be that samples are clipped around."""
PAIRED = 0.9
"""The share of the pairs of samples that are no further apart than the scale."""
REACH = 3.0
"""How many scales from the geometric median samples may lie."""
_COMMON, _WIDER = 0.98, 1.45  # the region: so much wider than the ball of so many samples
_USUAL, MARGIN = 0.8, 1.4  # so far the geometric median of a query may lie from the region
_NEAR, _FAR = 1.3, 0.8  # pairs more scales apart than the first are few, than the second many


@dataclass(frozen=True)
class ClippedMean(Center):
    """The mean of the samples, those far from their geometric median pulled in (Theorem D).

    Its bound vanishes with eps, up to sampling error, where those of other centers keep a
    floor: use it for eps well below the noise. For metrics whose outputs live in a Euclidean
    space and can be decoded from it, and for Gaussian noises.

    Samples are pulled in to `radius` around their geometric median, in the units of the
    metric's rows; when None, to three times a distance that nine in ten pairs of them keep.
    """

    radius: float | None = None
    has_moments: ClassVar[bool] = True  # type: ignore[misc]

    def __post_init__(self) -> None:
        radius = self.radius
        if radius is not None and not (isinstance(radius, (int, float)) and 0 < radius < math.inf):
            fix = "Leave it out, or give several times the usual distance from the center."
            raise ArgumentError(expected("a positive, finite radius", repr(radius), fix))

    def check(self, metric: Metric) -> None:
        check_euclidean(metric)

    def gather(self, metric: Metric, samples: int) -> Gathering:
        return _MeanGathering(self, metric, samples)

    def measure(self, metric: Metric, a: Block, b: Block) -> torch.Tensor:
        return euclidean(a, b)

    def moments(self, answer: Answer, target: Block | None) -> Moments | None:
        assert answer.region is not None, "this center's answers have one"
        origin = _point(answer.reference)
        references = [Reference(origin, answer.scale)]
        if target is not None:
            row = _point(target)
            along = float(origin @ row) / float(row @ row) if answer.directional else 1.0
            references.append(Reference(max(along, 0.0) * row, max(along, 0.0)))
        return Moments(tuple(references), answer.region)


class _MeanGathering(RowGathering):
    def __init__(self, center: ClippedMean, metric: Metric, samples: int) -> None:
        super().__init__(metric, samples)
        self._radius = center.radius

    def answer(self) -> Answer:
        block, rows = self.collected()
        middle = geometric_median(rows, TOLERANCE * len(block))
        limit = scale(block) * REACH if self._radius is None else self._radius
        point = middle + clipped_sum(rows, middle, limit) / len(block)
        value = self.hilbert.decode(point, self.like)
        reference = self.metric.collate(self.metric.single(value))
        row = reference.rows[0].double()
        along = 1.0
        if self.hilbert.scale_free:
            along = max(0.0, float(point @ row) / float(row @ row))
        origin = Block((along * row)[None], reference.valid)
        return Answer(
            value,
            origin,
            None,
            self.spread(reference, block),
            region=self._region(origin, block),
            scale=along,
            directional=self.hilbert.scale_free,
        )

    def _region(self, origin: Block, block: Block) -> Region:
        """From these samples alone: what is counted later is independent of it."""
        lengths = euclidean(origin, block)[0].cpu().numpy()
        common, usual = (
            _finite(np.quantile(lengths, share, method="higher")) for share in (_COMMON, _USUAL)
        )
        radius, margin = _WIDER * common, MARGIN * usual
        if self._radius is not None:
            return Region(min(radius, max(0.0, self._radius - margin)), 0.0, 0.0)
        pair = _finite(scale(block))
        radius = min(radius, max(0.0, _FAR * REACH * pair - margin))
        return Region(radius, _NEAR * pair, (radius + margin) / REACH)


def scale(block: Block) -> float:
    """The distance that a share PAIRED of the pairs of neighbouring samples keeps at most."""
    gaps = np.sort(neighbours(block.rows.double().cpu().numpy(), block.valid.cpu().numpy()))
    return float(gaps[pair_rank(len(block)) - 1])


def pair_rank(samples: int) -> int:
    """Which of the distances of so many samples' pairs, in order, is the scale."""
    return math.ceil(PAIRED * (samples // 2))


def clipped_sum(rows: torch.Tensor, middle: torch.Tensor, limit: float) -> torch.Tensor:
    """The sum of all offsets from the middle, none longer than the limit."""
    total = torch.zeros_like(middle)
    for part in torch.split(rows, max(1, 2**23 // max(1, rows.shape[1]))):
        offsets = part.double() - middle
        lengths = torch.linalg.vector_norm(offsets, dim=1)
        factors = torch.where(lengths > limit, limit / lengths, torch.ones_like(lengths))
        total += factors @ offsets
    return total


def _point(block: Block) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    point: np.ndarray[tuple[int], np.dtype[np.float64]] = block.rows[0].double().cpu().numpy()
    return point


def _finite(length: float) -> float:
    """A region of no size counts nothing, which makes a bound larger, never wrong."""
    return float(length) if math.isfinite(length) else 0.0
