"""`centersmooth study`: the study that a Python file defines."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from centersmooth.cli.options import (
    Address,
    AsJson,
    Gpus,
    Machines,
    On,
    Out,
    RetryFailed,
    Threads,
    Workers,
)


def study(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="A Python file with `study = cs.Study(...)`."),
    ],
    out: Out,
    on: On = Machines.serial,
    address: Address = None,
    workers: Workers = None,
    threads: Threads = None,
    gpus: Gpus = None,
    retry_failed: RetryFailed = False,
    as_json: AsJson = False,
) -> None:
    """Certify what a study file describes: inputs times settings.

    The run folder keeps every certificate as soon as it is there. Stop any time: the same
    command goes on where it was. Exit code 1 says that some inputs failed.
    """
    from centersmooth.cli.loading import load_study
    from centersmooth.cli.running import carry_out, executor

    machines = executor(on, address, workers, threads, gpus)
    found = load_study(file)
    usage = "'FILE' / '--threads'"
    carry_out(found, out, machines, retry_failed=retry_failed, as_json=as_json, usage=usage)
