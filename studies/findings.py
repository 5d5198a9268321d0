"""All pages of a scale, and the summary of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from studies import (
    beyond_pages,
    faces,
    faces_page,
    figures,
    perception,
    perception_page,
    restoration,
    restoration_pages,
)
from studies.catalogue import PARTS
from studies.origins import write_atomically
from studies.page import Headline, Page, again, rows_of_parts
from studies.scales import Scale
from studies.tables import table

MAKERS: Sequence[Callable[[Scale], list[Page]]] = (
    restoration_pages.pages,
    faces_page.pages,
    perception_page.pages,
    beyond_pages.pages,
)


def pages(scale: Scale) -> list[Page]:
    """Every page there are records for."""
    return [page for make in MAKERS for page in make(scale)]


def write(scale: Scale) -> list[Path]:
    """The pages, then the summary of them."""
    found = pages(scale)
    if not found:
        return []
    paths = [path for page in found for path in page.write(scale)]
    lines = headlines(found)
    if lines:
        figure = figures.summary({x.name: (x.ratio, x.thorough, x.aim) for x in lines})
        paths += figures.save(figure, scale.results / "figures", "summary")
    content = summary(scale, found).encode()
    return [*paths, write_atomically(scale.results / "README.md", content)]


def headlines(found: Sequence[Page]) -> list[Headline]:
    """What the pages add to the summary."""
    return [page.headline for page in found if page.headline is not None]


def summary(scale: Scale, found: Sequence[Page]) -> str:
    """The page that shows the way to the others."""
    blocks = [f"# Findings, {scale.name} scale\n", *filter(None, [_note(scale)])]
    if lines := headlines(found):
        blocks += ["![Our bound over the published one](figures/summary.svg)\n", table_of(lines)]
        blocks += [explained(scale)]
    return "\n".join([*blocks, listed(found), again(scale)])


def listed(found: Sequence[Page], folder: str = "") -> str:
    """The pages, each with its sentence."""
    return "".join(
        f"- [{page.title}]({folder}{page.name}.md)" + (f": {page.said}\n" if page.said else "\n")
        for page in found
    )


def _note(scale: Scale) -> str:
    if scale.name == "full":
        return ""
    return (
        "A first look: few inputs, short training, and the published procedure with fewer samples "
        "than the paper gives it. What counts are the figures of the full scale.\n"
    )


def table_of(lines: Sequence[Headline]) -> str:
    """A line per distance."""
    header = (
        *("distance", "our bound / published", "aim", "thorough", "our inputs", "our passes"),
        *("published passes", "its runs (inputs)", "passes", "our smoothing error / published"),
    )
    rows = [
        (
            line.name,
            f"{line.ratio:.2f}",
            f"≤ {line.aim:g}",
            "–" if line.thorough is None else f"{line.thorough:.2f}",
            line.inputs,
            f"{line.ours_evaluations:,}",
            f"{line.published_evaluations:,}",
            f"{line.runs} ({line.compared})",
            f"1/{line.published_evaluations / line.ours_evaluations:.1f}",
            _smoothing(line),
        )
        for line in lines
    ]
    return table(header, rows)


def _smoothing(line: Headline) -> str:
    if line.smoothing is None:
        return "–"
    larger, among = line.worse
    return f"{line.smoothing:.2f} (above 1 at {larger} of {among} points)"


def explained(scale: Scale) -> str:
    """What the table's columns mean, and what has not been run."""
    said = (
        "Bounds and smoothing errors are compared input by input, at every point (h, ε₁) of the "
        "grid; the table has the medians over the grid. *Thorough*: about ten times our passes. "
        "The published procedure is run on few inputs, other ones at every σ, and with "
        f"m = {scale.restoration.published.m:,} on restored images: that makes its bounds a little "
        "larger than its own m = 1,000,000 would. `benchmarks/RESULTS.md` has the latter.\n"
    )
    left = [part.name for part in PARTS if not _recorded(scale, part.name)]
    begun = [told for name, count in _inputs(scale).items() if (told := _begun(scale, name, count))]
    said += f"\nBegun, not finished: {'; '.join(begun)}.\n" if begun else ""
    return said + (f"\nNot run yet at this scale: {', '.join(left)}.\n" if left else "")


def _inputs(scale: Scale) -> dict[str, int]:
    """How many inputs each part is meant for."""
    return {
        **{part.name: part.budget(scale).inputs for part in restoration.PARTS},
        **{part.name: scale.faces.inputs for part in faces.PARTS},
        **{part.name: scale.perception.inputs for part in perception.PARTS},
    }


def _begun(scale: Scale, name: str, count: int) -> str:
    found = len({row.index for row in rows_of_parts(scale, [name])})
    return f"{name}, {found} of {count} inputs" if 0 < found < count else ""


def _recorded(scale: Scale, name: str) -> bool:
    return (scale.results / "records" / f"{name}.jsonl").exists()
