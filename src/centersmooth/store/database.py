"""The SQLite file of a run: how it is opened, and what its errors mean to a user."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from centersmooth.errors import StoreError, expected

FILE = "run.sqlite"
SCHEMA = 1
_APPLICATION = 0x43534D4F  # "CSMO", so that `file` and we can tell it from other databases
_PATIENCE = 60.0  # seconds to wait for a reader or writer that holds the file for a moment

TABLES = {
    "run": "CREATE TABLE run (key TEXT PRIMARY KEY, value TEXT NOT NULL, digest BLOB NOT NULL)",
    "settings": (
        "CREATE TABLE settings (place INTEGER PRIMARY KEY, description TEXT NOT NULL, "
        "digest BLOB NOT NULL)"
    ),
    "inputs": (
        "CREATE TABLE inputs (idx INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL, "
        "encoded TEXT, digest BLOB NOT NULL)"
    ),
    "sessions": (
        "CREATE TABLE sessions (id INTEGER PRIMARY KEY, description TEXT NOT NULL, "
        "digest BLOB NOT NULL)"
    ),
    "records": (
        "CREATE TABLE records (idx INTEGER NOT NULL, place INTEGER NOT NULL, status TEXT NOT NULL, "
        "message TEXT NOT NULL, bounds TEXT NOT NULL, statuses TEXT NOT NULL, errors TEXT, "
        "smoothing_error REAL, base_error REAL, smoothed_error REAL, evaluations INTEGER NOT NULL, "
        "probes INTEGER NOT NULL, seconds REAL NOT NULL, seed INTEGER NOT NULL, "
        "session INTEGER NOT NULL, base TEXT, smoothed TEXT, samples TEXT, digest BLOB NOT NULL, "
        "PRIMARY KEY (idx, place))"
    ),
    "certificates": (
        "CREATE TABLE certificates (idx INTEGER NOT NULL, place INTEGER NOT NULL, "
        "json TEXT NOT NULL, digest BLOB NOT NULL, PRIMARY KEY (idx, place))"
    ),
    "tunings": (
        "CREATE TABLE tunings (key TEXT PRIMARY KEY, size INTEGER NOT NULL, "
        "channels_last INTEGER NOT NULL, rate REAL NOT NULL, digest BLOB NOT NULL)"
    ),
    "spans": (
        "CREATE TABLE spans (idx INTEGER NOT NULL, draws INTEGER NOT NULL, "
        "start INTEGER NOT NULL, stop INTEGER NOT NULL, answers TEXT NOT NULL, "
        "sketches TEXT NOT NULL, seconds REAL NOT NULL, digest BLOB NOT NULL, "
        "PRIMARY KEY (idx, draws, start))"
    ),
}
"""A table per noun. The texts are compared when a file is opened: a file with other tables,
views or triggers is no run of ours, and nothing in it is executed."""


def path_of(run: str | Path) -> Path:
    """The database of a run, given its folder or the file itself."""
    path = Path(run)
    return path if path.is_file() else path / FILE


@contextmanager
def told(path: Path) -> Iterator[None]:
    """Errors of SQLite in the words of this library."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(_in_words(path, error)) from error


def _in_words(path: Path, error: sqlite3.Error) -> str:
    text = str(error)
    if "full" in text or "disk I/O" in text:
        fix = "Finished records are safe: free some space and run the same command again."
        return expected(f"room to write {path}", text, fix)
    if "readonly" in text or "unable to open" in text or "permission" in text:
        fix = "Finished records are safe: choose a folder you can write to, or copy the run there."
        return expected(f"access to {path}", text, fix)
    if "locked" in text:
        fix = "Another program holds the file: close it and run the same command again."
        return expected(f"a moment's access to {path}", text, fix)
    fix = (
        "The file is damaged or no run at all: restore a copy, or rescue what is left with "
        f"`sqlite3 {path.name} .recover`."
    )
    return expected(f"the store of a run in {path}", text, fix)


def open_to_read(path: Path) -> sqlite3.Connection:
    """A connection that cannot change the file, checked to be a run's."""
    if not path.is_file():
        fix = "Give the folder that --out named."
        raise StoreError(expected(f"a run in {path.parent}", f"no {path.name} there", fix))
    with told(path):
        connection = _connect(path, "rw")
        connection.execute("PRAGMA query_only = ON")
        _check(connection, path)
    return connection


def open_to_write(path: Path) -> sqlite3.Connection:
    """A connection to a run's file, made if it is not there, whose pages are checked."""
    with told(path):
        connection = _connect(path, "rwc")
        # The rollback journal, not WAL: one file when nobody writes, on network folders too.
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("PRAGMA synchronous = EXTRA")
        if _tables(connection):
            _check(connection, path)
            (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            if verdict != "ok":
                raise sqlite3.DatabaseError(verdict)
        else:
            _create(connection)
    return connection


@contextmanager
def transaction(connection: sqlite3.Connection, path: Path) -> Iterator[None]:
    """All of it or nothing, whatever strikes."""
    with told(path):
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            connection.execute("COMMIT")
        except BaseException:
            # SQLite itself rolls back on a full disk.
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    """Mode rw also for readers: they may have to roll back what a killed writer left."""
    uri = f"{path.resolve().as_uri()}?mode={mode}"
    connection = sqlite3.connect(uri, uri=True, timeout=_PATIENCE, isolation_level=None)
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    return connection


def _create(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    for sql in TABLES.values():
        connection.execute(sql)
    connection.execute(f"PRAGMA application_id = {_APPLICATION}")
    connection.execute(f"PRAGMA user_version = {SCHEMA}")
    connection.execute("COMMIT")


def _tables(connection: sqlite3.Connection) -> dict[str, str | None]:
    found = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
    return dict(found.fetchall())


def _check(connection: sqlite3.Connection, path: Path) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application == _APPLICATION and version != SCHEMA:
        fix = "Read it with the version of centersmooth that wrote it."
        raise StoreError(expected(f"a run of schema {SCHEMA}", f"schema {version}", fix))
    if not _tables(connection):
        fix = "It was stopped before it began: run the command that made it again."
        raise StoreError(expected(f"the tables of a run in {path}", "an empty file", fix))
    if application != _APPLICATION or _tables(connection) != TABLES:
        fix = "It is no run of centersmooth, or it is damaged."
        raise StoreError(expected(f"the tables of a run in {path}", "others", fix))
