"""The point that stands for many outputs; each center owns its theorem's constants."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import torch

from centersmooth import kernels
from centersmooth.errors import ArgumentError, CenterError, expected
from centersmooth.metrics import Block, Hilbert, Metric
from centersmooth.outputs import Outputs, pick

__all__ = ["Answer", "Center", "Gathering", "GeometricMedian", "Medoid"]


@dataclass(frozen=True)
class Answer:
    """What the smoothed model says for one input."""

    value: Any
    """The output itself."""
    reference: Block
    """The same, prepared: the w of the theorems."""
    outer: Block | None
    """Further points whose balls are measured (Theorem B)."""
    spread: float | None
    """r': the radius that holds a majority of the samples around the answer."""


class Gathering(ABC):
    """Collects the draws of one answer, block by block, then names the center."""

    @abstractmethod
    def add_candidates(self, outputs: Outputs) -> None:
        """Outputs that may become the answer; all of them come before any sample."""

    @abstractmethod
    def add_samples(self, block: Block, outputs: Outputs) -> None:
        """Outputs that choose the answer."""

    @abstractmethod
    def answer(self) -> Answer:
        """The center."""


class Center(ABC):
    """How an answer is made from samples. It never depends on eps."""

    draws: int = 0
    """Outputs drawn besides the samples."""
    outer_points: int = 0
    """Points whose balls are measured besides the answer's."""

    @abstractmethod
    def check(self, metric: Metric) -> None:
        """Refuse a metric this center cannot work with."""

    @abstractmethod
    def gather(self, metric: Metric, samples: int) -> Gathering:
        """Start an answer from this many samples."""

    @abstractmethod
    def measure(self, metric: Metric, a: Block, b: Block) -> torch.Tensor:
        """The lengths in which this center's theorem is stated."""


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
        if self.pool > 1 and type(metric).pool is Metric.pool:
            metric.pool([], self.pool)

    def gather(self, metric: Metric, samples: int) -> Gathering:
        return _MedoidGathering(self, metric, samples)

    def measure(self, metric: Metric, a: Block, b: Block) -> torch.Tensor:
        return metric.measure(a, b)


def majority(samples: int) -> int:
    """k = floor(n / 2) + 1: two sets of so many samples always share one."""
    return samples // 2 + 1


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
        if metric.hilbert is None:
            what = "a metric with a Euclidean embedding that can be decoded"
            fix = "Use center=cs.Medoid(), which takes any metric."
            raise ArgumentError(expected(what, metric.name, fix))

    def gather(self, metric: Metric, samples: int) -> Gathering:
        return _MedianGathering(self, metric, samples)

    def measure(self, metric: Metric, a: Block, b: Block) -> torch.Tensor:
        lengths = kernels.l2(a.rows, b.rows)
        invalid = ~(a.valid[:, None] & b.valid[None, :])
        return lengths.masked_fill_(invalid.to(lengths.device), math.inf)

    def factor(self, p: float) -> float:
        """If a share p of the samples lies within R of w, the median lies within factor(p) R."""
        rest = 1.0 - p + self.tolerance
        return p / math.sqrt(p * p - rest * rest) if rest < p else math.inf


_LIKE = 64  # the first valid outputs show what an answer looks like, however they are batched


class _MedianGathering(Gathering):
    def __init__(self, center: GeometricMedian, metric: Metric, samples: int) -> None:
        self._center, self._metric = center, metric
        self._rows: torch.Tensor | None = None
        self._valid = torch.zeros(samples, dtype=torch.bool)
        self._filled = 0
        self._like: list[Any] = []

    def add_candidates(self, outputs: Outputs) -> None:
        """The median needs none."""

    def add_samples(self, block: Block, outputs: Outputs) -> None:
        """Filled into one tensor: thousands of large outputs are held once, not twice."""
        if len(self._like) < _LIKE:
            valid = block.valid.nonzero()[: _LIKE - len(self._like), 0].tolist()
            self._like.extend(pick(outputs, valid))
        if self._rows is None:
            self._rows = block.rows.new_empty((len(self._valid), *block.rows.shape[1:]))
        place = slice(self._filled, self._filled + len(block))
        self._rows[place], self._valid[place] = block.rows, block.valid
        self._filled += len(block)

    def answer(self) -> Answer:
        if self._rows is None or not bool(self._valid.any()):
            fix = "The model failed on every noisy input: lower sigma or repair the model."
            raise CenterError(expected("one valid output at least", "none", fix))
        hilbert = self._metric.hilbert
        assert hilbert is not None, "checked when the smoother was built"
        block, valid = Block(self._rows, self._valid), self._rows
        if not bool(self._valid.all()):
            valid = self._rows[self._valid.to(self._rows.device)]
        # Outputs that failed pull nowhere; the theorem already grants them the worst pull.
        point = geometric_median(valid, self._center.tolerance * len(block))
        value = _decode(hilbert, point, valid, self._like, self._center.tolerance * len(block))
        reference = self._metric.collate(self._metric.single(value))
        lengths = self._metric.measure(reference, block)
        radius = lengths.kthvalue(majority(len(block)), dim=1).values
        return Answer(value, reference, None, float(radius[0]))


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


def default_center(metric: Metric) -> Center:
    """The sharpest center that the metric supports."""
    return Medoid() if metric.hilbert is None else GeometricMedian()
