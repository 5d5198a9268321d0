"""Figures of the experiments, drawn from records alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from centersmooth.report import style
from studies.comparison import Point
from studies.origins import write_atomically

_DIAMOND: dict[str, Any] = {
    "marker": "D",
    "ls": "",
    "ms": 6,
    "mfc": style.PAPER,
    "mec": style.HUES[1],
}
Lines = Mapping[str, Sequence[tuple[float, float]]]
"""Named curves of (x, y)."""


def save(figure: Figure, folder: Path, name: str) -> list[Path]:
    """As SVG and as PNG, the same bytes for the same records."""
    with style.rules():
        svg, png = style.as_svg(figure), style.as_png(figure)
    return [
        write_atomically(folder / f"{name}.svg", svg.encode()),
        write_atomically(folder / f"{name}.png", png),
    ]


def bounds(
    points: Sequence[Point],
    ylabel: str,
    note: str,
    rivals: Mapping[str, Lines] | None = None,
) -> Figure:
    """eps against the median bound: a panel per part, ours solid, published dashed and hollow.

    The published procedure is run on few inputs, so its curve is our median over the ratio.

    note: small print, what the published procedure was given.
    rivals: for each part further curves, drawn dotted.
    """
    parts = list(dict.fromkeys(point.part for point in points))
    ratios = sorted({point.h for point in points})
    extra = sorted({name for lines in (rivals or {}).values() for name in lines})
    with style.rules():
        figure, axes = _panels(len(parts))
        for ax, part in zip(axes, parts, strict=True):
            ax.set_title(part, fontsize=9.5)
            for place, h in enumerate(ratios):
                own = [p for p in points if p.part == part and p.h == h]
                _curve(ax, [(p.eps, p.ours) for p in own], place, published=False)
                _curve(ax, [(p.eps, p.published_estimate) for p in own], place, published=True)
            for place, name in enumerate(extra):
                curve = (rivals or {}).get(part, {}).get(name, ())
                ax.plot(*_columns(curve), color=style.MUTED, ls=(":", "-.")[place % 2], marker="x")
            _from_zero(ax)
            ax.set_xlabel("size of the attack ε₁")
            ax.set_ylabel(ylabel)
        _legend(figure, ratios, extra, note, columns=min(2, len(parts)))
        return figure


def curves(panels: Mapping[str, Lines], xlabel: str, ylabel: str) -> Figure:
    """Named curves in named panels; a name has one colour throughout."""
    names = list(dict.fromkeys(name for lines in panels.values() for name in lines))
    with style.rules():
        figure, axes = _panels(len(panels))
        for ax, (title, lines) in zip(axes, panels.items(), strict=True):
            ax.set_title(title, fontsize=9.5)
            for name, curve in lines.items():
                place = names.index(name)
                ax.plot(*_columns(curve), **_looks(place))
            _from_zero(ax)
            ax.set_xlabel(xlabel)
            ax.set_ylabel(ylabel)
        handles = [Line2D([], [], **_looks(place)) for place in range(len(names))]
        figure.legend(handles, names, loc="outside lower center", ncols=min(2, len(panels)))
        return figure


def summary(lines: Mapping[str, tuple[float, float | None, float]]) -> Figure:
    """One line per distance: ours over published, the same when thorough, and the aim."""
    with style.rules():
        figure = style.blank(height=1.1 + 0.42 * len(lines))
        ax = figure.subplots()
        for place, (found, thorough, aim) in enumerate(lines.values()):
            ax.barh(-place, found, height=0.5, color=style.HUES[0])
            ax.plot([aim] * 2, [-place - 0.36, -place + 0.36], color=style.INK, lw=1.6)
            ax.text(0.01, -place, f"{found:.2f}", va="center", fontsize=9, color=style.PAPER)
            if thorough is not None:
                ax.plot(thorough, -place, **_DIAMOND)
        ax.axvline(1, color=style.MUTED, lw=0.8, ls=":")
        ax.set_yticks([-place for place in range(len(lines))], list(lines))
        ax.set_xlim(0, max([1.08, *(1.05 * found for found, _, _ in lines.values())]))
        ax.set_xlabel("our bound / the published one")
        ax.grid(visible=False, axis="y")
        marks = [Line2D([], [], **_DIAMOND), Line2D([], [], color=style.INK, lw=1.6)]
        figure.legend(marks, ["thorough", "aim"], loc="outside lower center", ncols=2)
        return figure


def _panels(count: int) -> tuple[Figure, list[Axes]]:
    across = min(2, count)
    down = -(-count // across)
    figure = Figure(figsize=(3.9 * across, 2.7 * down + 0.5), layout="constrained")
    axes = figure.subplots(down, across, squeeze=False).ravel().tolist()
    for ax in axes[count:]:
        ax.set_visible(False)
    return figure, axes[:count]


def _from_zero(ax: Axes) -> None:
    """Both axes start at 0, with room beyond the farthest markers."""
    ax.set_xlim(0, 1.04 * _farthest(ax, "x"))
    ax.set_ylim(0, 1.08 * _farthest(ax, "y"))


def _farthest(ax: Axes, axis: str) -> float:
    values = [float(v) for line in ax.lines for v in getattr(line, f"get_{axis}data")(orig=True)]
    return max((v for v in values if np.isfinite(v)), default=1.0) or 1.0


def _curve(
    ax: Axes, curve: Sequence[tuple[float, float | None]], place: int, published: bool
) -> None:
    known = [(x, y) for x, y in curve if y is not None]
    ax.plot(*_columns(known), **_looks(place, published))


def _columns(curve: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [x for x, _ in curve], [y for _, y in curve]


def _looks(place: int, published: bool = False) -> dict[str, Any]:
    colour = style.HUES[place % len(style.HUES)]
    return {
        "color": colour,
        "linestyle": (0, (4, 2.2)) if published else "-",
        "marker": style.MARKERS[place % len(style.MARKERS)],
        "markerfacecolor": style.PAPER if published else colour,
        "markeredgecolor": colour,
    }


def _legend(
    figure: Figure, ratios: Sequence[float], extra: Sequence[str], note: str, columns: int
) -> None:
    handles, labels = [], []
    for place, h in enumerate(ratios):
        for published in (False, True):
            handles.append(Line2D([], [], **_looks(place, published)))
            labels.append(f"{'published, estimated' if published else 'ours'}, ε₁ = {h:g} σ")
    for place, name in enumerate(extra):
        looks: Any = {"color": style.MUTED, "ls": (":", "-.")[place % 2], "marker": "x"}
        handles.append(Line2D([], [], **looks))
        labels.append(name)
    where: Any = {"loc": "outside lower center", "ncols": columns}
    figure.legend(handles, labels, title=note, title_fontsize=7.5, **where)
