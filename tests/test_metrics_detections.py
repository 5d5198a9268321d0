from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from centersmooth.errors import ArgumentError, OutputError
from centersmooth.metrics import OSPA, BoxJaccard
from metric_laws import check_laws
from refusals import refused

LAW = settings(derandomize=True, deadline=None, max_examples=30)
NONE = torch.zeros(0, 4)
METRICS = [
    OSPA(),
    OSPA(order=2, score_weight=0.3),
    OSPA(cutoff=0.5),
    OSPA(cutoff=6, base="center", score_weight=1),
]
numbers = st.integers(0, 9).map(float)
corners = st.tuples(numbers, numbers, numbers, numbers)
rows = st.tuples(corners, st.integers(0, 1), st.sampled_from([0.25, 0.5, 1.0]))


def detections(some: list[Any]) -> dict[str, torch.Tensor]:
    boxes = [
        [min(c[0], c[2]), min(c[1], c[3]), max(c[0], c[2]), max(c[1], c[3])] for c, _, _ in some
    ]
    return {
        "boxes": torch.tensor(boxes).reshape(-1, 4),
        "labels": torch.tensor([label for _, label, _ in some], dtype=torch.long),
        "scores": torch.tensor([score for _, _, score in some]),
    }


sets = st.lists(rows, max_size=4).map(detections)


def naive(metric: OSPA, a: dict[str, torch.Tensor], b: dict[str, torch.Tensor]) -> float:
    """By the definition, with scipy's assignment."""
    m, n = len(a["boxes"]), len(b["boxes"])
    if max(m, n) == 0:
        return 0.0
    costs = np.zeros((m, n))
    for i, j in np.ndindex(m, n):
        x, y = a["boxes"][i], b["boxes"][j]
        if metric.base == "iou":
            error = BoxJaccard()(x, y)
        else:
            error = float(((x[:2] + x[2:]) / 2 - (y[:2] + y[2:]) / 2).norm())
        error += metric.score_weight * abs(float(a["scores"][i] - b["scores"][j]))
        same = bool(a["labels"][i] == b["labels"][j])
        costs[i, j] = min(metric.cutoff, error) if same else metric.cutoff
    powers = costs**metric.order
    total = powers[linear_sum_assignment(powers)].sum()
    total += metric.cutoff**metric.order * abs(m - n)
    return float((total / max(m, n)) ** (1 / metric.order))


@LAW
@given(st.lists(sets, min_size=1, max_size=3))
def test_the_distance_is_that_of_the_best_pairing(some: list[Any]) -> None:
    for metric in METRICS:
        found = metric.pairwise(some, some)
        for i, j in np.ndindex(found.shape):
            wanted = naive(metric, some[i], some[j])
            assert float(found[i, j]) == pytest.approx(wanted, abs=1e-6)


def test_large_sets_are_paired_best_too() -> None:
    rng = np.random.default_rng(5)

    def crowd(size: int) -> dict[str, torch.Tensor]:
        low = rng.uniform(0, 50, (size, 2))
        boxes = torch.from_numpy(np.hstack((low, low + rng.uniform(5, 25, (size, 2)))))
        return {"boxes": boxes, "labels": torch.zeros(size), "scores": torch.ones(size)}

    some = [crowd(size) for size in (20, 14, 20)]
    for metric in METRICS:
        found = metric.pairwise(some, some)
        for i, j in itertools.combinations(range(3), 2):
            assert float(found[i, j]) == pytest.approx(naive(metric, some[i], some[j]), rel=1e-12)


@LAW
@given(st.lists(sets, min_size=3, max_size=4))
def test_the_laws_of_a_distance_hold(some: list[Any]) -> None:
    for metric in METRICS:
        check_laws(metric, some)


def test_no_detection_is_as_far_as_can_be_from_any() -> None:
    box = torch.tensor([[0.0, 0.0, 2.0, 2.0]])
    for metric in METRICS:
        assert metric(NONE, NONE) == 0
        assert metric(NONE, box) == metric(box, NONE) == pytest.approx(metric.cutoff)
        assert metric.diameter == metric.cutoff
    assert OSPA()(box, torch.cat((box, box + 5))) == pytest.approx(0.5)


def test_labels_and_scores_count_where_they_are_given() -> None:
    box = torch.tensor([[0.0, 0.0, 2.0, 2.0]])
    plain = {"boxes": box}
    one, other = ({"boxes": box, "labels": torch.tensor([k])} for k in (1, 2))
    assert OSPA()(plain, box) == 0
    assert OSPA()(one, one) == 0
    assert OSPA()(one, other) == 1
    faint = {"boxes": box, "scores": torch.tensor([0.3])}
    assert OSPA()(faint, plain) == 0
    assert OSPA(score_weight=0.5)(faint, plain) == pytest.approx(0.35)
    assert OSPA(min_score=0.5)(faint, NONE) == 0
    assert OSPA(min_score=0.5)(faint, plain) == 1


def test_nearly_equal_boxes_keep_all_digits() -> None:
    box = torch.tensor([[100.0, 100.0, 200.0, 200.0]], dtype=torch.float64)
    moved = box + torch.tensor([0.0, 0.0, 1e-11, 0.0], dtype=torch.float64)
    shift = float(moved[0, 2] - 200)
    assert OSPA()(box, moved) == pytest.approx(shift / 100, rel=1e-9)
    assert OSPA()(box, box) == 0


def test_what_is_no_set_of_detections_is_refused() -> None:
    boxes = torch.zeros(2, 4)
    with refused(OutputError, "boxes of shape (n, 4)", "(2, 5)"):
        OSPA().collate([torch.zeros(2, 5)])
    with refused(OutputError, "detections with boxes", "'labels'"):
        OSPA().collate([{"labels": torch.zeros(2)}])
    with refused(OutputError, "as many scores as boxes", "3 for 2"):
        OSPA().collate([{"boxes": boxes, "scores": torch.zeros(3)}])
    with refused(OutputError, "detections as numbers", "list"):
        OSPA().collate([{"boxes": boxes, "labels": ["cat", "dog"]}])


def test_detections_without_meaning_are_invalid() -> None:
    good = torch.tensor([[0.0, 0.0, 1.0, 1.0]])
    outputs = [
        good,
        good * math.nan,
        torch.tensor([[1.0, 0.0, 0.0, 1.0]]),
        {"boxes": good, "scores": torch.tensor([math.nan])},
        NONE,
    ]
    block = OSPA().collate(outputs)
    assert block.valid.tolist() == [True, False, False, False, True]
    assert OSPA().measure(block, block)[0].tolist() == [0, math.inf, math.inf, math.inf, 1]


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"cutoff": 0}, "cutoff"),
        ({"cutoff": math.inf}, "cutoff"),
        ({"order": 0.5}, "order"),
        ({"order": math.inf}, "order"),
        ({"base": "giou"}, "base='iou'"),
        ({"score_weight": -1}, "score_weight"),
    ],
)
def test_options_that_make_no_metric_are_refused(options: dict[str, Any], word: str) -> None:
    with refused(ArgumentError, word):
        OSPA(**options)


@pytest.mark.parametrize("order", [1.0, 2.0, 64.0, 300.0])
@pytest.mark.parametrize("cutoff", [1e-3, 1.0, 1e6])
def test_powers_neither_vanish_nor_overflow(order: float, cutoff: float) -> None:
    """Two boxes moved by one and by two thousandths of the cut-off: the mean of order p."""
    boxes = torch.tensor([[0.0, 0, 2, 2], [50, 50, 52, 52]], dtype=torch.float64)
    moves = cutoff * torch.tensor([[1e-3], [2e-3]], dtype=torch.float64)
    moved = boxes + moves * torch.tensor([1.0, 0, 1, 0], dtype=torch.float64)
    wanted = 2e-3 * ((1 + 0.5**order) / 2) ** (1 / order)
    metric = OSPA(cutoff=cutoff, order=order, base="center")
    assert metric(boxes, moved) / cutoff == pytest.approx(wanted, rel=1e-6)
    assert metric(boxes, boxes[:1]) == pytest.approx(cutoff * 0.5 ** (1 / order))
