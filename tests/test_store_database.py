"""Files that are damaged, hostile or something else are told apart from runs."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from centersmooth.errors import CentersmoothError, StoreError
from centersmooth.store import Record, Store
from centersmooth.store.database import FILE, open_to_read, open_to_write, path_of, told
from refusals import refused
from store_runs import begun, entry


def read(folder: Path) -> list[Record]:
    with Store(folder) as store:
        store.run_info()
        return list(store.records())


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of some pages."""
    return written(tmp_path_factory.mktemp("whole"))


def written(folder: Path) -> Path:
    with begun(folder) as writer:
        for index in range(12):
            writer.add([entry(index, bounds=(1.0 + index / 10, 2.5), base="b" * 500)])
    return folder


@settings(derandomize=True, deadline=None, max_examples=150)
@given(where=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_a_flipped_bit_is_noticed_or_harmless(
    whole: Path, tmp_path_factory: pytest.TempPathFactory, where: float, bit: int
) -> None:
    noticed_or_harmless(whole, tmp_path_factory.mktemp("flipped"), [(where, bit)])


def noticed_or_harmless(whole: Path, folder: Path, flips: Iterable[tuple[float, int]]) -> None:
    wanted = read(whole)
    data = bytearray((whole / FILE).read_bytes())
    for where, bit in flips:
        data[int(where * len(data))] ^= 1 << bit
    (folder / FILE).write_bytes(data)
    try:
        found = read(folder)
    except CentersmoothError:
        return
    assert [record for record in found if record not in wanted] == []


@settings(derandomize=True, deadline=None, max_examples=20)
@given(share=st.floats(0.001, 0.99))
def test_a_file_cut_short_is_told(
    whole: Path, tmp_path_factory: pytest.TempPathFactory, share: float
) -> None:
    folder = tmp_path_factory.mktemp("cut")
    data = (whole / FILE).read_bytes()
    (folder / FILE).write_bytes(data[: int(share * len(data))])
    with pytest.raises(CentersmoothError, match="expected"):
        read(folder)
    with pytest.raises(CentersmoothError, match="expected"):
        begun(folder)


def test_something_else_is_told(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"a letter to my aunt, " * 500)
    for attempt in (open_to_read, open_to_write):
        with refused(StoreError, FILE, "recover"):
            attempt(tmp_path / FILE)


def test_a_run_that_was_killed_at_once_is_told_and_can_begin(tmp_path: Path) -> None:
    (tmp_path / FILE).touch()
    with refused(StoreError, "an empty file", "run the command"):
        open_to_read(tmp_path / FILE)
    begun(tmp_path).close()
    assert read(tmp_path) == []


def test_no_run_is_told(tmp_path: Path) -> None:
    with refused(StoreError, FILE, "--out"):
        open_to_read(tmp_path / FILE)


HOSTILE = (
    "CREATE TRIGGER t AFTER INSERT ON records BEGIN DELETE FROM records; END",
    "CREATE VIEW v AS SELECT 1",
    "ALTER TABLE records ADD COLUMN more TEXT",
    "DROP TABLE spans",
    "CREATE INDEX i ON records (status)",
    "PRAGMA application_id = 5",
    "PRAGMA user_version = 99",
)


@pytest.mark.parametrize("sql", HOSTILE)
def test_other_tables_views_or_triggers_are_refused(whole: Path, tmp_path: Path, sql: str) -> None:
    shutil.copy(whole / FILE, tmp_path)
    connection = sqlite3.connect(tmp_path / FILE)
    connection.execute(sql)
    connection.commit()
    connection.close()
    with refused(StoreError):
        open_to_read(tmp_path / FILE)
    with refused(StoreError):
        open_to_write(tmp_path / FILE)


def test_a_reader_cannot_write(whole: Path) -> None:
    connection = open_to_read(whole / FILE)
    with refused(StoreError, "access to", "Finished records are safe"), told(whole / FILE):
        connection.execute("DELETE FROM records")
    connection.close()


def test_a_write_protected_run_can_be_read(whole: Path, tmp_path: Path) -> None:
    shutil.copy(whole / FILE, tmp_path)
    (tmp_path / FILE).chmod(0o400)
    assert len(read(tmp_path)) == 12


def test_what_a_killed_writer_left_is_rolled_back_by_the_next_reader(
    whole: Path, tmp_path: Path
) -> None:
    """The files as they lie on disk in the middle of a commit: pages changed, journal hot."""
    run = tmp_path / "run"
    run.mkdir()
    shutil.copy(whole / FILE, run)
    connection = open_to_write(run / FILE)
    connection.execute("PRAGMA cache_size = 1")  # spills half-written pages into the file
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("UPDATE records SET bounds = '[0.0, 0.0]', base = ?", ("x" * 5_000,))
    killed = tmp_path / "killed"
    shutil.copytree(run, killed)
    connection.execute("ROLLBACK")
    connection.close()
    assert (killed / f"{FILE}-journal").stat().st_size > 0
    assert (killed / FILE).read_bytes() != (whole / FILE).read_bytes()
    assert read(killed) == read(whole)


def test_path_of_takes_the_folder_or_the_file(whole: Path) -> None:
    assert path_of(whole) == path_of(whole / FILE) == whole / FILE
