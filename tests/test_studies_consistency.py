from __future__ import annotations

from pathlib import Path

import pytest
from studies import beyond_pages
from studies.consistency import Consistency
from studies.records import read_lines, read_rows

from studies_small import SCALE, in_place_of_real_data


def test_models_with_and_without_the_term_are_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_place_of_real_data(tmp_path, monkeypatch)
    part = Consistency("mnist")
    part.run(SCALE)
    part.keep(SCALE)
    folder = tmp_path / "results" / "tiny" / "records"
    rows = read_rows(folder / f"{part.name}.jsonl")
    assert {beyond_pages._trained(row) for row in rows} == {"noise alone", "consistency 4"}
    errors = read_lines(folder / f"{part.name}-errors.jsonl")
    assert [line["weight"] for line in errors] == [0.0, 4.0]
    (page,) = [page for page in beyond_pages.pages(SCALE) if page.name == "7b-training"]
    assert "| noise alone |" in page.text
    assert "| consistency 4 |" in page.text
