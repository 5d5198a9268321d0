"""The page in a real headless Chromium. Collected only where there is one: see conftest.py."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "check_report_in_browser.py"


def checked(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=500, check=False)


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    return checked("--out", tmp_path_factory.mktemp("screenshots"))


def test_every_page_passes_every_check(result: subprocess.CompletedProcess[str]) -> None:
    assert result.returncode == 0, result.stdout + result.stderr
    assert "FAILED" not in result.stdout
    for page in ("images", "boxes", "texts", "many"):
        assert f"ok      {page}: console is free of errors" in result.stdout
        assert f"ok      {page}: nothing is fetched" in result.stdout
        assert f"ok      {page}: fits 360 px" in result.stdout


def test_ten_thousand_records_open_in_time(result: subprocess.CompletedProcess[str]) -> None:
    assert "ok      10,000 records open within 2 s" in result.stdout


def test_hostile_labels_stay_text(result: subprocess.CompletedProcess[str]) -> None:
    assert "ok      hostile labels stay text" in result.stdout


BROKEN = """
<!doctype html><html data-ready="yes"><title>broken</title>
<h1>A page</h1><h3>that skips a level</h3>
<button></button>
<p style="color:#999;background:#aaa">pale</p><div style="width:900px">wide</div>
<script>console.error("an error"); fetch("data.json")</script>
"""


def test_the_checks_would_notice_a_broken_page(tmp_path: Path) -> None:
    """The wrong twin: a page that logs, fetches, skips a heading, and is too wide."""
    (tmp_path / "broken.html").write_text(BROKEN)
    told = checked("--out", tmp_path / "shots", "--page", tmp_path / "broken.html")
    assert told.returncode == 1, told.stdout + told.stderr
    wrong = [line for line in told.stdout.splitlines() if line.startswith("FAILED")]
    for what in ("console", "headings", "every control", "contrast", "fits 360 px"):
        assert any(what in line for line in wrong), what
