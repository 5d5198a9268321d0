from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from centersmooth.errors import OutputError
from centersmooth.metrics import BoxJaccard, UnionJaccard
from metric_laws import check_laws, generator
from refusals import refused

LAW = settings(derandomize=True, deadline=None, max_examples=60)
METRIC = UnionJaccard()
NONE = torch.zeros(0, 4)
numbers = st.integers(0, 8)
boxes = st.tuples(numbers, numbers, numbers, numbers).map(
    lambda c: [min(c[0], c[2]), min(c[1], c[3]), max(c[0], c[2]), max(c[1], c[3])]
)
regions = st.lists(boxes, max_size=5).map(lambda some: torch.tensor(some).float().reshape(-1, 4))


def cells(region: torch.Tensor) -> set[tuple[int, int]]:
    """The unit squares that are covered: the corners are whole numbers."""
    return {
        (x, y)
        for x1, y1, x2, y2 in region.int().tolist()
        for x in range(x1, x2)
        for y in range(y1, y2)
    }


@LAW
@given(st.lists(regions, min_size=1, max_size=4))
def test_the_distance_is_that_of_the_covered_areas(some: list[Any]) -> None:
    found = METRIC.pairwise(some, some)
    for i, j in np.ndindex(found.shape):
        a, b = cells(some[i]), cells(some[j])
        wanted = 1 - len(a & b) / len(a | b) if a | b else 0.0
        assert wanted <= float(found[i, j]) + 1e-15
        assert float(found[i, j]) == pytest.approx(wanted, abs=1e-12)


@LAW
@given(st.lists(regions, min_size=3, max_size=5))
def test_the_laws_of_a_distance_hold(some: list[Any]) -> None:
    check_laws(METRIC, some)


def test_how_a_region_is_cut_into_boxes_does_not_matter() -> None:
    whole = torch.tensor([[0.0, 0.0, 4.0, 3.0]])
    cut = torch.tensor([[0.0, 0, 1, 3], [1, 0, 4, 2], [1, 1, 4, 3], [2, 0, 3, 1], [2, 2, 2, 3]])
    other = torch.tensor([[2.0, 1.0, 6.0, 5.0]])
    assert METRIC(whole, cut) == pytest.approx(0, abs=1e-13)
    assert METRIC(cut, other) == pytest.approx(METRIC(whole, other), abs=1e-13)
    assert METRIC(cut, cut) == 0


def test_single_boxes_have_the_jaccard_distance_of_boxes() -> None:
    low = torch.rand(20, 2, generator=generator(1), dtype=torch.float64) * 50
    high = low + torch.rand(20, 2, generator=generator(2), dtype=torch.float64) * 40
    some = torch.cat((low, high), dim=1)
    both = METRIC.pairwise(some[:, None], some[:, None]), BoxJaccard().pairwise(some, some)
    torch.testing.assert_close(*both, rtol=0, atol=1e-12)
    assert bool((both[0] >= both[1] - 1e-15).all())


def test_no_box_and_boxes_without_area_are_the_empty_region() -> None:
    box, flat = torch.tensor([[0.0, 0.0, 2.0, 2.0]]), torch.tensor([[1.0, 1.0, 1.0, 5.0]])
    assert METRIC(NONE, NONE) == METRIC(NONE, flat) == METRIC(flat, NONE) == 0
    assert METRIC(NONE, box) == METRIC(box, flat) == 1 == METRIC.diameter
    assert METRIC([], box) == 1


def test_what_has_no_area_to_compare_is_refused_or_invalid() -> None:
    with refused(OutputError, "boxes of shape (n, 4)", "(4,)", "(0, 4)"):
        METRIC.collate([torch.zeros(4)])
    bad = [torch.tensor([row]) for row in ([0, 0, math.nan, 1], [2, 0, 1, 1], [0, 0, 1, 1])]
    assert METRIC.collate(bad).valid.tolist() == [False, False, True]
