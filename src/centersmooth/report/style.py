"""How figures look: one palette, told apart by colour-blind readers, in both themes of the page."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from centersmooth.report.labels import readable, shortened

INK, MUTED, RULE, PAPER = "#1b1f24", "#5c6670", "#d5dade", "#ffffff"
HUES = ("#0067a5", "#bf4a00", "#007a59", "#9c4a80", "#866300", "#4d5a66")
MARKERS = ("o", "s", "^", "D", "v", "P")
PALETTE = {
    INK: "ink",
    MUTED: "muted",
    RULE: "rule",
    PAPER: "paper",
    **{colour: f"s{place}" for place, colour in enumerate(HUES)},
}
"""Colours of the files and the classes that replace them in the page."""

_WIDTH, _HEIGHT, _LEGEND_ROW = 4.1, 2.8, 0.2
_LABEL = 44  # characters of a label in a figure; tables have them whole
_RC: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "centersmooth",
    "text.parse_math": False,  # labels come from data: a dollar sign is a dollar sign
    "font.size": 9.5,
    "axes.labelsize": 9.5,
    "axes.labelcolor": MUTED,
    "axes.edgecolor": MUTED,
    "axes.linewidth": 0.8,
    "axes.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": RULE,
    "grid.linewidth": 0.6,
    "text.color": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "xtick.major.pad": 6,
    "ytick.major.pad": 5,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "legend.labelcolor": INK,
    "figure.facecolor": PAPER,
    "lines.linewidth": 1.8,
    "lines.markersize": 5,
    "lines.solid_capstyle": "round",
}


@contextmanager
def rules() -> Iterator[None]:
    """The settings every figure is built and saved under, whatever the user's own are."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_RC)
        yield


def blank(legend_rows: int = 0, height: float = _HEIGHT) -> Figure:
    """An empty figure with room for a legend below."""
    return Figure(figsize=(_WIDTH, height + _LEGEND_ROW * legend_rows), layout="constrained")


def plain(label: str, most: int = _LABEL) -> str:
    """A label from data, fit for a figure: one line, no control characters, not too long."""
    return shortened(" ".join(readable(label).split()) or "(no name)", most)


def as_svg(figure: Figure) -> str:
    """The figure as SVG text, the same bytes each time."""
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return file.getvalue()


def as_png(figure: Figure) -> bytes:
    """The figure as PNG, sharp enough for a slide."""
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=200, metadata={"Software": None})
    return file.getvalue()
