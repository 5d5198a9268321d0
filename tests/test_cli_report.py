"""`centersmooth report` as a user runs it."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import report_runs
from centersmooth.cli import app


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["report", *arguments], env={"COLUMNS": "80"})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return report_runs.texts(tmp_path_factory.mktemp("texts"))


def test_says_where_the_page_is(folder: Path) -> None:
    result = run(str(folder))
    assert result.exit_code == 0, result.output
    assert f"{folder / 'report' / 'report.html'}  the page (4 records)" in result.stdout
    assert "8 files, SVG and PNG" in result.stdout
    assert (folder / "report" / "report.html").is_file()


def test_options(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "for a colleague"
    result = run(str(folder), "--out", str(out), "--tolerance", "0.4", "--gallery", "0")
    assert result.exit_code == 0, result.output
    text = (out / "report.html").read_text(encoding="utf-8")
    assert 'value="0.4"' in text
    assert 'id="gallery"' not in text


def test_a_folder_without_a_run_is_one_line_and_an_exit_code(tmp_path: Path) -> None:
    result = run(str(tmp_path))
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: expected a run in")
    assert "Traceback" not in result.output


@pytest.mark.parametrize("option", ["--tolerance", "--gallery"])
def test_a_bad_option_is_named(folder: Path, option: str) -> None:
    result = run(str(folder), option, "-1")
    assert result.exit_code == 2
    assert option in result.stderr
