from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from centersmooth.errors import ArgumentError, OutputError
from centersmooth.metrics import LabelJaccard, MaskJaccard
from metric_laws import check_laws, generator
from refusals import refused

LAW = settings(derandomize=True, deadline=None, max_examples=80)
maps = st.lists(st.integers(0, 3), min_size=6, max_size=6).map(torch.tensor)


def naive(a: torch.Tensor, b: torch.Tensor, classes: Any, how: str) -> float:
    found = []
    for label in classes:
        union = int(((a == label) | (b == label)).sum())
        if union:
            found.append(1 - int(((a == label) & (b == label)).sum()) / union)
    if not found:
        return 0.0
    return max(found) if how == "max" else sum(found) / len(found)


@pytest.mark.parametrize("how", ["mean", "max"])
@LAW
@given(st.lists(maps, min_size=3, max_size=6))
def test_the_distance_has_its_formula_and_obeys_its_laws(how: str, some: list[Any]) -> None:
    block = torch.stack(some)
    for classes in ((0, 1, 2, 3), (1, 3)):
        metric = LabelJaccard(classes, how=how)
        found = metric.pairwise(block, block)
        for i, j in np.ndindex(found.shape):
            wanted = naive(some[i], some[j], classes, how)
            assert float(found[i, j]) == pytest.approx(wanted, abs=1e-14)
        check_laws(metric, block)


def test_a_single_class_is_the_jaccard_distance_of_its_masks() -> None:
    some = torch.randint(0, 3, (6, 9, 11), generator=generator(4))
    one = LabelJaccard((2,)).pairwise(some, some)
    torch.testing.assert_close(one, MaskJaccard().pairwise(some == 2, some == 2))


def test_maps_that_show_none_of_the_classes_agree() -> None:
    metric = LabelJaccard((5, 6))
    none, some = torch.zeros(4, 4, dtype=torch.long), torch.full((4, 4), 5)
    assert metric(none, none + 1) == 0
    assert metric(none, some) == 1 == metric.diameter


def test_labels_come_as_any_whole_numbers() -> None:
    some = torch.randint(0, 3, (4, 5, 5), generator=generator(5))
    metric = LabelJaccard(range(3))
    for form in (some.byte(), some.float(), some.double(), list(some), some.numpy()):
        assert torch.equal(metric.pairwise(form, some), metric.pairwise(some, some))
    assert metric == LabelJaccard((0, 1, 2))


def test_what_is_no_map_of_labels_is_refused_or_invalid() -> None:
    metric = LabelJaccard((0, 1))
    with refused(OutputError, "whole class labels", "argmax"):
        metric.collate(torch.rand(2, 4, 4))
    assert metric.collate(torch.tensor([[0.0, math.nan], [0.0, 1.0]])).valid.tolist() == [
        False,
        True,
    ]
    with refused(OutputError, "one size"):
        metric.pairwise(torch.zeros(1, 400), torch.zeros(1, 9))


@pytest.mark.parametrize(
    ("classes", "how", "word"),
    [
        ((), "mean", "whole numbers"),
        ((1, 1), "mean", "whole numbers"),
        ((0.5,), "mean", "0.5"),
        ("road", "mean", "road"),
        (3, "mean", "whole numbers"),
        ((0, 1), "median", "how='mean'"),
    ],
)
def test_options_that_make_no_sense_are_refused(classes: Any, how: str, word: str) -> None:
    with refused(ArgumentError, word):
        LabelJaccard(classes, how=how)
