"""One process at a time; the dead hold nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from centersmooth.errors import BusyError, StoreError
from centersmooth.store.lock import RunLock
from refusals import refused

HOLD = """
import sys
from pathlib import Path
from centersmooth.store.lock import RunLock
lock = RunLock(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def test_another_process_is_told_until_the_holder_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with refused(BusyError, str(tmp_path)):
            RunLock(tmp_path)
        holder.kill()
        holder.wait()
        RunLock(tmp_path).release()


def test_a_released_lock_is_free(tmp_path: Path) -> None:
    lock = RunLock(tmp_path)
    with pytest.raises(BusyError):
        RunLock(tmp_path)
    lock.release()
    RunLock(tmp_path).release()


def test_a_lock_file_of_somebody_else_is_told(tmp_path: Path) -> None:
    (tmp_path / "run.lock").write_bytes(b"not SQLite's " * 100)
    with refused(StoreError, "run.lock"):
        RunLock(tmp_path)


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with refused(StoreError, "access to"):
        RunLock(tmp_path / "nowhere")
