from __future__ import annotations

import math

import pytest

from centersmooth.confidence import Joint, Split, check_level, confidence
from centersmooth.errors import ArgumentError
from refusals import refused


@pytest.mark.parametrize("level", [0, 0.5, 1, -0.01, math.nan, math.inf, "0.01", None])
def test_a_level_outside_zero_to_one_half_is_refused(level: object) -> None:
    with refused(ArgumentError, "0 < alpha < 0.5", repr(level)):
        check_level(level, "alpha")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError):
        Joint(level)  # type: ignore[arg-type]
    with refused(ArgumentError, "certificate"):
        Split(level, 0.01)  # type: ignore[arg-type]
    with refused(ArgumentError, "query"):
        Split(0.01, level)  # type: ignore[arg-type]


def test_a_number_means_the_joint_form() -> None:
    assert confidence(0.01) == Joint(0.01)
    for form in (Joint(0.02), Split(0.01, 0.02)):
        assert confidence(form) is form


def test_totals_are_what_one_certificate_with_one_query_costs() -> None:
    assert Joint(0.02).total == 0.02
    assert Split(0.01, 0.02).total == pytest.approx(0.03)


def test_shares_add_up_to_the_whole() -> None:
    for form in (Joint(0.02), Split(0.01, 0.02)):
        parts = [form.part(share).total for share in (0.3, 0.7)]
        assert sum(parts) == pytest.approx(form.total)


def test_a_grid_divides_what_the_certificate_spends_but_no_query() -> None:
    assert Joint(0.02).over_grid(4) == Joint(0.005)
    assert Split(0.02, 0.01).over_grid(4) == Split(0.005, 0.01)


def test_the_split_of_a_joint_level_spends_no_more() -> None:
    split = Joint(0.02).as_split()
    assert split.total == pytest.approx(0.02)
    assert split.as_split() is split
