"""`centersmooth plan`: what a budget can certify, before any of it is spent."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from centersmooth.cli.options import (
    Alpha,
    AnswerSamples,
    BatchSize,
    Eps,
    ModelRange,
    Samples,
    Sigma,
)


def plan(
    sigma: Sigma,
    eps: Eps,
    metric: Annotated[
        str, typer.Option(help="As for certify; how an answer is made follows from it.")
    ] = "l2",
    samples: Samples = 4_000,
    answer_samples: AnswerSamples = 999,
    alpha: Alpha = 0.01,
    model: Annotated[
        str | None,
        typer.Option(help="With --inputs: measures the model's speed here, in half a second."),
    ] = None,
    inputs: Annotated[
        Path | None, typer.Option(help="As for certify; only the first one is used.")
    ] = None,
    value_range: ModelRange = None,
    batch_size: BatchSize = None,
) -> None:
    """Tell what a number of samples can certify, and in what time, before it is spent.

    For each attack size: whether these samples can certify it, whatever the model; what their
    being finite costs; and the fewest samples that could.
    """
    from centersmooth.cli import values
    from centersmooth.planning import plan as planned
    from centersmooth.smoother import Smoother

    if (model is None) != (inputs is None):
        raise typer.BadParameter("expected both or none of them.", param_hint="--model / --inputs")
    function, x = _measured_on(model, inputs)
    attacks = values.numbers(eps, "--eps")
    distance = values.metric_named(metric, lambda: None if x is None else _says(function, x))
    for noise in values.noises(sigma):
        with values.blamed("'--alpha' / '--eps' / '--range'"):
            smoother = Smoother(
                function,
                noise,
                distance,
                answer_samples=answer_samples,
                input_range=values.pair(value_range, "--range"),
                batch_size=batch_size,
                progress=False,
            )
            typer.echo(f"{planned(smoother, attacks, samples, alpha, x)}\n")


def _measured_on(model: str | None, inputs: Path | None) -> tuple[Any, Any]:
    """The model and an input; without them a model that is never called."""
    if model is None or inputs is None:
        return _never_called, None
    from centersmooth.cli.inputs import load_inputs
    from centersmooth.cli.loading import load_model

    return load_model(model), load_inputs(inputs, limit=1)[0]


def _says(function: Any, x: Any) -> Any:
    from centersmooth.cli.values import first_output

    return first_output(function, x)


def _never_called(batch: Any) -> Any:
    return batch
