"""`centersmooth audit`: try to break a saved certificate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from centersmooth.cli.options import BatchSize

if TYPE_CHECKING:
    from collections.abc import Sequence

    from centersmooth.certificates import Certificate
    from centersmooth.smoother import Smoother


def audit(
    certificate: Annotated[
        Path, typer.Argument(help="A certificate, as Certificate.save wrote it.")
    ],
    model: Annotated[str, typer.Option(help="The certified model, as for certify.")],
    inputs: Annotated[
        Path, typer.Option(help="As for certify; the certified input is looked for among them.")
    ],
    eps: Annotated[
        float, typer.Option(min=0, help="Size of the attack, in the units of the inputs.")
    ],
    trials: Annotated[
        int, typer.Option(min=1, help="Answers at the worst input found, each with fresh noise.")
    ] = 50,
    targets: Annotated[
        Path | None,
        typer.Option(help="As for certify: audits the certified error in place of the bound."),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Repeats an audit.")] = None,
    batch_size: BatchSize = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the outcome, worst input included, as JSON.")
    ] = False,
) -> None:
    """Look for the worst input within eps, then count answers there against the bound.

    Exit code 0: not broken, which proves nothing. Exit code 3: broken, by overwhelming evidence.
    """
    from centersmooth.attacks import audit as audited
    from centersmooth.certificates import Certificate
    from centersmooth.cli.inputs import load_inputs
    from centersmooth.cli.loading import load_model
    from centersmooth.cli.values import blamed

    found = Certificate.load(certificate)
    function, items = load_model(model), load_inputs(inputs)
    smoother = _smoother_of(found, function, batch_size)
    place = _place_of(found, smoother, items, inputs)
    target = None
    if targets is not None:
        target = load_inputs(targets, hint="--targets")[place]
    with blamed("--eps"):
        outcome = audited(smoother, found, items[place], eps, trials, target=target, seed=seed)
    typer.echo(outcome.to_json() if as_json else str(outcome))
    if outcome.broken:
        raise typer.Exit(3)


def _smoother_of(certificate: Certificate, function: Any, batch_size: int | None) -> Smoother:
    """The smoothed model that the certificate speaks of."""
    from centersmooth.smoother import Smoother

    return Smoother(
        function,
        certificate.noise,
        certificate.metric,
        certificate.center,
        answer_samples=certificate.sizes.n,
        input_range=certificate.provenance.input_range,
        batch_size=batch_size,
    )


def _place_of(
    certificate: Certificate, smoother: Smoother, items: Sequence[Any], path: Path
) -> int:
    """Which of the inputs was certified: its hash is in the certificate."""
    from centersmooth.errors import InputError
    from centersmooth.sampling import fingerprint

    for place in range(len(items)):
        try:
            x = smoother.noise.check_input(items[place], smoother.input_range)
        except InputError:
            continue
        if fingerprint(x).hex() == certificate.provenance.input_sha256:
            return place
    problem = f"expected the certified input in {path}, got {len(items)} others."
    raise typer.BadParameter(problem, param_hint="--inputs")
