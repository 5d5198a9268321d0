"""Put the numbers of benchmarks/records into README.md.

    python scripts/refresh_numbers.py

They stand between `<!-- begin compared -->` and `<!-- end compared -->`; nothing there is written
by hand. A test holds the two together.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RECORDS = ROOT / "benchmarks" / "records"
BEGIN, END = "<!-- begin compared -->\n", "<!-- end compared -->"

NAMES = {"l2": "L2", "angular": "Angular", "tv": "TotalVariation", "jaccard": "MaskJaccard"}
CENTERS = {"l2": "GeometricMedian", "angular": "GeometricMedian", "tv": "Medoid"}
BUDGETS = ("default", "1,700", "50,100")
WEBER = "Weber point, pool 2"


def refreshed(page: str) -> str:
    """The page with what the records say now."""
    start, end = page.index(BEGIN) + len(BEGIN), page.index(END)
    return page[:start] + compared() + page[end:]


def compared() -> str:
    """Ours over published, and one bound of ours over another for small attacks."""
    rows = [*_bounds(_record("bounds")), *_normed(_record("normed"))]
    header = ["distance", "center", "our passes", "ε = σ", "ε = 1.5 σ", "ε = 2 σ"]
    lines = [header, ["---"] * len(header), *rows]
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return f"{table}\n\n{_small(_record('small_eps'))}\n"


def _record(name: str) -> Any:
    return json.loads((RECORDS / f"{name}.json").read_text(encoding="utf-8"))


def _bounds(record: Any) -> list[list[str]]:
    """The default centers, at three budgets."""
    rows = []
    for metric, name in NAMES.items():
        theirs = [one["bounds"][metric] for one in record["published"]]
        for budget in BUDGETS:
            ours = [one["bounds"][budget][metric] for one in record["ours"]]
            passes = f"{record['ours'][0]['evaluations'][budget]:,}"
            rows.append([name, CENTERS.get(metric, "Medoid"), passes, *_ratios(ours, theirs)])
    return rows


def _normed(record: Any) -> list[list[str]]:
    """The sharpest center for total variation at a large budget."""
    ours = [one["bounds"]["50,100"][WEBER] for one in record["ours"]]
    return [["TotalVariation", "WeberPoint(2)", "49,999", *_ratios(ours, record["published"])]]


def _small(record: Any) -> str:
    """Theorem D beside Theorem C."""
    default = [one for one in record["records"] if one["budget"] == "default"]
    at = {h: place for place, h in enumerate(record["shifts"])}
    pairs = [(one["bounds"]["l2"]["D"], one["bounds"]["l2"]["C"]) for one in default]
    tenth, half = (statistics.median(d[at[h]] / c[at[h]] for d, c in pairs) for h in (0.1, 0.5))
    return (
        "For small attacks `ClippedMean` is sharper still: its L2 bound is "
        f"{half:.2f} times that of `GeometricMedian` at ε = σ/2 and {tenth:.2f} times at ε = σ/10."
    )


def _ratios(ours: Sequence[Sequence[float]], theirs: Sequence[Sequence[float]]) -> list[str]:
    """For each ε, the median over images."""
    found = ([a[i] / b[i] for a, b in zip(ours, theirs, strict=True)] for i in range(3))
    return [f"{statistics.median(ratios):.2f}" for ratios in found]


if __name__ == "__main__":
    readme = ROOT / "README.md"
    page = refreshed(readme.read_text(encoding="utf-8"))
    readme.write_text(page, encoding="utf-8")
