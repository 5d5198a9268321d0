from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from centersmooth.errors import ArgumentError, OutputError
from centersmooth.metrics import BoundaryHausdorff
from metric_laws import check_laws
from refusals import refused

LAW = settings(derandomize=True, deadline=None, max_examples=60)
METRIC = BoundaryHausdorff()
SIDE = 5
masks = st.lists(st.booleans(), min_size=SIDE * SIDE, max_size=SIDE * SIDE).map(
    lambda bits: torch.tensor(bits).reshape(SIDE, SIDE)
)


def outline(mask: torch.Tensor) -> list[tuple[int, int]]:
    def inside(y: int, x: int) -> bool:
        return 0 <= y < mask.shape[0] and 0 <= x < mask.shape[1] and bool(mask[y, x])

    steps = ((0, 1), (1, 0), (0, -1), (-1, 0))
    return [
        (y, x)
        for y, x in itertools.product(range(mask.shape[0]), range(mask.shape[1]))
        if mask[y, x] and not all(inside(y + dy, x + dx) for dy, dx in steps)
    ]


def naive(a: torch.Tensor, b: torch.Tensor) -> float:
    one, other = outline(a), outline(b)
    if not one or not other:
        return 0.0 if not one and not other else math.inf

    def beyond(x: list[tuple[int, int]], y: list[tuple[int, int]]) -> float:
        return max(min(math.dist(p, q) for q in y) for p in x)

    return max(beyond(one, other), beyond(other, one))


@LAW
@given(st.lists(masks, min_size=1, max_size=4))
def test_the_distance_is_that_of_the_outlines(some: list[torch.Tensor]) -> None:
    block = torch.stack(some)
    found = METRIC.pairwise(block, block)
    for i, j in np.ndindex(found.shape):
        assert float(found[i, j]) == naive(some[i], some[j])


@LAW
@given(st.lists(masks, min_size=3, max_size=5))
def test_the_laws_of_a_distance_hold_with_a_cutoff(some: list[torch.Tensor]) -> None:
    check_laws(BoundaryHausdorff(cutoff=4.0), torch.stack(some))


def test_the_empty_mask_is_at_the_cutoff() -> None:
    none, some = torch.zeros(8, 8), torch.eye(8)
    assert METRIC(none, none) == BoundaryHausdorff(3)(none, none) == 0
    assert METRIC(none, some) == math.inf == METRIC.diameter
    assert BoundaryHausdorff(3)(some, none) == 3 == BoundaryHausdorff(3).diameter


def test_masks_with_one_outline_are_at_distance_0() -> None:
    disc = torch.zeros(9, 9)
    disc[1:8, 1:8] = 1
    rim, thick = disc.clone(), disc.clone()
    rim[2:7, 2:7] = 0
    thick[4, 4] = 0
    assert METRIC(disc, rim) == 0
    assert METRIC(disc, thick) == 2  # its hole has an edge of its own


def test_masks_come_as_numbers_or_booleans_with_or_without_a_channel() -> None:
    mask = torch.zeros(2, 6, 6)
    mask[0, 1:4, 1:4] = 1
    mask[1, 2:5, 2:5] = 1
    wanted = METRIC.pairwise(mask, mask)
    assert float(wanted[0, 1]) == pytest.approx(math.sqrt(2))
    for form in (mask.bool(), mask.long(), mask[:, None], list(mask)):
        assert torch.equal(METRIC.pairwise(form, mask), wanted)


def test_what_is_no_mask_is_refused_or_invalid() -> None:
    with refused(OutputError, "masks of 0 and 1", "Threshold"):
        METRIC.collate(torch.rand(2, 4, 4))
    with refused(OutputError, "shape (H, W)", "(3, 4, 4)"):
        METRIC.collate(torch.zeros(2, 3, 4, 4))
    with refused(OutputError, "one size"):
        METRIC.pairwise(torch.zeros(1, 4, 4), torch.zeros(1, 5, 5))
    with refused(ArgumentError, "diameter > 0"):
        BoundaryHausdorff(cutoff=0)
    bad = torch.zeros(2, 3, 3)
    bad[0, 0, 0] = math.nan
    assert METRIC.collate(bad).valid.tolist() == [False, True]
