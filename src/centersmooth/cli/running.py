"""A study on the command line: progress, results, and how the command ends."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import typer

from centersmooth.cli.options import Machines
from centersmooth.cli.values import blamed
from centersmooth.executors import Executor, Ray, Serial
from centersmooth.report.aggregates import median
from centersmooth.report.labels import readable
from centersmooth.store import Record, Store
from centersmooth.store.export import line
from centersmooth.study import Study, Summary
from centersmooth.study.progress import Lines, Watch, watch
from centersmooth.study.run import run

INTERRUPTED = 130


def executor(
    on: Machines,
    address: str | None,
    workers: int | None,
    threads: int | None,
    gpus: float | None = None,
) -> Executor:
    """The executor that the options describe."""
    if on is Machines.serial:
        for value, name in ((address, "--address"), (workers, "--workers"), (gpus, "--gpus")):
            if value is not None:
                raise typer.BadParameter("needs --on ray.", param_hint=name)
        return Serial(threads)
    with blamed("--gpus"):
        return Ray(address, workers, threads, gpus or 0)


def carry_out(
    study: Study, out: Path, on: Executor, *, retry_failed: bool, as_json: bool, usage: str
) -> None:
    """Run the study, tell of it, and leave with the right exit code.

    `usage` names the options to blame for numbers that make no sense.
    """
    with _ending(out), _warnings_in_words(), blamed(usage):
        summary = run(
            study,
            out,
            on,
            _watch,
            retry_failed=retry_failed,
            on_record=_print_record if as_json else None,
        )
    if as_json:
        typer.echo(json.dumps({"summary": {**asdict(summary), "out": str(out)}}))
    else:
        _tell(study, summary)
    if summary.failed:
        raise typer.Exit(1)


@contextmanager
def _watch(total: int) -> Iterator[Watch]:
    """A bar on a terminal, a line a minute in a log."""
    if sys.stderr.isatty():
        with watch(True, total) as bar:
            yield bar
    else:
        yield Lines(total, sys.stderr)


@contextmanager
def _ending(out: Path) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        message = "\nStopped. What is finished is kept: the same command goes on from there."
        typer.echo(f"{message}\nThe run is in {out}.", err=True)
        raise typer.Exit(INTERRUPTED) from None


@contextmanager
def _warnings_in_words() -> Iterator[None]:
    def show(message: Any, *_: Any, **__: Any) -> None:
        typer.echo(f"Warning: {message}", err=True)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def _print_record(record: Record) -> None:
    typer.echo(line(record))


def _tell(study: Study, summary: Summary) -> None:
    typer.echo(str(summary))
    typer.echo("\n".join(table(study, summary.out)))
    if summary.failed:
        typer.echo(f"\n{summary.failed} failed, the first one:", err=True)
        typer.echo(_first_failure(summary.out), err=True)
        typer.echo("Try them again with --retry-failed.", err=True)
    typer.echo(f"\nNext: centersmooth report {summary.out}")


def _first_failure(out: Path) -> str:
    with Store(out) as store:
        failed = next(record for record in store.records() if record.status == "failed")
    # Names come from data: one of a file could otherwise give orders to the terminal.
    return readable(f"  {failed.input_ref} ({failed.setting}): {failed.message}", lines=True)


def table(study: Study, out: Path) -> list[str]:
    """Medians per setting and eps; without a bound an input counts with the diameter."""
    bounds: dict[tuple[str, float], list[float]] = {}
    certified: dict[tuple[str, float], int] = {}
    with Store(out) as store:
        for record in store.records():
            for place, eps in enumerate(record.eps):
                known = place < len(record.bounds)
                key = (record.setting, eps)
                bound = record.bounds[place] if known else record.diameter
                bounds.setdefault(key, []).append(bound)
                held = known and record.statuses[place] == "certified"
                certified[key] = certified.get(key, 0) + held
    rows = [("setting", "attack eps", "median bound", "certified")]
    for setting in study.settings:
        for eps in setting.eps:
            values = bounds.get((setting.name, eps), [])
            found = median(np.array(values))
            share = f"{certified.get((setting.name, eps), 0)} of {len(values)}"
            rows.append((setting.name, f"{eps:g}", f"{found.value:.4g}" if found else "-", share))
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    return ["", *("  " + "   ".join(map(str.rjust, row, widths)) for row in rows)]
