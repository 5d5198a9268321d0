"""Why to believe Theorem D: certified and queried hundreds of times at the worst x'.

As in test_coverage.py each promise has extremal models and wrong twins, one mistake each, that
the same count refutes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from scipy.integrate import trapezoid
from scipy.special import ndtr

import centersmooth as cs
from centersmooth.centers.clipped_mean import REACH, scale
from centersmooth.confidence import Confidence
from centersmooth.metrics import Metric
from centersmooth.moments import Region, Summary
from centersmooth.sketch import Sketch
from centersmooth.theorems import ClippedMeanTheorem, Sizes
from coverage_models import ORIGIN, SIGMA, moved, refuted, threshold_with_mass

NOISE = cs.Gaussian(SIGMA)
L2 = cs.metrics.L2()
N, M = 99, 600


def smoother(
    model: Callable[[torch.Tensor], torch.Tensor],
    metric: Metric = L2,
    radius: float | None = None,
    n: int = N,
) -> cs.Smoother:
    center = cs.ClippedMean(radius)
    return cs.Smoother(
        model, NOISE, metric, center, answer_samples=n, batch_size=8192, progress=False
    )


Rounds = list[tuple[cs.Certificate, Any]]


def rounds(
    made: cs.Smoother, eps: float, count: int, m: int = M, alpha: Any = 0.1, x: Any = ORIGIN
) -> Rounds:
    """Certificates at x, each with an answer at the x' that is eps along the first axis."""
    there = x.clone()
    there[0] += eps
    return [
        (made.certify(x, m, alpha, seed=i), made.predict(there, seed=10_000 + i).value)
        for i in range(count)
    ]


def violations(found: Rounds, eps: float, twin: type[ClippedMeanTheorem] | None = None) -> int:
    """How often the answer lies beyond the bound, or beyond a twin's."""
    total = 0
    for c, answer in found:
        bound = c.bound(eps)
        if twin is not None:
            bound = twin(c.center, c.noise, c.metric, c.sizes, c.level).bound(c.ranked, 0, eps)
        total += c.metric(c.value, answer) > bound
    return total


# ------------------------------------------------------------------------------------ the twins


class HalfTheShift(ClippedMeanTheorem):
    """Sigma doubled where the means are compared."""

    def mean_bound(self, moments: Summary, row: int, eps: float) -> float:
        return super().mean_bound(moments, row, eps / 2)


class NoTails(ClippedMeanTheorem):
    """Forgets the samples beyond the region."""

    def outside(self, eps: float, position: int) -> int:
        return 0


class TailsOfX(ClippedMeanTheorem):
    """Counts the samples beyond the region as at x, not as at x'."""

    def outside(self, eps: float, position: int) -> int:
        return super().outside(0.0, position)


# ------------------------------------------------------------------------ the whole, model by model


def test_linear_model_is_covered() -> None:
    """The answer moves by eps; the bound is sigma sqrt(exp(h^2) - 1) and what samples cost."""
    eps = 0.6
    found = rounds(smoother(lambda batch: batch, radius=12.0, n=299), eps, 50, m=1_500)
    assert violations(found, eps) == 0
    closed = SIGMA * math.sqrt(math.expm1(eps**2))
    assert closed < np.median([c.bound(eps) for c, _ in found]) < 3.0 * closed


def test_expectation_at_the_worst_point_is_covered_and_half_the_shift_is_not() -> None:
    """E'Y of the linear model, cut off at the region: known, and all but what is claimed."""
    eps, radius, m, count = 0.8, 3.0, 2_000, 400
    proved = ClippedMeanTheorem(cs.ClippedMean(), NOISE, L2, Sizes(N, m), cs.Joint(0.2))
    twin = HalfTheShift(cs.ClippedMean(), NOISE, L2, Sizes(N, m), cs.Joint(0.2))
    grid = np.linspace(-radius, radius, 20_001)
    truth = float(trapezoid(grid * np.exp(-((grid - eps) ** 2) / 2), grid))
    truth /= math.sqrt(2 * math.pi)
    draws = np.random.default_rng(4).standard_normal((count, m))
    draws[np.abs(draws) > radius] = 0.0
    few = [
        replace(summary(top, away), region=Region(radius, 0.0, 0.0))
        for top, away in zip((draws**2).mean(axis=1), np.abs(draws.mean(axis=1)), strict=True)
    ]
    assert not any(proved.mean_bound(one, 0, eps) < truth for one in few)
    assert np.median([proved.mean_bound(one, 0, eps) for one in few]) < 1.5 * truth
    assert refuted(sum(twin.mean_bound(one, 0, eps) < truth for one in few), count, 0.2)


def test_linear_model_is_asymptotically_tight() -> None:
    """What is left of the bound, without the samples' scatter, is eps (1 + eps^2 / 4 + ...)."""
    c = smoother(lambda batch: batch, radius=12.0, n=2_000).certify(ORIGIN, 100_000, seed=1)
    moments = c.ranked.moments
    assert moments is not None
    for eps in (0.05, 0.2, 0.5):
        found = c.theorem.mean_bound(moments, 0, eps) - moments.away[0]  # type: ignore[attr-defined]
        assert eps < found < 1.03 * math.sqrt(math.expm1(eps**2)) + 0.012


def test_the_mean_of_few_samples_is_not_their_expectation() -> None:
    n, m, eps, radius = 19, 20_000, 0.3, 4.0
    made, random = theorem(n, m), np.random.default_rng(3)
    draws = random.standard_normal(m)
    sketch = Sketch(1)
    sketch.add(np.abs(draws)[None])
    seen = replace(summary(1.0, abs(draws.mean())), region=Region(radius, 0.0, 0.0))
    expectation = made.mean_bound(seen, 0, eps)
    means = (eps + random.standard_normal((2_000, n))).mean(axis=1)
    found = made.deviation(sketch.ranked(), seen, eps)
    failing = made.budget.deviation
    assert not refuted(int((means > expectation + found).sum()), len(means), failing)
    assert refuted(int((means > expectation).sum()), len(means), failing)


@pytest.mark.parametrize("form", [cs.Joint(0.1), cs.Split(0.05, 0.05)])
@pytest.mark.parametrize("radius", [None, 4.0])
@pytest.mark.parametrize("mass", [0.93, 0.999])
def test_two_values_are_covered(form: Confidence, radius: float | None, mass: float) -> None:
    cut = threshold_with_mass(mass)
    made = smoother(lambda batch: (batch > cut).double(), radius=radius)
    for eps in (0.2, 1.0):
        found = rounds(made, eps, 60, alpha=form)
        assert not refuted(violations(found, eps), len(found), form.total)


def test_rare_far_outputs_are_covered_and_forgetting_them_is_not() -> None:
    """Three in ten thousand at x are far away, one in a hundred at x'."""
    cut, eps = threshold_with_mass(1 - 3e-4), 1.2
    found = rounds(smoother(lambda b: 50.0 * (b > cut), radius=8.0, n=199), eps, 100, m=2_000)
    assert all(c.bound(eps) < math.inf for c, _ in found)
    assert not refuted(violations(found, eps), len(found), 0.1)
    assert refuted(violations(found, eps, NoTails), len(found), 0.1)
    assert refuted(violations(found, eps, TailsOfX), len(found), 0.1)


def heavy(batch: torch.Tensor) -> torch.Tensor:
    """Gaussian, with a tail that grows without limit on the attacker's side."""
    return torch.cat((batch + torch.exp(4.0 * (batch - 1.0)).clamp(max=1e12), batch.sin()), dim=1)


@pytest.mark.parametrize("radius", [None, 20.0])
def test_heavy_tails_are_covered(radius: float | None) -> None:
    for eps in (0.1, 0.8):
        found = rounds(smoother(heavy, radius=radius), eps, 75)
        assert not refuted(violations(found, eps), len(found), 0.1)
        assert eps > 0.1 or not radius or all(c.bound(eps) < 2 * radius for c, _ in found)


def wide(batch: torch.Tensor) -> torch.Tensor:
    """Many directions, one of which the attacker pushes along."""
    return batch + 0.3 * torch.sin(3.0 * batch)


@pytest.mark.parametrize("form", [cs.Joint(0.1), cs.Split(0.05, 0.05)])
def test_outputs_in_many_dimensions_are_covered_at_their_own_scale(form: Confidence) -> None:
    x, eps = torch.zeros(24, dtype=torch.float64), 0.5
    found = rounds(smoother(wide, n=699), eps, 30, m=2_000, alpha=form, x=x)
    assert violations(found, eps) == 0
    assert max(c.bound(eps) for c, _ in found) < 3.0  # a sample is 5 away from the mean
    moves = [c.metric(c.value, answer) / c.bound(eps) for c, answer in found]
    assert np.median(moves) > 0.2  # and an attack comes near it


@pytest.mark.parametrize("metric", [cs.metrics.Angular(), cs.metrics.Cosine()])
def test_rotations_are_covered(metric: Metric) -> None:
    def model(batch: torch.Tensor) -> torch.Tensor:
        turn = 0.5 * batch
        return torch.cat((torch.cos(turn), torch.sin(turn), 0.1 * torch.sin(7 * batch)), dim=1)

    eps = 0.3
    found = rounds(smoother(model, metric, radius=3.0, n=299), eps, 75, m=2_000)
    assert violations(found, eps) == 0
    assert max(c.bound(eps) for c, _ in found) < 0.5 * metric.diameter


def test_errors_about_a_target_are_covered() -> None:
    """The target lies where the attacker drives the answer away from."""
    eps, target = 0.4, torch.tensor([-0.5, 0.0], dtype=torch.float64)
    made = smoother(lambda b: torch.cat((b, torch.cos(b)), dim=1), radius=12.0)
    wrong = 0
    for i in range(100):
        c = made.certify(ORIGIN, M, 0.1, target, seed=i)
        answer = made.predict(moved(eps), seed=10_000 + i).value
        assert c.error(eps) <= c.bound(eps) + L2(c.value, target) + 0.3
        wrong += L2(target, answer) > c.error(eps)
    assert not refuted(wrong, 100, 0.1)


# --------------------------------------------------------------------------------- step by step


def theorem(n: int, m: int, radius: float | None = 4.0) -> ClippedMeanTheorem:
    return ClippedMeanTheorem(cs.ClippedMean(radius), NOISE, L2, Sizes(n, m), cs.Joint(0.4))


def summary(top: float, away: float = 0.0) -> Summary:
    return Summary(Region(1.0, 0.0, 0.0), 0.0, top, (away,), (1.0,), 0, 0, 0)


@pytest.mark.parametrize("mean", [0.005, 0.02, 0.3])
@pytest.mark.parametrize("m", [40, 200])
def test_top_eigenvalue_is_seldom_underestimated(mean: float, m: int) -> None:
    """Y in {0, 1}: its second moment is its mean. Without the confidence term it is too small."""
    made = theorem(N, m)
    means = np.random.default_rng(5).binomial(m, mean, 2_000) / m
    low = sum(made.top_bound(summary(float(top))) < mean for top in means)
    assert not refuted(low, len(means), made.budget.top)
    assert refuted(int((means < mean).sum()), len(means), made.budget.top)


@pytest.mark.parametrize("dim", [1, 30])
def test_mean_of_y_is_seldom_underestimated(dim: int) -> None:
    """Uniform signs with a drift: |mean| alone is below the drift in about half of all rounds."""
    m, drift = 150, 0.3
    made, random = theorem(N, m), np.random.default_rng(dim)
    low = twin = 0
    for _ in range(1_500):
        signs = np.sign(random.random((m, dim)) - 0.5 + np.eye(1, dim)[0] * drift / 2)
        rows = signs / math.sqrt(dim)
        away = float(np.linalg.norm(rows.mean(axis=0)))
        top = float(np.linalg.eigvalsh(rows.T @ rows / m)[-1])
        low += made.mean_bound(summary(top, away), 0, 0.0) < drift / math.sqrt(dim)
        twin += away < drift / math.sqrt(dim)
    assert not refuted(low, 1_500, made.budget.mean)
    assert dim > 1 or refuted(twin, 1_500, made.budget.mean)


@pytest.mark.parametrize("dim", [1, 40])
def test_means_of_n_samples_seldom_deviate_further(dim: int) -> None:
    """Unit vectors in random directions: the mean of n of them is about 1 / sqrt(n) long."""
    n, m = 60, 3_000
    made, random = theorem(n, m), np.random.default_rng(dim)
    sketch = Sketch(1)
    sketch.add(np.ones((1, m)))
    found = made.deviation(sketch.ranked(), summary(1.0 / dim), 0.0)
    rows = random.standard_normal((4_000, n, dim))
    rows /= np.linalg.norm(rows, axis=2, keepdims=True)
    lengths = np.linalg.norm(rows.mean(axis=1), axis=1)
    assert not refuted(int((lengths > found).sum()), len(lengths), made.budget.deviation)
    assert refuted(int((lengths > found / 3).sum()), len(lengths), made.budget.deviation)


@pytest.mark.parametrize("form", [cs.Joint(0.4), cs.Split(0.2, 0.2)])
@pytest.mark.parametrize("eps", [0.0, 0.7, 1.5])
@pytest.mark.parametrize("position", [0, 3])
def test_samples_beyond_a_rank_are_seldom_more(form: Confidence, eps: float, position: int) -> None:
    """Balls are half-spaces and the attacker moves against them; as at x is too few."""
    n, m, count = 99, 300, 4_000
    made = ClippedMeanTheorem(cs.ClippedMean(), NOISE, L2, Sizes(n, m), form)
    random = np.random.default_rng(position)
    limits = np.sort(random.standard_normal((count, m)), axis=1)[:, m - 1 - position]
    beyond = random.binomial(n, ndtr(eps - limits))
    level = made.budget.outside.part(0.5 ** (1 + made._positions().index(position))).total
    assert not refuted(int((beyond > made.outside(eps, position)).sum()), count, level)
    if eps > 0.5:
        few = made.outside(0.0, position)
        assert refuted(int((beyond > few).sum()), count, level)


def test_a_region_chosen_on_the_counted_samples_is_refuted() -> None:
    """A region that just holds all W leaves nothing out, it seems: K = 0 and r = max |W|."""
    m, eps, count = 300, 1.0, 400
    mass = 1 - 0.5 / m
    cut = threshold_with_mass(mass)
    seen = np.random.default_rng(1).binomial(m, 1 - mass, count)
    share = np.random.default_rng(2).binomial(N, float(ndtr(eps - cut)), count) / N
    made, wrong = theorem(N, m), 0
    for hits, moved_by in zip(seen, share, strict=True):
        largest = float(hits > 0)  # the twin's region
        moments = replace(summary(hits / m, hits / m), region=Region(largest, 0.0, 0.0))
        wrong += moved_by > made.mean_bound(moments, 0, eps)
    assert refuted(wrong, count, 0.4)


@pytest.mark.parametrize("eps", [0.0, 0.5])
def test_the_scale_at_the_worst_point_is_seldom_outside_its_bounds(eps: float) -> None:
    """Gaps decided by the noise along the attack alone, larger or smaller as x moves."""

    def gaps(batch: torch.Tensor) -> torch.Tensor:
        return torch.cat((torch.exp(batch) * torch.sin(40.0 * batch), torch.cos(9.0 * batch)), 1)

    made = smoother(gaps, n=199)
    low = high = 0
    for i in range(60):
        c = made.certify(ORIGIN, 2_000, cs.Split(0.2, 0.2), seed=i)
        proved, moments = c.theorem, c.ranked.moments
        assert isinstance(proved, ClippedMeanTheorem)
        assert moments is not None
        for x in (moved(eps), moved(-eps)):
            noisy = x + torch.randn((199, 1), generator=torch.Generator().manual_seed(i)).double()
            block = L2.collate(gaps(noisy))
            found = scale(block)
            high += found > proved.scale_bound(c.ranked, eps)
            low += proved.unclipped(moments, eps, 0.0) and REACH * found < moments.region.radius
    assert not refuted(high, 120, 0.4)
    assert not refuted(low, 120, 0.4)
