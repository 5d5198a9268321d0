"""Put the numbers of the records into README.md and the pages that tell them.

    python scripts/refresh_numbers.py

The records are those of benchmarks/records and studies/results/full/records.

They stand between `<!-- begin NAME -->` and `<!-- end NAME -->`, or in the last column of a table
of speeds; nothing there is written by hand. A test holds pages and records together.
"""

from __future__ import annotations

import json
import math
import re
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the studies are not installed

from studies import findings  # noqa: E402
from studies.scales import FULL  # noqa: E402

RECORDS = ROOT / "benchmarks" / "records"
NAMES = {"l2": "L2", "angular": "Angular", "tv": "TotalVariation", "jaccard": "MaskJaccard"}
CENTERS = {"l2": "GeometricMedian", "angular": "GeometricMedian", "tv": "Medoid"}
BUDGETS = ("default", "1,700", "50,100")
WEBER = "Weber point, pool 2"


def pages() -> dict[Path, str]:
    """Every page with numbers of ours, as it should be."""
    readme, docs = ROOT / "README.md", ROOT / "docs"
    normed, distances, noises = (
        docs / "theory/theorem-c-normed.md",
        docs / "metrics.md",
        docs / "noises.md",
    )
    pairs = {name: one["ours"] for name, one in _record("metrics")["pairs"].items()}
    copies = {name: one["rate"] for name, one in _record("noises")["copies"].items()}
    return {
        readme: between(
            between(readme.read_text(encoding="utf-8"), "compared", compared()),
            "studied",
            studied(),
        ),
        normed: between(normed.read_text(encoding="utf-8"), "normed", centers()),
        distances: with_speeds(distances.read_text(encoding="utf-8"), pairs),
        noises: with_speeds(noises.read_text(encoding="utf-8"), copies),
    }


def between(page: str, name: str, text: str) -> str:
    """The page with this text between its marks."""
    begin, end = f"<!-- begin {name} -->\n", f"<!-- end {name} -->"
    return page[: page.index(begin) + len(begin)] + text + page[page.index(end) :]


def with_speeds(page: str, rates: dict[str, float]) -> str:
    """The page with the last column of its tables telling these rates."""

    def row(found: re.Match[str]) -> str:
        rate = rates.get(found["name"])
        return found[0] if rate is None else f"{found['rest']}| {rounded(rate)} |"

    return re.sub(r"^(?P<rest>\| `(?P<name>\w+)\(.*)\| [^|]* \|$", row, page, flags=re.MULTILINE)


def rounded(rate: float) -> str:
    """Two digits, in words above a million."""
    step = 10 ** (math.floor(math.log10(rate)) - 1)
    whole = round(rate / step) * step
    return f"{whole / 1e6:g} million" if whole >= 1e6 else f"{whole:,.0f}"


def compared() -> str:
    """Ours over published, and one bound of ours over another for small attacks."""
    rows = [*_bounds(_record("bounds")), *_normed(_record("normed"))]
    header = ["distance", "center", "our passes", "ε = σ", "ε = 1.5 σ", "ε = 2 σ"]
    lines = [header, ["---"] * len(header), *rows]
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return f"{table}\n\n{_small(_record('small_eps'))}\n"


def studied() -> str:
    """The paper's experiments: the summary's figure and table, and a line per page."""
    pages = findings.pages(FULL)
    folder = FULL.results.relative_to(ROOT).as_posix()
    figure = f"![Our bound over the published one, per distance]({folder}/figures/summary.png)\n"
    table = findings.table_of(findings.headlines(pages))
    return "\n".join(
        [figure, table, findings.explained(FULL), findings.listed(pages, f"{folder}/")]
    )


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


def centers() -> str:
    """All centers for total variation, at both budgets, beside the published bound."""
    record = _record("normed")
    rows = [["center", "budget", "h = 1", "h = 1.5", "h = 2"], ["---"] * 5]
    for budget in record["ours"][0]["bounds"]:
        for center in record["ours"][0]["bounds"][budget]:
            ours = [
                [b or math.inf for b in one["bounds"][budget][center]] for one in record["ours"]
            ]
            found = [
                "-" if text == "inf" else text for text in _ratios(ours, record["published"], 3)
            ]
            rows.append([center, budget, *found])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"


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


def _ratios(
    ours: Sequence[Sequence[float]], theirs: Sequence[Sequence[float]], digits: int = 2
) -> list[str]:
    """For each ε, the median over images."""
    found = ([a[i] / b[i] for a, b in zip(ours, theirs, strict=True)] for i in range(3))
    return [f"{statistics.median(ratios):.{digits}f}" for ratios in found]


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
