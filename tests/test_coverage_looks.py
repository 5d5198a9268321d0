"""Why to believe a certificate whose sampling stopped early: the luckiest look is still paid for.

The stopping rule is made as harmful as it can be: a goal just beyond the truth, so that a look
meets it only by luck. The wrong twin stops by the same rule at the same looks, with the ranks
of a number of samples fixed beforehand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
import torch

import centersmooth as cs
from centersmooth import binomial
from centersmooth.centers.base import majority
from centersmooth.confidence import Confidence, Joint, Split
from centersmooth.goals import GOAL_MET, GOAL_MISSED, Goal, Question
from centersmooth.looks import looks_for
from centersmooth.sketch import Ranked, Sketch
from centersmooth.stopping import Foreseen, Stopping
from centersmooth.theorems import MedoidTheorem, Sizes
from coverage_models import (
    ORIGIN,
    SIGMA,
    increasing,
    moved,
    refuted,
    threshold_with_mass,
    two_valued,
)

NOISE = cs.Gaussian(SIGMA)
CENTER = cs.Medoid(20, outer=0)
Draw = Callable[[np.random.Generator, int], np.ndarray]


@dataclass(frozen=True)
class Ended:
    outcome: str
    radius: float
    ranked: Ranked


def stopping(level: Confidence, n: int, m: int, goal: Goal, *, peeking: bool = False) -> Stopping:
    """The rule of the library; or the twin's, whose every look spends the whole level."""

    def theorem_at(size: int, share: float) -> MedoidTheorem:
        return MedoidTheorem(CENTER, NOISE, cs.metrics.L1(), Sizes(n, size), level, share)

    looks = looks_for(theorem_at, goal.eps, m)
    if peeking:
        return Stopping(Question(goal), looks, lambda size, share: theorem_at(size, 1.0))
    return Stopping(Question(goal), looks, theorem_at)


def ends(rule: Stopping, draw: Draw, rounds: int) -> list[Ended]:
    """Distances from w, drawn and looked at until the rule stops."""
    generator, found = np.random.default_rng(1), []
    for _ in range(rounds):
        distances, sketch, done = draw(generator, rule.looks.last), Sketch(1), 0
        for size in rule.looks.sizes:
            sketch.add(distances[None, done:size])
            done, ranked = size, sketch.ranked()
            if (stopped := rule.at(ranked, ranked.total)) is not None:
                theorem = rule.theorems[stopped.place]
                assert isinstance(theorem, MedoidTheorem)
                rank = theorem.radius_rank(rule.question.eps[0])
                assert rank is not None
                found.append(Ended(stopped.outcome, ranked.smallest(0, rank), ranked))
                break
    return found


# ----------------------------------------------------------------------------------- split form


def test_a_split_certificate_is_seldom_wrong_at_its_luckiest_look() -> None:
    """Just below the mass that is needed, the goal is met by luck alone."""
    eps, level, n, rounds = 0.7, Split(0.1, 0.1), 51, 400
    needed = NOISE.mass_needed(binomial.needed_mass(n, majority(n), level.query), eps)

    def draw(generator: np.random.Generator, m: int) -> np.ndarray:
        return (generator.random(m) > needed - 1e-3).astype(float)

    def wrong(*, peeking: bool) -> int:
        rule = stopping(level, n, 1000, Goal(eps, 0.0), peeking=peeking)
        return sum(end.outcome == GOAL_MET for end in ends(rule, draw, rounds))

    honest = wrong(peeking=False)
    assert not refuted(honest, rounds, level.certificate)
    assert honest > 0.2 * level.certificate * rounds  # the level is used, not wasted
    assert refuted(wrong(peeking=True), rounds, level.certificate)


def test_the_whole_procedure_is_seldom_wrong_at_its_luckiest_look() -> None:
    """The same through `certify`, with an error of 0 claimed about the target."""
    eps, level, n, rounds = 0.7, Split(0.1, 0.1), 51, 200
    needed = NOISE.mass_needed(binomial.needed_mass(n, majority(n), level.query), eps)
    model = two_valued(threshold_with_mass(needed - 1e-3))
    smoother = cs.Smoother(
        model, NOISE, cs.metrics.L1(), CENTER, answer_samples=n, batch_size=4096, progress=False
    )
    goal, target = Goal(eps, 0.0, of_target=True), torch.zeros(1)
    found = [smoother.certify(ORIGIN, 1000, level, target, i, goal=goal) for i in range(rounds)]
    assert all((c.error(eps) == 0) == (c.outcome == GOAL_MET) for c in found)
    assert not refuted(sum(c.error(eps) == 0 for c in found), rounds, level.certificate)
    assert len({c.sizes.m for c in found}) > 3


# ----------------------------------------------------------------------------------- joint form


@pytest.mark.parametrize("eps", [0.7, 1.2])
def test_the_joint_level_covers_the_query_after_the_luckiest_look(eps: float) -> None:
    """A model whose balls are half-spaces, queried at the worst x'; a goal midway to the truth."""
    level, n, m, rounds = Joint(0.05), 501, 2000, 800
    k = majority(n)
    fixed = MedoidTheorem(CENTER, NOISE, cs.metrics.L1(), Sizes(n, m), level).radius_rank(eps)
    truth = NOISE.mass_needed(k / n, eps)
    assert fixed is not None
    goal = Goal(eps, 3 * (fixed / m + truth) / 2)
    generator = torch.Generator().manual_seed(3)
    noise = torch.randn((rounds, n), generator=generator).double()
    outputs = increasing(moved(eps) + SIGMA * noise)

    def failures(*, peeking: bool) -> int:
        rule = stopping(level, n, m, goal, peeking=peeking)
        found = ends(rule, lambda random, size: random.random(size), rounds)
        radii = torch.tensor([end.radius for end in found]).double()
        return int(((outputs <= radii[:, None]).sum(dim=1) < k).sum())

    assert not refuted(failures(peeking=False), rounds, level.total)
    assert refuted(failures(peeking=True), rounds, level.total)


# ------------------------------------------------------------------- answers after early stopping


def clouds(batch: torch.Tensor) -> torch.Tensor:
    """A tight cloud that dissolves as the input grows."""
    spread = torch.sigmoid(3 * batch[:, :1])
    return spread * torch.sin(batch * torch.arange(1.0, 9.0).double() * 5) + 0.3 * batch


@pytest.mark.parametrize("level", [Joint(0.1), Split(0.05, 0.05)], ids=["joint", "split"])
@pytest.mark.parametrize(
    ("metric", "center"),
    [(cs.metrics.L1(), cs.Medoid(30)), (cs.metrics.L2(), cs.GeometricMedian())],
    ids=["Theorem B", "Theorem C"],
)
def test_answers_at_the_worst_input_stay_within_the_bound_of_the_last_look(
    metric: cs.metrics.Metric, center: object, level: Confidence
) -> None:
    eps, rounds = 0.8, 60
    smoother = cs.Smoother(
        clouds, NOISE, metric, center, answer_samples=99, batch_size=4096, progress=False
    )
    usual = smoother.certify(ORIGIN, 1500, level, seed=0).bound(eps)
    violations, outcomes = 0, set()
    for i in range(rounds):
        c = smoother.certify(ORIGIN, 1500, level, seed=i, goal=(eps, 1.1 * usual))
        outcomes.add((c.outcome, c.sizes.m))
        answer = smoother.predict(moved(eps), seed=10_000 + i).value
        violations += metric(c.value, answer) > c.bound(eps)
    assert len(outcomes) > 1
    assert not refuted(violations, rounds, level.total)


# -------------------------------------------------------------------------------------- futility


class Plain(Foreseen):
    """The twin whose forecast leaves no room for chance: the same share of fewer values."""

    def _rank(self, row: int, j: int) -> int:
        return round(j / self.total * self._seen.total)


class WithoutDoubt(Stopping):
    foreseen = Plain


def test_a_goal_is_seldom_given_up_that_all_the_samples_would_have_met() -> None:
    """The goal is what the last look of each round gives, and a hair more."""
    eps, level, n, m, rounds = 0.7, Joint(0.05), 501, 2000, 150
    usual = stopping(level, n, m, Goal(eps, 1.0))
    last = usual.theorems[-1]

    def given_up(kind: type[Stopping]) -> int:
        generator, count = np.random.default_rng(4), 0
        for _ in range(rounds):
            distances = generator.random(m)
            sketch = Sketch(1)
            sketch.add(distances[None])
            goal = Goal(eps, last.bound(sketch.ranked(), 0, eps) * 1.001)
            rule = kind(Question(goal), usual.looks, usual.theorem_at)
            (end,) = ends(rule, lambda _, size, drawn=distances: drawn, 1)  # type: ignore[misc]
            count += end.outcome == GOAL_MISSED
        return count

    assert not refuted(given_up(Stopping), rounds, 0.05)
    assert refuted(given_up(WithoutDoubt), rounds, 0.05)
