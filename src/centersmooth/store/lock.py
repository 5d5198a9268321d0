"""One process works on a run at a time, and a dead one holds nothing."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from centersmooth.errors import BusyError, StoreError, expected

FILE = "run.lock"


class RunLock:
    """Holds a run for this process, until `release` or death.

    SQLite's own file lock on an empty database beside the store: the operating system drops
    it with the process, on every platform, and readers of the store never meet it.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        try:
            self._connection = sqlite3.connect(self._path, timeout=0.0, isolation_level=None)
            self._connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                fix = "Wait for it or stop it; readers (report, export) may look on meanwhile."
                got = "another process that works on it"
                raise BusyError(expected(f"the run in {folder} to be free", got, fix)) from error
            fix = "Choose a folder you can write to."
            raise StoreError(expected(f"access to {folder}", str(error), fix)) from error
        except sqlite3.DatabaseError as error:
            fix = "Delete that file: it holds nothing."
            raise StoreError(expected(f"a lock file {self._path}", str(error), fix)) from error

    def release(self) -> None:
        """Let the next process work on the run."""
        self._connection.close()
