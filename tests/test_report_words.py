from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import centersmooth as cs
from centersmooth.errors import FormatError
from centersmooth.report import words
from centersmooth.report.aggregates import share
from centersmooth.report.groups import Group, gather
from centersmooth.report.panels import arrange
from centersmooth.study.setting import PublishedProcedure
from report_runs import record, setting, without

LAW = settings(derandomize=True, deadline=None, max_examples=200)
L2 = cs.metrics.L2()


def group(**options: object) -> Group:
    return gather([record(setting("a", L2, **options), i, (1, 2, 3)) for i in range(50)])[0]


@LAW
@given(st.floats(1e-8, 1e8))
def test_amounts_are_rounded_up_by_less_than_a_unit_of_the_fourth_digit(value: float) -> None:
    shown = float(words.amount(value))
    assert value <= shown
    assert shown - value <= 10.0 ** (math.floor(math.log10(value)) - 3) * (1 + 1e-9)


def test_amounts_that_are_none() -> None:
    assert words.amount(math.inf) == "no bound"
    assert words.amount(0.0) == "0"
    assert words.measured(math.nan) == "–"


def test_joint_guarantee_word_for_word() -> None:
    assert words.guarantee(group(alpha=0.01), {}) == (
        "Over the certification and the query samples together: for every x' within ℓ2 distance ε "
        "of the input, chosen without the query's noise, the smoothed model's answer is within ε₂, "
        "in the setting's distance, of the certified answer with probability at least 99 %. Each ε "
        "holds by itself, for an ε chosen before seeing the certificate."
    )


def test_split_guarantee_word_for_word() -> None:
    assert words.guarantee(group(alpha=cs.Split(0.001, 0.02)), {"together": True}) == (
        "With probability at least 99.9 % over the certification samples: for every x' within ℓ2 "
        "distance ε of the input, an answer of the smoothed model at x' with fresh noise is within "
        "ε₂, in the setting's distance, of the certified answer, except with probability 2 % per "
        "query. All values of ε in this setting hold together."
    )


def test_published_guarantee_says_what_it_leaves_open() -> None:
    said = words.guarantee(group(published=PublishedProcedure()), {})
    assert "silent where the smoothed model abstains" in said
    assert words.failing([group(published=PublishedProcedure())]) == ""


def test_equal_guarantees_are_said_once_and_their_failures_added() -> None:
    both = [group(alpha=0.01), group(alpha=0.01), group(alpha=cs.Split(0.001, 0.02))]
    found = words.guarantees(both, {})
    assert len(found) == 2
    assert "Of these 100 certificates" in found[0]["failing"]
    assert "at most 1 fail" in found[0]["failing"]
    assert "at most 1.1 fail" in found[1]["failing"]  # 50 * 0.021 = 1.05


def test_headline_and_what_is_left_over() -> None:
    of = setting("a", cs.metrics.BoxJaccard())
    records = [record(of, i, (0.1, 0.2, 0.3)) for i in range(3)]
    records += [without(of, 3, "failed"), without(of, 4, "undecided"), without(of, 5, "undecided")]
    (panel,) = arrange(gather(records))
    (series,) = panel.series
    assert words.headline(series, panel, 0.2) == (
        "For 3 of 6 inputs it is certified that no attack of size 0.25 (ℓ2 distance) moves the "
        "smoothed model's answer by more than 0.2 (BoxJaccard)."
    )
    assert words.left_over(series.group) == (
        "2 undecided, 1 failed: in medians they count with the largest distance there is (1)."
    )
    assert words.left_over(group()) == ""


def test_comparison_of_sharp_and_published() -> None:
    sharp, paper = setting("ours", L2), setting("paper", L2, published=PublishedProcedure())
    found = [record(sharp, 0, (1, 2, 3)), record(paper, 0, (4, 5, 6), evaluations=50_990)]
    (panel,) = arrange(gather(found))
    assert words.comparison(*panel.pairs[0], panel) == (
        "At ε = 0.25 the median bound of ours is 2, against 5 of paper (published): 0.40 times as "
        "large, for 5,099 instead of 50,990 forward passes per input."
    )


def test_no_comparison_with_a_median_that_is_infinite() -> None:
    sharp, paper = setting("ours", L2), setting("paper", L2, published=PublishedProcedure())
    (panel,) = arrange(gather([record(sharp, 0, (1, 2, 3)), without(paper, 0, "abstained")]))
    assert words.comparison(*panel.pairs[0], panel) is None


def test_a_confidence_that_makes_no_sense_is_refused() -> None:
    for broken in ({"form": "Joint"}, {"form": "Split", "certificate": 0.1, "query": 7.0}):
        (found,) = gather([record(setting("a", L2), 0, (1, 2, 3), confidence=broken)])
        with pytest.raises(FormatError, match="expected the confidence of setting 'a', got"):
            words.guarantee(found, {})


def test_draws_that_settings_share_are_paid_once() -> None:
    both = setting("one", L2), setting("two", cs.metrics.L1())
    spent = {"evaluations": 100, "probes": 10, "seconds": 30.0}
    records = [record(of, i, (1, 2, 3), **spent) for i in range(4) for of in both]
    said = "The run spent 440 forward passes, probes included, in 2.0 minutes of work."
    assert words.cost(gather(records)) == said


@pytest.mark.parametrize(
    ("hits", "count", "said"),
    [(0, 9, "0"), (9, 9, "100"), (1, 5_000, "1"), (4_999, 5_000, "99"), (26, 40, "65")],
)
def test_percent_says_all_and_none_only_of_all_and_none(hits: int, count: int, said: str) -> None:
    assert words.percent_of(hits, count) == f"{said}\u00a0%"


def test_a_shares_interval_is_rounded_outward() -> None:
    found = share(26, 40)
    low, high = (float(part.split("\u00a0")[0]) for part in words.spanned(found)[13:].split(" to "))
    assert low / 100 <= found.low
    assert high / 100 >= found.high
