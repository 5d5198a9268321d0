"""Why to believe the certificates: every theorem is certified and queried hundreds of times.

Each test has the promise, an extremal model at the worst x', and a wrong twin: a variant of the
procedure with one mistake, which the same test refutes. Seeds are fixed; nothing is random.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from scipy.special import ndtr

import centersmooth as cs
from centersmooth import binomial
from centersmooth.centers.base import majority
from centersmooth.centers.geometric_median import geometric_median
from centersmooth.confidence import Confidence
from centersmooth.theorems import MedianTheorem, MedoidTheorem, Sizes, ball_rank
from coverage_models import (
    MINORITY,
    ORIGIN,
    SIGMA,
    STAR,
    W,
    increasing,
    mass_within,
    moved,
    refuted,
    star,
    star_model,
    threshold_with_mass,
    two_valued,
)

NOISE = cs.Gaussian(SIGMA)
ROUNDS = 400
N, M = 51, 300
BATCH = 4096


def smoother(model: Callable, metric: cs.metrics.Metric, center=None, n: int = N) -> cs.Smoother:
    return cs.Smoother(
        model, NOISE, metric, center, answer_samples=n, batch_size=BATCH, progress=False
    )


# ------------------------------------------------------------- R, split form: the shift is sharp


def certificates_of_two_values(mass: float, level: Confidence, rounds: int = ROUNDS) -> list:
    model = smoother(two_valued(threshold_with_mass(mass)), cs.metrics.L1(), cs.Medoid(20, outer=0))
    target = torch.zeros(1)
    return [model.certify(ORIGIN, M, level, target, seed=i) for i in range(rounds)]


def test_split_certificate_is_seldom_wrong_at_the_critical_mass() -> None:
    """Just below the mass that the theorem needs, an error of 0 may be claimed with alpha_x."""
    eps, level = 0.7, cs.Split(0.1, 0.1)
    needed = NOISE.mass_needed(binomial.needed_mass(N, majority(N), level.query), eps)
    certificates = certificates_of_two_values(needed - 1e-9, level)
    wrong = sum(c.error(eps) == 0 for c in certificates)
    assert not refuted(wrong, ROUNDS, level.certificate)
    assert wrong > 0.4 * level.certificate * ROUNDS  # the level is used, not wasted

    twin = sum(c.error(eps / 2) == 0 for c in certificates)  # as if sigma were twice as large
    assert refuted(twin, ROUNDS, level.certificate)


def test_split_query_is_seldom_wrong_once_the_certificate_is_right() -> None:
    """At exactly the needed mass, a query moved by eps leaves the certified answer with alpha_q."""
    eps, level = 0.7, cs.Split(0.1, 0.1)
    needed = NOISE.mass_needed(binomial.needed_mass(N, majority(N), level.query), eps)
    model = smoother(two_valued(threshold_with_mass(needed)), cs.metrics.L1(), cs.Medoid(20))
    far = sum(float(model.predict(moved(eps), seed=i).value) > 0 for i in range(2 * ROUNDS))
    assert not refuted(far, 2 * ROUNDS, level.query)
    assert far > 0.4 * level.query * 2 * ROUNDS

    beyond = moved(1.3 * eps)  # an attacker stronger than certified is noticed
    twin = sum(float(model.predict(beyond, seed=i).value) > 0 for i in range(ROUNDS))
    assert refuted(twin, ROUNDS, level.query)


# ---------------------------------------------------------------------- R, joint form: calibration


def too_few_within(model: cs.Smoother, radii: list[float], k: int, eps: float) -> int:
    """In how many rounds fewer than k of n samples at the worst x' lie within R of 0."""
    generator = torch.Generator().manual_seed(7)
    draws = torch.randn((len(radii), model.answer_samples), generator=generator).double()
    outputs = increasing(moved(eps) + SIGMA * draws)
    return int(((outputs <= torch.tensor(radii)[:, None]).sum(dim=1) < k).sum())


def radii_of(certificates: list, k: int, eps: float, level: Confidence) -> list[float]:
    rank = ball_rank(NOISE, eps, certificates[0].sizes, k, level)
    assert rank is not None
    return [c.ranked.smallest(1, rank) for c in certificates]


@pytest.fixture(scope="module")
def increasing_certificates() -> tuple[cs.Smoother, list]:
    model = smoother(increasing, cs.metrics.L2(), cs.GeometricMedian())
    target = torch.zeros(1, dtype=torch.float64)
    rounds = range(2 * ROUNDS)
    return model, [model.certify(ORIGIN, M, 0.05, target, seed=i) for i in rounds]


@pytest.mark.parametrize("eps", [0.3, 0.8, 1.2])
@pytest.mark.parametrize("share", [0.5, 0.75])
def test_joint_calibration_spends_its_level_and_no_more(
    increasing_certificates: tuple[cs.Smoother, list], eps: float, share: float
) -> None:
    """The failure rate equals the integral: at most alpha, and close to it."""
    model, certificates = increasing_certificates
    k, alpha = math.ceil(share * N), 0.05
    radii = radii_of(certificates, k, eps, cs.Joint(alpha))
    failures = too_few_within(model, radii, k, eps)
    assert not refuted(failures, len(radii), alpha)
    assert failures > 0.4 * alpha * len(radii)

    doubled = radii_of(certificates, k, eps / 2, cs.Joint(alpha))  # sigma doubled
    assert refuted(too_few_within(model, doubled, k, eps), len(radii), alpha)

    p, q = k / N, float(NOISE.mass_needed(k / N, eps))
    rows = np.sort(np.array([sorted_distances(seed) for seed in range(len(radii))]), axis=1)
    interpolated = np.quantile(rows, q, axis=1)  # the plug-in quantile, without any margin
    assert refuted(too_few_within(model, list(interpolated), k, eps), len(radii), alpha), p


def sorted_distances(seed: int) -> np.ndarray:
    """What a twin sees: M distances from 0, not rounded, not counted."""
    return ndtr(np.random.default_rng(seed).standard_normal(M))


def test_rank_one_too_low_is_refuted() -> None:
    """59 samples cover the 95 % quantile by their largest; the second largest does not."""
    values = np.sort(np.random.default_rng(3).random((2000, 59)), axis=1)
    assert not refuted(int((values[:, 58] < 0.95).sum()), 2000, 0.05)
    assert refuted(int((values[:, 57] < 0.95).sum()), 2000, 0.05)
    assert refuted(int((values[:, :58].max(axis=1) < 0.9516).sum()), 2000, 0.05)


# ------------------------------------------------------------------------------------ Theorem A


def test_factor_three_is_attained_and_not_exceeded() -> None:
    """A majority within R of w, and the answer (3 - nu) R away."""
    samples = [W + 10.0 + i for i in range(26)] + [MINORITY] * 25
    gathering = cs.Medoid(candidates=4, outer=0).gather(STAR, len(samples))
    gathering.add_candidates([110.0, 111.0, MINORITY, 112.0])
    gathering.add_samples(STAR.collate(samples), samples)
    answer = gathering.answer()
    assert STAR(W, answer.value) == pytest.approx(2.99)
    assert STAR(W, answer.value) <= 1.0 + answer.spread <= 3.0  # the pigeonhole lemma


def test_theorem_a_covers_the_star() -> None:
    eps, alpha = 1.0, 0.1
    certificate_model = smoother(star_model(0.2, 1.75), STAR, cs.Medoid(10, outer=0))
    violations = 0
    for i in range(ROUNDS // 4):
        c = certificate_model.certify(ORIGIN, M, alpha, target=W, seed=i)
        answer = certificate_model.predict(moved(eps), seed=10_000 + i).value
        violations += star(W, float(answer)) > c.error(eps)
    assert not refuted(violations, ROUNDS // 4, alpha)


# ------------------------------------------------------------------------------------ Theorem B


class NoShift(MedoidTheorem):
    """The twin that forgets that the attacker also moves the balls behind t."""

    def outer_ranks(self, eps: float) -> tuple[int, int] | None:
        return super().outer_ranks(0.0)


@pytest.fixture(scope="module")
def star_rounds() -> list[tuple[object, float]]:
    """Certificates at x and answers at x', where w has all but left the outputs."""
    model = smoother(star_model(1.04, 3.5), STAR, cs.Medoid(5), n=99)
    rounds = []
    for i in range(100):
        c = model.certify(ORIGIN, 8_000, 0.4, target=W, seed=i)
        rounds.append((c, float(model.predict(moved(3.0), seed=10_000 + i).value)))
    return rounds


def test_theorem_b_covers_and_its_twin_does_not(star_rounds: list) -> None:
    eps, alpha = 3.0, 0.4
    sizes, center = Sizes(99, 8_000), cs.Medoid(5)
    twin = NoShift(center, NOISE, STAR, sizes, cs.Joint(alpha))
    violations = sum(star(W, answer) > c.error(eps) for c, answer in star_rounds)
    wrong = sum(star(W, answer) > twin.bound(c.ranked, 1, eps) for c, answer in star_rounds)
    assert all(c.error(eps) < math.inf for c, _ in star_rounds)
    assert not refuted(violations, len(star_rounds), alpha)
    assert refuted(wrong, len(star_rounds), alpha), wrong


def clouds(batch: torch.Tensor) -> torch.Tensor:
    """A tight cloud that dissolves as the input grows: t matters, and moves with eps."""
    spread = torch.sigmoid(3 * batch[:, :1])
    return spread * torch.sin(batch * torch.arange(1.0, 9.0).double() * 5) + 0.3 * batch


@pytest.mark.parametrize("pool", [1, 4])
@pytest.mark.parametrize("form", [cs.Joint(0.1), cs.Split(0.05, 0.05)])
def test_theorem_b_covers_clouds(pool: int, form: Confidence) -> None:
    eps = 0.8
    model = smoother(clouds, cs.metrics.L1(), cs.Medoid(30, pool=pool), n=99)
    violations = seen = 0
    for i in range(ROUNDS // 4):
        c = model.certify(ORIGIN, 600, form, seed=i)
        assert c.status(eps) == "certified"
        there = model.predict(moved(eps), seed=10_000 + i)
        moved_by = cs.metrics.L1()(c.value, there.value)
        violations += moved_by > c.bound(eps)
        seen += moved_by > c.bound_seen(eps, there.spread)
    assert not refuted(violations, ROUNDS // 4, form.total)
    assert not refuted(seen, ROUNDS // 4, form.total)


@pytest.mark.parametrize("pool", [1, 4, 9])
def test_pooled_candidates_shift_with_the_root_of_the_pool(pool: int) -> None:
    """The extremal good set of pooled candidates: the mean noise lies below a threshold."""
    share, eps, rounds = 0.1, 0.6, 4000
    mass = NOISE.mass_needed(share, eps, fold=pool)
    threshold = threshold_with_mass(mass) / math.sqrt(pool)
    noise = np.random.default_rng(pool).standard_normal((rounds, pool)).mean(axis=1)
    misses = int((noise + eps > threshold).sum())
    assert not refuted(misses, rounds, 1 - share)
    if pool > 1:
        unfolded = threshold_with_mass(NOISE.mass_needed(share, eps)) / math.sqrt(pool)
        assert refuted(int((noise + eps > unfolded).sum()), rounds, 1 - share)


# ------------------------------------------------------------------------------------ Theorem C


@pytest.mark.parametrize("p", [0.6, 0.7, 0.8, 0.9])
def test_geometric_median_constant_is_attained(p: float) -> None:
    """Two opposite clouds: a share p on the sphere around w where it is seen most askew."""
    n = 1000
    k = round(p * n)
    factor = cs.GeometricMedian(1e-9).factor(p)
    # w = 0 and y = (factor, 0); points of the unit sphere seen from y at the tangent angle.
    height = math.sqrt(1 - 1 / factor**2)
    near = torch.tensor([[1 / factor, height], [1 / factor, -height]]).repeat(k // 2, 1)
    far = torch.tensor([[factor + 5.0, 0.0]]).repeat(n - k, 1)
    point = geometric_median(torch.cat((near, far)).double(), slack=1e-3)
    assert float(point.norm()) == pytest.approx(factor, rel=2e-3)


@pytest.mark.parametrize("slack", [0.0, 0.2, 1.0])
def test_geometric_median_bound_holds_for_inexact_centers(slack: float) -> None:
    """Random clouds with n - k outliers wherever they hurt; eta as large as allowed."""
    generator = torch.Generator().manual_seed(5)
    n, k, tolerance = 200, 150, 1e-2
    factor = cs.GeometricMedian(tolerance).factor(k / n)
    for _ in range(50):
        ball = torch.randn((k, 3), generator=generator).double()
        ball = ball / ball.norm(dim=1, keepdim=True).clamp(min=1)
        out = torch.randn((1, 3), generator=generator).double() * 10
        rows = torch.cat((ball, out.repeat(n - k, 1)))
        point = geometric_median(rows, slack=2 * tolerance * n * max(slack, 1e-3))
        assert float(point.norm()) <= factor * float(ball.norm(dim=1).max()) + 1e-9


def test_theorem_c_covers_and_p_chosen_on_the_distances_does_not(
    increasing_certificates: tuple[cs.Smoother, list],
) -> None:
    """p must not depend on the W's: taking the p with the least bound spends alpha many times."""
    model, certificates = increasing_certificates
    eps, alpha = 0.8, 0.05
    violations = 0
    for i, c in enumerate(certificates[:ROUNDS]):
        answer = float(model.predict(moved(eps), seed=10_000 + i).value)
        violations += abs(answer) > c.error(eps)
    assert not refuted(violations, ROUNDS, alpha)

    ranks = {k: ball_rank(NOISE, eps, Sizes(N, M), k, cs.Joint(alpha)) for k in range(26, 46)}
    generator = torch.Generator().manual_seed(9)
    draws = torch.randn((len(certificates), N), generator=generator).double()
    outputs = increasing(moved(eps) + SIGMA * draws)
    wrong = 0
    for c, row in zip(certificates, outputs, strict=True):
        # The mass each R really has is what an optimist's choice of p exploits.
        radii = {k: c.ranked.smallest(1, j) for k, j in ranks.items() if j is not None}
        slack = {
            k: ndtr(threshold_with_mass(mass_within(r)) - eps) - k / N for k, r in radii.items()
        }
        k = min(slack, key=lambda k: slack[k])
        wrong += int((row <= radii[k]).sum()) < k
    assert refuted(wrong, len(certificates), alpha)


def test_theorem_c_covers_a_rotating_output() -> None:
    """Directions under the angular distance, answer against answer."""

    def model(batch: torch.Tensor) -> torch.Tensor:
        turn = 0.2 * batch
        return torch.cat((torch.cos(turn), torch.sin(turn), 0.1 * torch.sin(7 * batch)), dim=1)

    eps, alpha, metric = 0.4, 0.1, cs.metrics.Angular()
    turning = smoother(model, metric, n=199)
    violations = 0
    for i in range(ROUNDS // 4):
        c = turning.certify(ORIGIN, 400, alpha, seed=i)
        there = turning.predict(moved(eps), seed=10_000 + i)
        violations += metric(c.value, there.value) > c.bound(eps)
    assert c.bound(eps) < 1
    assert not refuted(violations, ROUNDS // 4, alpha)


def test_affine_model_has_the_closed_form() -> None:
    """For f(x) = x in D dimensions distances are chi: R is their known quantile to 3 %."""
    from scipy.stats import chi

    dim, eps = 64, 0.5
    x = torch.zeros(dim)
    model = smoother(lambda batch: batch, cs.metrics.L2(), n=499)
    c = model.certify(x, 20_000, 0.01, target=x, seed=0)
    theorem = c.theorem
    assert isinstance(theorem, MedianTheorem)
    levels = theorem.levels(eps)
    quantiles = [float(chi(dim).ppf(level.rank / 20_000)) for level in levels]
    furthest = cs.GeometricMedian().furthest([level.k / 499 for level in levels], quantiles)
    assert c.error(eps) == pytest.approx(furthest, rel=0.01)
    assert c.error(eps) >= eps  # the mean itself moves by eps


# --------------------------------------------------------------------------- choosing afterwards


def test_grid_holds_when_eps_is_chosen_afterwards_and_single_levels_do_not(
    increasing_certificates: tuple[cs.Smoother, list],
) -> None:
    """The attacker sees the certificate and takes the eps whose ball is most too small."""
    _, certificates = increasing_certificates
    grid = tuple(0.1 * i for i in range(1, 13))
    k, alpha = majority(N), 0.05
    rounds = len(certificates)
    generator = torch.Generator().manual_seed(11)
    noise = torch.randn((rounds, N), generator=generator).double()

    def failures(level: Confidence) -> int:
        ranks = {eps: ball_rank(NOISE, eps, Sizes(N, M), k, level) for eps in grid}
        count = 0
        for c, draws in zip(certificates, noise, strict=True):
            radii = {e: c.ranked.smallest(1, j) for e, j in ranks.items() if j is not None}
            left = {e: ndtr(threshold_with_mass(mass_within(r)) - e) for e, r in radii.items()}
            eps = min(left, key=lambda e: left[e])
            count += int((increasing(moved(eps) + draws) <= radii[eps]).sum()) < k
        return count

    assert not refuted(failures(cs.Joint(alpha).over_grid(len(grid))), rounds, alpha)
    assert refuted(failures(cs.Joint(alpha)), rounds, alpha)


@pytest.mark.parametrize("center", [cs.Medoid(20, outer=0), cs.Medoid(20), cs.GeometricMedian()])
def test_radius_exceeds_the_true_one_with_the_certificates_level(center: object) -> None:
    """tau is fixed, the model two-valued: the true radius is known."""
    mass, level = 0.93, cs.Split(0.1, 0.1)
    model = smoother(two_valued(threshold_with_mass(mass)), cs.metrics.L2(), center)
    truth = NOISE.reach(binomial.needed_mass(N, majority(N), level.query), mass)
    target = torch.zeros(1, dtype=torch.float64)
    certificates = [model.certify(ORIGIN, M, level, target, seed=i) for i in range(ROUNDS)]
    radii = np.array([c.theorem.radius(c.ranked, 1, 0.5) for c in certificates])
    assert not refuted(int((radii > truth).sum()), ROUNDS, level.certificate)
    assert np.median(radii) > 0.3 * truth
