"""Settings check themselves and know which draws they can share."""

from __future__ import annotations

import json
from typing import Any

import pytest

import centersmooth as cs
from centersmooth.errors import ArgumentError, BudgetError
from centersmooth.study import PublishedProcedure
from centersmooth.study.setting import checked_eps, description, group
from refusals import refused
from small_studies import NOISE, model, published, setting


def test_eps_are_put_in_order_once_each() -> None:
    assert checked_eps([0.2, 0.1, 0.2]) == (0.1, 0.2)
    assert setting(eps=[0.3, 0]).eps == (0.0, 0.3)


@pytest.mark.parametrize("eps", [(), ("a",), (-0.1,), (float("nan"),), (float("inf"),), None])
def test_eps_without_sense_are_refused(eps: Any) -> None:
    with refused(ArgumentError, "eps"):
        setting(eps=eps)


@pytest.mark.parametrize("name", ["", "  ", None, 3])
def test_a_setting_needs_a_name(name: Any) -> None:
    with refused(ArgumentError, "name"):
        setting(name)


def test_those_that_differ_in_metric_and_center_share_draws() -> None:
    one = setting("a")
    cases = [
        one,
        setting("b", cs.metrics.L1()),
        setting("c", cs.metrics.L2(), center=cs.Medoid()),
        setting("d", eps=(0.3,)),
        setting("e", samples=300),
        setting("f", alpha=cs.Split(0.05, 0.05)),
        setting("g", only=(0,)),
        setting("h", together=True),
        setting("i", together=True, eps=(0.3,)),
        setting("j", model=model),
        published("k"),
        published("l", metric=cs.metrics.L1()),
        published("m", eps=(0.3,)),
        setting("n", goal=(0.1, 2.0)),
        setting("o", tolerance=0.1),
    ]
    assert group(cases) == [0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 7, 8, 0, 0]


def test_evaluations_are_what_a_certificate_costs() -> None:
    assert setting().evaluations() == 60 + 200
    assert setting(metric=cs.metrics.L1()).evaluations() == 100 + 60 + 200
    numbers = PublishedProcedure(n=10, m=50, hd=True)
    assert setting(published=numbers).evaluations() == 2 * 10 + 50 + 30


def test_too_few_samples_are_refused_with_what_would_be_enough() -> None:
    own = setting(eps=(0.1, 0.8), model=model)
    with refused(BudgetError, "eps = 0.8", "200"):
        own.check_budget(own.smoother(None, 64, None))
    paper = published(eps=(0.1, 0.8), model=model)
    with refused(BudgetError, "eps = 0.8", "300"):
        paper.check_budget(paper.smoother(None, 64, None))


def test_eps_that_hold_together_need_more_samples_each() -> None:
    own = setting(samples=60, eps=tuple(i / 100 for i in range(1, 41)), model=model)
    own.check_budget(own.smoother(None, 64, None))
    together = setting(samples=60, eps=own.eps, model=model, together=True)
    with pytest.raises(BudgetError):
        together.check_budget(together.smoother(None, 64, None))


def test_a_description_tells_settings_apart() -> None:
    cases = [
        setting(),
        setting(eps=(0.1,)),
        setting(samples=300),
        setting(alpha=0.05),
        setting(alpha=cs.Split(0.05, 0.05)),
        setting(center=cs.Medoid(candidates=7)),
        setting(together=True),
        setting(on_invalid="far"),
        setting(only=[1]),
        setting(metric=cs.metrics.L1()),
        published(),
        setting(published=PublishedProcedure(n=200, m=300)),
        setting(goal=(0.1, 2.0)),
        setting(goal=cs.Goal(0.1, 2.0, of_target=True)),
        setting(tolerance=0.1),
        setting(tolerance=cs.Tolerance(0.1, (0.1,))),
    ]
    told = [json.dumps(description(case, 0, 0)) for case in cases]
    assert len(set(told)) == len(cases)
    assert json.dumps(description(setting(), 1, 0)) != told[0]
    assert NOISE.sigma == json.loads(told[0])["noise"]["fields"]["sigma"]


def test_a_tolerance_speaks_of_every_eps_of_the_setting() -> None:
    assert setting(tolerance=0.1, eps=(0.2, 0.1)).tolerance == cs.Tolerance(0.1, (0.1, 0.2))
    assert setting(goal=(0.1, 2)).goal == cs.Goal(0.1, 2.0)
    assert setting(goal=(0.1, 2)).may_stop_early
    assert not setting().may_stop_early
    with refused(ArgumentError, "0 < tolerance < 1"):
        setting(tolerance=2)
    with refused(ArgumentError, "no goal for the published procedure"):
        published(goal=(0.1, 2))


def test_a_goal_must_be_within_reach_of_the_samples() -> None:
    own = setting(eps=(0.1,), goal=(0.8, 2.0), model=model)
    with refused(BudgetError, "eps = 0.8", "200"):
        own.check_budget(own.smoother(None, 64, None))
