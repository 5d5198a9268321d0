"""`centersmooth report`: a run as one page for a colleague."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")],
    out: Annotated[
        Path | None, typer.Option(help="Folder for the report; RUN/report when left out.")
    ] = None,
    tolerance: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="How far an answer may move and still be fine, in the metric's units: what the "
            "page calls safe at first. The median bound when left out.",
        ),
    ] = None,
    gallery: Annotated[
        int, typer.Option(min=0, help="For how many inputs the answers are shown.")
    ] = 12,
) -> None:
    """Write a run, finished or not, as one page that opens anywhere.

    The page loads nothing from the network, so it can be sent as it is. Beside it: its figures as
    SVG and PNG, and its summary as Markdown and LaTeX.
    """
    from centersmooth.report import write_report  # slow to import, and --help needs none of it

    written = write_report(run, out, tolerance, gallery)
    folder = written.page.parent
    typer.echo(f"{written.page}  the page ({written.records:,} records)")
    typer.echo(f"{folder / 'figures'}  {len(written.figures)} files, SVG and PNG")
    typer.echo(f"{written.markdown}, {written.latex}  the summary as tables")
