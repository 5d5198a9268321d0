"""The looks at the samples after which sampling may stop: a list fixed before the first one.

Proof: docs/theory/anytime.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from centersmooth.errors import BudgetError, expected
from centersmooth.theorems import Theorem

_RATIO = 1.5  # of one look to the one before
_STEP = 64  # looks are multiples of this, so that no drawn block of noise is cut
_LAST = 0.5  # what the last look may spend: a run that never stops early loses little

TheoremAt = Callable[[int, float], Theorem]
"""The theorem for so many samples, at a look with that share of the level."""


@dataclass(frozen=True)
class Looks:
    """Sample sizes in increasing order, and what each may spend of the failure probability."""

    sizes: tuple[int, ...]
    shares: tuple[float, ...]

    def __post_init__(self) -> None:
        rising = all(a < b for a, b in zip((0, *self.sizes), self.sizes, strict=False))
        positive = all(0 < share <= 1 for share in self.shares)
        if not (self.sizes and rising and positive and len(self.sizes) == len(self.shares)):
            raise ValueError(f"looks at {self.sizes} with shares {self.shares}")
        if math.fsum(self.shares) > 1:
            raise ValueError("looks that spend more than there is")

    @property
    def last(self) -> int:
        """The most samples there can be."""
        return self.sizes[-1]

    def after(self, done: int) -> int:
        """The size of the next look."""
        return next(size for size in self.sizes if size > done)


def one_look(samples: int) -> Looks:
    """A number of samples fixed beforehand."""
    return Looks((samples,), (1.0,))


def looks_for(theorem_at: TheoremAt, eps: float, samples: int) -> Looks:
    """A geometric list from the fewest samples that can decide eps to the most allowed.

    A function of eps, the sizes and the level alone, never of the samples.
    """
    if not theorem_at(samples, 1.0).decides(eps):
        least = theorem_at(samples, 1.0).least_samples(eps)
        fix = "No number of samples is enough: use more noise or more answer_samples."
        if least is not None:
            fix = f"At least {least:,} are needed: raise samples, or ask about a smaller eps."
        raise BudgetError(expected(f"enough samples for eps = {eps:g}", f"{samples:,}", fix))
    most = _count(_STEP, samples)
    wanted = 1
    while wanted < most:
        first = _first(theorem_at, eps, wanted)
        needed = _count(first, samples)
        if needed <= wanted:
            return _spread(first, samples, wanted)
        wanted = max(needed, wanted + 1)
    return _spread(_first(theorem_at, eps, most), samples, most)


def _count(first: int, samples: int) -> int:
    """How many looks lead from the first to the last."""
    if first >= samples:
        return 1
    return 1 + math.ceil(math.log(samples / first) / math.log(_RATIO))


def _first(theorem_at: TheoremAt, eps: float, count: int) -> int:
    """The fewest samples that decide eps at the share of an early look."""
    least = theorem_at(1, _shares(count)[0]).least_samples(eps)
    return math.ceil(least / _STEP) * _STEP if least else 2**62


def _shares(count: int) -> tuple[float, ...]:
    """Half for the last look, the rest in equal parts."""
    if count == 1:
        return (1.0,)
    early = math.nextafter((1.0 - _LAST) / (count - 1), 0.0)
    return (*((early,) * (count - 1)), _LAST)


def _spread(first: int, samples: int, count: int) -> Looks:
    if count == 1 or first >= samples:
        return one_look(samples)
    ratio = (samples / first) ** (1 / (count - 1))
    early = {math.ceil(first * ratio**i / _STEP) * _STEP for i in range(count - 1)}
    sizes = (*sorted(size for size in early if size < samples), samples)
    return Looks(sizes, _shares(len(sizes)))
