"""Tables and the words around them, as Markdown: every number comes from a record."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from centersmooth.study import PublishedProcedure
from studies.comparison import Point, overall

HEADER = (
    "part",
    "h",
    "ε₁",
    "ours",
    "inputs",
    "certified error",
    "ours there",
    "published there",
    "inputs there",
    "ratio",
    "ratio, thorough",
    "smoothing error there",
    "published",
)
_NOTHING = "–"
_THERE = """
*There*: on the inputs that the published procedure was run on as well; ratios are taken input by
input. *Smoothing error*: the distance from the base model's answer to the smoothed model's.
"""


def table(header: Sequence[object], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table."""
    lines: list[Sequence[object]] = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines) + "\n"


def amount(value: float | None) -> str:
    """Two to four digits; a dash for what is not there."""
    if value is None or math.isnan(value):
        return _NOTHING
    if value == math.inf:
        return "∞"
    if 0 < value < 0.01:
        return f"{value:.2g}"
    return f"{value:.4g}" if value >= 1 else f"{value:.3f}"


def bounds_table(points: Sequence[Point]) -> str:
    """A line per part and (h, eps); columns that say nothing are left out."""
    lines: list[tuple[object, ...]] = [
        (
            point.part,
            f"{point.h:g}",
            f"{point.eps:g}",
            amount(point.ours),
            str(point.inputs) + (f" ({point.failed} failed)" if point.failed else ""),
            amount(point.error),
            amount(point.ours_there),
            amount(point.published),
            point.published_inputs,
            amount(point.ratio),
            amount(point.thorough_ratio),
            amount(point.smoothing),
            amount(point.published_smoothing),
        )
        for point in points
    ]
    told = [place for place in range(len(HEADER)) if any(line[place] != _NOTHING for line in lines)]
    columns = [[line[place] for place in told] for line in (HEADER, *lines)]
    header, *rows = columns
    return table(header, rows) + _THERE + _centers(points)


def _centers(points: Sequence[Point]) -> str:
    """Which center answers where, unless it is the same everywhere."""
    used: dict[str, dict[float, list[float]]] = {}
    for point in points:
        for name, told in (("", point.center), (", thorough", point.thorough_center)):
            if told:
                places = used.setdefault(told + name, {}).setdefault(point.h, [])
                places += [] if point.eps in places else [point.eps]
    if len({told.removesuffix(", thorough") for told in used}) < 2:
        return ""
    said = "\n".join(
        f"- {told}: " + "; ".join(f"h = {h:g}, ε₁ = {_listed(places[h])}" for h in sorted(places))
        for told, places in used.items()
    )
    return (
        f"\nOur centers, chosen for the largest ε₁ of each σ before anything is drawn:\n\n{said}\n"
    )


def _listed(values: Sequence[float]) -> str:
    return ", ".join(f"{value:g}" for value in sorted(values))


def spent(points: Sequence[Point], procedure: PublishedProcedure) -> str:
    """What was spent on whom, plainly."""
    ours = max(point.ours_evaluations for point in points)
    theirs = max(point.published_evaluations for point in points)
    said = f"Ours: {_range(p.inputs for p in points)} inputs, {ours:,} forward passes at most. "
    if thorough := max(point.thorough_evaluations for point in points):
        said += f"Thorough: {thorough:,}. "
    if not theirs:
        return said + "The published procedure has not been run yet."
    least = _range(point.published_inputs for point in points)
    said += (
        f"Published (n = {procedure.n:,}, m = {procedure.m:,}): {least} of them at each point, "
        f"{theirs:,} forward passes; ours takes 1/{theirs / ours:.1f} of that. Its curve is our "
        "median over the ratio found there, the largest distance where it gave no bound."
    )
    abstained = sum(point.abstained for point in points)
    if abstained:
        said += (
            f" The published smoothed model abstained {abstained} times; in medians the largest "
            "distance stands for that, and no ratio is taken."
        )
    return said


def note(points: Sequence[Point], procedure: PublishedProcedure) -> str:
    """What a figure says in small print of the published procedure."""
    ours, theirs = (
        _range(values)
        for values in ((p.inputs for p in points), (p.published_inputs for p in points))
    )
    return (
        f"published: n = {procedure.n:,}, m = {procedure.m:,}, run on {theirs} of {ours} inputs\n"
        "at each point; drawn is our median over the ratio found there"
    )


def _range(values: Iterable[int]) -> str:
    found = sorted(values)
    return str(found[0]) if found[0] == found[-1] else f"{found[0]} to {found[-1]}"


def verdict(points: Sequence[Point], aim: float | None) -> str:
    """The median ratio over the grid, and whether it is what was aimed at."""
    found = overall(points)
    if found is None:
        return "There is no input yet on which both gave a bound."
    said = f"Median over the grid of our bound over the published one: **{found:.2f}**"
    if aim is None:
        return said + "."
    return said + (f", within the aim of {aim:g}." if found <= aim else f"; the aim was {aim:g}.")
