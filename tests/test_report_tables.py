from __future__ import annotations

import re

import centersmooth as cs
from centersmooth.report import tables
from centersmooth.report.groups import gather
from centersmooth.report.panels import Panel, arrange
from report_runs import HOSTILE, record, setting, without


def panel(name: str, with_errors: bool = False) -> Panel:
    of = setting(name, cs.metrics.L2())
    errors = (2.0, 3.0, 4.0) if with_errors else None
    found = [record(of, i, (1.0 + i, 2.0 + i, 3.0 + i), errors=errors) for i in range(9)]
    return arrange(gather([*found, without(of, 9, "undecided")]))[0]


def test_lines_hold_the_numbers() -> None:
    found = tables.lines(panel("a"), tolerance=5.0)
    assert [line.eps for line in found] == [0.1, 0.25, 0.5]
    first = found[0]
    assert (first.inputs, first.telling) == (10, 9)
    assert first.bound.value == 6.0  # the sixth of 1, 2, …, 9, infinite
    assert (first.low, first.high) == (1.0, 9.0)
    assert (first.within.hits, first.within.count) == (5, 10)
    assert first.error is None


def test_markdown_is_one_table_whatever_the_labels_hold() -> None:
    text = tables.markdown(panel(HOSTILE), tolerance=5.0)
    rows = [line for line in text.splitlines() if line.startswith("|")]
    widths = {len(re.split(r"(?<!\\)\|", row)) for row in rows}
    assert len(rows) == 2 + 3
    assert len(widths) == 1
    assert re.search(r"(?<!\\)<", text) is None
    assert "| 6 |" in rows[2]


def test_latex_has_no_character_left_that_could_do_harm() -> None:
    text = tables.latex(panel(HOSTILE), tolerance=5.0)
    body = text[text.index("\\midrule") : text.index("\\bottomrule")]
    rows = [line for line in body.splitlines()[1:] if line]
    assert len(rows) == 3
    assert all(row.endswith(r" \\") for row in rows)
    for row in rows:
        assert len(re.split(r"(?<!\\)&", row)) == 8
        known = r"\\(textbackslash|textless|textgreater|textbar)\{\}|\\[{}$&%#_]|\$[^$]*\$|\\\\$"
        rest = re.sub(known, "", row)
        assert re.search(r"[\\{}$%#_~^<>|\"]", rest) is None, rest


def test_latex_braces_and_environments_are_balanced() -> None:
    text = tables.latex(panel("σ = 0.25, 50 % {x}"), tolerance=5.0)
    plain = re.sub(r"\\[{}]", "", text)
    assert plain.count("{") == plain.count("}")
    assert re.findall(r"\\begin\{(\w+)\}", text) == ["table", "tabular"]
    assert re.findall(r"\\end\{(\w+)\}", text) == ["tabular", "table"]
    columns = re.search(r"\\begin\{tabular\}\{(\w+)\}", text)
    assert columns is not None
    assert len(columns[1]) == text.splitlines()[5].count("&") + 1
    assert r"$\sigma$ = 0.25, 50 \% \{x\}" in text


def test_errors_have_a_column_when_there_are_any() -> None:
    assert "median certified error" in tables.markdown(panel("a", True), 1.0)
    assert "median certified error" not in tables.markdown(panel("a"), 1.0)


def test_spans() -> None:
    assert tables.span(None, None) == "–"
    assert tables.span(1.0, float("inf")) == "1 to no bound"
    assert tables.span(float("inf"), float("inf")) == "no bound"
