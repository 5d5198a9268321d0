from __future__ import annotations

import math

from studies.comparison import points
from studies.tables import amount, bounds_table, note, spent, table, verdict

from centersmooth.study import PublishedProcedure
from studies_small import row

PROCEDURE = PublishedProcedure(n=5_000, m=20_000)
PAIRS = ((1.5, 0.375), (2.0, 0.5))


def test_amounts_have_the_digits_that_count() -> None:
    assert [amount(v) for v in (0.12345, 12.345, 1234.5, None, math.nan, math.inf)] == [
        *("0.123", "12.35", "1234", "–", "–", "∞"),
    ]
    assert [amount(v) for v in (0.0, 0.000123, 0.00999)] == ["0.000", "0.00012", "0.01"]
    assert table(("a", "b"), [(1, 2)]) == "| a | b |\n| --- | --- |\n| 1 | 2 |\n"


def test_a_verdict_says_whether_the_aim_was_met() -> None:
    ours, theirs = row(), row(procedure="published", bounds=(4.0, 8.0), evaluations=30_000)
    both = points([ours, theirs], "L2", PAIRS)
    assert "**0.25**, within the aim of 0.45." in verdict(both, 0.45)
    assert "**0.25**; the aim was 0.2." in verdict(both, 0.2)
    assert verdict(points([ours], "L2", PAIRS), 0.45).startswith("There is no input")
    assert bounds_table(both).count("\n| mnist") == 2
    assert "Our centers" not in bounds_table(both)
    assert "certified error" in bounds_table(both)
    blind = points([row(errors=None), theirs], "L2", PAIRS)
    assert "certified error" not in bounds_table(blind)
    assert "1/5.9" in spent(both, PROCEDURE)
    assert "m = 20,000, run on 1 of 1 inputs" in note(both, PROCEDURE)


def test_centers_are_named_where_they_differ() -> None:
    """Two sigmas may serve the same h, and one sigma two of them."""
    rows = [row(center="WeberPoint, pool 2"), row(center="Medoid", procedure="thorough")]
    rows += [row(sigma=0.5, eps=(0.75,), bounds=(1.0,), center="GeometricMedian")]
    pairs = ((2.0, 0.5), (1.5, 0.375), (1.5, 0.75))
    said = bounds_table(points(rows, "L2", pairs))
    assert "- WeberPoint, pool 2: h = 1.5, ε₁ = 0.375; h = 2, ε₁ = 0.5\n" in said
    assert "- Medoid, thorough: h = 1.5, ε₁ = 0.375; h = 2, ε₁ = 0.5\n" in said
    assert "- GeometricMedian: h = 1.5, ε₁ = 0.75\n" in said


def test_failures_are_counted_and_are_no_inputs() -> None:
    rows = [row(), row(index=1, status="failed", bounds=(), statuses=())]
    assert "| 1 (1 failed) |" in bounds_table(points(rows, "L2", PAIRS))


def test_abstentions_are_said_plainly() -> None:
    rows = [row(), row(procedure="published", bounds=(28.0, 28.0), status="abstained")]
    assert "abstained 2 times" in spent(points(rows, "L2", PAIRS), PROCEDURE)
