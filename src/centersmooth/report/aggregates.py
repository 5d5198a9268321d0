"""Numbers over many inputs: medians with exact intervals, and certified fractions.

Every quantile is an order statistic, never interpolated: a median of bounds is the bound of some
input, and of an even number the larger of the two middle ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from centersmooth import binomial

FloatArray = NDArray[np.float64]
LEVEL = 0.95
"""Confidence of every interval in a report."""


@dataclass(frozen=True)
class Median:
    """The median over inputs, and an interval that holds the population's median.

    The interval speaks of further inputs drawn like these; it says nothing about the
    certificates, which hold for their own inputs. None where too few inputs were seen.
    """

    value: float
    low: float | None
    high: float | None
    count: int


@dataclass(frozen=True)
class Share:
    """How many of the inputs, and an interval for the population's share."""

    hits: int
    count: int
    low: float
    high: float

    @property
    def value(self) -> float:
        """The share itself; 0 of none."""
        return self.hits / self.count if self.count else 0.0


def median(values: FloatArray) -> Median | None:
    """The upper median with its exact binomial interval; None of nothing."""
    ordered = np.sort(values)
    count = len(ordered)
    if count == 0:
        return None
    middle = float(ordered[count // 2])
    rank = binomial.upper_rank(count, 0.5, (1 - LEVEL) / 2)
    if rank is None:
        return Median(middle, None, None, count)
    # P[Bin(N, 1/2) >= j] = P[Bin(N, 1/2) <= N - j]: the lower rank mirrors the upper one.
    return Median(middle, float(ordered[count - rank]), float(ordered[rank - 1]), count)


def quantile(values: FloatArray, q: float) -> float:
    """The least value that at least a share q of all values do not exceed."""
    ordered = np.sort(values)
    return float(ordered[max(0, int(np.ceil(q * len(ordered) - 1e-9)) - 1)])


def share(hits: int, count: int) -> Share:
    """A share of inputs with its Clopper-Pearson interval, never too short."""
    if count == 0:
        return Share(0, 0, 0.0, 1.0)
    return Share(hits, count, 1.0 - _at_most(count - hits, count), _at_most(hits, count))


def _at_most(hits: int, count: int) -> float:
    """The largest share under which so few hits still have a probability of (1 - LEVEL) / 2."""
    if hits >= count:
        return 1.0
    return binomial.needed_mass(count, hits + 1, (1 - LEVEL) / 2)


def steps(values: FloatArray, most: int = 400) -> tuple[FloatArray, FloatArray]:
    """Where the share of values <= t rises, and to what; thinned so that it is never overstated.

    `values` may hold infinities: they are in the count and never reached.
    """
    ordered = np.sort(values)
    reached = np.arange(1, len(ordered) + 1) / max(1, len(ordered))
    finite = np.isfinite(ordered)
    ordered, reached = ordered[finite], reached[finite]
    if len(ordered) > most:
        # A kept step shows the share that its own value reaches; shares dropped between two
        # kept ones are shown later than they are reached, never earlier.
        keep = np.unique(np.linspace(0, len(ordered) - 1, most).round().astype(int))
        ordered, reached = ordered[keep], reached[keep]
    return ordered, reached
