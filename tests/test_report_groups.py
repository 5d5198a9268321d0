from __future__ import annotations

import math

import centersmooth as cs
from centersmooth.report.groups import gather
from centersmooth.study.setting import PublishedProcedure
from report_runs import EPS, HOSTILE, record, setting, without

OF = setting("σ = 0.25", cs.metrics.BoxJaccard())
FREE = setting("free", cs.metrics.L2())


def test_one_group_per_setting_in_order_of_appearance() -> None:
    found = gather(
        [record(FREE, 0, (1, 2, 3)), record(OF, 0, (0.1, 0.2, 1.0)), without(OF, 1, "failed")]
    )
    assert [group.key.setting for group in found] == ["free", "σ = 0.25"]
    assert [len(group) for group in found] == [1, 2]
    assert found[1].index.tolist() == [0, 1]
    assert found[1].eps == EPS


def test_records_without_a_bound_count_with_the_diameter() -> None:
    statuses = ("undecided", "abstained", "failed")
    records = [record(OF, 0, (0.1, 0.2, 0.3))]
    records += [without(OF, i, status) for i, status in enumerate(statuses, 1)]
    (group,) = gather(records)
    assert group.bounds[1:].tolist() == [[1.0] * 3] * 3
    assert group.counts == {"certified": 1, "abstained": 1, "undecided": 1, "failed": 1}
    assert group.telling.sum(axis=1).tolist() == [3, 0, 0, 0]
    (group,) = gather([without(FREE, 0, "failed")])
    assert group.bounds.tolist() == [[math.inf] * 3]


def test_a_bound_at_the_diameter_says_nothing_at_any_tolerance() -> None:
    records = [
        record(OF, 0, (0.1, 0.9, 1.0)),
        record(OF, 1, (0.2, 1.0, 1.0), statuses=("certified", "undecided", "undecided")),
    ]
    (group,) = gather(records)
    assert group.telling.tolist() == [[True, True, False], [True, False, False]]
    assert [group.within(column, 2.0) for column in range(3)] == [2, 1, 0]
    assert group.within(0, 0.1) == 1
    assert group.within(0, 0.0999) == 0


def test_an_attack_between_two_sizes_is_covered_by_the_larger() -> None:
    (group,) = gather([record(OF, 0, (0.1, 0.2, 0.3))])
    assert [group.column(eps) for eps in (0.0, 0.1, 0.11, 0.5, 0.51)] == [0, 0, 1, 2, None]


def test_failed_records_count_in_certified_errors_but_inputs_without_a_truth_do_not() -> None:
    records = [
        record(OF, 0, (0.1, 0.2, 0.3), errors=(0.4, 0.5, 0.6)),
        record(OF, 1, (0.1, 0.2, 0.3)),
        without(OF, 2, "failed"),
    ]
    (group,) = gather(records)
    assert group.errors is not None
    assert group.errors[0].tolist() == [0.4, 0.5, 0.6]
    assert all(math.isnan(error) for error in group.errors[1])
    assert group.errors[2].tolist() == [1.0] * 3
    (group,) = gather(records[1:2])
    assert group.errors is None


def test_names_are_readable_and_published_ones_say_so() -> None:
    paper = setting("paper", cs.metrics.L2(), published=PublishedProcedure())
    hostile = setting(HOSTILE, cs.metrics.L2())
    found = gather([record(paper, 0, (1, 2, 3)), record(hostile, 0, (1, 2, 3), input_ref=HOSTILE)])
    assert found[0].name == "paper (published)"
    for text in (found[1].name, *found[1].refs):
        assert "\u202e" not in text
        assert "\x1b" not in text
        assert text.startswith("</script><img")


def test_the_attackers_norm_comes_from_the_noise() -> None:
    (group,) = gather([record(OF, 0, (0.1, 0.2, 0.3))])
    assert group.norm == "ℓ2"
    strange = {"type": "Mine", "fields": None}
    (group,) = gather([record(OF, 0, (0.1, 0.2, 0.3), noise=strange)])
    assert group.norm is None


def test_seeds_stay_exact() -> None:
    (group,) = gather([record(OF, 3, (0.1, 0.2, 0.3))])
    assert group.seeds == (str(2**62 + 3),)
