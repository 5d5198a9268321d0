"""The candidate around which a majority of the samples is closest."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from centersmooth.centers.base import Answer, Center, Gathering, majority
from centersmooth.errors import ArgumentError, CenterError, expected
from centersmooth.metrics import Block, Metric
from centersmooth.metrics.base import pools
from centersmooth.outputs import Outputs, pick


@dataclass(frozen=True)
class Medoid(Center):
    """The candidate around which a majority of the samples is closest (Theorems A and B).

    `candidates` outputs compete. With ``pool > 1`` each of them is averaged from that many
    outputs, which pays at large eps / sigma when outputs can be averaged. `outer` of them (all
    when None) have the balls around them measured for Theorem B; with 0, Theorem A is used.
    """

    candidates: int = 100
    pool: int = 1
    outer: int | None = None

    def __post_init__(self) -> None:
        for name in ("candidates", "pool"):
            value = getattr(self, name)
            if not (isinstance(value, int) and value >= 1):
                raise ArgumentError(expected(f"{name} >= 1", value, "100 and 1 are the defaults."))
        if not 0 <= self.outer_points <= self.candidates:
            fix = "The outer points are taken from the candidates: leave it out for all of them."
            raise ArgumentError(expected("0 <= outer <= candidates", self.outer, fix))

    @property
    def draws(self) -> int:  # type: ignore[override]
        return self.candidates * self.pool

    @property
    def outer_points(self) -> int:  # type: ignore[override]
        return self.candidates if self.outer is None else self.outer

    def check(self, metric: Metric) -> None:
        """Any metric will do, one that pools if asked to."""
        if self.pool > 1 and not pools(metric):
            metric.pool([], self.pool)

    def gather(self, metric: Metric, samples: int) -> Gathering:
        return _MedoidGathering(self, metric, samples)

    def measure(self, metric: Metric, a: Block, b: Block) -> torch.Tensor:
        return metric.measure(a, b)


class _MedoidGathering(Gathering):
    def __init__(self, center: Medoid, metric: Metric, samples: int) -> None:
        self._center, self._metric, self._samples = center, metric, samples
        self._candidates: Outputs = []
        self._block: Block | None = None
        self._lengths: list[torch.Tensor] = []

    def add_candidates(self, outputs: Outputs) -> None:
        if self._center.pool > 1:
            outputs = self._metric.pool(outputs, self._center.pool)
        self._candidates, self._block = outputs, self._metric.collate(outputs)

    def add_samples(self, block: Block, outputs: Outputs) -> None:
        assert self._block is not None, "candidates come first"
        self._lengths.append(self._metric.measure(self._block, block))

    def answer(self) -> Answer:
        assert self._block is not None, "candidates come first"
        lengths = torch.cat(self._lengths, dim=1)
        radii = lengths.kthvalue(majority(self._samples), dim=1).values.cpu()
        valid = self._block.valid
        if not bool(valid.any()):
            fix = "The model failed on every noisy candidate: lower sigma or repair the model."
            raise CenterError(expected("one valid output at least", "none", fix))
        best = int(radii.argmin())
        if not bool(valid[best]):  # most samples failed, so all radii are infinite
            best = int(valid.int().argmax())
        return Answer(
            value=pick(self._candidates, [best])[0],
            reference=self._block.take(best, best + 1),
            outer=self._block.take(0, self._center.outer_points),
            spread=float(radii[best]),
        )
