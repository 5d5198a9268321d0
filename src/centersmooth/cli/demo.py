"""`centersmooth demo`: a first certificate, without writing a line of code."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def demo(
    out: Annotated[
        Path, typer.Option(help="Folder for the pictures and one saved certificate.")
    ] = Path("demo-output"),
    digits: Annotated[
        int, typer.Option(min=1, max=10, help="How many handwritten digits to certify.")
    ] = 6,
    seed: Annotated[
        int, typer.Option(min=0, help="Fixes all noise; the same seed prints the same numbers.")
    ] = 0,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer samples: half the time, looser bounds.")
    ] = False,
) -> None:
    """Certify a trained autoencoder on real digits, beside the published procedure.

    Takes about a minute on two cores. Writes two pictures and a certificate.
    """
    from centersmooth.demo import QUICK, USUAL, run  # slow to import, and --help needs none of it

    run(out, digits, seed, QUICK if quick else USUAL)
