"""The figures of one panel. Each is drawn once and used in the page, as SVG and as PNG."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from centersmooth.report import marks, style
from centersmooth.report.aggregates import FloatArray, Median, median, quantile, steps
from centersmooth.report.panels import Panel, Series
from centersmooth.report.style import plain
from centersmooth.report.words import amount, measured


@dataclass(frozen=True)
class Drawing:
    """A figure with its name (for files), title, caption, and the text that stands for it."""

    name: str
    title: str
    caption: str
    description: str
    figure: Figure


def drawings(panel: Panel) -> list[Drawing]:
    """All figures that this panel has data for."""
    makers: list[Callable[[Panel], Drawing | None]] = [bounds, shares, errors, spread, price]
    with style.rules():
        found = [make(panel) for make in makers]
    return [drawing for drawing in found if drawing is not None]


def bounds(panel: Panel) -> Drawing:
    """eps against the median bound, with the median's interval as a band."""
    drawn = [(one, _along(one, one.bound)) for one in panel.series]
    figure, ax = marks.axes(panel.series)
    marks.curves(ax, drawn)
    marks.largest(ax, panel)
    marks.legend(figure, panel.series)
    ax.set_xlabel(_attack_size(panel))
    ax.set_ylabel(f"bound ε₂ ({plain(panel.metric)})")
    told = [f"{one.group.name}: {_told(curve)}" for one, curve in drawn]
    return Drawing(
        "bounds",
        "How far an attack can move the answer",
        "Median certified bound over all inputs; the band is the median's 95\u00a0% interval "
        "(six inputs at least). Inputs without a bound count with the largest distance there is.",
        "Median bound by attack size. " + " ".join(told),
        figure,
    )


def errors(panel: Panel) -> Drawing | None:
    """eps against the median certified error about the ground truth."""
    drawn = [(one, _along(one, one.error)) for one in panel.series if one.group.errors is not None]
    if not drawn:
        return None
    shown = [one for one, _ in drawn]
    figure, ax = marks.axes(shown)
    marks.curves(ax, drawn)
    told = [f"{one.group.name}: {_told(curve)}" for one, curve in drawn]
    for one in shown:
        unattacked = median(_present(one.group.smoothed_error))
        if unattacked is not None:
            marks.start(ax, one, unattacked)
            told.append(f"{one.group.name}, unattacked: {measured(unattacked.value)}.")
    marks.largest(ax, panel)
    marks.legend(figure, shown)
    ax.set_xlabel(_attack_size(panel))
    ax.set_ylabel(f"distance to the truth ({plain(panel.metric)})")
    return Drawing(
        "errors",
        "Certified error against the truth",
        "Median bound on the distance from the truth to any answer under attack. "
        "The mark at ε = 0: the smoothed model's measured error, over the inputs that were "
        "answered.",
        "Median certified error by attack size. " + " ".join(told),
        figure,
    )


def spread(panel: Panel) -> Drawing:
    """Every input's bound at the headline eps."""
    rows = [(one, values) for one in panel.series if (values := _headline(one, panel)) is not None]
    figure = style.blank(height=max(2.0, 0.55 + 0.5 * len(rows)))
    ax = figure.subplots()
    for place, (one, values) in enumerate(rows):
        marks.strip(ax, one, -float(place), values)
    ax.set_yticks([])
    ax.set_ylim(-len(rows) + 0.45, 0.75)
    ax.spines["left"].set_visible(False)
    ax.set_xlim(0, 1.03 * ax.get_xlim()[1])  # no dot is cut in half at the edge
    ax.set_xlabel(f"bound ε₂ at ε = {panel.headline:g} ({plain(panel.metric)})")
    told = [f"{one.group.name}: {_quartiles(values)}." for one, values in rows]
    return Drawing(
        "spread",
        f"Every input at ε = {panel.headline:g}",
        "Dots are inputs (hills, where there are more than 250); the bar holds the middle half, "
        "the thin line the middle 90\u00a0%, the tick is the median.",
        f"Spread of the bounds at attack size {panel.headline:g}. " + " ".join(told),
        figure,
    )


def shares(panel: Panel) -> Drawing:
    """The tolerance against the share of inputs certified to stay within it."""
    told, stairs = [], []
    for one in panel.series:
        column = one.group.column(panel.headline)
        if column is not None:
            telling = one.group.telling[:, column]
            found = np.where(telling, one.group.bounds[:, column], math.inf)
            stairs.append((one, *steps(found)))
            told.append(f"{one.group.name}: {telling.sum()} of {len(one.group)} have a bound.")
    end = 1.04 * max((float(x[-1]) for _, x, _ in stairs if len(x)), default=1.0) or 1.0
    figure, ax = marks.axes(panel.series)
    for one, x, y in stairs:
        looks = {**marks.looks(one), "marker": ""}
        ax.step([0, *x, end], [0, *y, y[-1] if len(y) else 0], where="post", **looks)
    ax.set_xlabel(f"tolerance ({plain(panel.metric)})")
    ax.set_ylabel("share of inputs certified")
    ax.set_ylim(0, 1.02)
    ax.set_xlim(0, end)
    marks.legend(figure, panel.series)
    return Drawing(
        "shares",
        "Share of inputs certified at a tolerance",
        f"Against attacks of size ε = {panel.headline:g}. Inputs without a bound never count as "
        "certified.",
        f"Share of inputs certified at attack size {panel.headline:g}. " + " ".join(told),
        figure,
    )


def price(panel: Panel) -> Drawing | None:
    """What smoothing costs without an attack, next to what it certifies."""
    rows = [(name, _found(of, panel)) for name, of in _QUANTITIES]
    rows = [(name, found) for name, found in rows if found]
    if len(rows) < 2:
        return None
    figure = style.blank(len(panel.series), height=0.9 + 0.42 * len(rows))
    ax = figure.subplots()
    for place, (_, found) in enumerate(rows):
        for one, middle in found:
            if math.isfinite(middle.value):
                share = (panel.series.index(one) + 0.5) / len(panel.series)
                marks.whisker(ax, one, place + 0.5 * (share - 0.5), middle)
    ax.set_yticks(range(len(rows)), [name for name, _ in rows])
    ax.tick_params(axis="y", labelcolor=style.INK)
    ax.grid(axis="y", visible=False)
    ax.invert_yaxis()
    ax.axvline(0, color=style.MUTED, lw=0.8)
    ax.spines["left"].set_visible(False)
    ax.set_xlabel(f"median distance ({plain(panel.metric)})")
    marks.legend(figure, panel.series)
    told = [
        f"{one.group.name}, {name}: {measured(middle.value)}."
        for name, found in rows
        for one, middle in found
    ]
    return Drawing(
        "price",
        "What smoothing costs, next to what it buys",
        "Medians with 95\u00a0% intervals. Smoothing error: from the base model's answer to the "
        "smoothed one. Quality lost: how much farther from the truth the smoothed answer is (below "
        "0: nearer). Both, and the errors, over the inputs that were answered.",
        "Medians. " + " ".join(told),
        figure,
    )


_QUANTITIES: tuple[tuple[str, Callable[[Series, Panel], Median | None]], ...] = (
    ("bound under attack", lambda one, panel: one.bound(panel.headline)),
    ("smoothing error", lambda one, _: median(_present(one.group.smoothing_error))),
    ("base error", lambda one, _: median(_present(one.group.base_error))),
    ("smoothed error", lambda one, _: median(_present(one.group.smoothed_error))),
    (
        "quality lost",
        lambda one, _: median(_present(one.group.smoothed_error - one.group.base_error)),
    ),
)


def _found(
    of: Callable[[Series, Panel], Median | None], panel: Panel
) -> list[tuple[Series, Median]]:
    return [(one, found) for one in panel.series if (found := of(one, panel)) is not None]


def _along(one: Series, of: Callable[[float], Median | None]) -> marks.Curve:
    return [(eps, found) for eps in one.group.eps if (found := of(eps)) is not None]


def _headline(one: Series, panel: Panel) -> FloatArray | None:
    column = one.group.column(panel.headline)
    return None if column is None else one.group.bounds[:, column]


def _present(values: FloatArray) -> FloatArray:
    return values[~np.isnan(values)]


def _attack_size(panel: Panel) -> str:
    return f"attack size ε, {panel.norm}" if panel.norm else "attack size ε"


def _told(curve: Sequence[tuple[float, Median]]) -> str:
    return ", ".join(f"{amount(m.value)} at {eps:g}" for eps, m in curve) + "."


def _quartiles(values: FloatArray) -> str:
    low, middle, high = (quantile(values, q) for q in (0.25, 0.5, 0.75))
    return f"a quarter at most {amount(low)}, half {amount(middle)}, three quarters {amount(high)}"
