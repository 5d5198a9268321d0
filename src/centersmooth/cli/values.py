"""Values of options: numbers, levels, and the metrics that have a name on the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
import typer

from centersmooth import metrics
from centersmooth.errors import ArgumentError, BudgetError, InputError
from centersmooth.metrics import Metric
from centersmooth.models import Model
from centersmooth.noise import Gaussian

METRICS: dict[str, Callable[[], Metric]] = {
    "l1": metrics.L1,
    "l2": metrics.L2,
    "squared-l2": metrics.SquaredL2,
    "tv": metrics.TotalVariation,
    "angular": metrics.Angular,
    "cosine": metrics.Cosine,
    "discrete": metrics.Discrete,
    "box-jaccard": metrics.BoxJaccard,
    "mask-jaccard": metrics.MaskJaccard,
    "set-jaccard": metrics.SetJaccard,
}
"""Metrics that need no numbers of their own; the others want a study file."""
JACCARD = "jaccard"
NAMES = ", ".join((JACCARD, *METRICS))


def metric_named(name: str, example: Callable[[], Any], hint: str = "--metric") -> Metric:
    """The metric; `jaccard` is the one for boxes, sets or masks, whichever the example is."""
    if name == JACCARD:
        return _jaccard_for(example())
    if name not in METRICS:
        problem = f"expected one of {NAMES}, got {name!r}. Others want a study file."
        raise typer.BadParameter(problem, param_hint=hint)
    return METRICS[name]()


def _jaccard_for(output: Any) -> Metric:
    if isinstance(output, (set, frozenset)):
        return metrics.SetJaccard()
    shape = tuple(getattr(output, "shape", (0,)))
    if shape == (4,) or (len(shape) == 2 and shape[1] == 4 and shape[0] <= 1):
        return metrics.BoxJaccard()
    return metrics.MaskJaccard()


def first_output(model: Callable[[Any], Any], x: torch.Tensor) -> Any:
    """What the model says to one input."""
    wrapped = Model(model, None)
    wrapped.begin()
    return wrapped(wrapped.place(x)[None])[0]


def numbers(text: str, hint: str) -> tuple[float, ...]:
    """`0.1,0.2` as numbers."""
    try:
        found = tuple(float(part) for part in text.split(",") if part.strip())
    except ValueError:
        found = ()
    if not found:
        problem = f"expected numbers like 0.1,0.2, got {text!r}."
        raise typer.BadParameter(problem, param_hint=hint)
    return found


def noises(text: str, hint: str = "--sigma") -> list[Gaussian]:
    """`0.25,0.5` as noises."""
    with blamed(hint):
        return [Gaussian(sigma) for sigma in numbers(text, hint)]


def pair(text: str | None, hint: str) -> tuple[float, float] | None:
    """`0,1` as two numbers."""
    if text is None:
        return None
    found = numbers(text, hint)
    if len(found) != 2 or not found[0] < found[1]:
        problem = f"expected two rising numbers like 0,1, got {text!r}."
        raise typer.BadParameter(problem, param_hint=hint)
    return found[0], found[1]


@contextmanager
def blamed(hint: str, budget: str = "'--samples' / '--eps'") -> Iterator[None]:
    """An option's value that makes no sense is an error of usage that names the option."""
    try:
        yield
    except BudgetError as error:
        raise typer.BadParameter(str(error), param_hint=budget) from error
    except (ArgumentError, InputError) as error:
        raise typer.BadParameter(str(error), param_hint=hint) from error
