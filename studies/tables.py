"""Tables and the words around them, as Markdown: every number comes from a record."""

from __future__ import annotations

import math
from collections.abc import Sequence

from studies.comparison import Point, overall

HEADER = (
    "part",
    "h",
    "ε₁",
    "ours",
    "published",
    "ratio",
    "ratio, ten times the passes",
    "certified error",
    "smoothing error",
    "published",
)


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [list(header), ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines) + "\n"


def amount(value: float | None) -> str:
    """Three or four digits; a dash for what is not there."""
    if value is None or math.isnan(value):
        return "–"
    return "∞" if value == math.inf else f"{value:.4g}" if value >= 1 else f"{value:.3f}"


def bounds_table(points: Sequence[Point]) -> str:
    """A line per part and (h, eps)."""
    return table(
        HEADER,
        [
            (
                point.part,
                f"{point.h:g}",
                f"{point.eps:g}",
                amount(point.ours),
                amount(point.published),
                amount(point.ratio),
                amount(point.thorough_ratio),
                amount(point.error),
                amount(point.smoothing),
                amount(point.published_smoothing),
            )
            for point in points
        ],
    )


def centers(points: Sequence[Point]) -> str:
    """Which center answers at which h, where it is not the same everywhere."""
    used = {
        (point.h, name): told
        for point in points
        for name, told in (
            ("", point.center),
            (" with ten times the passes", point.thorough_center),
        )
        if told
    }
    if len(set(used.values())) < 2:
        return ""
    said = "; ".join(f"at h = {h:g}{name}: {told}" for (h, name), told in sorted(used.items()))
    return f"\nOur centers, chosen for the largest ε₁ of each σ before anything is drawn: {said}.\n"


def spent(points: Sequence[Point], m: int) -> str:
    """What was spent on whom, plainly."""
    ours = max(point.ours_evaluations for point in points)
    theirs = max(point.published_evaluations for point in points)
    said = f"Ours: {_most(p.inputs for p in points)} inputs, {ours:,} forward passes each. "
    if thorough := _most(p.thorough_evaluations for p in points):
        said += f"Ten times the passes: {thorough:,}. "
    if not theirs:
        return said + "The published procedure has not been run yet."
    share = f"1/{theirs / ours:.1f}"
    least = min(point.published_inputs for point in points)
    said += (
        f"Published: {least} of them at each σ, {theirs:,} forward passes each (m = {m:,}); ours "
        f"takes {share} of that. Its curve is our median over the ratio on inputs that both ran on."
    )
    abstained = sum(point.abstained for point in points)
    if abstained:
        said += (
            f" The published smoothed model abstained {abstained} times; in medians the largest "
            "distance stands for that, and no ratio is taken."
        )
    return said


def verdict(points: Sequence[Point], aim: float | None) -> str:
    """The median ratio over the grid, and whether it is what was aimed at."""
    found = overall(points)
    if found is None:
        return "There is no input yet on which both gave a bound."
    said = f"Median over the grid of our bound over the published one: **{found:.2f}**"
    if aim is None:
        return said + "."
    return said + (f", within the aim of {aim:g}." if found <= aim else f"; the aim was {aim:g}.")


def _most(values: object) -> int:
    return max(values)  # type: ignore[call-overload,no-any-return]
