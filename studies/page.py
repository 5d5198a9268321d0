"""A page of findings: words, tables and figures, and the line it adds to the summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from matplotlib.figure import Figure

from studies.comparison import Point, middle, overall, overall_thorough
from studies.figures import save
from studies.origins import write_atomically
from studies.records import Row, read_rows
from studies.scales import Scale


@dataclass(frozen=True)
class Headline:
    """What the summary says of one distance."""

    name: str
    ratio: float
    aim: float
    inputs: int
    """The most that ours was run on."""
    runs: int
    """Runs of the published procedure that the ratio rests on."""
    compared: int
    """Inputs of these runs."""
    ours_evaluations: int
    published_evaluations: int
    thorough: float | None
    """The ratio with ten times the passes."""
    smoothing: float | None
    """Our smoothing error over the published one, median over the grid."""
    worse: tuple[int, int]
    """At how many points of the grid, of how many, that is above 1."""


def headline(name: str, aim: float, found: Sequence[Point]) -> Headline | None:
    """The line of a distance; None as long as there is nothing to compare with."""
    median = overall(found)
    if median is None:
        return None
    runs = frozenset[tuple[str, float, int]]().union(*(point.compared for point in found))
    smoothing = [p.smoothing_ratio for p in found if p.smoothing_ratio is not None]
    return Headline(
        name=name,
        ratio=median,
        aim=aim,
        inputs=max(point.inputs for point in found),
        runs=len(runs),
        compared=len({(part, index) for part, _, index in runs}),
        ours_evaluations=max(point.ours_evaluations for point in found),
        published_evaluations=max(point.published_evaluations for point in found),
        thorough=overall_thorough(found),
        smoothing=middle(smoothing),
        worse=(sum(share > 1 for share in smoothing), len(smoothing)),
    )


@dataclass(frozen=True)
class Page:
    """One experiment's findings."""

    name: str
    """Of its file, without an ending."""
    title: str
    text: str
    """Markdown; figures are shown after it."""
    figures: Mapping[str, tuple[Figure, str]]
    """By file name, with a caption."""
    pictures: Mapping[str, str] = field(default_factory=dict)
    """Captions of PNG files that the run itself kept."""
    headline: Headline | None = None
    parts: Sequence[str] = ()
    """That its numbers come from."""
    said: str = ""
    """What the summary says of it beside the headline: a sentence with numbers."""

    def content(self, scale: Scale) -> str:
        """The page as Markdown."""
        blocks = [f"# {self.title}\n", self.text]
        for name, (_, caption) in self.figures.items():
            blocks.append(f"![{caption}](figures/{name}.svg)\n\n{caption}\n")
        for name, caption in self.pictures.items():
            if (scale.results / "figures" / name).exists():
                blocks.append(f"![{caption}](figures/{name})\n\n{caption}\n")
        return "\n".join(blocks) + "\n" + again(scale, self.parts)

    def write(self, scale: Scale) -> list[Path]:
        """The page and its figures."""
        folder = scale.results
        paths = [
            path
            for name, (figure, _) in self.figures.items()
            for path in save(figure, folder / "figures", name)
        ]
        content = self.content(scale).encode()
        return [*paths, write_atomically(folder / f"{self.name}.md", content)]


def again(scale: Scale, parts: Sequence[str] = ()) -> str:
    """How the numbers came about, and how to make them anew."""
    only = f" --only {' '.join(parts)}" if parts else ""
    return (
        f"Written by `python -m studies write {scale.name}` from `records/`, which `python -m "
        f"studies run {scale.name}{only}` makes.\n"
    )


def parts_of(rows: Sequence[Row]) -> list[str]:
    """The parts that records come from."""
    return list(dict.fromkeys(row.part for row in rows))


def rows_of_parts(scale: Scale, names: list[str]) -> list[Row]:
    """The records of some parts, as far as they were run."""
    return [row for name in names for row in read_rows(scale.results / "records" / f"{name}.jsonl")]
