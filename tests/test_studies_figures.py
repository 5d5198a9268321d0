from __future__ import annotations

from pathlib import Path

import torch
from studies import figures
from studies.comparison import Point, points
from studies.pictures import as_array, contact_sheet

from studies_small import row

NOTE = "what the published procedure was given"


def made() -> list[Point]:
    rows = [row(), row(procedure="published", bounds=(4.0, 6.0))]
    rows += [row(part="cifar10-autoencoder", bounds=(3.0, 4.0))]
    return points(rows, "L2", ((1.5, 0.375), (2.0, 0.5)))


def test_the_same_points_give_the_same_bytes(tmp_path: Path) -> None:
    found = []
    for name in ("one", "two"):
        paths = figures.save(figures.bounds(made(), "bound", NOTE), tmp_path / name, "bounds")
        assert [path.suffix for path in paths] == [".svg", ".png"]
        found.append([path.read_bytes() for path in paths])
    assert found[0] == found[1]


def test_a_panel_per_part_and_a_line_per_procedure() -> None:
    figure = figures.bounds(made(), "bound", NOTE, {"mnist-autoencoder": {"rival": [(0.5, 19.0)]}})
    titles = [ax.get_title() for ax in figure.axes]
    assert titles == ["mnist-autoencoder", "cifar10-autoencoder"]
    assert figure.axes[0].get_ylim()[1] > 19
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels[:2] == ["ours, ε₁ = 1.5 σ", "published, estimated, ε₁ = 1.5 σ"]
    assert labels[-1] == "rival"
    dashed = [line for line in figure.axes[0].lines if line.get_markerfacecolor() == "#ffffff"]
    assert [list(line.get_ydata()) for line in dashed] == [[4.0], [6.0]]


def test_published_curves_are_ours_over_the_ratio() -> None:
    """It meets few inputs: their medians would be those of other pictures than ours."""
    rows = [row(index=i, bounds=(1.0 + i, 2.0)) for i in range(3)]
    rows.append(row(procedure="published", index=2, bounds=(12.0, 20.0)))
    first, second = points(rows, "L2", ((1.5, 0.375), (2.0, 0.5)))
    assert (first.ours, first.published, first.ratio) == (2.0, 12.0, 0.25)
    assert first.published_estimate == 8.0
    assert second.published_estimate == 20.0
    (ax,) = figures.bounds([first], "bound", NOTE).axes
    assert [list(line.get_ydata()) for line in ax.lines] == [[2.0], [8.0]]


def test_the_summary_shows_ratios_and_aims() -> None:
    figure = figures.summary({"l2": (0.35, 0.3, 0.45), "angular": (0.5, None, 0.45)})
    (ax,) = figure.axes
    assert [patch.get_width() for patch in ax.patches] == [0.35, 0.5]
    assert [text.get_text() for text in ax.texts] == ["0.35", "0.50"]
    assert sum(line.get_marker() == "D" for line in ax.lines) == 1


def test_contact_sheets_hold_grey_and_colour() -> None:
    sheet = contact_sheet({"clean": [torch.rand(1, 4, 4)], "answer": [torch.rand(3, 4, 4)]})
    assert len(sheet.axes) == 2
    assert as_array(torch.full((1, 2, 3), 2.0)).shape == (2, 3)
    assert as_array(torch.full((3, 2, 4), 2.0)).shape == (2, 4, 3)
    assert as_array(torch.full((1, 2, 3), 2.0)).max() == 1
