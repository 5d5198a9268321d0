"""What a distance between outputs must know about itself."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
import torch

from centersmooth import outputs as out
from centersmooth.errors import ArgumentError, OutputError, expected
from centersmooth.outputs import Outputs


@dataclass(frozen=True)
class Block:
    """Several outputs, prepared once so that many distances can be taken."""

    rows: Any
    """What the metric compares: a tensor with one row per output, or a list."""
    valid: torch.Tensor
    """Which outputs can be measured at all (no NaN, no infinity)."""

    def __len__(self) -> int:
        return len(self.valid)

    def take(self, start: int, stop: int) -> Block:
        """The outputs from start to stop."""
        return Block(self.rows[start:stop], self.valid[start:stop])

    @staticmethod
    def join(blocks: list[Block]) -> Block:
        """Several blocks as one."""
        return Block(out.join([b.rows for b in blocks]), torch.cat([b.valid for b in blocks]))


class Hilbert(Protocol):
    """A metric whose prepared rows live in a Euclidean space, and the way back to an output."""

    @property
    def scale_free(self) -> bool:
        """Whether `decode` gives the same output for every positive multiple of a point."""

    def decode(self, point: torch.Tensor, like: Outputs) -> Any:
        """The output at a point, shaped like these outputs."""

    def bound(self, delta: float) -> float:
        """The distance to w of the output decoded within delta of the row of w."""


class Normed(Protocol):
    """A metric that is a norm of the difference of rows, and the least mean of such distances."""

    floor: ClassVar[float]
    """Rows are linear in the outputs up to this share of their norm (theorem-c-normed.md)."""

    def approach(
        self, outputs: torch.Tensor, dtype: torch.dtype
    ) -> Iterator[tuple[torch.Tensor, float]]:
        """Points with an ever smaller mean distance to the outputs, each with a proved gap.

        The mean distance of no other point is smaller by more than the gap, up to `floor` times
        the norms of the rows of both. In this precision if it is enough, else in double.
        """


class Metric(ABC):
    """A distance d between outputs, ``d = value(rho)`` for a rho with the triangle inequality.

    `rho` is what `lengths` returns and what the theorems add up; `value` is increasing. For a
    true metric both are the same. With ``gamma > 1`` rho obeys only the relaxed triangle
    inequality ``rho(a, c) <= gamma (rho(a, b) + rho(b, c))``.
    """

    diameter: float = math.inf
    """The largest distance there is: no bound exceeds it."""
    gamma: ClassVar[float] = 1.0
    published_gamma: ClassVar[float] = 1.0
    """The relaxation that the published procedure needs for d itself."""
    mean_stays_in_ball: ClassVar[bool] = False
    """Whether `pool` keeps ``l`` outputs of a ball inside it (means in a normed space)."""
    rounding: ClassVar[float] = 2.0**-19
    """The relative slack that bounds add for arithmetic in `lengths` (docs/theory/arithmetic.md);
    0 where distances are computed exactly."""
    spherical: ClassVar[bool] = False
    """Whether rows have length one and ``hilbert.bound(s)`` holds for every point that is seen
    from the origin within the angle arcsin(s) of w."""
    unit: ClassVar[str] = ""
    meaning: ClassVar[str] = ""
    """What an output must be like to be measured, in a sentence, besides being finite."""

    @abstractmethod
    def collate(self, outputs: Outputs) -> Block:
        """Check the outputs and prepare them for `lengths`; an OutputError on a wrong shape."""

    @abstractmethod
    def lengths(self, a: Any, b: Any) -> torch.Tensor:
        """rho between all rows of a and of b, in float64, at most half of `rounding` too small."""

    def value(self, rho: Any) -> Any:
        """d from rho, for numbers and numpy arrays."""
        return rho

    @property
    def hilbert(self) -> Hilbert | None:
        """The Euclidean space the rows live in, when outputs can be decoded from it."""
        return None

    @property
    def normed(self) -> Normed | None:
        """The norm of differences, where the distance is one and its mean can be minimised."""
        return None

    def pool(self, outputs: Outputs, size: int) -> Outputs:
        """One output from each run of `size` consecutive ones."""
        fix = "Use Medoid(pool=1): outputs of this metric cannot be averaged."
        raise ArgumentError(expected("a metric that can pool outputs", type(self).__name__, fix))

    def measure(self, a: Block, b: Block) -> torch.Tensor:
        """rho between two blocks; an output that cannot be measured is far from all others."""
        lengths = self.lengths(a.rows, b.rows)
        if bool(a.valid.all()) and bool(b.valid.all()):
            return lengths
        invalid = ~(a.valid[:, None] & b.valid[None, :])
        return lengths.masked_fill_(invalid.to(lengths.device), math.inf)

    def pairwise(self, a: Outputs, b: Outputs) -> torch.Tensor:
        """d between all outputs of two blocks."""
        rho = self.measure(self._finite(a), self._finite(b)).cpu().numpy()
        return torch.from_numpy(np.minimum(self.value(rho), self.diameter))

    def __call__(self, a: Any, b: Any) -> float:
        """d between two single outputs."""
        one, other = self.single(a), self.single(b)
        return float(self.pairwise(one, other)[0, 0])

    def single(self, output: Any) -> Outputs:
        """One output as a block of one."""
        return output[None] if isinstance(output, torch.Tensor) else [output]

    def _finite(self, outputs: Outputs) -> Block:
        block = self.collate(outputs)
        if not bool(block.valid.all()):
            place = int((~block.valid).nonzero()[0, 0])
            fix = "Repair the output before measuring it."
            raise OutputError(expected("measurable outputs", f"an invalid one at {place}", fix))
        return block

    def to_json(self, output: Any) -> Any:
        """One output as JSON."""
        return out.encode(output)

    def from_json(self, data: Any) -> Any:
        """Read what `to_json` wrote."""
        return out.decode(data)

    @property
    def name(self) -> str:
        """How the metric is called in tables."""
        return type(self).__name__


def pools(metric: Metric) -> bool:
    """Whether outputs of this metric (or of the one it is derived from) can be pooled."""
    below = getattr(metric, "metric", None)
    if isinstance(below, Metric) and type(metric).pool is not Metric.pool:
        return pools(below)
    return type(metric).pool is not Metric.pool


def check_diameter(diameter: object) -> None:
    """Refuse a largest distance that is none: bounds are cut off there."""
    if not (isinstance(diameter, (int, float)) and diameter > 0):
        fix = "Leave it out where distances have no limit."
        raise ArgumentError(expected("diameter > 0", repr(diameter), fix))


def as_tensor(outputs: Outputs, metric: Metric) -> torch.Tensor:
    """Outputs that must all be numbers of one shape, as one tensor."""
    if isinstance(outputs, torch.Tensor):
        return outputs.detach()
    try:
        parts = [one_tensor(output) for output in outputs]
        return torch.stack(parts) if parts else torch.zeros((0, 1))
    except (RuntimeError, TypeError, ValueError) as error:
        what = f"outputs of one shape for {metric.name}"
        got = ", ".join(sorted({_describe(output) for output in outputs})[:4])
        fix = "Use a metric for outputs of varying size, or pad them inside the model."
        raise OutputError(expected(what, got, fix)) from error


def one_tensor(output: Any) -> torch.Tensor:
    """One output as a tensor; Python's numbers keep their double precision."""
    if isinstance(output, torch.Tensor):
        return output.detach()
    return torch.as_tensor(np.asarray(output))


def _describe(output: Any) -> str:
    shape = getattr(output, "shape", None)
    return type(output).__name__ + (f"{tuple(shape)}" if shape is not None else "")


def flat_rows(outputs: Outputs, metric: Metric) -> tuple[torch.Tensor, torch.Tensor]:
    """Flattened floating rows, and which of them are finite (the others are zeroed)."""
    tensor = as_tensor(outputs, metric)
    if tensor.is_complex():
        fix = "Return real and imaginary parts as two channels."
        raise OutputError(expected("real outputs", str(tensor.dtype), fix))
    if not tensor.is_floating_point():
        tensor = tensor.double()
    elif tensor.dtype not in (torch.float32, torch.float64):
        tensor = tensor.float()
    rows = tensor.reshape(len(tensor), math.prod(tensor.shape[1:]))
    # NaN and infinity survive every sum, so one cheap sum clears the usual block at once.
    if bool(torch.isfinite(rows.sum())):
        return rows, torch.ones(len(rows), dtype=torch.bool)
    valid = torch.isfinite(rows).all(dim=1)
    return torch.where(valid[:, None], rows, torch.zeros_like(rows)), valid.cpu()


def mean_pool(outputs: Outputs, size: int, metric: Metric) -> torch.Tensor:
    """The mean of each run of `size` outputs, in double precision.

    Rounded to the precision of the outputs, a mean could leave a small ball that holds them all;
    so could the mean of equal outputs, were it not taken from one of them.
    """
    tensor = as_tensor(outputs, metric).double()
    runs = tensor.reshape(-1, size, *tensor.shape[1:])
    return runs[:, 0] + (runs - runs[:, :1]).mean(dim=1)
