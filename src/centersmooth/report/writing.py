"""A report on disk: the page, its figures as files, and its tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from centersmooth.errors import ArgumentError, expected
from centersmooth.report import figures, style, tables
from centersmooth.report.gallery import Curator
from centersmooth.report.groups import gather
from centersmooth.report.page import Subject, figure_file, page
from centersmooth.report.panels import arrange
from centersmooth.store import Record, Store, files

FOLDER, PAGE = "report", "report.html"


@dataclass(frozen=True)
class Report:
    """Where everything is."""

    page: Path
    figures: tuple[Path, ...]
    markdown: Path
    latex: Path
    records: int


def write_report(
    run: str | Path,
    out: str | Path | None = None,
    tolerance: float | None = None,
    gallery: int = 12,
) -> Report:
    """Write the report of a run, finished or not, into its folder `report`.

    out: another folder for it.
    tolerance: how far an answer may move and still be fine, where the page starts; by default
    the first setting's median bound.
    gallery: for how many inputs answers are shown (as far as the run kept them).
    """
    _check(tolerance, gallery)
    with Store(run) as store:
        info = store.run_info()
        folder = Path(out) if out is not None else store.path.parent / FOLDER
        subject = _subject(info, store.records(), tolerance, gallery)
    return _written(subject, files.folder(folder))


def _check(tolerance: float | None, gallery: int) -> None:
    if tolerance is not None and not 0 <= tolerance < math.inf:
        fix = "It is a distance between outputs, in the metric's units."
        raise ArgumentError(expected("a finite tolerance >= 0", repr(tolerance), fix))
    if gallery < 0:
        raise ArgumentError(expected("gallery >= 0", gallery, "0 leaves the gallery out."))


def _subject(
    info: Mapping[str, Any], records: Iterable[Record], tolerance: float | None, gallery: int
) -> Subject:
    """One pass over the records, then all figures."""
    settings = {found["name"]: found for found in info.get("settings", ())}
    curator = Curator(settings, gallery)
    groups = gather(curator.watch(records))
    panels = arrange(groups)
    drawings = [figures.drawings(panel) for panel in panels]
    with style.rules():
        svgs = {
            figure_file(place, drawing): style.as_svg(drawing.figure)
            for place, found in enumerate(drawings)
            for drawing in found
        }
    return Subject(
        info=info,
        groups=groups,
        panels=panels,
        tolerances=[panel.tolerance if tolerance is None else tolerance for panel in panels],
        drawings=drawings,
        svgs=svgs,
        exhibitions=curator.exhibitions,
    )


def _written(subject: Subject, folder: Path) -> Report:
    """The page comes last: while it is missing or old, a reader sees no half-written report."""
    pictures = files.folder(folder / "figures")
    paths = []
    with style.rules():
        for place, found in enumerate(subject.drawings):
            for drawing in found:
                name = figure_file(place, drawing)
                paths.append(_write(pictures / f"{name}.svg", subject.svgs[name].encode()))
                paths.append(_write(pictures / f"{name}.png", style.as_png(drawing.figure)))
    pairs = list(zip(subject.panels, subject.tolerances, strict=True))
    markdown = "\n".join(tables.markdown(panel, tolerance) for panel, tolerance in pairs)
    latex = "\n".join(tables.latex(panel, tolerance) for panel, tolerance in pairs)
    return Report(
        figures=tuple(paths),
        markdown=_write(folder / "summary.md", markdown.encode("utf-8", "replace")),
        latex=_write(folder / "summary.tex", latex.encode("utf-8", "replace")),
        page=_write(folder / PAGE, page(subject).encode("utf-8", "replace")),
        records=sum(len(group) for group in subject.groups),
    )


def _write(path: Path, content: bytes) -> Path:
    """Whole or not at all: an old file stays until the new one is complete."""
    with files.whole(path) as stream:
        stream.write(content)
    return path
