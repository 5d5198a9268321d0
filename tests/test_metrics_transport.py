from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import wasserstein_distance

from centersmooth.errors import ArgumentError, OutputError
from centersmooth.metrics import EarthMover, VariationDistance, Wasserstein1
from centersmooth.metrics import transport as module
from metric_laws import check_laws
from refusals import refused

LAW = settings(derandomize=True, deadline=None, max_examples=25)
POSITIONS = (0.0, 1.0, 1.5, 4.0)
weights = st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any)
distributions = weights.map(lambda w: torch.tensor(w, dtype=torch.float64) / sum(w))
LINE = tuple(tuple(abs(x - y) for y in POSITIONS) for x in POSITIONS)


@LAW
@given(st.lists(distributions, min_size=3, max_size=5))
def test_work_along_a_line_is_what_scipy_computes(some: list[Any]) -> None:
    block = torch.stack(some)
    line, places = Wasserstein1(), Wasserstein1(POSITIONS)
    for i, j in np.ndindex(len(some), len(some)):
        p, q = some[i].numpy(), some[j].numpy()
        assert line(some[i], some[j]) == pytest.approx(
            wasserstein_distance(range(4), range(4), p, q), abs=1e-12
        )
        assert places(some[i], some[j]) == pytest.approx(
            wasserstein_distance(POSITIONS, POSITIONS, p, q), abs=1e-12
        )
    check_laws(line, block)
    check_laws(places, block)
    assert places.diameter == 4


PLANS = [module._plan_by_scipy] + ([module._plan_by_pot] if module._POT else [])


@pytest.mark.parametrize("plan_for", PLANS)
@settings(derandomize=True, deadline=None, max_examples=8)
@given(p=distributions, q=distributions)
def test_both_solvers_find_the_least_work_and_never_less(plan_for: Any, p: Any, q: Any) -> None:
    wanted = wasserstein_distance(POSITIONS, POSITIONS, p, q)
    found = module._work(p.numpy(), q.numpy(), np.array(LINE), plan_for)
    assert wanted * (1 - 1e-12) - 1e-15 <= found <= wanted + 1e-6


@settings(derandomize=True, deadline=None, max_examples=10)
@given(st.lists(distributions, min_size=3, max_size=4))
def test_the_laws_of_a_distance_hold(some: list[Any]) -> None:
    check_laws(EarthMover(LINE), torch.stack(some))


def test_with_equal_costs_the_work_is_the_total_variation() -> None:
    cost = 1 - torch.eye(4)
    some = torch.tensor([[0.7, 0.1, 0.1, 0.1], [0.0, 0.0, 0.5, 0.5], [0.25] * 4])
    found = EarthMover(cost.tolist()).pairwise(some, some)
    torch.testing.assert_close(found, VariationDistance().pairwise(some, some), atol=1e-7, rtol=0)


@pytest.mark.parametrize(
    "plan",
    [
        np.zeros((3, 3)),
        np.eye(3) * 0.5,
        np.full((3, 3), 1 / 9),
        np.outer([0.2, 0.3, 0.5], [0.6, 0.1, 0.3]) * 1.3,
    ],
)
def test_any_plan_is_made_one_of_the_right_margins(plan: np.ndarray) -> None:
    """A solver that stops early, or fails, can only make the distance larger."""
    p, q = np.array([0.2, 0.3, 0.5]), np.array([0.6, 0.1, 0.3])
    moved_by_hand = wasserstein_distance([0, 1, 2], [0, 1, 2], p, q)
    line = np.abs(np.subtract.outer(np.arange(3.0), np.arange(3.0)))
    assert module._corrected_cost(plan.copy(), p, q, line) >= moved_by_hand - 1e-15
    ones = np.ones((3, 3))
    assert module._corrected_cost(plan.copy(), p, q, ones) == pytest.approx(1)  # all mass, once


def test_means_stay_in_a_ball_that_holds_the_outputs() -> None:
    some = torch.rand(24, 4, generator=torch.Generator().manual_seed(1)) ** 3
    some = some / some.sum(dim=1, keepdim=True)
    for metric in (Wasserstein1(), EarthMover(LINE)):
        assert metric.mean_stays_in_ball
        farthest = metric.pairwise(some[:1], some)[0].reshape(-1, 3).amax(dim=1)
        means = metric.pool(some, 3)
        assert bool((metric.pairwise(some[:1], means)[0] <= farthest + 1e-6).all())


@pytest.mark.parametrize(
    ("cost", "word"),
    [
        ([[0, 1]], "square"),
        ([[0, -1], [-1, 0]], "square table of costs >= 0"),
        ([[0, 1], [2, 0]], "symmetric"),
        ([[1, 1], [1, 1]], "zero diagonal"),
        ([[0, 1, 5], [1, 0, 1], [5, 1, 0]], "detour that saves 3"),
        ([], "square"),
    ],
)
def test_costs_that_are_no_metric_are_refused(cost: Any, word: str) -> None:
    with refused(ArgumentError, word):
        EarthMover(cost)


def test_what_does_not_fit_is_refused_or_invalid() -> None:
    for positions in ((1.0,), (2.0, 1.0), (0.0, math.nan), ((0.0, 1.0),)):
        with refused(ArgumentError, "increasing positions"):
            Wasserstein1(positions)  # type: ignore[arg-type]
    third = torch.full((2, 3), 1 / 3)
    with refused(OutputError, "4 probabilities", "3 of them"):
        Wasserstein1(POSITIONS).collate(third)
    with refused(OutputError, "4 probabilities", "3 of them"):
        EarthMover(LINE).collate(third)
    bad = torch.tensor([[0.0] * 4, [math.nan, 0, 0, 1], [0.25] * 4])
    for metric in (Wasserstein1(), EarthMover(LINE)):
        assert metric.collate(bad).valid.tolist() == [False, False, True]
    assert Wasserstein1().diameter == math.inf
    assert EarthMover(LINE).diameter == 4


@pytest.mark.parametrize("step", [1e-4, 1e-8, 1e-12, 1e-15])
def test_the_work_of_a_small_step_is_never_too_small(step: float) -> None:
    """Rounding of the margins may hide a part of what is carried: an upper bound of it is added."""
    p = torch.tensor([0.1, 0.2, 0.3, 0.4], dtype=torch.float64)
    q = p + step * torch.tensor([1.0, -1.0, 2.0, -2.0], dtype=torch.float64)
    table = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))
    metric = EarthMover(tuple(map(tuple, table.tolist())))
    a, b = (metric.collate([row]).rows[0].numpy() for row in (p, q))
    moved = [Fraction(float(x)) - Fraction(float(y)) for x, y in zip(a, b, strict=True)]
    exact = float(sum(abs(sum(moved[: k + 1])) for k in range(3)))
    assert exact <= metric(p, q) <= exact * (1 + 1e-6) + 1e-12
