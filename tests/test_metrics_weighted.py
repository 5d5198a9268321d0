from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from centersmooth.errors import OutputError
from centersmooth.metrics import SetJaccard, WeightedJaccard
from metric_laws import check_laws, generator
from refusals import refused

LAW = settings(derandomize=True, deadline=None, max_examples=60)
METRIC = WeightedJaccard()
bags = st.dictionaries(st.sampled_from(["a", "b", 3, (4, 5)]), st.integers(0, 5), max_size=4)


def naive(a: dict[Any, float], b: dict[Any, float]) -> float:
    items = {*a, *b}
    least = sum(min(a.get(i, 0), b.get(i, 0)) for i in items)
    most = sum(max(a.get(i, 0), b.get(i, 0)) for i in items)
    return 1 - least / most if most else 0.0


@LAW
@given(st.lists(bags, min_size=3, max_size=5))
def test_the_distance_has_its_formula_and_obeys_its_laws(some: list[Any]) -> None:
    found = METRIC.pairwise(some, some)
    for i, j in np.ndindex(found.shape):
        assert float(found[i, j]) == pytest.approx(naive(some[i], some[j]), abs=1e-12)
    check_laws(METRIC, some)


def test_tensors_of_weights_are_compared_place_by_place() -> None:
    some = torch.rand(8, 3, 4, generator=generator(1)) ** 4
    bags_of = [dict(enumerate(row.flatten().tolist())) for row in some]
    torch.testing.assert_close(METRIC.pairwise(some, some), METRIC.pairwise(bags_of, bags_of))
    check_laws(METRIC, some)


def test_weights_of_one_are_plain_sets() -> None:
    a, b = {"x", "y"}, {"y", "z", "w"}
    one, other = Counter(a), Counter(b)
    assert METRIC(one, other) == pytest.approx(SetJaccard()(a, b))


def test_nothing_and_weights_of_nothing_are_empty() -> None:
    assert METRIC({}, {}) == METRIC({}, {"a": 0}) == 0
    assert METRIC({"a": 0}, {"a": 2}) == METRIC({}, {"a": 2}) == 1 == METRIC.diameter
    assert METRIC(torch.zeros(3), torch.zeros(3)) == 0
    assert METRIC(torch.zeros(3), torch.ones(3)) == 1


def test_what_has_no_weights_is_refused_or_invalid() -> None:
    with refused(OutputError, "weights >= 0", "-1"):
        METRIC.collate([{"a": -1}, {}])
    with refused(OutputError, "weights >= 0", "-2"):
        METRIC.collate(torch.tensor([[-2.0, 1.0]]))
    with refused(OutputError, "a mapping to weights", "list"):
        METRIC.collate([{"a": 1}, ["a"]])
    with refused(OutputError, "a mapping to weights", "number"):
        METRIC.collate([{"a": "heavy"}])
    with refused(OutputError, "mappings only"):
        METRIC.pairwise([{"a": 1}], torch.ones(1, 2))
    assert METRIC.collate([{"a": math.nan}, {"a": 1}]).valid.tolist() == [False, True]
    assert METRIC.collate(torch.tensor([[math.inf], [1.0]])).valid.tolist() == [False, True]
