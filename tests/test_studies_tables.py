from __future__ import annotations

import math

from studies.comparison import points
from studies.tables import amount, bounds_table, centers, spent, table, verdict

from studies_small import row

PAIRS = ((1.5, 0.375), (2.0, 0.5))


def test_amounts_have_the_digits_that_count() -> None:
    assert [amount(v) for v in (0.12345, 12.345, 1234.5, None, math.nan, math.inf)] == [
        *("0.123", "12.35", "1234", "–", "–", "∞"),
    ]
    assert table(("a", "b"), [(1, 2)]) == "| a | b |\n| --- | --- |\n| 1 | 2 |\n"


def test_a_verdict_says_whether_the_aim_was_met() -> None:
    ours, theirs = row(), row(procedure="published", bounds=(4.0, 8.0), evaluations=30_000)
    both = points([ours, theirs], "L2", PAIRS)
    assert "**0.25**, within the aim of 0.45." in verdict(both, 0.45)
    assert "**0.25**; the aim was 0.2." in verdict(both, 0.2)
    assert verdict(points([ours], "L2", PAIRS), 0.45).startswith("There is no input")
    assert bounds_table(both).count("\n") == 4
    assert centers(both) == ""
    assert "1/5.9" in spent(both, 20_000)


def test_centers_are_named_where_they_differ() -> None:
    rows = [row(center="WeberPoint, pool 2"), row(center="Medoid", procedure="thorough")]
    said = centers(points(rows, "L2", ((2.0, 0.5),)))
    assert "at h = 2: WeberPoint, pool 2; at h = 2 with ten times the passes: Medoid." in said


def test_abstentions_are_said_plainly() -> None:
    rows = [row(), row(procedure="published", bounds=(28.0, 28.0), status="abstained")]
    assert "abstained 2 times" in spent(points(rows, "L2", PAIRS), 20_000)
