"""Every file under examples/ runs, and prints what its docstring promises."""

from __future__ import annotations

import re
import runpy
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from centersmooth.store import Store

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def output_of(name: str, capsys: pytest.CaptureFixture[str]) -> str:
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    return capsys.readouterr().out


def test_every_example_is_tested_here() -> None:
    here = Path(__file__).read_text(encoding="utf-8")
    assert all(f'"{path.name}"' in here for path in EXAMPLES.glob("*.py"))


def test_quickstart_prints_a_bound_a_radius_and_the_guarantee(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = output_of("quickstart.py", capsys)
    bound, radius = (float(line) for line in text.splitlines()[1:3])
    assert 0 < bound < 10
    assert 0 < radius < 10
    assert "with probability at least 99 %" in text


def test_bounding_box_neither_vanishes_nor_appears(capsys: pytest.CaptureFixture[str]) -> None:
    scene, blank = output_of("bounding_box.py", capsys).splitlines()
    bound = re.search(r"at most ([\d.]+)", scene)
    assert bound
    assert float(bound[1]) < 0.5
    assert "no box; 1 - IoU at most 0.000" in blank


def test_any_distance_certifies_a_string(capsys: pytest.CaptureFixture[str]) -> None:
    text = output_of("any_distance.py", capsys)
    edits = [int(count) for count in re.findall(r"at most (\d+) letters", text)]
    assert "answer: 'abcd" in text
    assert len(edits) == 3
    assert edits == sorted(edits)
    assert edits[-1] < 8  # sharper than the diameter


def test_certified_error_is_sharper_than_the_triangle(capsys: pytest.CaptureFixture[str]) -> None:
    lines = output_of("certified_error.py", capsys).splitlines()
    assert len(lines) == 3
    for line in lines:
        error, certified, summed = (float(n) for n in re.findall(r"\d+\.\d\d(?!\d| a)", line)[-3:])
        assert error < certified < summed


class Tracker(ModuleType):
    """The few calls of MLflow that the example makes, kept to be looked at."""

    def __init__(self) -> None:
        super().__init__("mlflow")
        self.metrics: list[tuple[str, float, int]] = []
        self.params: dict[str, Any] = {}
        self.artifacts: list[Path] = []
        self.runs: list[str] = []

    @contextmanager
    def start_run(self, run_name: str) -> Iterator[None]:
        self.runs.append(run_name)
        yield

    def log_metric(self, key: str, value: float, step: int) -> None:
        self.metrics.append((key, float(value), step))

    def log_params(self, params: dict[str, Any]) -> None:
        self.params |= params

    def log_artifact(self, local_path: str) -> None:
        self.artifacts.append(Path(local_path))


def test_mlflow_gets_every_record_and_the_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """MLflow is not installed here: what it would be told is what the run holds."""
    tracker = Tracker()
    monkeypatch.setitem(sys.modules, "mlflow", tracker)
    monkeypatch.setattr(sys, "argv", ["mlflow_tracking.py", str(tmp_path / "run")])
    assert "5 of 5 records" in output_of("mlflow_tracking.py", capsys)
    with Store(tmp_path / "run") as store:
        wanted = {
            (f"bound at {eps:g}", bound, record.index)
            for record in store.records()
            for eps, bound in zip(record.eps, record.bounds, strict=True)
        }
    assert len(wanted) == 10
    assert {entry for entry in tracker.metrics if entry[0] != "failed"} == wanted
    assert tracker.params == {"sigma": 0.25, "samples": 1_000}
    assert tracker.runs == ["Certified robustness"]
    assert [path.name for path in tracker.artifacts] == ["report.html"]
    tracker.metrics.clear()
    assert "0 new" in output_of("mlflow_tracking.py", capsys)
    assert not tracker.metrics
