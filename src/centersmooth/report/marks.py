"""What figures are made of: curves with bands, strips of inputs, whiskers, legends."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from centersmooth.report import style
from centersmooth.report.aggregates import FloatArray, Median, quantile
from centersmooth.report.panels import Panel, Series
from centersmooth.report.style import plain

_DOTS = 250
"""Up to so many inputs each get a dot; more become a hill."""
_HEADROOM = 1.06

Curve = list[tuple[float, Median]]


def axes(series: Sequence[Series]) -> tuple[Figure, Axes]:
    """An empty plot, with room for the legend of several series."""
    figure = style.blank(len(series) if len(series) > 1 else 0)
    return figure, figure.subplots()


def looks(one: Series) -> dict[str, Any]:
    """Lines and markers of a series: those of a published one are dashed and hollow."""
    colour = style.HUES[one.hue]
    return {
        "color": colour,
        "linestyle": (0, (4, 2.2)) if one.published else "-",
        "marker": style.MARKERS[one.number % len(style.MARKERS)],
        "markerfacecolor": style.PAPER if one.published else colour,
        "markeredgecolor": colour,
    }


def curves(ax: Axes, drawn: Sequence[tuple[Series, Curve]]) -> None:
    """Medians with their intervals; where one has no finite end the band leaves the plot."""
    ends = [m.value for _, curve in drawn for _, m in curve]
    ends += [m.high for _, curve in drawn for _, m in curve if m.high is not None]
    top = _HEADROOM * max((end for end in ends if math.isfinite(end)), default=1.0) or 1.0
    for one, curve in drawn:
        finite = [(eps, m.value) for eps, m in curve if math.isfinite(m.value)]
        ax.plot([eps for eps, _ in finite], [value for _, value in finite], **looks(one))
        low = [(eps, min(m.low, 2 * top)) for eps, m in curve if m.low is not None]
        high = [min(m.high, 2 * top) for _, m in curve if m.high is not None]
        colour = style.HUES[one.hue]
        across, floor = [eps for eps, _ in low], [value for _, value in low]
        ax.fill_between(across, floor, high, color=colour, alpha=0.16, lw=0)
    ax.set_xlim(left=0)
    ax.set_ylim(0, top)


def start(ax: Axes, one: Series, measured: Median) -> None:
    """A measured median where the attack is nothing; no line joins it to what is certified."""
    style_of = {**looks(one), "linestyle": "none"}
    ax.plot([0], [measured.value], clip_on=False, zorder=3, **style_of)
    ax.set_ylim(0, max(ax.get_ylim()[1], _HEADROOM * measured.value))


def strip(ax: Axes, one: Series, height: float, values: FloatArray) -> None:
    """Every input's value, with quantiles below; values without a finite bound are counted."""
    finite = np.sort(values[np.isfinite(values)])
    endless = len(values) - len(finite)
    more = f" · {endless:,} without a bound" if endless else ""
    ax.text(0, height + 0.28, f" {plain(one.group.name)}{more}", fontsize=9, va="bottom")
    if not len(finite):
        return
    colour = style.HUES[one.hue]
    if len(finite) > _DOTS:
        tall, edges = np.histogram(finite, bins=60)
        hill = height - 0.1 + 0.34 * tall / tall.max()
        ax.stairs(hill, edges, baseline=height - 0.1, fill=True, color=colour, alpha=0.4, lw=0)
    else:
        # Dots step through three heights, so that equal bounds stay visible.
        heights = height + 0.07 * (np.arange(len(finite)) % 3 - 1)
        ax.plot(finite, heights, looks(one)["marker"], ms=3, color=colour, alpha=0.55, mew=0)
    low, first, middle, third, high = (quantile(values, q) for q in (0.05, 0.25, 0.5, 0.75, 0.95))
    for start, stop, width in ((low, high, 1.0), (first, third, 5.0)):
        if math.isfinite(start):
            end = min(stop, float(finite[-1]))
            ax.plot([start, end], [height - 0.2] * 2, lw=width, color=colour, alpha=0.55)
    if math.isfinite(middle):
        ax.plot([middle] * 2, [height - 0.3, height + 0.14], lw=2, color=style.INK)


def whisker(ax: Axes, one: Series, height: float, found: Median) -> None:
    """A median with its interval, lying."""
    if found.low is not None and found.high is not None and math.isfinite(found.high):
        ax.plot([found.low, found.high], [height] * 2, color=style.HUES[one.hue], lw=1.6)
    ax.plot([found.value], [height], **looks(one))


def largest(ax: Axes, panel: Panel) -> None:
    """A line at the largest distance there is, when it is in sight."""
    if panel.diameter <= ax.get_ylim()[1]:
        ax.axhline(panel.diameter, color=style.MUTED, lw=0.8, ls=":")


def legend(figure: Figure, series: Sequence[Series]) -> None:
    """Below the plot; a single series needs none."""
    if len(series) < 2:
        return
    handles = [Line2D([], [], **looks(one)) for one in series]
    # A label that starts with "_" would be left out: the space keeps it.
    labels = [f" {plain(one.group.name)}" for one in series]
    figure.legend(handles, labels, loc="outside lower left", handlelength=3.2, ncols=1)
