"""Every file under examples/ runs, and prints what its docstring promises."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

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
