from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from centersmooth.errors import OutputError
from centersmooth.metrics import Dice, MaskJaccard
from metric_laws import check_laws
from refusals import refused

LAW = settings(derandomize=True, deadline=None, max_examples=60)
METRIC = Dice()
masks = st.lists(st.booleans(), min_size=5, max_size=5).map(torch.tensor)


@LAW
@given(st.lists(masks, min_size=3, max_size=6))
def test_the_distance_has_its_formula_and_obeys_its_laws(some: list[torch.Tensor]) -> None:
    block = torch.stack(some)
    found = METRIC.pairwise(block, block)
    for i, j in np.ndindex(found.shape):
        total = int(some[i].sum() + some[j].sum())
        wanted = 1 - 2 * int((some[i] & some[j]).sum()) / total if total else 0.0
        assert float(found[i, j]) == pytest.approx(wanted, abs=1e-15)
    check_laws(METRIC, block)


def test_lengths_are_jaccard_distances_which_need_no_gamma() -> None:
    a, b = torch.tensor([[1, 1, 0, 0.0]]), torch.tensor([[1, 0, 1, 0.0]])
    rho = METRIC.lengths(METRIC.collate(a).rows, METRIC.collate(b).rows)
    assert float(rho) == MaskJaccard()(a[0], b[0]) == pytest.approx(2 / 3)
    assert METRIC(a[0], b[0]) == pytest.approx(1 / 2)
    assert METRIC.gamma == 1


def test_three_halves_is_the_published_gamma_and_no_less_would_do() -> None:
    one, both, other = (torch.tensor(m) for m in ([1.0, 0.0], [1.0, 1.0], [0.0, 1.0]))
    detour = METRIC(one, both) + METRIC(both, other)
    assert METRIC(one, other) == pytest.approx(METRIC.published_gamma * detour)


def test_lengths_beyond_every_distance_have_the_largest_value() -> None:
    """A bound adds lengths up: R + t may exceed the diameter of Jaccard, or be infinite."""
    assert METRIC.value(np.array([0.0, 0.5, 1.0, 1.7, 2.0, np.inf])).tolist() == [
        0.0,
        1 / 3,
        1.0,
        1.0,
        1.0,
        1.0,
    ]


def test_the_empty_mask() -> None:
    none, some = torch.zeros(3, 3), torch.eye(3)
    assert METRIC(none, none) == 0
    assert METRIC(none, some) == 1 == METRIC.diameter
    with refused(OutputError, "masks of 0 and 1"):
        METRIC.collate(torch.full((1, 3), 0.5))
