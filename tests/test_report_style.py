from __future__ import annotations

import itertools
from importlib.resources import files

import matplotlib
import numpy as np

from centersmooth.report import style
from centersmooth.report.panels import COLOURS
from report_runs import HOSTILE

# Colours as people without green and without red receptors see them, in linear RGB (Viénot,
# Brettel and Mollon 1999).
BLIND = (
    ((0.29275, 0.70725, 0.0), (0.29275, 0.70725, 0.0), (-0.02234, 0.02234, 1.0)),
    ((0.11238, 0.88762, 0.0), (0.11238, 0.88762, 0.0), (0.00401, -0.00401, 1.0)),
)


def linear(colour: str) -> np.ndarray:
    shares = np.asarray([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    a, b = (float(linear(c) @ (0.2126, 0.7152, 0.0722)) for c in (one, other))
    return (max(a, b) + 0.05) / (min(a, b) + 0.05)


def test_text_and_marks_stand_out_from_paper() -> None:
    assert contrast(style.INK, style.PAPER) >= 7
    assert contrast(style.MUTED, style.PAPER) >= 4.5
    assert all(contrast(hue, style.PAPER) >= 4.5 for hue in style.HUES)


def test_the_first_two_hues_differ_for_colour_blind_readers() -> None:
    for matrix in BLIND:
        one, other = (np.asarray(matrix) @ linear(hue) for hue in style.HUES[:2])
        assert np.abs(one - other).max() > 0.15


def test_the_page_fills_in_every_colour_in_both_themes() -> None:
    sheet = (files("centersmooth.report") / "templates" / "page.css").read_text(encoding="utf-8")
    for name in style.PALETTE.values():
        assert f".fill-{name} {{" in sheet
        assert f".stroke-{name} {{" in sheet
    for place in range(len(style.HUES)):
        assert sheet.count(f"--s{place}: #") == 2
        assert f".hue{place} {{" in sheet
    assert len(style.HUES) == COLOURS


def test_every_hue_has_its_own_marker_and_class() -> None:
    assert len(set(style.MARKERS)) == len(style.HUES)
    assert len(set(style.PALETTE.values())) == len(style.PALETTE)
    assert all(a != b for a, b in itertools.combinations(style.HUES, 2))


def test_the_users_own_settings_neither_change_figures_nor_are_changed() -> None:
    with matplotlib.rc_context({"font.size": 3, "axes.facecolor": "red"}):
        with style.rules():
            assert matplotlib.rcParams["axes.facecolor"] == "none"
            assert matplotlib.rcParams["font.size"] == 9.5
        assert matplotlib.rcParams["font.size"] == 3


def test_figures_are_the_same_bytes_each_time() -> None:
    def drawn() -> str:
        with style.rules():
            figure = style.blank()
            figure.subplots().plot([1, 2], [2, 1], "o-")
            return style.as_svg(figure)

    assert drawn() == drawn()


def test_labels_are_one_short_line() -> None:
    found = style.plain(HOSTILE + "\n" * 3 + "x" * 99)
    assert len(found) == 44
    assert found.endswith("…")
    assert "\n" not in found
    assert style.plain(" \n ") == "(no name)"
