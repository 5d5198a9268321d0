"""The point with the least mean distance to the samples, in any normed space."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch

from centersmooth.centers.base import Answer, Center, Gathering, majority
from centersmooth.errors import ArgumentError, CenterError, expected
from centersmooth.metrics import Block, Metric
from centersmooth.metrics.base import as_tensor
from centersmooth.outputs import Outputs

_POOLS = (1, 2, 4, 8, 16, 32)
_SLAB = 2**22  # numbers whose rows are held at once


@dataclass(frozen=True)
class WeberPoint(Center):
    """The point with the least mean distance to the samples (Theorem C for norms).

    For distances that are a norm of the difference, l1 and total variation. `tolerance` bounds
    how far the mean distance may be from the least, as a share of the radius that holds a
    majority of the samples. With ``pool > 1`` every sample is the mean of that many outputs:
    means lie closer together, so bounds are far smaller, but large eps / sigma are out of reach
    (docs/theory/theorem-c-normed.md).
    """

    pool: int = 1
    tolerance: float = 1e-4

    def __post_init__(self) -> None:
        if self.pool not in _POOLS or isinstance(self.pool, bool):
            fix = "2 suits eps up to twice sigma with 50,000 outputs, 4 suits eps up to sigma."
            raise ArgumentError(expected(f"pool among {_POOLS}", repr(self.pool), fix))
        if not 1e-9 <= self.tolerance <= 0.1:
            fix = "1e-4 costs 0.02 % of the bound."
            raise ArgumentError(expected("1e-9 <= tolerance <= 0.1", self.tolerance, fix))

    @property
    def group(self) -> int:  # type: ignore[override]
        return self.pool

    @property
    def scales(self) -> tuple[int, ...]:
        """The sizes of the parts of a group whose means are measured: 1, 2, ... pool."""
        return tuple(size for size in _POOLS if size <= self.pool)

    @property
    def views(self) -> int:  # type: ignore[override]
        return sum(self.pool // size for size in self.scales)

    def view(self, metric: Metric, outputs: Outputs) -> list[Outputs]:
        """The means of all parts of every group, small parts first."""
        if self.pool == 1:
            return [outputs]
        groups = _groups(as_tensor(outputs, metric), self.pool)
        return [mean for size in self.scales for mean in _means(groups, size)]

    def check(self, metric: Metric) -> None:
        if metric.normed is None:
            fix = "Use center=cs.Medoid(), which takes any metric."
            raise ArgumentError(expected("a metric that is a norm", metric.name, fix))

    def gather(self, metric: Metric, samples: int) -> Gathering:
        if samples < self.pool:
            fix = "Every sample of the center is a mean of pool outputs."
            raise ArgumentError(expected("answer_samples >= pool", f"pool={self.pool}", fix))
        return _WeberGathering(self, metric, samples)

    def measure(self, metric: Metric, a: Block, b: Block) -> torch.Tensor:
        """Distances, with room for what rounding makes of the rows of a reference point."""
        lengths = metric.measure(a, b)
        floor = 0.0 if metric.normed is None else 2.0 * metric.normed.floor
        if floor > 0:
            lengths += floor * a.rows.double().abs().sum(dim=1)[:, None].to(lengths.device)
        return lengths

    def gap(self, metric: Metric) -> float:
        """If the answer is D from w, its mean distance exceeds that of w by at most gap times D.

        Twice the tolerance, for a majority of the samples is then within 2 D of the answer.
        """
        assert metric.normed is not None, "checked when the smoother was built"
        return 2.0 * self.tolerance * (1.0 + 2.0**-10) + 2.0 * metric.normed.floor


class _WeberGathering(Gathering):
    def __init__(self, center: WeberPoint, metric: Metric, samples: int) -> None:
        self._center, self._metric = center, metric
        self._points: torch.Tensor | None = None
        self._count, self._filled = samples // center.pool, 0
        self._dtype = torch.float64

    def add_candidates(self, outputs: Outputs) -> None:
        """None are needed."""

    def add_samples(self, block: Block, outputs: Outputs) -> None:
        """Filled into one tensor: thousands of large outputs are held once, not twice."""
        tensor = as_tensor(outputs, self._metric)
        single = tensor.is_floating_point() and tensor.dtype != torch.float64
        self._dtype = torch.float32 if single else torch.float64
        groups = _groups(tensor.to(self._dtype), self._center.pool)
        points = _means(groups, self._center.pool)[0]
        if self._points is None:
            self._points = points.new_empty((self._count, *points.shape[1:]))
        self._points[self._filled : self._filled + len(points)] = points
        self._filled += len(points)

    def answer(self) -> Answer:
        points, normed = self._points, self._metric.normed
        assert points is not None, "samples came first"
        assert normed is not None, "checked when the smoother was built"
        valid = torch.isfinite(points.reshape(len(points), -1)).all(dim=1)
        if not bool(valid.any()):
            fix = "The model failed on every noisy input: lower sigma or repair the model."
            raise CenterError(expected("one valid output at least", "none", fix))
        # Outputs that failed have no distance; the theorem already grants them the worst.
        found = points if bool(valid.all()) else points[valid]
        for value, gap in normed.approach(found, self._dtype):
            reference = self._metric.collate(self._metric.single(value))
            spread = self._spread(reference, points)
            size = float(reference.rows.double().abs().sum())
            if gap <= self._center.tolerance * spread + normed.floor * size:
                return Answer(value, reference, None, spread)
        fix = "Raise WeberPoint(tolerance=...) or use Medoid()."
        got = f"a gap of {gap:.3g} at a spread of {spread:.3g}"
        raise CenterError(expected("a point of least mean distance", got, fix))

    def _spread(self, reference: Block, points: torch.Tensor) -> float:
        """The radius around the answer that holds a majority of the samples."""
        parts = [
            self._metric.measure(reference, self._metric.collate(part)) for part in _slabs(points)
        ]
        return float(torch.cat(parts, dim=1).kthvalue(majority(len(points)), dim=1).values[0])


def _slabs(points: torch.Tensor) -> Iterator[torch.Tensor]:
    """A few outputs at a time: their rows can be larger than they are."""
    size = max(1, _SLAB // max(1, points[:1].numel()))
    return (points[start : start + size] for start in range(0, len(points), size))


def _groups(outputs: torch.Tensor, size: int) -> torch.Tensor:
    """Consecutive outputs side by side; a last incomplete group is left out."""
    count = len(outputs) // size
    return outputs[: count * size].reshape(count, size, *outputs.shape[1:])


def _means(groups: torch.Tensor, size: int) -> list[torch.Tensor]:
    """The means of the parts of this size of every group, part by part.

    In double precision, where the mean of two means rounds to the mean of all.
    """
    if size == 1:
        return list(groups.unbind(dim=1))
    return [part.double().mean(dim=1) for part in torch.split(groups, size, dim=1)]
