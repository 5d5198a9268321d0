from __future__ import annotations

import math

import numpy as np

import centersmooth as cs
from centersmooth.report import marks, style
from centersmooth.report.aggregates import Median
from centersmooth.report.groups import gather
from centersmooth.report.panels import Panel, arrange
from centersmooth.study.setting import PublishedProcedure
from report_runs import record, setting


def panel() -> Panel:
    sharp = setting("_hidden", cs.metrics.L2())
    paper = setting("paper", cs.metrics.L2(), published=PublishedProcedure())
    return arrange(gather([record(of, 0, (1, 2, 3)) for of in (sharp, paper)]))[0]


def test_published_series_are_dashed_and_hollow() -> None:
    sharp, paper = (marks.looks(one) for one in panel().series)
    assert sharp["linestyle"] == "-"
    assert paper["linestyle"] != "-"
    assert sharp["markerfacecolor"] == sharp["color"] == paper["color"]
    assert paper["markerfacecolor"] == style.PAPER


def test_a_band_without_a_finite_end_leaves_the_plot() -> None:
    figure, ax = marks.axes(panel().series[:1])
    endless = Median(2.0, 1.0, math.inf, 9)
    marks.curves(ax, [(panel().series[0], [(0.1, Median(1.0, 0.5, 1.5, 9)), (0.2, endless)])])
    (band,) = ax.collections
    assert band.get_paths()[0].vertices[:, 1].max() > ax.get_ylim()[1]
    assert ax.get_ylim()[1] < 3
    assert len(figure.axes) == 1


def test_a_median_without_interval_has_no_band() -> None:
    _, ax = marks.axes(panel().series[:1])
    marks.curves(ax, [(panel().series[0], [(0.1, Median(1.0, None, None, 3))])])
    assert all(len(path.vertices) == 0 for band in ax.collections for path in band.get_paths())
    assert list(ax.get_lines()[0].get_ydata()) == [1.0]


def test_the_measured_start_is_a_mark_of_its_own() -> None:
    _, ax = marks.axes(panel().series[:1])
    marks.curves(ax, [(panel().series[0], [(0.1, Median(1.0, 0.5, 1.5, 9))])])
    marks.start(ax, panel().series[0], Median(4.0, None, None, 9))
    curve, mark = ax.get_lines()
    assert list(curve.get_xdata()) == [0.1]
    assert (list(mark.get_xdata()), list(mark.get_ydata())) == ([0], [4.0])
    assert mark.get_linestyle() == "None"
    assert ax.get_ylim()[1] > 4.0


def test_the_strip_shows_every_finite_input_and_the_quantiles_of_all() -> None:
    _, ax = marks.axes(panel().series[:1])
    values = np.asarray([1.0, 2.0, 3.0, 4.0, math.inf])
    marks.strip(ax, panel().series[0], 0.0, values)
    dots, thin, thick, tick = ax.get_lines()
    assert list(dots.get_xdata()) == [1.0, 2.0, 3.0, 4.0]
    assert list(thin.get_xdata()) == [1.0, 4.0]  # the 95 % quantile is infinite: to the last one
    assert list(thick.get_xdata()) == [2.0, 4.0]
    assert list(tick.get_xdata()) == [3.0, 3.0]
    assert ax.texts[0].get_text().endswith("1 without a bound")


def test_legend_keeps_labels_that_matplotlib_would_hide() -> None:
    figure, _ = marks.axes(panel().series)
    marks.legend(figure, panel().series)
    texts = [text.get_text().strip() for text in figure.legends[0].get_texts()]
    assert texts == ["_hidden", "paper (published)"]


def test_a_single_series_needs_no_legend() -> None:
    figure, _ = marks.axes(panel().series[:1])
    marks.legend(figure, panel().series[:1])
    assert figure.legends == []
