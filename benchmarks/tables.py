"""What all parts of `make bench` write their tables with."""

from __future__ import annotations

import statistics
from collections.abc import Sequence


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines) + "\n"


def median_ratios(ours: list[list[float]], theirs: list[list[float]]) -> list[str]:
    """For each eps, the median over images of one bound over the other."""
    places = range(len(theirs[0]))
    ratios = ([a[i] / b[i] for a, b in zip(ours, theirs, strict=True)] for i in places)
    return [f"{statistics.median(found):.3f}" for found in ratios]
