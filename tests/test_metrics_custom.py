from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from centersmooth.errors import ArgumentError, OutputError
from centersmooth.metrics import Custom
from metric_laws import check_laws
from refusals import refused


def gap(a: Any, b: Any) -> float:
    return abs(float(a) - float(b))


def squared(a: Any, b: Any) -> float:
    return gap(a, b) ** 2


def test_the_function_is_the_distance() -> None:
    metric = Custom(gap)
    assert metric(1.0, 3.5) == 2.5
    assert metric.pairwise([1, 2], torch.tensor([4.0])).tolist() == [[3.0], [2.0]]
    assert metric.pairwise([], [1]).shape == (0, 1)
    assert metric.name == "gap"
    check_laws(metric, [0.0, 1.5, -3.0, 1.5])


def test_a_relaxation_is_both_procedures_relaxation() -> None:
    metric = Custom(squared, relaxation=2)
    assert metric.gamma == metric.published_gamma == 2
    check_laws(metric, [0.0, 1.5, -3.0, 7.0])
    for bad in (0.5, 0, math.nan):
        with refused(ArgumentError, "relaxation >= 1"):
            Custom(squared, relaxation=bad)


def test_a_distance_that_cannot_be_called_is_refused() -> None:
    with refused(ArgumentError, "a callable distance", "'l2'"):
        Custom("l2")  # type: ignore[arg-type]


def test_a_diameter_caps_the_distance() -> None:
    assert Custom(gap, diameter=2.0)(0, 10) == 2.0
    with refused(ArgumentError, "diameter > 0"):
        Custom(gap, diameter=0)


@pytest.mark.parametrize("answer", [math.nan, -1.0, -math.inf])
def test_a_function_that_is_no_distance_is_refused(answer: float) -> None:
    with refused(OutputError, "distances >= 0", "empty output"):
        Custom(lambda a, b: answer)(1, 2)


def test_negative_zero_is_a_distance() -> None:
    assert Custom(lambda a, b: -0.0)(1, 2) == 0.0


def test_an_output_that_failed_is_far_and_never_shown_to_the_function() -> None:
    seen = []

    def watched(a: Any, b: Any) -> float:
        seen.extend([a, b])
        return 0.0

    outputs = [torch.tensor([1.0]), torch.tensor([math.nan]), math.inf, None, "text"]
    block = Custom(watched).collate(outputs)
    assert block.valid.tolist() == [True, False, False, True, True]
    lengths = Custom(watched).measure(block, block)
    assert torch.isinf(lengths).sum() == 16
    assert len(seen) == 2 * 9
    assert not any(output is outputs[1] or output is outputs[2] for output in seen)


def test_outputs_of_any_kind_can_be_measured() -> None:
    words = Custom(lambda a, b: float(abs(len(a) - len(b))))
    assert words("one", "three") == 2
    assert words.name == "<lambda>"
    with refused(ArgumentError, "cannot be averaged"):
        words.pool(["a"], 1)


@pytest.mark.parametrize("found", [None, torch.ones(2), "far"])
def test_a_distance_that_is_no_number_is_refused(found: Any) -> None:
    metric = Custom(lambda a, b: found)
    with refused(OutputError, "a number from the distance", "float((a - b).norm())"):
        metric(1.0, 2.0)
