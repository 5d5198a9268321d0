"""python -m centersmooth: the command line, where its script is not on the path."""

from __future__ import annotations

from centersmooth.cli import app

if __name__ == "__main__":
    app(prog_name="centersmooth")
