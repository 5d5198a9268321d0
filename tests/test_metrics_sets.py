from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from centersmooth.errors import OutputError
from centersmooth.metrics import SetJaccard
from metric_laws import check_laws
from refusals import refused

LAW = settings(derandomize=True, deadline=None, max_examples=60)
METRIC = SetJaccard()
sets = st.frozensets(st.sampled_from(["a", "b", 1, 2, (3, 4), None]))


def naive(a: frozenset[Any], b: frozenset[Any]) -> float:
    return 1 - len(a & b) / len(a | b) if a | b else 0.0


@LAW
@given(st.lists(sets, max_size=4), st.lists(sets, max_size=4))
def test_the_distance_is_one_minus_intersection_over_union(a: list[Any], b: list[Any]) -> None:
    found = METRIC.pairwise(a, b)
    assert found.shape == (len(a), len(b))
    for i, j in np.ndindex(found.shape):
        assert float(found[i, j]) == pytest.approx(naive(a[i], b[j]), abs=1e-15)


@LAW
@given(st.lists(sets, min_size=3, max_size=5))
def test_the_laws_of_a_distance_hold(some: list[Any]) -> None:
    check_laws(METRIC, some)


def test_empty_sets_agree_and_the_diameter_is_attained() -> None:
    assert METRIC(set(), set()) == 0
    assert METRIC(set(), {1}) == METRIC({1}, set()) == 1 == METRIC.diameter
    assert METRIC.pairwise([set(), set()], [set()]).tolist() == [[0.0], [0.0]]


def test_any_collection_of_items_is_a_set() -> None:
    for form in ([1, 2, 2], (2, 1), {1: "x", 2: "y"}, torch.tensor([1, 2]), np.array([1, 2])):
        assert METRIC(form, {1, 2, 3}) == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("output", "word"),
    [("word", "str"), (3, "int"), (None, "NoneType"), ([[1], [2]], "unhashable"), ([{}], "dict")],
)
def test_what_is_no_set_is_refused(output: Any, word: str) -> None:
    with refused(OutputError, "a finite set", word):
        METRIC.collate([output])


def test_blocks_know_nothing_of_each_other() -> None:
    """Items are numbered per comparison: the same pair is as far in any company."""
    a, b = METRIC.collate([{1, 2}, {9}]), METRIC.collate([{2, 3}])
    alone = METRIC.measure(a.take(0, 1), b)
    assert METRIC.measure(a, b)[0, 0] == alone[0, 0] == pytest.approx(2 / 3)


def test_a_set_with_nan_is_invalid() -> None:
    outputs = [{1.0, 2.0}, {1.0, math.nan}, torch.tensor([math.nan]), set()]
    assert SetJaccard().collate(outputs).valid.tolist() == [True, False, False, True]
