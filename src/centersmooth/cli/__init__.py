"""The command line: one module per command, one line per command here."""

from __future__ import annotations

import sys
from io import TextIOWrapper
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from centersmooth import __version__
from centersmooth.cli.audit import audit
from centersmooth.cli.certify import certify
from centersmooth.cli.demo import demo
from centersmooth.cli.export import export
from centersmooth.cli.plan import plan
from centersmooth.cli.report import report
from centersmooth.cli.study import study
from centersmooth.errors import CentersmoothError, expected


class _Commands(TyperGroup):
    """Commands whose expected errors end in one line instead of a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):
                # A terminal that knows no Greek must not end a run.
                stream.reconfigure(errors="backslashreplace")
        try:
            return super().invoke(ctx)
        except CentersmoothError as error:
            typer.echo(f"Error: {error}", err=True)
            raise typer.Exit(1) from error
        except BrokenPipeError as error:
            fix = "Finished records of a run are safe: the same command goes on."
            typer.echo(f"Error: {expected('a reader of the output', 'none', fix)}", err=True)
            raise typer.Exit(1) from error
        except OSError as error:
            fix = "Free some space, or check what it names; finished records of a run are safe."
            problem = expected("files and output that can be read and written", error, fix)
            typer.echo(f"Error: {problem}", err=True)
            raise typer.Exit(1) from error


app = typer.Typer(
    cls=_Commands, no_args_is_help=True, add_completion=False, rich_markup_mode="markdown"
)
app.command()(demo)
app.command()(certify)
app.command()(study)
app.command()(plan)
app.command()(audit)
app.command()(export)
app.command()(report)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"centersmooth {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Certify how far an attack on its input can move a model's output: boxes, masks, images,
    text, anything with a distance.
    """
