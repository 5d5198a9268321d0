from __future__ import annotations

import inspect

import pytest

from centersmooth import errors

TREE = [
    kind
    for kind in vars(errors).values()
    if inspect.isclass(kind) and issubclass(kind, errors.CentersmoothError)
]


def test_a_message_says_what_was_expected_what_came_and_what_to_do() -> None:
    assert errors.expected("a box", 3, "Give one.") == "expected a box, got 3. Give one."


@pytest.mark.parametrize("kind", TREE)
def test_every_error_can_be_caught_as_one_of_ours(kind: type[Exception]) -> None:
    assert issubclass(kind, errors.CentersmoothError)
    assert inspect.getdoc(kind)


@pytest.mark.parametrize(
    ("kind", "builtin"),
    [
        (errors.ArgumentError, ValueError),
        (errors.InputError, ValueError),
        (errors.OutputError, errors.ModelError),
        (errors.TrainingModeError, errors.ModelError),
        (errors.BatchDependenceError, errors.ModelError),
        (errors.ModelError, RuntimeError),
        (errors.BudgetError, ValueError),
        (errors.FormatError, ValueError),
    ],
)
def test_errors_are_also_what_a_stranger_would_catch(
    kind: type[Exception], builtin: type[Exception]
) -> None:
    assert issubclass(kind, builtin)


def test_an_error_without_a_run_carries_nothing_to_resume() -> None:
    assert errors.ModelError("x").unfinished is None
