"""A run that was killed goes on, and ends up as if nothing had happened, value for value."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from killing import interrupted_study, killed_after, killed_at_statement, work
from small_studies import values

RECORDS = 3 * 6 + 3


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("uninterrupted")
    assert interrupted_study().run(folder).counts == {"certified": RECORDS}
    return folder


def finished(folder: Path) -> Path:
    """The run, gone on with to its end in this process, with nothing left of its spans."""
    interrupted_study().run(folder)
    with closing(sqlite3.connect(folder / "run.sqlite")) as connection:
        assert connection.execute("SELECT count(*) FROM spans").fetchone() == (0,)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    return folder


def test_killed_at_five_random_moments(uninterrupted: Path, tmp_path: Path) -> None:
    draw = random.Random(4)
    moments = [draw.uniform(0.05, 0.8) for _ in range(5)]
    assert killed_after(moments, work, tmp_path) >= 1
    assert values(finished(tmp_path)) == values(uninterrupted)


def test_killed_at_five_random_statements_of_the_store(uninterrupted: Path, tmp_path: Path) -> None:
    """In the middle of founding the run, of a transaction, of a commit."""
    draw = random.Random(5)
    hits = [killed_at_statement(draw.randint(1, 60), tmp_path) for _ in range(5)]
    assert all(hits)
    assert values(finished(tmp_path)) == values(uninterrupted)


def test_killed_again_and_again_early_on(uninterrupted: Path, tmp_path: Path) -> None:
    """Each of the first statements once, until the run stands."""
    for number in range(8, 26, 3):
        assert killed_at_statement(number, tmp_path)
    assert values(finished(tmp_path)) == values(uninterrupted)
