"""docs/cli.md names every command and option there is, and prints what they print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import refresh_cli_docs
from typer.main import get_command

from centersmooth.cli import app

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
COMMANDS = get_command(app).commands  # type: ignore[attr-defined]

NUMBER = re.compile(r"\d+(?:\.\d+)?")


def section(name: str) -> str:
    return PAGE.partition(f"\n## centersmooth {name}\n")[2].partition("\n## ")[0]


def rows(text: str) -> dict[str, str]:
    """The default that a table of options gives for each option."""
    found = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `--"):
            for option in re.findall(r"`(--[a-z-]+)`", cells[0]):
                found[option] = cells[-1].strip("`")
    return found


def default(value: object) -> str:
    if value is None or value is False:
        return ""
    return str(getattr(value, "value", value))


def test_every_command_has_its_section() -> None:
    assert set(re.findall(r"\n## centersmooth (\w+)\n", PAGE)) == set(COMMANDS)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_option_is_told_with_its_default(name: str) -> None:
    options = [p for p in COMMANDS[name].params if p.param_type_name == "option"]
    wanted = {option: default(p.default) for p in options for option in p.opts}
    assert rows(section(name)) == wanted


def test_the_page_shows_what_is_printed() -> None:
    """If it does not: python scripts/refresh_cli_docs.py, and look at what changed. The last
    digits of a bound may differ between machines."""
    now = refresh_cli_docs.refreshed(PAGE).splitlines()
    for printed, told in zip(now, PAGE.splitlines(), strict=True):
        if printed != told:
            assert len(NUMBER.sub("#", printed).split()) == len(NUMBER.sub("#", told).split())
            found = [[float(n) for n in NUMBER.findall(line)] for line in (printed, told)]
            assert found[0] == pytest.approx(found[1], rel=2e-3), (printed, told)
    assert "4 of 4 records" in PAGE
