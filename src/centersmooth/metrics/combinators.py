"""Metrics made from others. Where the result is Euclidean and can be decoded, it says so."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from centersmooth.errors import ArgumentError, OutputError, TrainingModeError, expected
from centersmooth.metrics.base import Block, Hilbert, Metric, check_diameter
from centersmooth.metrics.combination import Combination, Parts, Weights, combination
from centersmooth.metrics.custom import Custom
from centersmooth.outputs import Outputs


def weighted_sum(parts: Parts, weights: Weights | None = None) -> Combination:
    """``d(a, b) = sum_k w_k d_k(a[k], b[k])`` for dicts (parts by key) or tuples (by place).

    ``weighted_sum({"box": BoxJaccard(), "label": Discrete()}, {"box": 1, "label": 0.5})``.
    A metric with the largest gamma of its parts. Up to four Euclidean parts get Theorem C, in
    the space they span together: the sum is at most sqrt(parts) times the distance there.
    """
    return combination(parts, weights, 1.0)


def euclidean_sum(parts: Parts, weights: Weights | None = None) -> Combination:
    """``d(a, b) = sqrt(sum_k (w_k d_k(a[k], b[k]))^2)``: as `weighted_sum`, with squares.

    A metric with the largest gamma of its parts. Of any number of Euclidean parts it is
    Euclidean itself and gets Theorem C without a loss.
    """
    return combination(parts, weights, 2.0)


def maximum(parts: Parts, weights: Weights | None = None) -> Combination:
    """``d(a, b) = max_k w_k d_k(a[k], b[k])``: as `weighted_sum`, with the worst part.

    A metric with the largest gamma of its parts. Up to four Euclidean parts get Theorem C.
    """
    return combination(parts, weights, math.inf)


class _Derived(Metric):
    """A metric that shares its rows and lengths with another one."""

    metric: Metric

    @property
    def gamma(self) -> float:  # type: ignore[override]
        return self.metric.gamma

    @property
    def rounding(self) -> float:  # type: ignore[override]
        return self.metric.rounding

    @property
    def mean_stays_in_ball(self) -> bool:  # type: ignore[override]
        return self.metric.mean_stays_in_ball

    @property
    def spherical(self) -> bool:  # type: ignore[override]
        return self.metric.spherical

    def collate(self, outputs: Outputs) -> Block:
        return self.metric.collate(outputs)

    def lengths(self, a: Any, b: Any) -> torch.Tensor:
        return self.metric.lengths(a, b)

    def pool(self, outputs: Outputs, size: int) -> Outputs:
        """As the metric below does."""
        return self.metric.pool(outputs, size)

    def single(self, output: Any) -> Outputs:
        return self.metric.single(output)

    def to_json(self, output: Any) -> Any:
        return self.metric.to_json(output)

    def from_json(self, data: Any) -> Any:
        return self.metric.from_json(data)

    @property
    def hilbert(self) -> Hilbert | None:
        """The same space as before, its bound transformed like the distance."""
        space = self.metric.hilbert
        return None if space is None else _Transformed(space, self._transform)

    def _transform(self, distance: Any) -> Any:
        raise NotImplementedError

    def value(self, rho: Any) -> Any:
        return self._transform(self.metric.value(rho))

    @property
    def diameter(self) -> float:  # type: ignore[override]
        return float(self._transform(self.metric.diameter))


@dataclass(frozen=True)
class _Transformed:
    """A Euclidean space whose bound is transformed by an increasing function."""

    space: Hilbert
    transform: Callable[[float], float]

    @property
    def scale_free(self) -> bool:
        return self.space.scale_free

    def decode(self, point: torch.Tensor, like: Outputs) -> Any:
        return self.space.decode(point, like)

    def bound(self, delta: float) -> float:
        return float(self.transform(self.space.bound(delta)))


@dataclass(frozen=True)
class Power(_Derived):
    """``d(a, b)^exponent``, see `power`."""

    metric: Metric
    exponent: float

    def __post_init__(self) -> None:
        if not 0 < self.exponent < math.inf:
            fix = "2 squares the distance, 0.5 takes its root."
            raise ArgumentError(expected("exponent > 0", repr(self.exponent), fix))

    @property
    def published_gamma(self) -> float:  # type: ignore[override]
        bent = 2.0 ** max(0.0, self.exponent - 1.0)
        return float(bent * self.metric.published_gamma**self.exponent)

    def _transform(self, distance: Any) -> Any:
        return np.power(distance, self.exponent)

    @property
    def name(self) -> str:
        return f"{self.metric.name}^{self.exponent:g}"


def power(metric: Metric, exponent: float) -> Power:
    """``d(a, b)^exponent`` for any exponent > 0, with the gamma of d and all it has besides.

    Lengths stay those of d and add up as before, so bounds are powers of its bounds. (A power
    of at most 1 is a metric too, and adding up the powers would give larger bounds.) Euclidean
    metrics stay so. For the published procedure gamma is gamma^e for e <= 1, else
    ``2^(e - 1) gamma^e``.
    """
    return Power(metric, exponent)


@dataclass(frozen=True)
class Clipped(_Derived):
    """``min(d(a, b), cutoff)``, see `clipped`."""

    metric: Metric
    cutoff: float

    def __post_init__(self) -> None:
        check_diameter(self.cutoff)

    @property
    def published_gamma(self) -> float:  # type: ignore[override]
        return self.metric.published_gamma

    def _transform(self, distance: Any) -> Any:
        return np.minimum(distance, self.cutoff)

    @property
    def name(self) -> str:
        return f"{self.metric.name} up to {self.cutoff:g}"


def clipped(metric: Metric, cutoff: float) -> Clipped:
    """``min(d(a, b), cutoff)``: everything farther counts alike. Gamma is that of d.

    A metric if d is one: the cut-off of a sum is at most the sum of the cut-offs. Lengths stay
    those of d, and Euclidean metrics stay so.
    """
    return Clipped(metric, cutoff)


@dataclass(frozen=True)
class Through(Metric):
    """``d(e(a), e(b))``, see `through`."""

    encoder: Callable[[Any], Any]
    metric: Metric

    def __post_init__(self) -> None:
        if isinstance(self.encoder, torch.nn.Module) and self.encoder.training:
            fix = "Call encoder.eval() first."
            raise TrainingModeError(expected("an encoder in evaluation mode", "training", fix))

    @property
    def diameter(self) -> float:  # type: ignore[override]
        return self.metric.diameter

    @property
    def gamma(self) -> float:  # type: ignore[override]
        return self.metric.gamma

    @property
    def published_gamma(self) -> float:  # type: ignore[override]
        return self.metric.published_gamma

    @property
    def rounding(self) -> float:  # type: ignore[override]
        return self.metric.rounding

    def collate(self, outputs: Outputs) -> Block:
        """Each output is encoded once, however many distances are taken."""
        with torch.no_grad():
            encoded = self.encoder(outputs)
        if not hasattr(encoded, "__len__") or len(encoded) != len(outputs):
            got = f"{len(encoded)}" if hasattr(encoded, "__len__") else type(encoded).__name__
            fix = "The encoder takes a block of outputs, as the model returns them."
            raise OutputError(expected(f"{len(outputs)} encoded outputs", got, fix))
        return self.metric.collate(encoded)

    def lengths(self, a: Any, b: Any) -> torch.Tensor:
        return self.metric.lengths(a, b)

    def value(self, rho: Any) -> Any:
        return self.metric.value(rho)

    @property
    def name(self) -> str:
        encoder = getattr(self.encoder, "__name__", type(self.encoder).__name__)
        return f"{self.metric.name} through {encoder}"


def through(encoder: Callable[[Any], Any], metric: Metric) -> Through:
    """``d(e(a), e(b))``: a metric on what an encoder makes of the outputs. Theorem B.

    ``through(sentence_encoder, Cosine())``. The encoder takes a block of outputs (the batch
    tensor or the list that the model returns) and gives back one encoding for each. A
    pseudometric with the gamma of d; nothing leads from encodings back to outputs.
    """
    return Through(encoder, metric)


@dataclass(frozen=True)
class _BothWays:
    """A distance there and back."""

    distance: Callable[[Any, Any], float]
    how: str

    def __call__(self, a: Any, b: Any) -> float:
        there, back = float(self.distance(a, b)), float(self.distance(b, a))
        larger = back if back > there or back != back else there  # a NaN is not lost
        return there + back if self.how == "sum" else larger

    @property
    def __name__(self) -> str:
        return f"symmetrised {getattr(self.distance, '__name__', 'distance')}"


def symmetrised(
    distance: Callable[[Any, Any], float],
    how: str = "sum",
    diameter: float = math.inf,
    relaxation: float = 1.0,
) -> Custom:
    """``d(a, b) + d(b, a)``, or the larger of the two (``how="max"``). Theorem B.

    For a distance of your own that is not symmetric, with the triangle inequality up to the
    factor `relaxation`: the sum, and the maximum, then have it with the same factor.
    `diameter` is that of the distance given; that of the sum is twice as large.
    """
    if how not in ("sum", "max"):
        raise ArgumentError(expected("how='sum' or 'max'", repr(how), "Both are symmetric."))
    largest = 2 * diameter if how == "sum" else diameter
    return Custom(_BothWays(distance, how), largest, relaxation)
