"""How a part certifies what its run does not hold yet."""

from __future__ import annotations

from pathlib import Path

from centersmooth.executors import Serial
from centersmooth.study import Study


def certify(study: Study, folder: Path) -> None:
    """Go on where the run was stopped; what failed, e.g. for a mistake mended since, is tried anew.

    One thread sums in one order: the same seed, the same records.
    """
    print(study.run(folder, on=Serial(threads=1), retry_failed=True), flush=True)
