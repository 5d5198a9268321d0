"""A study checks what it is given before anything is sampled."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from centersmooth.errors import ArgumentError, BudgetError
from centersmooth.study import Study
from refusals import refused
from small_studies import inputs, model, published, setting, study


def test_jobs_take_one_input_after_the_other() -> None:
    own = study(2, [setting("a"), published("b", only=(1,)), setting("c")])
    assert own.draws == (0, 1, 0)
    assert own.groups() == {0: (0, 2), 1: (1,)}
    assert list(own.jobs()) == [(0, 0), (1, 0), (1, 1)]


def test_targets_and_models_of_a_setting_come_before_those_of_the_study() -> None:
    def other(batch: torch.Tensor) -> torch.Tensor:
        return batch

    own = study(
        2,
        [setting("a"), setting("b", targets=[None, "own"], model=other, version="2")],
        targets=["x", "y"],
        version="1",
    )
    assert [own.target(0, 1), own.target(1, 0), own.target(1, 1)] == ["y", None, "own"]
    assert [s.model for s in own.settings] == [model, other]
    assert [s.version for s in own.settings] == ["1", "2"]


def test_names_are_numbers_unless_given() -> None:
    assert study(2).name(1) == "1"
    assert study(2, names=["a", "b\udcff"]).name(1) == "b\\udcff"


@pytest.mark.parametrize(
    ("count", "options", "words"),
    [
        (0, {}, ["one input"]),
        (2, {"targets": [1]}, ["2 targets", "got 1"]),
        (2, {"names": ["a"]}, ["2 names"]),
        (2, {"settings": []}, ["one setting"]),
        (2, {"settings": [setting("a"), setting("a")]}, ["'a'", "name of its own"]),
        (2, {"settings": ["l2"]}, ["cs.Setting", "str"]),
        (2, {"settings": [setting(targets=[1])]}, ["2 targets of 'l2'"]),
        (2, {"settings": [setting(only=[2])]}, ["from 0 to 1", "got 2"]),
        (2, {"model": None}, ["a model for setting 'l2'"]),
        (2, {"model": 3}, ["callable"]),
        (2, {"batch_size": 0}, ["batch_size"]),
        (2, {"seed": -1}, ["seed"]),
        (2, {"input_range": (1, 0)}, ["low < high"]),
        (2, {"save_every": 0}, ["save_every"]),
    ],
)
def test_what_makes_no_sense_is_refused(
    count: int, options: dict[str, Any], words: list[str]
) -> None:
    with refused(ArgumentError, *words):
        study(count, **options)


def test_inputs_without_a_length_are_refused() -> None:
    with refused(ArgumentError, "inputs with a length", "generator"):
        Study((x for x in inputs(2)), [setting()], model=model)  # type: ignore[arg-type]


def test_a_budget_that_cannot_do_is_refused_before_anything_runs() -> None:
    with pytest.raises(BudgetError):
        study(1, [setting(eps=(0.9,))])


def test_an_executor_that_is_none_is_refused(tmp_path: Any) -> None:
    with refused(ArgumentError, "executor", "'ray'"):
        study(1).run(tmp_path, on="ray")  # type: ignore[arg-type]
