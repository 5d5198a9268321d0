"""Options become numbers and metrics, or say what they should have been."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import typer

import centersmooth as cs
from centersmooth.cli.values import (
    METRICS,
    NAMES,
    blamed,
    first_output,
    metric_named,
    numbers,
    pair,
)
from centersmooth.errors import BudgetError, InputError, StoreError


def test_every_name_makes_the_metric_it_names() -> None:
    for name, make in METRICS.items():
        assert name in NAMES
        assert metric_named(name, lambda: None) == make()
    with pytest.raises(typer.BadParameter, match=r"one of jaccard.*got 'L2'"):
        metric_named("L2", lambda: None)


@pytest.mark.parametrize(
    ("example", "kind"),
    [
        ({"a", "b"}, cs.metrics.SetJaccard),
        (frozenset(), cs.metrics.SetJaccard),
        (torch.zeros(4), cs.metrics.BoxJaccard),
        (torch.zeros(1, 4), cs.metrics.BoxJaccard),
        (torch.zeros(0, 4), cs.metrics.BoxJaccard),
        (torch.zeros(8, 4), cs.metrics.MaskJaccard),
        (torch.zeros(1, 8, 8), cs.metrics.MaskJaccard),
        (None, cs.metrics.MaskJaccard),
    ],
)
def test_jaccard_follows_the_output(example: Any, kind: type) -> None:
    assert type(metric_named("jaccard", lambda: example)) is kind


def test_first_output_is_that_of_the_input_itself() -> None:
    assert first_output(lambda batch: batch + 1, torch.zeros(2)).tolist() == [1.0, 1.0]


def test_numbers_and_pairs() -> None:
    assert numbers("0.1, 2,", "--x") == (0.1, 2.0)
    assert pair("0,1", "--x") == (0.0, 1.0)
    assert pair(None, "--x") is None
    for text in ("", ",", "a", "0.1;0.2"):
        with pytest.raises(typer.BadParameter) as caught:
            numbers(text, "--x")
        assert caught.value.param_hint == "--x"
    for text in ("1", "1,0", "1,1", "0,1,2"):
        with pytest.raises(typer.BadParameter, match="two rising numbers"):
            pair(text, "--x")


def test_only_mistakes_of_usage_are_blamed_on_options() -> None:
    with pytest.raises(typer.BadParameter) as caught, blamed("--x"):
        raise InputError("expected a, got b. Fix.")
    assert caught.value.param_hint == "--x"
    with pytest.raises(typer.BadParameter) as caught, blamed("--x", budget="--y"):
        raise BudgetError("expected a, got b. Fix.")
    assert caught.value.param_hint == "--y"
    with pytest.raises(StoreError), blamed("--x"):
        raise StoreError("expected a, got b. Fix.")
