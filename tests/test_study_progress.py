"""What is shown while a run goes on."""

from __future__ import annotations

import io
import math

import pytest
from rich.console import Console

from centersmooth.study.progress import Bar, Lines, Medians, rich_bar, watch
from store_runs import example


def test_medians_count_failures_at_the_diameter() -> None:
    medians = Medians()
    for bounds in ((1.0, 3.0), (0.5, 9.0), (0.1, 4.0)):
        medians.add(example(bounds=bounds, diameter=math.inf))
    last = example(bounds=(1.0, 2.0))
    medians.add(last)
    assert medians.told(last) == "median 4 at eps 0.2 (l2)"
    for _ in range(4):
        failed = example(status="failed", bounds=(), statuses=(), diameter=math.inf)
        medians.add(failed)
    assert medians.told(last) == "median inf at eps 0.2 (l2)"
    other = example(setting="other", bounds=(1.0, 1.0))
    medians.add(other)
    assert medians.told(other) == "median 1 at eps 0.2 (other)"


def test_a_callback_gets_passes_done_and_in_all() -> None:
    seen: list[tuple[int, int]] = []
    with watch(lambda done, total: seen.append((done, total)), 10) as shown:
        shown.advance(4)
        shown.record(example())
        shown.advance(6)
    assert seen == [(4, 10), (10, 10)]


def test_nothing_is_shown_when_told_so_or_without_a_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for option in (False, None):
        with watch(option, 10) as shown:
            shown.advance(10)
            shown.record(example())
    assert capsys.readouterr() == ("", "")


def test_a_bar_shows_share_and_median() -> None:
    terminal = Console(file=io.StringIO(), force_terminal=True, width=100)
    with rich_bar(terminal) as bar:
        shown = Bar(10, bar)
        shown.advance(5)
        shown.record(example(bounds=(1.0, 2.5)))
    text = terminal.file.getvalue()  # type: ignore[attr-defined]
    assert "certifying" in text
    assert "50%" in text
    assert "median 2.5 at eps 0.2 (l2)" in text


def test_a_log_gets_a_line_now_and_then() -> None:
    stream = io.StringIO()
    Lines(1_000, stream).advance(1)
    assert stream.getvalue() == ""  # not yet a minute
    lines = Lines(1_000, stream, pause=0.0)
    lines.advance(1)
    lines.record(example(bounds=(1.0, 2.5)))
    lines.advance(99)
    line = stream.getvalue().splitlines()[-1]
    assert line.startswith("100 of 1,000 forward passes, ")
    assert "minutes left; median 2.5 at eps 0.2" in line
