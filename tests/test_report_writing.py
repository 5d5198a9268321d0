from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PIL import Image

import report_runs
from centersmooth.errors import ArgumentError, StoreError
from centersmooth.report import Report, write_report


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Report]:
    run = report_runs.images(tmp_path_factory.mktemp("run"), inputs=12)
    return run, write_report(run, tolerance=1.25, gallery=2)


def test_everything_lies_in_the_runs_folder(written: tuple[Path, Report]) -> None:
    run, report = written
    assert report.page == run / "report" / "report.html"
    assert report.records == 36
    found = {str(path.relative_to(run / "report")) for path in (run / "report").rglob("*.*")}
    names = [f"figures/{name}" for name in ("bounds", "shares", "errors", "spread", "price")]
    pictures = {f"{name}.{ending}" for name in names for ending in ("svg", "png")}
    assert found == pictures | {"report.html", "summary.md", "summary.tex"}


def test_figures_can_be_read(written: tuple[Path, Report]) -> None:
    for path in written[1].figures:
        if path.suffix == ".svg":
            assert ElementTree.parse(path).getroot().tag.endswith("svg")
        else:
            assert min(Image.open(path).size) > 300


def test_options_reach_the_page(written: tuple[Path, Report]) -> None:
    text = written[1].page.read_text(encoding="utf-8")
    assert 'value="1.25"' in text
    assert len(re.findall('<li class="exhibit">', text)) == 4  # two inputs, two sharp settings
    assert "at most 1.25" in written[1].markdown.read_text(encoding="utf-8")


def test_a_second_report_replaces_the_first(written: tuple[Path, Report], tmp_path: Path) -> None:
    again = write_report(written[0], out=tmp_path / "elsewhere", tolerance=1.25, gallery=2)
    assert again.page.read_bytes() == written[1].page.read_bytes()
    third = write_report(written[0], out=tmp_path / "elsewhere", gallery=0)
    assert third.page.read_bytes() != written[1].page.read_bytes()
    assert 'id="gallery"' not in third.page.read_text(encoding="utf-8")
    assert not list((tmp_path / "elsewhere").rglob("*.partial"))


@pytest.mark.parametrize("tolerance", [-1.0, float("nan"), float("inf")])
def test_a_tolerance_is_a_distance(tmp_path: Path, tolerance: float) -> None:
    with pytest.raises(ArgumentError, match="expected a finite tolerance >= 0, got"):
        write_report(tmp_path, tolerance=tolerance)


def test_a_gallery_of_less_than_nothing(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="expected gallery >= 0, got -1"):
        write_report(tmp_path, gallery=-1)


def test_a_folder_without_a_run(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="expected a run in"):
        write_report(tmp_path)
    assert list(tmp_path.iterdir()) == []
