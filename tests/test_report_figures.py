from __future__ import annotations

import math

import pytest

import centersmooth as cs
from centersmooth.report import figures, style
from centersmooth.report.groups import gather
from centersmooth.report.panels import Panel, arrange
from centersmooth.study.setting import PublishedProcedure
from report_runs import HOSTILE, record, setting, without

L2, BOX = cs.metrics.L2(), cs.metrics.BoxJaccard()


def panel(name: str = "ours", truth: bool = False, inputs: int = 9) -> Panel:
    sharp, paper = setting(name, L2), setting("paper", L2, published=PublishedProcedure())
    extra = {"base_error": 0.5, "smoothed_error": 0.75} if truth else {}
    found = []
    for i in range(inputs):
        bounds = (1.0 + i, 2.0 + i, 3.0 + i)
        errors = tuple(b + 1 for b in bounds) if truth else None
        found.append(record(sharp, i, bounds, errors=errors, **extra))
        found.append(record(paper, i, [3 * b for b in bounds]))
    return arrange(gather([*found, without(paper, inputs, "abstained")]))[0]


def test_figures_need_their_data() -> None:
    names = [drawing.name for drawing in figures.drawings(panel())]
    assert names == ["bounds", "shares", "spread", "price"]
    names = [drawing.name for drawing in figures.drawings(panel(truth=True))]
    assert names == ["bounds", "shares", "errors", "spread", "price"]


def test_texts_for_those_who_do_not_see_the_figures_hold_the_numbers() -> None:
    told = {d.name: d.description for d in figures.drawings(panel(truth=True))}
    assert "ours: 5 at 0.1, 6 at 0.25, 7 at 0.5." in told["bounds"]
    assert "paper (published): 18 at 0.1" in told["bounds"]  # the sixth of 3, …, 27, infinite
    assert "ours: 6 at 0.1" in told["errors"]
    assert "ours, unattacked: 0.75." in told["errors"]
    assert "paper" not in told["errors"]
    assert "paper (published): 9 of 10 have a bound." in told["shares"]
    assert "a quarter at most 4, half 6, three quarters 8" in told["spread"]
    assert "ours, quality lost: 0.25." in told["price"]


def test_curves_show_medians_and_bands() -> None:
    (ax,) = figures.bounds(panel()).figure.axes
    ours, paper = ax.get_lines()
    assert list(ours.get_xdata()) == [0.1, 0.25, 0.5]
    assert list(ours.get_ydata()) == [5.0, 6.0, 7.0]
    assert list(paper.get_ydata()) == [18.0, 21.0, 24.0]
    assert paper.get_linestyle() == "--"
    assert ours.get_color() == paper.get_color()
    assert len(ax.collections) == 2


def test_medians_without_a_bound_are_left_open_and_the_spread_counts_them() -> None:
    of = setting("half", L2)
    found = [record(of, i, (1.0, 2.0, math.inf)) for i in range(7)]
    found += [without(of, 7 + i, "undecided") for i in range(7)]
    (half,) = arrange(gather(found))
    drawing = figures.bounds(half)
    assert "no bound at 0.5" in drawing.description
    (line,) = drawing.figure.axes[0].get_lines()
    assert list(line.get_xdata()) == []
    texts = [text.get_text() for text in figures.spread(half).figure.axes[0].texts]
    assert texts == [" half · 7 without a bound"]


def test_shares_never_reach_one_when_an_input_has_no_bound() -> None:
    _, paper = figures.shares(panel()).figure.axes[0].get_lines()
    assert max(paper.get_ydata()) == pytest.approx(0.9)


def test_the_largest_distance_is_no_certificate_however_large_the_tolerance() -> None:
    of = setting("a", BOX)
    found = [record(of, 0, (0.2, 0.5, 1.0)), without(of, 1, "undecided")]
    (line,) = figures.shares(arrange(gather(found))[0]).figure.axes[0].get_lines()
    assert max(line.get_ydata()) == 0.5


def test_the_largest_distance_is_drawn_when_it_is_in_sight() -> None:
    of = setting("a", BOX)
    wide = arrange(gather([record(of, i, (0.5, 0.9, 1.0)) for i in range(6)]))[0]
    near = arrange(gather([record(of, i, (0.1, 0.1, 0.2)) for i in range(6)]))[0]
    assert len(figures.bounds(wide).figure.axes[0].get_lines()) == 2
    assert len(figures.bounds(near).figure.axes[0].get_lines()) == 1


def test_many_inputs_become_a_hill() -> None:
    few, many = (figures.spread(panel(inputs=n)).figure.axes[0] for n in (9, 300))
    assert len(few.patches) == 0
    assert len(many.patches) == 2


def test_hostile_labels_are_drawn_as_they_are() -> None:
    with style.rules():
        for drawing in figures.drawings(panel(HOSTILE)):
            svg = style.as_svg(drawing.figure)
            assert "<img" not in svg
            assert style.as_png(drawing.figure)[:4] == b"\x89PNG"


def test_no_median_no_figure_of_the_price() -> None:
    of = setting("a", L2)
    assert figures.price(arrange(gather([without(of, 0, "failed")]))[0]) is None


def test_the_farthest_dot_of_the_spread_is_whole() -> None:
    (ax,) = figures.spread(panel()).figure.axes
    rightmost = max(max(line.get_xdata()) for line in ax.get_lines())
    assert rightmost < 0.98 * ax.get_xlim()[1]
