"""Large runs in little memory; `make soak` does the same with 100,000 records."""

from __future__ import annotations

from pathlib import Path

from many_records import measured


def test_memory_stays_flat_but_for_the_report(tmp_path: Path) -> None:
    """Seen: 10 to 13 MB to write, 4 to read or export, 44 to report 10,000 records."""
    found = {step: told["mb"] for step, told in measured(6_000, tmp_path).items()}
    assert found["written"] < 40, found
    assert found["read"] < 20, found
    assert found["exported"] < 20, found
    assert found["reported"] < 100, found
    assert sum(1 for _ in (tmp_path / "all.csv").open()) == 1 + 6_000 * 10
