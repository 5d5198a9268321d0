from __future__ import annotations

import math

import pytest

import centersmooth as cs
from centersmooth.centers import Center
from centersmooth.confidence import Confidence, Joint, Split
from centersmooth.errors import BudgetError
from centersmooth.looks import Looks, TheoremAt, looks_for, one_look
from centersmooth.theorems import Sizes, theorem_for
from refusals import refused

NOISE = cs.Gaussian(0.25)
CENTERS: list[Center] = [cs.GeometricMedian(), cs.Medoid(), cs.Medoid(20, outer=0)]
LEVELS: list[Confidence] = [Joint(0.01), Split(0.005, 0.005)]


def theorems(center: Center, level: Confidence) -> TheoremAt:
    metric = cs.metrics.L2()
    return lambda m, share: theorem_for(center, NOISE, metric, Sizes(999, m), level, share)


@pytest.mark.parametrize("level", LEVELS, ids=lambda level: type(level).__name__)
@pytest.mark.parametrize("center", CENTERS, ids=repr)
@pytest.mark.parametrize("eps", [0.0, 0.25, 0.5])
def test_looks_lead_from_the_first_that_decides_to_the_last(
    center: Center, level: Confidence, eps: float
) -> None:
    at = theorems(center, level)
    looks = looks_for(at, eps, 4_000)
    assert looks.last == 4_000
    assert all(size % 64 == 0 for size in looks.sizes[:-1])
    assert all(b / a < 1.5 + 64 / a for a, b in zip(looks.sizes, looks.sizes[1:], strict=False))
    assert all(at(*look).decides(eps) for look in zip(looks.sizes, looks.shares, strict=True))
    assert looks.sizes[0] == 64 or not at(looks.sizes[0] - 64, looks.shares[0]).decides(eps)
    assert math.fsum(looks.shares) <= 1
    assert looks.shares[-1] == 0.5


def test_a_larger_attack_is_first_looked_at_later() -> None:
    at = theorems(CENTERS[0], LEVELS[0])
    firsts = [looks_for(at, eps, 40_000).sizes[0] for eps in (0.1, 0.5, 0.6)]
    assert firsts == sorted(firsts)
    assert firsts[0] < firsts[2]


def test_where_all_samples_are_needed_there_is_one_look() -> None:
    at = theorems(CENTERS[1], LEVELS[0])
    least = at(1, 1.0).least_samples(0.5)
    assert least is not None
    assert looks_for(at, 0.5, least) == one_look(least)
    assert looks_for(at, 0.0, 40) == one_look(40)


def test_too_few_samples_are_refused_with_what_would_do() -> None:
    at = theorems(CENTERS[1], LEVELS[0])
    least = at(1, 1.0).least_samples(0.5)
    assert least is not None
    with refused(BudgetError, "eps = 0.5", f"{least - 1:,}", f"At least {least:,}"):
        looks_for(at, 0.5, least - 1)
    with refused(BudgetError, "No number of samples"):
        looks_for(at, 25.0, 4_000)


def test_the_next_look_is_the_first_beyond_what_is_counted() -> None:
    looks = Looks((10, 20, 40), (0.25, 0.25, 0.5))
    assert [looks.after(done) for done in (0, 9, 10, 39)] == [10, 10, 20, 40]


@pytest.mark.parametrize(
    ("sizes", "shares"),
    [
        ((), ()),
        ((10, 10), (0.5, 0.5)),
        ((0, 10), (0.5, 0.5)),
        ((10, 20), (0.5,)),
        ((10, 20), (0.5, 0.6)),
        ((10, 20), (1.0, 0.0)),
        ((10, 20), (1.5, -0.5)),
        ((10,), (math.nan,)),
    ],
)
def test_looks_that_spend_too_much_or_make_no_sense_are_refused(
    sizes: tuple[int, ...], shares: tuple[float, ...]
) -> None:
    with pytest.raises(ValueError, match="looks"):
        Looks(sizes, shares)
