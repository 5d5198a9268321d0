"""What other programs get."""

from __future__ import annotations

import csv
import io
import json
import math

from centersmooth.store.export import flat, line, write_csv, write_jsonl, write_tsv
from store_runs import example

CERTIFIED = example(
    index=4,
    setting="l2\twith\ntabs, \"quotes\" and 'ticks'",
    bounds=(1.25, math.inf),
    statuses=("certified", "undecided"),
    errors=(2.0, math.inf),
    diameter=math.inf,
    smoothing_error=0.125,
    base="hidden",
)
FAILED = example(index=5, status="failed", message="NaN", bounds=(), statuses=())


def test_a_row_per_eps_even_when_it_failed() -> None:
    rows = [*flat(CERTIFIED), *flat(FAILED)]
    assert [(r["eps"], r["bound"], r["error"], r["status"]) for r in rows] == [
        (0.1, 1.25, 2.0, "certified"),
        (0.2, math.inf, math.inf, "undecided"),
        (0.1, None, None, "failed"),
        (0.2, None, None, "failed"),
    ]
    assert "base" not in rows[0]


def test_csv_reads_back() -> None:
    stream = io.StringIO()
    write_csv([CERTIFIED, FAILED], stream)
    rows = list(csv.DictReader(io.StringIO(stream.getvalue())))
    assert len(rows) == 4
    assert rows[0]["setting"] == CERTIFIED.setting
    assert float(rows[0]["bound"]) == 1.25
    assert float(rows[1]["bound"]) == math.inf
    assert rows[2]["bound"] == ""
    assert json.loads(rows[0]["confidence"]) == {}


def test_tsv_has_the_columns_of_the_field() -> None:
    stream = io.StringIO()
    write_tsv([CERTIFIED], stream)
    rows = list(csv.reader(io.StringIO(stream.getvalue()), delimiter="\t"))
    assert rows[0] == ["idx", "setting", "eps", "radius", "smoothing_error", "status", "time"]
    assert rows[1] == ["4", CERTIFIED.setting, "0.1", "1.25", "0.125", "certified", "0.5"]


def test_jsonl_is_strict_json_with_every_number() -> None:
    stream = io.StringIO()
    write_jsonl([CERTIFIED, FAILED], stream)
    one, other = (json.loads(text, parse_constant=None) for text in stream.getvalue().splitlines())
    assert one["bounds"] == [1.25, "infinity"]
    assert one["seconds"] == 0.5
    assert one["diameter"] == "infinity"
    assert other["status"] == "failed"
    assert "Infinity" not in stream.getvalue()
    assert "base" not in json.loads(line(CERTIFIED))
