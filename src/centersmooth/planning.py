"""What a budget can and cannot certify, before it is spent."""

from __future__ import annotations

from typing import Protocol

from centersmooth.centers import Center
from centersmooth.confidence import Confidence
from centersmooth.errors import BudgetError, expected
from centersmooth.metrics import Metric
from centersmooth.noise import Noise
from centersmooth.theorems import Sizes, Theorem, theorem_for


class Plannable(Protocol):
    """What planning needs to know of a smoother."""

    noise: Noise
    metric: Metric
    center: Center
    answer_samples: int


def theorem_of(smoother: Plannable, samples: int, level: Confidence) -> Theorem:
    """The theorem a certificate of this size will use."""
    sizes = Sizes(smoother.answer_samples, samples)
    return theorem_for(smoother.center, smoother.noise, smoother.metric, sizes, level)


def check_budget(smoother: Plannable, eps: float, samples: int, level: Confidence) -> None:
    """Refuse to spend samples that cannot certify eps, whatever the model does."""
    theorem = theorem_of(smoother, samples, level)
    if not theorem.decides(eps):
        what = f"enough samples for eps = {eps:g} under {smoother.noise}"
        raise BudgetError(expected(what, f"{samples:,}", remedy(theorem, eps)))


def remedy(theorem: Theorem, eps: float) -> str:
    """What would decide eps, in words."""
    least = theorem.least_samples(eps)
    reach = theorem.largest_eps()
    if least is None:
        more = "No number of certification samples is enough: raise sigma or answer_samples"
    else:
        more = f"At least {least:,} certification samples are needed (more give better bounds)"
    return f"{more}; {theorem.sizes.m:,} reach eps = {reach:.3g} at most."
