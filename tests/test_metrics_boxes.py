from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from centersmooth.errors import OutputError
from centersmooth.metrics import BoxJaccard
from metric_laws import check_laws
from refusals import refused

LAW = settings(derandomize=True, deadline=None, max_examples=60)
METRIC = BoxJaccard()
NONE = torch.zeros(0, 4)
numbers = st.integers(0, 12).map(float)
corners = st.tuples(numbers, numbers, numbers, numbers)
boxes = st.none() | corners.map(
    lambda c: torch.tensor([min(c[0], c[2]), min(c[1], c[3]), max(c[0], c[2]), max(c[1], c[3])])
)


def as_output(box: torch.Tensor | None) -> torch.Tensor:
    return NONE if box is None else box


def naive(a: torch.Tensor, b: torch.Tensor) -> float:
    """Counted on a grid: the corners of these boxes are whole numbers."""

    def cells(box: torch.Tensor) -> set[tuple[int, int]]:
        if not len(box):
            return set()
        x1, y1, x2, y2 = (int(v) for v in box)
        return {(x, y) for x in range(x1, x2) for y in range(y1, y2)}

    one, other = cells(a), cells(b)
    return 1 - len(one & other) / len(one | other) if one | other else 0.0


@LAW
@given(st.lists(boxes, min_size=1, max_size=5))
def test_the_distance_is_one_minus_intersection_over_union(some: list[Any]) -> None:
    outputs = [as_output(box) for box in some]
    found = METRIC.pairwise(outputs, outputs)
    for i, j in np.ndindex(found.shape):
        assert float(found[i, j]) == pytest.approx(naive(outputs[i], outputs[j]), abs=1e-12)


@LAW
@given(st.lists(boxes, min_size=3, max_size=5))
def test_the_laws_of_a_distance_hold(some: list[Any]) -> None:
    check_laws(METRIC, [as_output(box) for box in some])


def test_no_box_agrees_with_no_box_only() -> None:
    box, flat = torch.tensor([0.0, 0.0, 2.0, 2.0]), torch.tensor([1.0, 1.0, 1.0, 5.0])
    assert METRIC(NONE, NONE) == 0
    assert METRIC(NONE, box) == METRIC(box, NONE) == 1 == METRIC.diameter
    assert METRIC(flat, NONE) == 0
    assert METRIC(flat, box) == 1
    assert METRIC(box, box) == 0


def test_boxes_come_in_every_usual_form() -> None:
    box = torch.tensor([1.0, 2.0, 4.0, 6.0])
    other = torch.tensor([[2.0, 2.0, 4.0, 6.0]])
    forms = [box, box[None], box.tolist(), [box.tolist()], box.numpy(), box.long(), box.half()]
    for form in forms:
        assert METRIC(form, other) == pytest.approx(1 / 3)
    for empty in (NONE, [], torch.zeros(1, 0, 4), np.zeros((0, 4))):
        assert METRIC(empty, other) == 1
    batch = torch.stack((box, other[0]))
    assert torch.equal(METRIC.pairwise(batch, batch), METRIC.pairwise(batch[:, None], list(batch)))


@pytest.mark.parametrize("shape", [(5,), (2, 4), (4, 1), (2, 2)])
def test_what_is_no_single_box_is_refused(shape: tuple[int, ...]) -> None:
    with refused(OutputError, "(4,) or (1, 4)", str(shape), "empty (0, 4)"):
        METRIC.collate([torch.zeros(shape)])


def test_boxes_without_meaning_are_invalid() -> None:
    bad = torch.tensor(
        [
            [0.0, 0.0, 1.0, 1.0],
            [1.0, 0.0, 0.0, 1.0],
            [0.0, 1.0, 1.0, 0.0],
            [0.0, math.nan, 1.0, 1.0],
            [0.0, 0.0, math.inf, 1.0],
        ]
    )
    for outputs in (bad, list(bad)):
        assert METRIC.collate(outputs).valid.tolist() == [True] + [False] * 4


def test_far_from_the_origin_small_boxes_keep_their_distance() -> None:
    box = torch.tensor([1e6, 1e6, 1e6 + 1, 1e6 + 1], dtype=torch.float64)
    half = box - torch.tensor([0.0, 0.0, 0.5, 0.0])
    assert METRIC(box, half) == pytest.approx(0.5, rel=1e-9)


def test_pooling_takes_the_median_of_each_coordinate() -> None:
    run = [[0, 0, 10, 10], [1, 2, 11, 12], [9, 9, 99, 99]]
    for form in (torch.tensor(run), torch.tensor(run).float()):
        pooled = METRIC.pool(list(form), 3)
        assert len(pooled) == 1
        assert pooled[0].tolist() == [[1, 2, 11, 12]]


def test_pooling_finds_no_box_unless_most_have_one() -> None:
    box = torch.tensor([0.0, 0.0, 1.0, 1.0])
    pooled = METRIC.pool([box, NONE, box, NONE, NONE, box, box, box], 4)
    assert [len(one) for one in pooled] == [0, 1]
    assert METRIC(pooled[1], box) == 0


def test_a_pool_looks_at_nothing_but_itself() -> None:
    """Theorem B needs it: missing boxes of one pool say nothing about another."""
    box, far = torch.tensor([[0.0, 0, 2, 2]]), torch.tensor([[5.0, 5, 9, 9]])
    first, second = [box, NONE, far], [NONE, NONE, far]
    alone = [METRIC.pool(first, 3)[0], METRIC.pool(second, 3)[0]]
    for one, other in ((first, second), (second, first)):
        together = METRIC.pool([*one, *other], 3)
        wanted = alone if one is first else alone[::-1]
        assert all(torch.equal(a, b) for a, b in zip(together, wanted, strict=True))
    shuffled = METRIC.pool([far, box, NONE], 3)[0]
    assert torch.equal(shuffled, alone[0])


@pytest.mark.parametrize("step", [1e-3, 1e-9, 1e-13])
@pytest.mark.parametrize("at", [0.0, 10.0, 3000.0])
def test_nearly_equal_boxes_keep_all_digits(step: float, at: float) -> None:
    """In exact arithmetic on the very coordinates that the boxes have."""
    a = torch.tensor([at, at, at + 3, at + 2], dtype=torch.float64)
    b = a + step * torch.tensor([1.0, -2.0, 3.0, 1.0], dtype=torch.float64)
    x, y = ([Fraction(c) for c in box.tolist()] for box in (a, b))
    area = [(box[2] - box[0]) * (box[3] - box[1]) for box in (x, y)]
    shared = (min(x[2], y[2]) - max(x[0], y[0])) * (min(x[3], y[3]) - max(x[1], y[1]))
    exact = 1 - shared / (sum(area) - shared)
    assert BoxJaccard()(a, b) == pytest.approx(float(exact), rel=1e-12, abs=0)


def test_a_box_within_a_box_without_area_and_one_on_an_edge() -> None:
    outer = torch.tensor([0.0, 0, 4, 4])
    inner, flat, beside = outer / 2 + 1, torch.tensor([1.0, 1, 3, 1]), outer + 4
    some = [outer, inner, flat, beside]
    wanted = [[0, 0.75, 1, 1], [0.75, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]]
    assert BoxJaccard().pairwise(some, some).tolist() == wanted
