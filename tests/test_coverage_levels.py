"""Why to believe several levels, the point along the ray, and the joint form of t.

As in test_coverage.py: the promise, an extremal model at the worst x', and wrong twins that the
same test refutes. Seeds are fixed; nothing is random.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

import centersmooth as cs
from centersmooth import binomial
from centersmooth.centers.base import majority
from centersmooth.centers.geometric_median import geometric_median
from centersmooth.confidence import Confidence
from centersmooth.theorems import MedianTheorem, MedoidTheorem, Sizes, ball_rank
from coverage_models import ORIGIN, SIGMA, increasing, mass_within, moved, refuted

NOISE = cs.Gaussian(SIGMA)
CENTER = cs.GeometricMedian()
ROUNDS = 400
N, M = 51, 300
Rows = NDArray[np.float64]


def smoother(model: object, metric: cs.metrics.Metric) -> cs.Smoother:
    return cs.Smoother(model, NOISE, metric, answer_samples=N, batch_size=4096, progress=False)


# -------------------------------------------------------------------- the equation, for any cloud


def tangent_points(radii: list[float], point: float) -> torch.Tensor:
    """On each sphere around 0, where (point, 0) sees it most askew: above and below."""
    rows = []
    for r in radii:
        along, across = r * r / point, r * math.sqrt(1 - (r / point) ** 2)
        rows += [[along, across], [along, -across]]
    return torch.tensor(rows, dtype=torch.float64)


@pytest.mark.parametrize(
    ("shares", "radii"),
    [
        ((0.7,), (1.0,)),
        ((0.4, 0.7), (0.5, 1.0)),
        ((0.2, 0.5, 0.65), (0.2, 0.6, 1.0)),
        ((0.1, 0.3, 0.45, 0.6, 0.66), (0.7, 0.8, 0.88, 0.95, 1.0)),
    ],
)
def test_several_levels_are_attained(shares: tuple[float, ...], radii: tuple[float, ...]) -> None:
    """Shares of the samples on spheres around w, the rest far behind: the median is at the root."""
    n = 1000
    furthest = cs.GeometricMedian(1e-9).furthest(shares, radii)
    counts = np.rint(n * np.diff(shares, prepend=0.0)).astype(int)
    near = tangent_points(list(np.repeat(radii, counts // 2)), furthest)
    far = torch.tensor([[furthest + 5.0, 0.0]]).double().repeat(n - len(near), 1)
    point = geometric_median(torch.cat((near, far)), slack=1e-3)
    assert float(point.norm()) == pytest.approx(furthest, rel=2e-3)


@pytest.mark.parametrize("slack", [1e-3, 0.2, 1.0])
def test_no_cloud_takes_a_median_further(slack: float) -> None:
    """Random clouds, ties and failed outputs included, read at random levels."""
    rng, tolerance, n = np.random.default_rng(3), 1e-2, 120
    center = cs.GeometricMedian(tolerance)
    for round_ in range(60):
        rows = rng.standard_normal((n, 2)) * rng.lognormal(0, 1, (n, 1)) + 0.3
        rows[: round_ % 50] = [1.5, 0.0]
        point = geometric_median(torch.from_numpy(rows), slack=2 * tolerance * n * slack)
        distances = np.sort(np.linalg.norm(rows, axis=1))
        ks = np.unique(rng.integers(1, n + 1, 8))
        furthest = center.furthest(list(ks / n), list(distances[ks - 1]))
        assert float(point.norm()) <= furthest
        every = center.furthest(list(np.arange(1, n + 1) / n), list(distances))
        assert float(point.norm()) <= every <= furthest


# --------------------------------------------------------------------------- levels, calibrated


@pytest.fixture(scope="module")
def certificates() -> list[cs.Certificate]:
    model = smoother(increasing, cs.metrics.L2())
    target = torch.zeros(1, dtype=torch.float64)
    return [model.certify(ORIGIN, M, 0.1, target, seed=i) for i in range(2 * ROUNDS)]


def queries(rounds: int, eps: float) -> Rows:
    """The distances from w = 0 of the samples of each round's query, at the worst x'."""
    draws = torch.randn((rounds, N), generator=torch.Generator().manual_seed(17)).double()
    return np.sort(increasing(moved(eps) + SIGMA * draws).numpy(), axis=1)


def lacking(ranks: dict[int, int], certificates: list[cs.Certificate], samples: Rows) -> int:
    """In how many rounds some level lacks its samples."""
    count = 0
    for c, row in zip(certificates, samples, strict=True):
        count += any(row[k - 1] > c.ranked.smallest(1, rank) for k, rank in ranks.items())
    return count


@pytest.mark.parametrize("form", [cs.Joint(0.1), cs.Split(0.05, 0.05)])
@pytest.mark.parametrize("eps", [0.3, 0.8, 1.2])
def test_all_levels_hold_together_and_twins_do_not(
    certificates: list[cs.Certificate], eps: float, form: Confidence
) -> None:
    sizes = Sizes(N, M)
    theorem = MedianTheorem(CENTER, NOISE, cs.metrics.L2(), sizes, form)
    levels, samples = theorem.levels(eps), queries(len(certificates), eps)
    assert len(levels) >= 10
    promised = {level.k: level.rank for level in levels}
    failures = lacking(promised, certificates, samples)
    assert not refuted(failures, len(certificates), form.total)

    if isinstance(form, cs.Joint):  # the split form would forgive more than its total
        assert failures > 0.1 * form.total * len(certificates)  # not wasteful beyond the union
        each = {k: ball_rank(NOISE, eps, sizes, k, form) for k in promised}
        unshared = {k: rank for k, rank in each.items() if rank is not None}
        wrong = lacking(unshared, certificates, samples)  # one alpha for all levels
        assert refuted(wrong, len(certificates), form.total)


def test_a_level_chosen_on_the_distances_does_not_hold(certificates: list[cs.Certificate]) -> None:
    """The twin has all of alpha for one level, and takes the one whose ball came out smallest."""
    eps, wrong = 0.8, 0
    ranks = {k: ball_rank(NOISE, eps, Sizes(N, M), k, cs.Joint(0.1)) for k in range(10, 46)}
    for c, row in zip(certificates, queries(len(certificates), eps), strict=True):
        radii = {k: c.ranked.smallest(1, rank) for k, rank in ranks.items() if rank is not None}
        left = {k: ndtr(ndtri(mass_within(r)) - eps) - k / N for k, r in radii.items()}
        k = min(left, key=lambda k: left[k])
        wrong += row[k - 1] > radii[k]
    assert refuted(wrong, len(certificates), 0.1)


@pytest.mark.parametrize("eps", [0.8, 1.2])
def test_the_furthest_median_at_the_query_is_within_the_bound(
    certificates: list[cs.Certificate], eps: float
) -> None:
    """The worst median that the query's distances allow, not only the one of this model."""
    shares = list(np.arange(1, N + 1) / N)
    worst = [CENTER.furthest(shares, list(row)) for row in queries(ROUNDS, eps)]
    pairs = list(zip(certificates, worst, strict=False))
    assert not refuted(sum(far > c.error(eps) for c, far in pairs), ROUNDS, 0.1)
    assert max(c.error(eps) for c, _ in pairs) < math.inf
    # The twin forgets the attack.
    assert refuted(sum(far > c.error(0.0) for c, far in pairs), ROUNDS, 0.1)


# ------------------------------------------------------------------------------ along the ray


def turning(batch: torch.Tensor) -> torch.Tensor:
    """Directions that turn away from (1, 0) with the input: every cap around it is a half-space."""
    angle = 1.1 * torch.special.ndtr(batch)
    return torch.cat((torch.cos(angle), torch.sin(angle)), dim=1)


def test_a_median_on_the_sphere_is_within_its_cone() -> None:
    """Random caps in three dimensions, the others as far as they can be; any point of the ray."""
    rng = np.random.default_rng(5)
    saved = []
    for _ in range(60):
        n, k = 100, int(rng.integers(60, 95))
        angles = np.where(np.arange(n) < k, rng.uniform(0, rng.uniform(0.2, 1.0)), 2.0)
        turn = rng.uniform(-0.5, 0.5, n) + np.where(np.arange(n) < k, rng.uniform(0, 3), 0)
        rows = np.stack(
            [np.cos(angles), np.sin(angles) * np.cos(turn), np.sin(angles) * np.sin(turn)], 1
        )
        point = geometric_median(torch.from_numpy(rows), slack=1e-3 * n)
        sine = float(point[1:].norm() / point.norm()) if float(point[0]) > 0 else 1.0
        chord = 2 * np.sin(np.sort(angles)[k - 1] / 2)
        widest = CENTER.widest([k / n], [chord])
        assert sine <= widest
        assert widest <= CENTER.furthest([k / n], [chord]) * (1 + 1e-9)
        saved.append(widest / CENTER.furthest([k / n], [chord]))
    assert min(saved) < 0.95


def test_the_point_along_the_ray_may_be_chosen_on_the_distances() -> None:
    """The counts are those of caps whatever the point, so the best one costs nothing."""
    eps, alpha, metric = 0.6, 0.1, cs.metrics.Angular()
    model = smoother(turning, metric)
    target = torch.tensor([1.0, 0.0], dtype=torch.float64)
    violations = kept = chords = 0
    for i in range(ROUNDS // 2):
        c = model.certify(ORIGIN, M, alpha, target, seed=i)
        answer = model.predict(moved(eps), seed=10_000 + i).value
        theorem = c.theorem
        assert isinstance(theorem, MedianTheorem)
        levels = theorem.levels(eps)
        shares = [level.k / N for level in levels]
        radii = [c.ranked.smallest(1, level.rank) for level in levels]
        violations += metric(target, answer) > c.error(eps)
        # The twin moves the point away, which shrinks the angle, but keeps the radii.
        twin = CENTER.furthest(shares, radii) * math.cos(math.radians(75))
        kept += metric(target, answer) > math.asin(twin) / math.pi
        chords += CENTER.furthest(shares, radii) >= 1 > CENTER.widest(shares, radii)
    assert not refuted(violations, ROUNDS // 2, alpha)
    assert refuted(kept, ROUNDS // 2, alpha)
    assert chords >= 10  # so many would say nothing from w itself


# --------------------------------------------------------------------- t, the joint calibration


@pytest.mark.parametrize("pool", [1, 4])
@pytest.mark.parametrize("eps", [0.3, 0.8])
def test_a_good_candidate_is_missed_as_often_as_allowed(pool: int, eps: float) -> None:
    """Outputs ordered along the attack: those up to the l-th outer point are the good ones."""
    alpha, rounds = 0.2, 4000
    center = cs.Medoid(40, pool=pool)
    theorem = MedoidTheorem(center, NOISE, cs.metrics.L1(), Sizes(99, 2_000), cs.Joint(alpha))
    ranks = theorem.outer_ranks(eps)
    unmoved = theorem.outer_ranks(0.0)
    assert ranks is not None
    assert unmoved is not None
    rng = np.random.default_rng(pool)
    outer = np.sort(rng.standard_normal((rounds, 40)) / math.sqrt(pool), axis=1)
    best = rng.standard_normal((rounds, 40)).min(axis=1) / math.sqrt(pool) + eps / SIGMA
    share = 0.5 * alpha
    missed = int((best > outer[:, ranks[1] - 1]).sum())
    assert not refuted(missed, rounds, share)
    assert missed > 0.3 * share * rounds
    assert refuted(int((best > outer[:, unmoved[1] - 1]).sum()), rounds, share)


@pytest.mark.parametrize("eps", [0.3, 0.8])
def test_the_balls_of_all_outer_points_hold_together_with_the_count(eps: float) -> None:
    """Balls in as many directions as outer points; the query asks in the one that is smallest."""
    alpha, rounds, n, m, points = 0.4, 4000, 99, 2_000, 40
    center = cs.Medoid(points)
    theorem = MedoidTheorem(center, NOISE, cs.metrics.L1(), Sizes(n, m), cs.Joint(alpha))
    ranks = theorem.outer_ranks(eps)
    assert ranks is not None
    rng, k, share = np.random.default_rng(1), majority(n), 0.2 * alpha

    def failures(rank: int) -> int:
        smallest = rng.beta(rank, m - rank + 1, (rounds, points)).min(axis=1)
        return int((rng.binomial(n, NOISE.mass_left(smallest, eps)) < k).sum())

    assert not refuted(failures(ranks[0]), rounds, share)

    def alone(mass: binomial.FloatArray) -> binomial.FloatArray:
        return binomial.at_most(n, NOISE.mass_left(mass, eps), k - 1)  # type: ignore[no-any-return]

    single = binomial.joint_rank(m, share, alone)  # as if there were one outer point
    assert single is not None
    assert refuted(failures(single), rounds, share)
