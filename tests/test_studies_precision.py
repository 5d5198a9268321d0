"""bfloat16 beside single precision, on a tiny data set."""

from __future__ import annotations

from pathlib import Path

import pytest
from studies import restoration_pages
from studies.precision import Precision
from studies.records import read_lines

from studies_small import SCALE, in_place_of_real_data


def test_bounds_in_both_precisions_are_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_place_of_real_data(tmp_path, monkeypatch)
    assert restoration_pages._precision(SCALE) == ""
    Precision().run(SCALE)
    lines = read_lines(tmp_path / "results" / "tiny" / "records" / "precision.jsonl")
    assert [line["metric"] for line in lines] == ["total variation", "angular", "l2"]
    assert any(line["bfloat16"] != line["single"] for line in lines)
    # Hardly trained, this network answers nearly the same whatever it sees.
    assert all(line["bfloat16"] == pytest.approx(line["single"], abs=0.01) for line in lines)
    assert "3 bounds in single precision differ by at most" in restoration_pages._precision(SCALE)
