"""Samples as rows of a Euclidean space: what its centers have in common."""

from __future__ import annotations

import math
from typing import Any

import torch

from centersmooth import kernels
from centersmooth.centers.base import Gathering, majority
from centersmooth.errors import ArgumentError, CenterError, expected
from centersmooth.metrics import Block, Metric
from centersmooth.outputs import Outputs, pick

_LIKE = 64  # the first valid outputs show what an answer looks like, however they are batched


def check_euclidean(metric: Metric) -> None:
    """Refuse a metric whose outputs have no Euclidean space, or no way back from it."""
    if metric.hilbert is None:
        what = "a metric with a Euclidean embedding that can be decoded"
        fix = "Use center=cs.Medoid(), which takes any metric."
        raise ArgumentError(expected(what, metric.name, fix))


def euclidean(a: Block, b: Block) -> torch.Tensor:
    """Lengths between rows; an output that cannot be measured is far from all others."""
    lengths = kernels.l2(a.rows, b.rows)
    invalid = ~(a.valid[:, None] & b.valid[None, :])
    return lengths.masked_fill_(invalid.to(lengths.device), math.inf)


class RowGathering(Gathering):
    """Fills the samples into one tensor: thousands of large outputs are held once, not twice."""

    def __init__(self, metric: Metric, samples: int) -> None:
        assert metric.hilbert is not None, "checked when the smoother was built"
        self.metric, self.hilbert = metric, metric.hilbert
        self.like: list[Any] = []
        self._rows: torch.Tensor | None = None
        self._valid = torch.zeros(samples, dtype=torch.bool)
        self._filled = 0

    def add_candidates(self, outputs: Outputs) -> None:
        """Centers of a Euclidean space need none."""

    def add_samples(self, block: Block, outputs: Outputs) -> None:
        """In the order in which they were drawn."""
        if len(self.like) < _LIKE:
            valid = block.valid.nonzero()[: _LIKE - len(self.like), 0].tolist()
            self.like.extend(pick(outputs, valid))
        if self._rows is None:
            self._rows = block.rows.new_empty((len(self._valid), *block.rows.shape[1:]))
        kernels.check_widths(self._rows, block.rows)  # a single number would be spread out unseen
        place = slice(self._filled, self._filled + len(block))
        self._rows[place], self._valid[place] = block.rows, block.valid
        self._filled += len(block)

    def collected(self) -> tuple[Block, torch.Tensor]:
        """All samples, and the rows of the valid ones."""
        if self._rows is None or not bool(self._valid.any()):
            fix = "The model failed on every noisy input: lower sigma or repair the model."
            raise CenterError(expected("one valid output at least", "none", fix))
        block = Block(self._rows, self._valid)
        if bool(self._valid.all()):
            return block, self._rows
        return block, self._rows[self._valid.to(self._rows.device)]

    def spread(self, reference: Block, block: Block) -> float:
        """The radius that holds a majority of the samples around an answer."""
        lengths = self.metric.measure(reference, block)
        return float(lengths.kthvalue(majority(len(block)), dim=1).values[0])
