from __future__ import annotations

from typing import Any

import pytest

import centersmooth as cs
from centersmooth.centers import Center
from centersmooth.confidence import Joint, Split
from centersmooth.errors import ArgumentError, BudgetError
from centersmooth.planning import check_budget, measured, plan, remedy, theorem_of
from centersmooth.sampling import Address
from centersmooth.theorems import MedianTheorem, MedoidTheorem, Sizes
from refusals import refused
from tiny_models import NOISE, X, linear, smoother

LEVELS = [Joint(0.01), Split(0.01, 0.02)]
CENTERS: list[Center] = [cs.GeometricMedian(), cs.Medoid(20), cs.Medoid(20, outer=0)]


def test_the_theorem_of_a_smoother_is_that_of_its_center() -> None:
    for center in CENTERS:
        theorem = theorem_of(smoother(center=center), 300, LEVELS[0])
        kind = MedianTheorem if isinstance(center, cs.GeometricMedian) else MedoidTheorem
        assert isinstance(theorem, kind)
        assert theorem.sizes == Sizes(51, 300)
        assert theorem.level == LEVELS[0]


@pytest.mark.parametrize("level", LEVELS, ids=lambda level: type(level).__name__)
@pytest.mark.parametrize("center", CENTERS, ids=repr)
def test_a_budget_is_refused_just_where_it_cannot_decide(center: Any, level: Any) -> None:
    made = smoother(center=center)
    reach = theorem_of(made, 400, level).largest_eps()
    assert 0 < reach < 2.5 * 0.25
    check_budget(made, reach, 400, level)
    check_budget(made, 0.0, 400, level)
    with refused(BudgetError, "enough samples for eps", "Gaussian(sigma=0.25)", "got 400"):
        check_budget(made, reach + 1e-4, 400, level)


@pytest.mark.parametrize("center", CENTERS, ids=repr)
def test_the_remedy_is_the_least_number_that_does(center: Any) -> None:
    made = smoother(center=center)
    text = remedy(theorem_of(made, 400, LEVELS[0]), 0.5)
    least = int(text.split("At least ")[1].split(" ")[0].replace(",", ""))
    check_budget(made, 0.5, least, LEVELS[0])
    with refused(BudgetError, f"got {least - 1:,}"):
        check_budget(made, 0.5, least - 1, LEVELS[0])


def test_there_is_no_remedy_where_no_number_is_enough() -> None:
    text = remedy(theorem_of(smoother(), 400, LEVELS[0]), 100.0)
    assert text.startswith("No number of certification samples is enough")
    assert "400 reach eps = " in text


# ------------------------------------------------------------------------------------- plans


@pytest.mark.parametrize("center", CENTERS, ids=repr)
def test_a_plan_says_what_check_budget_would(center: Any) -> None:
    made = smoother(center=center)
    planned = plan(made, [0.5, 0.1, 0.4], samples=400)
    assert [point.eps for point in planned.points] == [0.1, 0.4, 0.5]
    assert planned.largest_eps == theorem_of(made, 400, LEVELS[0]).largest_eps()
    for point in planned.points:
        assert point.decided == (point.eps <= planned.largest_eps)
        assert point.decided == ((point.least_samples or 0) <= 400)
        if point.least_samples:
            check_budget(made, point.eps, point.least_samples, LEVELS[0])


@pytest.mark.parametrize("center", CENTERS, ids=repr)
def test_the_slack_is_an_attack_larger_than_the_real_one_and_shrinks(center: Any) -> None:
    made = smoother(center=center, answer_samples=999)
    slack = [plan(made, 0.2, samples=m).points[0].pays_for for m in (500, 4_000, 100_000)]
    assert all(one is not None and one > 0.2 for one in slack)
    assert slack == sorted(slack, reverse=True)
    few, many = (
        plan(smoother(center=center, answer_samples=n), 0.2, samples=10**6).points[0].pays_for
        for n in (200, 20_000)
    )
    assert few is not None
    assert many is not None
    assert 0.2 < many < few
    assert many < 0.21  # with unlimited samples the attack pays for itself alone


def test_where_nothing_is_decided_there_is_no_slack() -> None:
    (point,) = plan(smoother(), 100.0, samples=400).points
    assert (point.decided, point.least_samples, point.pays_for) == (False, None, None)


def test_a_plan_counts_what_a_certificate_costs() -> None:
    made = smoother(center=cs.Medoid(20))
    assert plan(made, 0.1, samples=400).evaluations == made.certify(X, samples=400).evaluations


def test_with_an_input_the_time_is_measured() -> None:
    planned = plan(smoother(), 0.1, samples=400, x=X)
    assert planned.passes_per_second is not None
    assert planned.seconds_per_input == planned.evaluations / planned.passes_per_second
    assert "passes per second" in str(planned)
    assert plan(smoother(), 0.1).seconds_per_input is None
    tuned = cs.Smoother(linear, NOISE, cs.metrics.L2(), progress=False)
    assert (plan(tuned, 0.1, x=X).passes_per_second or 0) > 0


def test_the_batch_that_is_asked_for_is_the_one_measured() -> None:
    made = smoother()
    sizes = []

    def watched(batch: Any) -> Any:
        sizes.append(len(batch))
        return linear(batch)

    model = cs.models.Model(watched, None)
    batching, rate = measured(model, NOISE, X, Address(1, b"x"), 96)
    assert batching.size == 96
    assert rate > 0
    assert set(sizes) == {96}
    assert made.batch_size is not None


def test_a_plan_prints_as_a_table_of_80_columns() -> None:
    text = str(plan(smoother(), [0.1, 0.5, 100.0], samples=400, alpha=cs.Split(0.01, 0.02), x=X))
    assert max(map(len, text.splitlines())) <= 80
    assert "alpha 0.03 (split)" in text
    rows = [line.split() for line in text.splitlines() if line.startswith("  ")]
    assert [row[2] for row in rows[1:4]] == ["yes", "no", "no"]
    assert rows[3][-1] == "none"
    assert [row[1] for row in rows[5:]] == ["GeometricMedian", "none", "none"]


@pytest.mark.parametrize("eps", [[], -0.1, [float("nan")], "a", None])
def test_eps_without_sense_are_refused(eps: Any) -> None:
    with refused(ArgumentError, "eps"):
        plan(smoother(), eps)
