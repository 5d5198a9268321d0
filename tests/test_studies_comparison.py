from __future__ import annotations

import pytest
from studies.comparison import middle, overall, points

from studies_small import row

PAIRS = ((1.5, 0.375), (2.0, 0.5))


def published(index: int, *bounds: float, status: str = "certified") -> object:
    return row(procedure="published", index=index, bounds=bounds, status=status, evaluations=30_000)


def test_medians_and_ratios_over_common_inputs() -> None:
    rows = [row(index=i, bounds=(1.0 + i, 2.0 + i)) for i in range(3)]
    rows += [published(0, 4.0, 4.0), published(2, 6.0, 8.0)]
    first, second = points(rows, "L2", PAIRS)
    assert (first.ours, first.inputs, first.published_inputs) == (2.0, 3, 2)
    assert first.published == 6.0  # the upper median of two
    assert first.ratio == pytest.approx(0.5)  # of 1/4 and 3/6
    assert second.ratio == pytest.approx(0.5)  # of 2/4 and 4/8
    assert (first.ours_evaluations, first.published_evaluations) == (5_099, 30_000)
    assert overall([first, second]) == pytest.approx(0.5)


def test_an_abstention_is_counted_and_flatters_nobody() -> None:
    rows = [row(index=0), row(index=1), published(0, 4.0, 8.0)]
    rows.append(published(1, 28.0, 28.0, status="abstained"))
    first, _ = points(rows, "L2", PAIRS)
    assert first.abstained == 1
    assert first.published == 28.0
    assert first.ratio == 0.25


def test_what_is_not_kept_gives_no_ratio() -> None:
    rows = [row(), published(0, 4.0, 8.0)]
    first, second = points(rows, "L2", PAIRS, lambda r, eps: eps > 0.4)
    assert (first.ratio, second.ratio) == (None, 0.25)


def test_other_metrics_parts_and_sigmas_stay_apart() -> None:
    rows = [row(), row(part="faces", bounds=(7.0, 8.0)), row(metric="Angular", bounds=(0.1, 0.2))]
    rows += [row(sigma=0.1, bounds=(90.0, 90.0))]
    found = points(rows, "L2", PAIRS)
    assert [(p.part, p.ours) for p in found] == [
        ("mnist-autoencoder", 1.0),
        ("mnist-autoencoder", 2.0),
        ("faces", 7.0),
        ("faces", 8.0),
    ]
    assert points(rows, "Jaccard", PAIRS) == []
    assert overall(found) is None
    assert middle([None, None]) is None


def test_thorough_records_have_a_ratio_of_their_own() -> None:
    rows = [row(), row(procedure="thorough", bounds=(0.5, 1.0)), published(0, 4.0, 8.0)]
    first, _ = points(rows, "L2", PAIRS)
    assert (first.ratio, first.thorough_ratio) == (0.25, 0.125)
