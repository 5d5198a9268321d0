"""Certificates whose sampling may stop early: `certify`, together, many, resumed, kept."""

from __future__ import annotations

import json
from typing import Any

import pytest
import torch

import centersmooth as cs
from centersmooth.certificates import Certificate
from centersmooth.errors import ArgumentError, BudgetError, FormatError
from refusals import refused
from tiny_models import TARGET, X, linear, smoother

EPS = 0.1


def usual(**options: Any) -> Certificate:
    return smoother(**options).certify(X, samples=2_000)


def test_a_goal_is_settled_with_fewer_samples() -> None:
    reached = usual().bound(EPS)
    met = smoother().certify(X, 2_000, goal=(EPS, 1.2 * reached))
    missed = smoother().certify(X, 2_000, goal=(EPS, 0.7 * reached))
    assert (met.outcome, missed.outcome) == ("goal met", "goal missed")
    assert met.bound(EPS) <= 1.2 * reached
    assert missed.bound(EPS) > 0.7 * reached
    for one in (met, missed):
        assert one.sizes.m == one.ranked.total < 500
        assert one.evaluations == 51 + one.sizes.m
        assert torch.equal(one.value, usual().value)  # the answer knows nothing of goals
    assert usual().outcome is None


@pytest.mark.parametrize("level", [cs.Joint(0.02), cs.Split(0.01, 0.01)])
def test_every_eps_is_answered_at_the_level_of_the_look(level: Any) -> None:
    one = smoother().certify(X, 2_000, level, goal=(EPS, 1.2 * usual().bound(EPS)))
    assert one.stopped is not None
    at_look = smoother().certify(X, one.sizes.m, level.at_look(one.stopped.share))
    assert one.ranked == at_look.ranked
    for eps in (0.0, 0.05, EPS, 0.2):
        assert one.bound(eps) == at_look.bound(eps)
    assert one.bound(EPS) >= smoother().certify(X, one.sizes.m, level).bound(EPS)
    assert one.alpha == level.total


def test_a_medoid_pays_for_its_outer_points_once() -> None:
    made = smoother(center=cs.Medoid(50))
    one = made.certify(X, 3_000, goal=(EPS, 1.05 * made.certify(X, 3_000).bound(EPS)))
    whole = made.certify(X, one.sizes.m)
    least = made.certify(X, one.sizes.m, 0.01 * one.stopped.share)  # type: ignore[union-attr]
    assert one.outcome == "goal met"
    assert whole.theorem.outer_ranks(EPS)[1] == one.theorem.outer_ranks(EPS)[1]  # type: ignore[attr-defined]
    assert whole.bound(EPS) <= one.bound(EPS) <= least.bound(EPS)


def test_a_goal_may_be_about_the_target() -> None:
    goal = cs.Goal(EPS, 3.0, of_target=True)
    one = smoother().certify(X, 2_000, target=TARGET, goal=goal)
    assert one.outcome == "goal met"
    assert one.error(EPS) <= 3.0
    with refused(ArgumentError, "a target for a goal about it"):
        smoother().certify(X, 2_000, goal=goal)


def test_a_tolerance_stops_where_little_is_left_to_gain() -> None:
    one = smoother().certify(X, 4_000, grid=[0.05, EPS], tolerance=0.1)
    assert one.outcome == "tolerance reached"
    assert one.sizes.m < 4_000
    whole = smoother().certify(X, 4_000, grid=[0.05, EPS])
    assert all(whole.bound(eps) >= 0.9 * one.bound(eps) for eps in (0.05, EPS))
    plain = smoother().certify(X, 4_000, tolerance=cs.Tolerance(0.1, (EPS,)))
    assert plain.grid is None
    assert plain.outcome == "tolerance reached"


def test_samples_that_cannot_settle_it_are_refused_beforehand() -> None:
    def never(batch: torch.Tensor) -> torch.Tensor:
        raise AssertionError("called")

    with refused(BudgetError, "enough samples for eps = 0.6", "got 200"):
        smoother(never).certify(X, 200, goal=(0.6, 1.0))
    with refused(ArgumentError, "goals up to eps = 2.449", "2.5"):
        wide = smoother(noise=cs.Gaussian(2.0), input_range=(0, 1))
        wide.certify(X, 2_000, goal=(2.5, 1.0))


# ---- several at once


def test_together_each_stops_where_it_would_alone() -> None:
    made = [smoother(), smoother(metric=cs.metrics.L1(), center=cs.Medoid(20)), smoother()]
    reached = cs.certify_together(made, X, 2_000)
    goals = [(EPS, 1.2 * reached[0].bound(EPS)), (EPS, 1.02 * reached[1].bound(EPS)), None]
    tolerances = [None, None, cs.Tolerance(0.2, (EPS,))]
    options: dict[str, Any] = {"samples": 2_000}
    found = cs.certify_together(made, X, goals=goals, tolerances=tolerances, **options)
    assert len({one.sizes.m for one in found}) > 1
    assert len({one.evaluations for one in found}) == 1
    for one, by_itself, goal, tolerance in zip(found, made, goals, tolerances, strict=True):
        alone = by_itself.certify(X, goal=goal, tolerance=tolerance, **options)
        assert one.stopped == alone.stopped
        assert one.ranked == alone.ranked
        assert one.bound(EPS) == alone.bound(EPS)
    beside = cs.certify_together(made[:2], X, 2_000, goals=[goals[0], None])
    assert [one.outcome for one in beside] == ["goal met", None]
    assert beside[1].ranked == reached[1].ranked


def test_one_goal_and_tolerance_per_smoother() -> None:
    with refused(ArgumentError, "1 goals", "got 2"):
        cs.certify_together([smoother()], X, goals=[None, None])
    with refused(ArgumentError, "1 tolerances", "got 0"):
        cs.certify_together([smoother()], X, tolerances=[])


def test_many_inputs_stop_each_at_its_own_look() -> None:
    goal = (EPS, 1.03 * usual().bound(EPS))
    many = smoother().certify_many([X, 3 * X], samples=2_000, goal=goal)
    for one, x in zip(many, [X, 3 * X], strict=True):
        assert one.stopped == smoother().certify(x, 2_000, goal=goal).stopped


# ---- interrupted


class Stopping:
    """A callback that interrupts after so many steps, once."""

    def __init__(self, after: int) -> None:
        self.after = after

    def __call__(self, done: int, total: int) -> None:
        if done > self.after:
            self.after = 10**9
            raise KeyboardInterrupt


@pytest.mark.parametrize("after", [60, 200, 400, 700])
def test_an_interrupted_run_goes_on_to_the_same_end(after: int) -> None:
    reached = usual().bound(EPS)
    goals = [(EPS, 1.25 * reached), (EPS, 1.01 * reached)]

    def run(progress: Any, resume: Any = None) -> list[Certificate]:
        pair = [smoother(progress=progress), smoother()]
        return cs.certify_together(pair, X, 2_000, goals=goals, resume=resume)

    whole = run(False)
    assert whole[0].sizes.m < whole[1].sizes.m
    with pytest.raises(KeyboardInterrupt) as caught:
        run(Stopping(after))
    unfinished = caught.value.unfinished  # type: ignore[attr-defined]
    for one, other in zip(run(False, unfinished), whole, strict=True):
        assert one.stopped == other.stopped
        assert one.ranked == other.ranked
    with refused(ArgumentError, "goals, tolerances, samples and alpha", "ask the same again"):
        cs.certify_together([smoother()] * 2, X, 2_000, resume=unfinished)
    with refused(ArgumentError, "goals, tolerances, samples and alpha"):
        pair = [smoother()] * 2
        cs.certify_together(pair, X, 4_000, goals=goals, resume=unfinished)


def test_a_fixed_number_of_samples_is_not_resumed_with_a_goal() -> None:
    with pytest.raises(KeyboardInterrupt) as caught:
        smoother(progress=Stopping(200)).certify(X, 2_000)
    unfinished = caught.value.unfinished  # type: ignore[attr-defined]
    with refused(ArgumentError, "goals, tolerances, samples and alpha"):
        smoother().certify(X, 2_000, goal=(EPS, 1.0), resume=unfinished)
    assert smoother().certify(X, 2_000, resume=unfinished).ranked == usual().ranked


# ---- kept, and in words


def kept() -> Certificate:
    goal = cs.Goal(EPS, 3.0, of_target=True)
    return smoother().certify(
        X, 2_000, target=TARGET, goal=goal, tolerance=cs.Tolerance(0.01, (EPS,))
    )


def test_a_file_keeps_the_looks() -> None:
    one = kept()
    again = Certificate.from_json(one.to_json())
    assert again.stopped == one.stopped
    assert (again.bound(0.05), again.error(EPS)) == (one.bound(0.05), one.error(EPS))


def test_a_file_of_another_schema_is_refused() -> None:
    """Its ranks would be those of other theorems."""
    text = json.loads(usual().to_json())
    text["schema"] = 1
    with refused(FormatError, "another version"):
        Certificate.from_json(json.dumps(text))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("place", 5),
        ("place", -1),
        ("place", 99),
        ("outcome", "goal moved"),
        ("looks/shares", [1.0] * 10),
        ("looks/sizes", [64, 64]),
        ("question/goal", {"eps": -1, "bound": 2, "of_target": False}),
        ("question", {"goal": None, "tolerance": None}),
        ("question/tolerance/share", 2.0),
    ],
)
def test_damaged_looks_are_refused(path: str, value: Any) -> None:
    data = json.loads(kept().to_json())
    *parents, last = path.split("/")
    spot = data["stopped"]
    for parent in parents:
        spot = spot[parent]
    spot[last] = value
    with refused(FormatError):
        Certificate.from_json(json.dumps(data))


def test_the_words_say_how_sampling_ended_and_that_looks_were_paid_for() -> None:
    reached = usual().bound(EPS)
    at_last = smoother().certify(X, 2_000, 0.005).bound(EPS)  # half the level, as at the last look
    ends = {
        "Goal met": {"goal": (EPS, 1.3 * reached)},
        "Goal missed": {"goal": (EPS, 0.6 * reached)},
        "Samples exhausted": {"goal": (EPS, at_last * (1 - 1e-6))},
        "Tolerance reached": {"grid": [EPS], "tolerance": 0.2},
    }
    for words, options in ends.items():
        one = smoother(linear).certify(X, 2_000, **options)  # type: ignore[arg-type]
        told = " ".join(str(one).split())
        assert f"{words} at {one.sizes.m:,} of at most 2,000 samples" in told
        assert words in one._repr_html_()
        assert "looks at the samples, fixed beforehand" in one.guarantee(EPS)
    assert "looks" not in str(usual())
