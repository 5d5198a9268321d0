"""Put into docs/cli.md what its commands print now.

    python scripts/refresh_cli_docs.py

A ```text block shows what the first command of its section prints. Its seconds stay as they are,
for they differ each time.
"""

from __future__ import annotations

import os
import re
import shlex
import tempfile
from pathlib import Path

import check_docs

PAGE = Path(__file__).resolve().parents[1] / "docs" / "cli.md"
_SECTION = re.compile(r"\n## centersmooth .*?(?=\n## |\Z)", re.DOTALL)
_SHOWN = re.compile(r"(?<=\n```text\n).*?(?=```)", re.DOTALL)
_SECONDS = re.compile(r"(?<=new in )[\d.]+(?= s\.)")


def refreshed(text: str) -> str:
    """The page with what its commands print now."""
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for name, content in check_docs.files_of(PAGE).items():
                Path(name).write_text(content, encoding="utf-8")
            exec(text.partition("```python run\n")[2].partition("```")[0], {})
            return _SECTION.sub(lambda found: _with_output(found[0]), text)
        finally:
            os.chdir(here)


def _with_output(section: str) -> str:
    shown = _SHOWN.search(section)
    if shown is None:
        return section
    command = next(line for line in section.splitlines() if line.startswith("centersmooth "))
    printed = _printed(command)
    for seconds in _SECONDS.findall(shown[0]):
        printed = _SECONDS.sub(seconds, printed)
    return section.replace(shown[0], printed)


def _printed(command: str) -> str:
    from typer.testing import CliRunner

    from centersmooth.cli import app

    output = CliRunner().invoke(app, shlex.split(command)[1:]).output
    return "\n".join(line.rstrip() for line in output.rstrip().splitlines()) + "\n"


if __name__ == "__main__":
    PAGE.write_text(refreshed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
