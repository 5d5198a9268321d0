"""Why to believe Theorem C for norms: its worst cases, certified and queried, and wrong twins."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from scipy.special import ndtr

import centersmooth as cs
from centersmooth.binomial import FloatArray, shown_mass
from centersmooth.sketch import Ranked, Sketch
from centersmooth.theorems import Sizes, WeberTheorem
from centersmooth.theorems.weber_point import levels, pull
from coverage_models import SIGMA, moved, refuted, threshold_with_mass, two_valued

NOISE = cs.Gaussian(SIGMA)
L1, TV = cs.metrics.L1(), cs.metrics.TotalVariation()


def as_signal(rows: torch.Tensor) -> torch.Tensor:
    """Signals with these differences: total variation is then their l1 norm."""
    return torch.nn.functional.pad(rows.cumsum(dim=-1), (1, 0))


SPACES: dict[str, tuple[cs.metrics.Metric, Callable[[torch.Tensor], torch.Tensor]]] = {
    "l1": (L1, lambda rows: rows),
    "TV": (TV, as_signal),
}


def opposite_clouds(corners: int, of: int, times: int) -> torch.Tensor:
    """Near ones at distance `corners` from 0, each with as many coordinates of the far corner.

    The far ones lie behind (1, ..., 1), and a majority is beyond 1 in every coordinate.
    """
    near = torch.zeros(of * times, of)
    for i in range(of * times):
        near[i, [(i + j) % of for j in range(corners)]] = 1.0
    count = times * (of - 2 * corners) + 1
    return torch.cat((near, torch.full((count, of), 2.0)))


def answer_of(metric: Any, samples: torch.Tensor, center: cs.WeberPoint) -> Any:
    gathering = center.gather(metric, len(samples))
    gathering.add_samples(metric.collate(samples), samples)
    return gathering.answer().value


# ------------------------------------------------------------------------------- the constant


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize(("corners", "of"), [(1, 6), (1, 3), (4, 9)])
def test_the_constant_is_attained_by_opposite_clouds(space: str, corners: int, of: int) -> None:
    """A share p within R of w, and the answer 2 p R / (2 p - 1) away: p = 0.6, 0.75, 0.9."""
    metric, place = SPACES[space]
    rows = opposite_clouds(corners, of, 400)
    p = 400 * of / len(rows)
    assert p == pytest.approx(1 / (2 * (1 - corners / of)), rel=2e-3)
    value = answer_of(metric, place(rows), cs.WeberPoint())
    distance = metric(value, place(torch.zeros(of)))
    assert distance == pytest.approx(of, rel=1e-3)
    assert distance == pytest.approx(2 * p * corners / (2 * p - 1), rel=1e-2)
    assert pull(np.array([corners]), distance)[0] * p - (1 - p) == pytest.approx(0, abs=1e-2)


def clouds_of_images(seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Most images near w, the others on one side; w is not where the samples would have it."""
    draw = torch.Generator().manual_seed(seed)
    w = torch.randn((4, 4), generator=draw)
    near = w + torch.randn((60, 4, 4), generator=draw) * torch.rand((60, 1, 1), generator=draw)
    far = w + 8 * torch.randn((1, 4, 4), generator=draw) + torch.randn((39, 4, 4), generator=draw)
    return torch.cat((near, far)), w


@pytest.mark.parametrize("metric", [L1, TV], ids=lambda m: m.name)
@pytest.mark.parametrize("tolerance", [1e-1, 1e-4])
def test_no_answer_is_pulled_by_more_than_the_gap(metric: Any, tolerance: float) -> None:
    """The inequality behind the theorem, for solvers that stop early as for others."""
    center = cs.WeberPoint(tolerance=tolerance)
    for seed in range(40):
        samples, w = clouds_of_images(seed)
        value = answer_of(metric, samples, center)
        for point in (w, samples[0], samples[-1], samples.mean(dim=0), 2 * w):
            distance = metric(value, point)
            radii = metric.pairwise(point[None], samples)[0].numpy()
            assert pull(radii, distance).mean() <= center.gap(metric) + 1e-6


# ------------------------------------------------------------- certified and queried, the gap


def two_clouds(mass: float, place: Callable[[torch.Tensor], torch.Tensor]) -> Callable:
    """Near ones with this mass, below a threshold of the first input; each has one corner of
    three, chosen by the second. The far ones beyond."""
    threshold = threshold_with_mass(mass)

    def model(batch: torch.Tensor) -> torch.Tensor:
        corner = (3 * ndtr_of(batch[:, 1])).long().clamp(0, 2)
        near = torch.nn.functional.one_hot(corner, 3).double()
        rows = torch.where(batch[:, :1] <= threshold, near, 2.0)
        return place(rows)

    return model


def ndtr_of(values: torch.Tensor) -> torch.Tensor:
    return torch.special.ndtr(values / SIGMA)


class Lazy(cs.metrics.L1):
    """An l1 whose solver stops at the far corner as soon as the gap that it proves allows."""

    @property
    def normed(self) -> Any:
        solver = super().normed

        class Stopped:
            floor = 0.0

            def approach(self, outputs: torch.Tensor, dtype: torch.dtype) -> Iterator:
                corner, *rest = (torch.ones_like(outputs[0]), *solver.approach(outputs, dtype))
                best = rest[-1][0].double()
                there, least = ((outputs - y).abs().sum(1).mean() for y in (corner, best))
                yield corner, float(there - least)
                yield from rest

        return Stopped()


class GapForgotten(WeberTheorem):
    """The twin that takes a solver at its word that it found the least mean distance."""

    def __init__(self, *options: Any) -> None:
        super().__init__(*options)
        self._gap = 0.0


def test_a_solver_that_stops_early_is_covered_and_its_gap_must_not_be_forgotten() -> None:
    eps, alpha, rounds = 0.2, 0.1, 12
    metric, x, w = Lazy(), torch.zeros(2), torch.zeros(3)
    model = two_clouds(NOISE.mass_needed(0.792, eps), lambda rows: rows)
    center = cs.WeberPoint(tolerance=0.1)
    smoother = cs.Smoother(
        model, NOISE, metric, center, answer_samples=10_000, batch_size=4_096, progress=False
    )
    violations = forgotten = 0
    for i in range(rounds):
        c = smoother.certify(x, 20_000, alpha, target=w, seed=i)
        there = smoother.predict(torch.tensor([eps, 0.0]), seed=10_000 + i).value
        twin = GapForgotten(center, NOISE, metric, c.sizes, c.level)
        violations += metric(there, w) > c.error(eps)
        forgotten += metric(there, w) > twin.bound(c.ranked, 1, eps)
        assert c.error(eps) < 12
    assert not refuted(violations, rounds, alpha)
    assert refuted(forgotten, rounds, alpha)


# ------------------------------------------------------- certified and queried, the statistics


class PlugIn(WeberTheorem):
    """The twin without margins: every rank is taken for its share, every sum for its mean."""

    def __init__(self, *options: Any) -> None:
        super().__init__(*options)
        ranks = range(self.sizes.m // 2, self.sizes.m + 1)
        self.levels = {1: (tuple(ranks), np.array(ranks) / (self.sizes.m + 1))}
        self._decay = -1e-12


@pytest.mark.parametrize(
    ("space", "form"), [("l1", cs.Joint(0.004)), ("TV", cs.Split(0.002, 0.002))]
)
def test_opposite_clouds_are_covered_and_twins_are_not(space: str, form: Any) -> None:
    """Just below the share at which the answer leaves for the far corner."""
    metric, place = SPACES[space]
    eps, rounds = 1.0, 120
    x, w, center = torch.zeros(2), place(torch.zeros(3)), cs.WeberPoint()
    model = two_clouds(NOISE.mass_needed(0.735, eps), place)
    smoother = cs.Smoother(
        model, NOISE, metric, center, answer_samples=499, batch_size=4_096, progress=False
    )
    violations = plugged = doubled = 0
    for i in range(rounds):
        c = smoother.certify(x, 1_000, form, target=w, seed=i)
        there = smoother.predict(torch.tensor([eps, 0.0]), seed=10_000 + i).value
        distance = metric(there, w)
        twin = PlugIn(center, NOISE, metric, c.sizes, c.level)
        violations += distance > c.error(eps)
        plugged += distance > twin.bound(c.ranked, 1, eps)
        doubled += distance > c.error(eps / 4)  # as if sigma were larger than it is
    assert not refuted(violations, rounds, form.total)
    assert refuted(plugged, rounds, form.total), plugged
    assert refuted(doubled, rounds, form.total), doubled


@pytest.mark.parametrize("pool", [1, 2])
def test_two_values_are_covered(pool: int) -> None:
    eps, alpha, rounds = 0.5, 0.1, 60
    mass = NOISE.mass_needed(0.56, eps)
    smoother = cs.Smoother(
        two_valued(threshold_with_mass(mass)),
        NOISE,
        L1,
        cs.WeberPoint(pool),
        answer_samples=200,
        batch_size=512,
        progress=False,
    )
    x, w = torch.zeros(1, dtype=torch.float64), torch.zeros(1, dtype=torch.float64)
    violations = far = 0
    for i in range(rounds):
        c = smoother.certify(x, 600, alpha, target=w, seed=i)
        there = float(smoother.predict(moved(eps), seed=10_000 + i).value)
        violations += there > c.error(eps)
        far += there > 0
    assert far > 0  # the case is not too easy
    assert not refuted(violations, rounds, alpha)


def test_levels_hold_together_and_not_if_chosen_on_the_distances() -> None:
    """The mass of a ball up to the j-th smallest distance is the j-th smallest of uniforms."""
    m, alpha, rounds = 400, 0.05, 2_000
    uniforms = np.sort(np.random.default_rng(0).random((rounds, m)), axis=1)
    ranks, masses = levels(m, alpha)
    found = uniforms[:, np.array(ranks) - 1]
    wrong = int((found < masses).any(axis=1).sum())
    assert not refuted(wrong, rounds, alpha)
    assert wrong > 0.4 * alpha * rounds  # the level is used
    # The twin gives all of the level to each rank and takes the one that flatters most.
    whole = np.array([shown_mass(m, j, alpha) for j in ranks])
    assert refuted(int((found < whole).any(axis=1).sum()), rounds, alpha)


# ------------------------------------------------------------------------------ pooled samples


class FoldForgotten(cs.Gaussian):
    """The twin that moves a group of draws as if it were one."""

    def mass_left(self, p: Any, eps: float, fold: int = 1) -> Any:
        return super().mass_left(p, eps)


class LawOnly(WeberTheorem):
    """Lets the test see the law of distances at x'."""

    def law(self, ranked: Ranked, eps: float) -> tuple[FloatArray, FloatArray]:
        found = self._law(self._radii(ranked, 0), eps)
        return found.radii, found.masses


@pytest.mark.parametrize("pool", [2, 4])
def test_the_law_of_means_holds_at_the_worst_input_and_not_without_the_fold(pool: int) -> None:
    """f(u) = u and w far below: balls around w are half-spaces of the mean noise."""
    eps, alpha, rounds, groups = 0.7, 0.1, 150, 500
    center, level = cs.WeberPoint(pool), cs.Split(alpha, 0.1)
    sizes = Sizes(100, pool * groups)
    numbers = np.random.default_rng(pool)
    wrong = {NOISE: 0, FoldForgotten(SIGMA): 0}
    for _ in range(rounds):
        outputs = torch.from_numpy(100.0 + numbers.standard_normal((pool * groups, 1)))
        sketch = Sketch(center.views)
        sketch.add(np.stack([view[:, 0].numpy() for view in center.view(L1, outputs)]))
        for noise in wrong:
            radii, masses = LawOnly(center, noise, L1, sizes, level).law(sketch.ranked(), eps)
            truth = ndtr(math.sqrt(pool) * (radii - 100.0 - eps))
            wrong[noise] += bool((masses > truth + 1e-9).any())
    assert not refuted(wrong[NOISE], rounds, alpha)
    assert refuted(wrong[FoldForgotten(SIGMA)], rounds, alpha)


def waves(batch: torch.Tensor) -> torch.Tensor:
    """Small images that bend with the input."""
    steps = torch.arange(20.0).reshape(4, 5)
    return torch.sin(batch[:, :1, None] * 0.3 + steps) + 0.2 * torch.cos(
        batch[:, 1:2, None] * steps
    )


@pytest.mark.parametrize("pool", [1, 2, 4])
def test_answers_for_images_are_covered(pool: int) -> None:
    eps, alpha, rounds = 0.3, 0.1, 25
    smoother = cs.Smoother(
        waves, NOISE, TV, cs.WeberPoint(pool), answer_samples=400, batch_size=512, progress=False
    )
    violations = 0
    for i in range(rounds):
        c = smoother.certify(torch.zeros(2), 1_600, alpha, seed=i)
        there = smoother.predict(torch.tensor([eps, 0.0]), seed=10_000 + i).value
        assert c.bound(eps) < math.inf
        violations += TV(c.value, there) > c.bound(eps)
    assert not refuted(violations, rounds, alpha)
