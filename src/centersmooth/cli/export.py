"""`centersmooth export`: records for other programs."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated

import typer


class Form(str, Enum):
    """What other programs read."""

    csv = "csv"
    jsonl = "jsonl"
    tsv = "tsv"


@contextmanager
def _whoever_reads() -> Iterator[None]:
    """Ends quietly when the reader of a pipe has seen enough."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(1) from None


def export(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")],
    to: Annotated[Form, typer.Option(help="csv, lines of JSON, or the field's tsv.")] = Form.csv,
    out: Annotated[
        Path | None, typer.Option(help="The file to write; the terminal when left out.")
    ] = None,
) -> None:
    """Write a run's records for other programs.

    csv: a row per record and attack size, with everything. tsv: idx, setting, eps, radius (the
    certified bound on the output), smoothing_error, status, time. jsonl: an object per record.
    """
    from centersmooth.store import Store
    from centersmooth.store.export import write_csv, write_jsonl, write_tsv
    from centersmooth.store.files import whole

    write = {Form.csv: write_csv, Form.jsonl: write_jsonl, Form.tsv: write_tsv}[to]
    with Store(run) as store:
        if out is None:
            with _whoever_reads():
                write(store.records(), sys.stdout)
        else:
            with whole(out) as raw, TextIOWrapper(raw, "utf-8", newline="") as stream:
                write(store.records(), stream)
