"""Peak memory of writing, reading, exporting and reporting a large run.

    python tests/many_records.py RECORDS

Each step runs in a process of its own and prints the megabytes it used above the imports.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

STEPS = ("written", "read", "exported", "reported")


def measured(records: int, folder: Path) -> dict[str, dict[str, float]]:
    """For each step its seconds and the megabytes it needed."""
    found = {}
    for step in STEPS:
        command = [sys.executable, __file__, str(records), step, str(folder)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        found[step] = json.loads(done.stdout)
    return found


def _work(step: str, records: int, folder: Path) -> Callable[[], Any]:
    import report_runs
    from centersmooth.report import write_report
    from centersmooth.store import Store
    from centersmooth.store.export import write_csv

    def read() -> int:
        with Store(folder) as store:
            return sum(len(record.bounds) for record in store.records())

    def export() -> None:
        with Store(folder) as store, (folder / "all.csv").open("w") as stream:
            write_csv(store.records(), stream)

    steps: dict[str, Callable[[], Any]] = {
        "written": lambda: report_runs.many(folder, records // 2),
        "read": read,
        "exported": export,
        "reported": lambda: write_report(folder),
    }
    return steps[step]


def peak_mb() -> float:
    """The most memory this process ever had (Linux; a child's `ru_maxrss` is its parent's)."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    raise SystemExit("no VmHWM in /proc/self/status")


def _one(step: str, records: int, folder: Path) -> dict[str, float]:
    work = _work(step, records, folder)
    before, started = peak_mb(), time.perf_counter()
    work()
    return {"seconds": round(time.perf_counter() - started, 2), "mb": round(peak_mb() - before, 1)}


if __name__ == "__main__":
    count = int(sys.argv[1])
    if len(sys.argv) > 2:
        print(json.dumps(_one(sys.argv[2], count, Path(sys.argv[3]))))
    else:
        with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as place:
            for name, told in measured(count, Path(place)).items():
                print(f"{name:10} {told['seconds']:8.1f} s {told['mb']:8.1f} MB")
