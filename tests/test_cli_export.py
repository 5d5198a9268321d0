"""`centersmooth export`: records for other programs."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from centersmooth.store import Store
from cli_files import command, words
from small_studies import setting, study


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    study(2).run(folder)
    return folder


def bounds(run: Path) -> list[float]:
    with Store(run) as store:
        return [bound for record in store.records() for bound in record.bounds]


def test_csv_is_the_usual_form_and_goes_to_the_terminal(run: Path) -> None:
    result = command("export", run)
    assert result.exit_code == 0
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [float(row["bound"]) for row in rows] == bounds(run)


def test_tsv_and_jsonl_go_to_a_file(run: Path, tmp_path: Path) -> None:
    assert command("export", run, "--to", "tsv", "--out", tmp_path / "out.tsv").exit_code == 0
    with (tmp_path / "out.tsv").open(newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t"))
    assert [float(row["radius"]) for row in rows] == bounds(run)
    assert command("export", run, "--to", "jsonl", "--out", tmp_path / "out.jsonl").exit_code == 0
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [float(bound) for line in lines for bound in line["bounds"]] == bounds(run)


def test_mistakes_are_told(run: Path, tmp_path: Path) -> None:
    nothing = command("export", tmp_path)
    assert nothing.exit_code == 1
    assert "expected a run in" in words(nothing)
    assert command("export", run, "--to", "xls").exit_code == 2
    taken = command("export", run, "--out", tmp_path / "no" / "folder.csv")
    assert taken.exit_code == 1
    assert "Traceback" not in taken.output


def test_a_reader_that_has_seen_enough_is_no_error(run: Path) -> None:
    script = "from centersmooth.cli import app; app()"
    command = [sys.executable, "-c", script, "export", str(run)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""


def test_a_terminal_without_greek_gets_escapes(tmp_path: Path) -> None:
    study(1, [setting()], names=["λ"]).run(tmp_path)
    script = "from centersmooth.cli import app; app()"
    done = subprocess.run(
        [sys.executable, "-c", script, "export", str(tmp_path)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        check=True,
    )
    assert done.stdout.splitlines()[1].startswith("0,\\u03bb,")
