from __future__ import annotations

import math
from pathlib import Path

from studies.records import read_lines, read_rows, write_lines, write_rows

from centersmooth.errors import FormatError
from refusals import refused
from studies_small import row


def test_rows_come_back_as_they_were(tmp_path: Path) -> None:
    rows = [
        row(),
        row(diameter=math.inf, bounds=(1.0, math.inf), errors=None),
        row(status="failed"),
    ]
    path = write_rows(tmp_path / "rows.jsonl", rows)
    assert read_rows(path) == rows
    assert "Infinity" not in path.read_text()
    assert read_rows(tmp_path / "none.jsonl") == []


def test_a_bound_is_found_by_its_eps() -> None:
    one = row(eps=(0.375, 0.1 + 0.2), bounds=(1.0, 2.0))
    assert (one.at(0.3), one.error_at(0.3), one.at(0.31)) == (2.0, 2.5, None)
    assert row(errors=None).error_at(0.5) is None
    assert row(bounds=(), statuses=(), status="failed").at(0.5) is None


def test_damaged_records_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"part": "a"')
    with refused(FormatError, "JSON lines"):
        read_lines(path)
    write_lines(path, [{"part": "a"}])
    with refused(FormatError, "Run the part again"):
        read_rows(path)
