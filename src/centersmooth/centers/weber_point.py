"""The point with the least mean distance to the samples, in any normed space."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from centersmooth.centers.base import Answer, Center, Gathering, majority
from centersmooth.errors import ArgumentError, CenterError, expected
from centersmooth.metrics import Block, Metric
from centersmooth.metrics.base import as_tensor, flat_rows
from centersmooth.outputs import Outputs

_POOLS = (1, 2, 4, 8, 16, 32)


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

    def check(self, metric: Metric) -> None:
        if metric.normed is None:
            fix = "Use center=cs.Medoid(), which takes any metric."
            raise ArgumentError(expected("a metric that is a norm", metric.name, fix))

    def gather(self, metric: Metric, samples: int) -> Gathering:
        if samples < 1:
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
        if metric.normed is None or metric.normed.exact:
            return 0.0
        return 2.0 * self.tolerance * (1.0 + 2.0**-10) + 2.0 * metric.normed.floor


class _WeberGathering(Gathering):
    def __init__(self, center: WeberPoint, metric: Metric, samples: int) -> None:
        self._center, self._metric = center, metric
        self._outputs: torch.Tensor | None = None
        self._valid = torch.zeros(samples, dtype=torch.bool)
        self._filled = 0

    def add_candidates(self, outputs: Outputs) -> None:
        """None are needed."""

    def add_samples(self, block: Block, outputs: Outputs) -> None:
        """Filled into one tensor: thousands of large outputs are held once, not twice."""
        tensor = as_floats(outputs, self._metric)
        if self._outputs is None:
            self._outputs = tensor.new_empty((len(self._valid), *tensor.shape[1:]))
        place = slice(self._filled, self._filled + len(block))
        self._outputs[place], self._valid[place] = tensor, block.valid
        self._filled += len(block)

    def answer(self) -> Answer:
        if self._outputs is None or not bool(self._valid.any()):
            fix = "The model failed on every noisy input: lower sigma or repair the model."
            raise CenterError(expected("one valid output at least", "none", fix))
        normed, valid = self._metric.normed, self._outputs
        assert normed is not None, "checked when the smoother was built"
        if not bool(self._valid.all()):
            valid = self._outputs[self._valid.to(self._outputs.device)]
        block = self._metric.collate(self._outputs)
        # Outputs that failed have no distance; the theorem already grants them the worst.
        for value, gap in normed.approach(valid):
            reference = self._metric.collate(self._metric.single(value))
            spread = self._spread(reference, block)
            size = float(reference.rows.double().abs().sum())
            if gap <= self._center.tolerance * spread + normed.floor * size:
                return Answer(value, reference, None, spread)
        fix = "Raise WeberPoint(tolerance=...) or use Medoid()."
        got = f"a gap of {gap:.3g} at a spread of {spread:.3g}"
        raise CenterError(expected("a point of least mean distance", got, fix))

    def _spread(self, reference: Block, block: Block) -> float:
        lengths = self._metric.measure(reference, block)
        return float(lengths.kthvalue(majority(len(block)), dim=1).values[0])


def as_floats(outputs: Outputs, metric: Metric) -> torch.Tensor:
    """Outputs of one shape as one tensor of single or double precision."""
    tensor = as_tensor(outputs, metric)
    return flat_rows(tensor, metric)[0].reshape(tensor.shape)
