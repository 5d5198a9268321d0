"""`centersmooth certify`: your model, your inputs, one command."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from centersmooth.cli.options import (
    Address,
    Alpha,
    AnswerSamples,
    AsJson,
    BatchSize,
    Eps,
    Goal,
    Gpus,
    Machines,
    ModelRange,
    On,
    Out,
    RetryFailed,
    Samples,
    Sigma,
    Threads,
    Tolerance,
    Workers,
)
from centersmooth.cli.values import NAMES

if TYPE_CHECKING:
    from collections.abc import Callable

    from centersmooth.cli.inputs import Arrays, Folder
    from centersmooth.study import Setting, Study


@dataclass(frozen=True)
class Request:
    """What was asked for, as typed."""

    model: str
    inputs: Path
    metric: str
    sigma: str
    eps: str
    samples: int
    answer_samples: int
    alpha: float
    targets: Path | None
    value_range: str | None
    limit: int | None
    version: str | None
    seed: int | None
    batch_size: int | None
    goal: str | None
    tolerance: float | None


def certify(
    model: Annotated[
        str,
        typer.Option(
            help="The model, as pkg.module:name or file.py:name. A function without arguments is "
            "called to build it."
        ),
    ],
    inputs: Annotated[
        Path,
        typer.Option(
            help="A folder of images (values 0 to 1, channels first) or .npy files; or an .npz or "
            ".npy file whose first axis counts inputs."
        ),
    ],
    metric: Annotated[str, typer.Option(help=f"The distance between outputs: {NAMES}.")],
    sigma: Sigma,
    eps: Eps,
    out: Out = Path("centersmooth-run"),
    samples: Samples = 4_000,
    answer_samples: AnswerSamples = 999,
    alpha: Alpha = 0.01,
    goal: Goal = None,
    tolerance: Tolerance = None,
    targets: Annotated[
        Path | None,
        typer.Option(help="What the model should answer, like --inputs: certifies errors too."),
    ] = None,
    value_range: ModelRange = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Certify the first so many inputs only.")
    ] = None,
    version: Annotated[
        str | None,
        typer.Option("--model-version", help="Names the model's state; a change is refused later."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Fixes all noise; drawn once when left out.")
    ] = None,
    batch_size: BatchSize = None,
    on: On = Machines.serial,
    address: Address = None,
    workers: Workers = None,
    threads: Threads = None,
    gpus: Gpus = None,
    retry_failed: RetryFailed = False,
    as_json: AsJson = False,
) -> None:
    """Certify how far an attack can move a model's outputs, for a set of inputs.

    The run folder keeps every certificate as soon as it is there. Stop any time: the same
    command goes on where it was. Exit code 1 says that some inputs failed.
    """
    from centersmooth.cli.running import carry_out, executor

    machines = executor(on, address, workers, threads, gpus)
    study = study_of(
        Request(
            model=model,
            inputs=inputs,
            metric=metric,
            sigma=sigma,
            eps=eps,
            samples=samples,
            answer_samples=answer_samples,
            alpha=alpha,
            targets=targets,
            value_range=value_range,
            limit=limit,
            version=version,
            seed=seed,
            batch_size=batch_size,
            goal=goal,
            tolerance=tolerance,
        )
    )
    usage = "'--eps' / '--threads'"
    carry_out(study, out, machines, retry_failed=retry_failed, as_json=as_json, usage=usage)


def study_of(request: Request) -> Study:
    """The study that the options describe; what makes no sense names its option."""
    from centersmooth.cli import values
    from centersmooth.cli.inputs import load_inputs
    from centersmooth.cli.loading import load_model
    from centersmooth.study import Study

    allowed = values.pair(request.value_range, "--range")
    settings = _settings(request)
    model, inputs = load_model(request.model), load_inputs(request.inputs, request.limit)
    targets = None
    if request.targets is not None:
        targets = load_inputs(request.targets, request.limit, "--targets")
    if allowed is None and inputs.from_images:
        allowed = (0.0, 1.0)
    metric = values.metric_named(request.metric, lambda: _example(model, inputs))
    with values.blamed("--targets"):
        return Study(
            inputs,
            [setting(metric) for setting in settings],
            model=model,
            version=request.version,
            targets=targets,
            names=inputs.names,
            title=f"{request.model} on {request.inputs.name}",
            input_range=allowed,
            seed=request.seed,
            batch_size=request.batch_size,
        )


def _settings(request: Request) -> list[Callable[[Any], Setting]]:
    """One per sigma, still to be told the metric, which may depend on the model's output."""
    from centersmooth.cli import values
    from centersmooth.confidence import Joint
    from centersmooth.goals import question
    from centersmooth.study import Setting
    from centersmooth.study.setting import checked_eps

    with values.blamed("--eps"):
        eps = checked_eps(values.numbers(request.eps, "--eps"))
    with values.blamed("--alpha"):
        level = Joint(request.alpha)
    with values.blamed("--goal"):
        wanted = request.goal and values.numbers(request.goal, "--goal")
        goal = question(wanted, None, None).goal
    with values.blamed("--tolerance"):
        tolerance = question(None, request.tolerance, eps).tolerance
    return [
        lambda metric, noise=noise: Setting(  # type: ignore[misc]
            name=f"{request.metric}, sigma {noise.sigma:g}",
            noise=noise,
            metric=metric,
            eps=eps,
            samples=request.samples,
            answer_samples=request.answer_samples,
            alpha=level,
            goal=goal,
            tolerance=tolerance,
        )
        for noise in values.noises(request.sigma)
    ]


def _example(model: Callable[[Any], Any], inputs: Folder | Arrays) -> Any:
    """What the model says to the first input that can be read."""
    from centersmooth.cli.values import first_output
    from centersmooth.errors import InputError

    for index in range(len(inputs)):
        try:
            return first_output(model, inputs[index])
        except InputError:
            continue
    return None
