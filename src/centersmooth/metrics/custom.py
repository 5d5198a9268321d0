"""A distance of your own, from a function of two outputs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import torch

from centersmooth.errors import ArgumentError, OutputError, expected
from centersmooth.metrics.base import Block, Metric, check_diameter
from centersmooth.outputs import Outputs

_FAILED = object()  # stands for an output that cannot be measured


@dataclass(frozen=True)
class Custom(Metric):
    """``d(a, b) = distance(a, b)`` for any two outputs, called once per pair. Theorem B.

    `distance` must be symmetric and obey the triangle inequality, up to a factor `relaxation`
    if one is given; a NaN from it is an error. Give the `diameter` if there is one.
    """

    distance: Callable[[Any, Any], float]
    diameter: float = math.inf
    relaxation: float = 1.0
    rounding: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        if not callable(self.distance):
            fix = "Pass a function of two outputs."
            raise ArgumentError(expected("a callable distance", repr(self.distance), fix))
        check_diameter(self.diameter)
        if not self.relaxation >= 1:
            fix = "1 is a true metric; 2 fits the square of one."
            raise ArgumentError(expected("relaxation >= 1", self.relaxation, fix))

    @property
    def gamma(self) -> float:  # type: ignore[override]
        return self.relaxation

    @property
    def published_gamma(self) -> float:  # type: ignore[override]
        return self.relaxation

    def collate(self, outputs: Outputs) -> Block:
        valid = [_finite(output) for output in outputs]
        rows = [o if good else _FAILED for o, good in zip(outputs, valid, strict=True)]
        return Block(rows, torch.tensor(valid, dtype=torch.bool))

    def lengths(self, a: Any, b: Any) -> torch.Tensor:
        table = [[self._length(one, other) for other in b] for one in a]
        lengths = torch.tensor(table, dtype=torch.float64).reshape(len(a), len(b))
        if bool(torch.isnan(lengths).any()) or bool((lengths < 0).any()):
            fix = "Make `distance` return a number >= 0 for every pair, the empty output included."
            raise OutputError(expected("distances >= 0", "a negative one or NaN", fix))
        return lengths

    def _length(self, one: Any, other: Any) -> float:
        if one is _FAILED or other is _FAILED:
            return math.inf
        found = self.distance(one, other)
        try:
            return float(found)
        except (TypeError, ValueError, RuntimeError) as error:
            fix = "Make `distance` return one number for every pair, e.g. float((a - b).norm())."
            raise OutputError(expected("a number from the distance", str(error), fix)) from error

    @property
    def name(self) -> str:
        return getattr(self.distance, "__name__", "Custom")


def _finite(output: Any) -> bool:
    if isinstance(output, torch.Tensor) and output.is_floating_point():
        return bool(torch.isfinite(output).all())
    return not (isinstance(output, float) and not math.isfinite(output))
