from __future__ import annotations

import math

import numpy as np
import pytest

import centersmooth as cs
from centersmooth.report.groups import gather
from centersmooth.report.panels import COLOURS, arrange
from centersmooth.study.setting import PublishedProcedure
from report_runs import record, setting, without

L2, BOX = cs.metrics.L2(), cs.metrics.BoxJaccard()


def test_one_panel_per_metric() -> None:
    a, b, c = setting("a", L2), setting("b", BOX), setting("c", L2)
    panels = arrange(gather([record(s, 0, (0.1, 0.2, 0.3)) for s in (a, b, c)]))
    assert [panel.metric for panel in panels] == ["L2", "BoxJaccard"]
    assert [group.key.setting for group in panels[0].groups] == ["a", "c"]


def test_the_headline_is_the_middle_of_the_grid_whatever_the_results() -> None:
    a = setting("a", L2, eps=(0.1, 0.2))
    b = setting("b", L2, eps=(0.2, 0.3, 0.4))
    (panel,) = arrange(gather([record(a, 0, (1, 2)), record(b, 0, (9, 9, 9))]))
    assert panel.eps == (0.1, 0.2, 0.3, 0.4)
    assert panel.headline == 0.3
    assert panel.series[0].bound(panel.headline) is None


def test_a_published_setting_has_the_hue_of_its_sharp_partner() -> None:
    one, two = setting("one", L2), setting("two", L2, sigma=0.5)
    paper = setting("paper", L2, sigma=0.5, published=PublishedProcedure())
    lone = setting("lone", L2, sigma=1.0, published=PublishedProcedure())
    (panel,) = arrange(gather([record(s, 0, (1, 2, 3)) for s in (paper, one, two, lone)]))
    assert [series.number for series in panel.series] == [1, 0, 1, 2]
    assert [series.published for series in panel.series] == [True, False, False, True]
    names = [(a.group.name, b.group.name) for a, b in panel.pairs]
    assert names == [("two", "paper (published)")]


def test_hues_repeat_when_there_are_many() -> None:
    many = [setting(f"s{i}", L2, sigma=0.1 * (i + 1)) for i in range(COLOURS + 1)]
    (panel,) = arrange(gather([record(s, 0, (1, 2, 3)) for s in many]))
    assert panel.series[0].hue == panel.series[-1].hue
    assert panel.series[0].number != panel.series[-1].number


def test_medians_and_shares_count_every_record() -> None:
    of = setting("a", BOX)
    bounds = [0.1, 0.3, 0.2, 0.5]
    records = [record(of, i, (b, b, b), errors=(b, b, b)) for i, b in enumerate(bounds)]
    records += [without(of, 4, "undecided"), without(of, 5, "failed"), without(of, 6, "abstained")]
    (panel,) = arrange(gather(records))
    (series,) = panel.series
    found = series.bound(0.25)
    assert found is not None
    assert found.value == np.sort([*bounds, 1.0, 1.0, 1.0])[3]
    assert found.count == 7
    share = series.share(0.25, 0.3)
    assert share is not None
    assert (share.hits, share.count) == (3, 7)
    error = series.error(0.25)
    assert error is not None
    assert (error.value, error.count) == (0.3, 5)  # the two that tried but have no target are out


def test_an_unbounded_metric_has_no_median_when_half_have_no_bound() -> None:
    of = setting("a", L2)
    (panel,) = arrange(gather([record(of, 0, (1, 2, 3)), without(of, 1, "undecided")]))
    found = panel.series[0].bound(0.1)
    assert found is not None
    assert found.value == math.inf
    assert panel.diameter == math.inf


@pytest.mark.parametrize(
    ("bound", "tolerance"), [(0.2, 0.2), (0.2001, 0.21), (1.406, 1.5), (69.98, 70.0), (98.7, 99.0)]
)
def test_a_reader_starts_at_the_median_rounded_up(bound: float, tolerance: float) -> None:
    (panel,) = arrange(gather([record(setting("a", L2), 0, (bound,) * 3)]))
    assert panel.tolerance == pytest.approx(tolerance)


def test_a_reader_starts_at_half_the_diameter_when_there_is_no_median() -> None:
    (panel,) = arrange(gather([without(setting("a", BOX), 0, "undecided")]))
    assert panel.tolerance == 0.5
    (panel,) = arrange(gather([without(setting("a", L2), 0, "undecided")]))
    assert panel.tolerance == 1.0


def test_eps_beyond_the_grid_has_no_numbers() -> None:
    (panel,) = arrange(gather([record(setting("a", L2), 0, (1, 2, 3))]))
    (series,) = panel.series
    assert series.bound(0.6) is None
    assert series.error(0.1) is None
    assert series.share(0.6, 1.0) is None
    assert series.bound(0.3) == pytest.approx(series.bound(0.5))
