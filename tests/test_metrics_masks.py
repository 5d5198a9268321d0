from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis.extra.numpy import arrays

from centersmooth.errors import OutputError
from centersmooth.metrics import MaskJaccard
from metric_laws import check_laws
from refusals import refused

LAW = settings(derandomize=True, deadline=None, max_examples=60)
METRIC = MaskJaccard()
masks = arrays(np.bool_, (4, 3, 4))


def naive(a: np.ndarray, b: np.ndarray) -> float:
    shared = sum(bool(p and q) for p, q in zip(a.ravel(), b.ravel(), strict=True))
    union = sum(bool(p or q) for p, q in zip(a.ravel(), b.ravel(), strict=True))
    return 1 - shared / union if union else 0.0


@LAW
@given(masks)
def test_the_distance_is_one_minus_intersection_over_union(batch: np.ndarray) -> None:
    outputs = torch.from_numpy(batch)
    for form in (outputs, outputs.float(), outputs.long(), outputs.half(), list(outputs)):
        found = METRIC.pairwise(form, form)
        for i, j in np.ndindex(4, 4):
            assert float(found[i, j]) == pytest.approx(naive(batch[i], batch[j]), abs=1e-15)


@LAW
@given(masks)
def test_the_laws_of_a_distance_hold(batch: np.ndarray) -> None:
    check_laws(METRIC, torch.from_numpy(batch))


def test_empty_masks_agree_and_the_diameter_is_attained() -> None:
    empty, full = torch.zeros(2, 2), torch.ones(2, 2)
    assert METRIC(empty, empty) == 0
    assert METRIC(empty, full) == METRIC(full, empty) == 1 == METRIC.diameter
    assert METRIC(torch.zeros(0), torch.zeros(0)) == 0


@pytest.mark.parametrize("value", [0.5, 2.0, -1.0])
def test_probabilities_are_refused(value: float) -> None:
    with refused(OutputError, "masks of 0 and 1", f"{value:g}", "probabilities > 0.5"):
        METRIC.collate(torch.tensor([[0.0, value, 1.0]]))


def test_a_mask_with_nan_is_invalid() -> None:
    batch = torch.ones(2, 3)
    batch[1, 1] = math.nan
    assert METRIC.collate(batch).valid.tolist() == [True, False]


def test_masks_of_different_size_are_refused() -> None:
    with refused(OutputError, "one shape"):
        METRIC.collate([torch.zeros(2), torch.zeros(3)])
    with refused(OutputError, "one size", "2 and 3"):
        METRIC(torch.zeros(2), torch.zeros(3))


@pytest.mark.parametrize("dtype", [torch.bool, torch.float32, torch.int64])
def test_pooling_is_a_majority_vote_that_ties_lose(dtype: torch.dtype) -> None:
    votes = torch.tensor([[1, 1, 0], [1, 0, 0], [1, 1, 0], [0, 0, 1]]).to(dtype)
    pooled = METRIC.pool(votes, 4)
    assert pooled.dtype == dtype
    assert pooled.tolist() == [[1, 0, 0]]
