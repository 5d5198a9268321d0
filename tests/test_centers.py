from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

from centersmooth import metrics
from centersmooth.centers import (
    Answer,
    Center,
    GeometricMedian,
    Medoid,
    default_center,
)
from centersmooth.centers.base import majority
from centersmooth.centers.geometric_median import geometric_median, residual_pull
from centersmooth.errors import ArgumentError, CenterError, OutputError
from metric_laws import generator
from refusals import refused

L1, L2 = metrics.L1(), metrics.L2()


def gathered(
    center: Center, metric: Any, samples: Any, candidates: Any = None, size: int = 64
) -> Answer:
    """The center of these samples, handed over in batches."""
    gathering = center.gather(metric, len(samples))
    if center.draws:
        gathering.add_candidates(samples if candidates is None else candidates)
    for start in range(0, len(samples), size):
        part = samples[start : start + size]
        gathering.add_samples(metric.collate(part), part)
    return gathering.answer()


# ---- Medoid


def brute_force(metric: Any, candidates: Any, samples: Any) -> tuple[int, float]:
    """The candidate whose k-th smallest distance to the samples is least, the first of these."""
    k = len(samples) // 2 + 1
    radii = [sorted(metric(c, z) for z in samples)[k - 1] for c in candidates]
    return radii.index(min(radii)), min(radii)


@pytest.mark.parametrize("metric", [L1, L2, metrics.TotalVariation()], ids=lambda m: m.name)
@pytest.mark.parametrize("count", [10, 11, 31])
def test_the_medoid_is_the_best_candidate(metric: Any, count: int) -> None:
    samples = torch.randn(count, 3, generator=generator(count))
    candidates = torch.randn(8, 3, generator=generator(1))
    answer = gathered(Medoid(8), metric, samples, candidates, size=4)
    best, radius = brute_force(metric, candidates, samples)
    assert torch.equal(answer.value, candidates[best])
    assert answer.spread == pytest.approx(radius, rel=1e-6)
    assert metric.measure(answer.reference, metric.collate(candidates)).argmin() == best


def test_outputs_of_any_kind_have_a_medoid() -> None:
    words = ["a", "b", "b", "c", "b"]
    answer = gathered(Medoid(3), metrics.Discrete(), words, ["c", "a", "b"])
    assert (answer.value, answer.spread) == ("b", 0.0)
    sets = [{1, 2}, {1, 2, 3}, {2}, {9}]
    answer = gathered(Medoid(4), metrics.SetJaccard(), sets)
    assert answer.value == sets[brute_force(metrics.SetJaccard(), sets, sets)[0]]


def test_of_equal_candidates_the_first_is_taken() -> None:
    samples = torch.tensor([[0.0], [1.0], [2.0], [3.0]])
    answer = gathered(Medoid(3), L1, samples, torch.tensor([[9.0], [2.0], [1.0]]))
    assert answer.value.item() == 2.0


def test_two_sets_of_a_majority_share_a_sample() -> None:
    for n in range(1, 30):
        assert 2 * majority(n) > n
        assert 2 * (majority(n) - 1) <= n


@pytest.mark.parametrize(("outer", "points"), [(None, 6), (4, 4), (0, 0)])
def test_the_outer_points_are_the_first_candidates(outer: int | None, points: int) -> None:
    candidates = torch.randn(6, 2, generator=generator(1))
    center = Medoid(6, outer=outer)
    answer = gathered(center, L2, torch.randn(20, 2, generator=generator(2)), candidates)
    assert center.outer_points == points
    assert answer.outer is not None
    assert torch.equal(answer.outer.rows, candidates[:points])


def test_pooled_candidates_are_means_of_runs() -> None:
    samples = torch.randn(30, 2, generator=generator(1))
    raw = torch.randn(12, 2, generator=generator(2))
    center = Medoid(4, pool=3)
    answer = gathered(center, L2, samples, raw)
    pooled = raw.double().reshape(4, 3, 2).mean(dim=1)
    assert center.draws == 12
    assert torch.allclose(answer.value, pooled[brute_force(L2, pooled, samples)[0]])
    assert answer.outer is not None
    assert torch.allclose(answer.outer.rows, pooled)


def test_a_failed_candidate_never_wins() -> None:
    """Not even where most samples failed too, so that all candidates are equally far."""
    candidates = torch.tensor([[math.nan], [5.0], [6.0]])
    samples = torch.full((20, 1), math.nan)
    answer = gathered(Medoid(3), L2, samples, candidates)
    assert (answer.value.item(), answer.spread) == (5.0, math.inf)
    with refused(CenterError, "one valid output at least", "lower sigma"):
        gathered(Medoid(3), L2, samples, samples[:3])


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"candidates": 0}, "candidates >= 1"),
        ({"candidates": 2.5}, "candidates >= 1"),
        ({"pool": 0}, "pool >= 1"),
        ({"outer": -1}, "outer"),
        ({"candidates": 5, "outer": 6}, "0 <= outer <= candidates"),
    ],
)
def test_a_medoid_that_makes_no_sense_is_refused(options: dict[str, Any], word: str) -> None:
    with refused(ArgumentError, word):
        Medoid(**options)


def test_pooling_what_cannot_be_averaged_is_refused() -> None:
    Medoid(pool=2).check(L2)
    Medoid(pool=1).check(metrics.Discrete())
    with refused(ArgumentError, "Discrete", "pool=1"):
        Medoid(pool=2).check(metrics.Discrete())


# ---- GeometricMedian


def pull(point: torch.Tensor, rows: torch.Tensor) -> float:
    """The residual pull once more, straight from its definition."""
    offsets = rows.double().numpy() - point.double().numpy().reshape(1, -1)
    norms = np.array([math.sqrt(math.fsum(row**2)) for row in offsets])
    away = norms > 0
    total = (offsets[away] / norms[away, None]).sum(axis=0)
    return max(0.0, float(np.linalg.norm(total)) - int((~away).sum()))


def clusters(scales: list[float], seed: int, width: int = 3, count: int = 201) -> torch.Tensor:
    """Clusters of these scales about random centers, of random sizes."""
    random = np.random.default_rng(seed)
    middles = random.standard_normal((len(scales), width))
    of = random.choice(len(scales), count, p=random.dirichlet(np.ones(len(scales))))
    spread = np.array(scales)[of, None] * random.standard_normal((count, width))
    return torch.from_numpy(middles[of] + spread)


def nasty() -> dict[str, torch.Tensor]:
    normal = torch.randn(201, 4, generator=generator(1), dtype=torch.float64)
    atom = normal.clone()
    atom[:101] = 2.0
    half = normal[:200].clone()
    half[:100] = half[0]
    scales = 10.0 ** torch.linspace(-12, 3, 201, dtype=torch.float64)[:, None]
    return {
        "one sample": normal[:1],
        "constant": torch.full((50, 3), 3.7),
        "constant in single precision": torch.full((51, 3), 0.1),
        "two atoms": torch.tensor([[0.0, 0.0]] * 101 + [[1.0, 1.0]] * 100),
        "half and half": torch.tensor([[0.0, 0.0]] * 100 + [[1.0, 1.0]] * 100),
        "three atoms": torch.tensor([[0.0, 0.0]] * 66 + [[1.0, 0.0]] * 67 + [[0.0, 1.0]] * 67),
        "a line": torch.linspace(0, 1, 200)[:, None] ** 9,
        "numbers": torch.tensor([1.0, 2.0, 2.0, 5.0, 90.0])[:, None],
        "normal": normal,
        "Cauchy": normal / normal[:, :1].flip(0),
        "an atom of just the majority": atom,
        "an atom of half": half,
        "every scale at once": scales * normal,
        "huge": 1e30 * normal,
        "tiny": 1e-30 * normal,
        "a far half": torch.cat((normal[:100] * 1e-3, normal[:100] * 1e-3 + 1e4)),
        "single precision at 1000": (1000 + 1e-2 * normal).float(),
        "single precision at 1000, its last digits": (1000 + 1e-4 * normal).float(),
        "half precision": (100 + normal).half(),
        "whole numbers at a billion": (1e9 + (3 * normal).round()).long(),
        **{
            f"clusters {seed}": clusters([10.0**p for p in (-9, -6, -3, 0)], seed)
            for seed in range(6)
        },
    }


@pytest.mark.parametrize("name", nasty())
def test_the_answer_is_a_median_to_the_tolerance(name: str) -> None:
    """Of the answer as it leaves the smoother: rounded to an output of the model."""
    samples = nasty()[name]
    center = GeometricMedian()
    answer = gathered(center, L2, samples)
    assert pull(answer.value, samples) <= center.tolerance * len(samples) * (1 + 1e-9)
    assert answer.value.shape == samples.shape[1:]
    lengths = L2.pairwise(answer.value[None], samples)[0].sort().values
    assert answer.spread == pytest.approx(float(lengths[majority(len(samples)) - 1]))


@pytest.mark.parametrize("name", nasty())
def test_the_residual_pull_is_computed_from_its_definition(name: str) -> None:
    rows = nasty()[name]
    for point in (rows.double().mean(dim=0), rows[0].double()):
        found, _ = residual_pull(point, rows)
        assert found == pytest.approx(pull(point, rows), rel=1e-9, abs=1e-9 * len(rows))


@pytest.mark.parametrize("tolerance", [1e-2, 1e-5])
def test_the_tolerance_is_kept_whatever_it_is(tolerance: float) -> None:
    rows = nasty()["normal"]
    answer = gathered(GeometricMedian(tolerance), L2, rows)
    assert pull(answer.value, rows) <= tolerance * len(rows)


def test_a_median_that_is_not_found_is_an_error() -> None:
    with refused(CenterError, "a median within 3 steps", "tolerance"):
        geometric_median(nasty()["Cauchy"], 1e-9, steps=3)


def test_no_other_point_has_a_smaller_mean_distance() -> None:
    rows = nasty()["normal"]
    point = geometric_median(rows, 1e-7 * len(rows))
    least = L2.pairwise(point[None], rows).mean()
    for row in torch.randn(200, 4, generator=generator(9), dtype=torch.float64):
        assert L2.pairwise((point + 0.01 * row)[None], rows).mean() >= least


def test_the_factor_is_the_one_of_theorem_c() -> None:
    eta = 0.01
    center = GeometricMedian(eta)
    for p in (0.55, 0.6, 0.775, 0.9, 1.0):
        assert center.factor(p) == pytest.approx(p / math.sqrt(p**2 - (1 - p + eta) ** 2))
    assert GeometricMedian(1e-9).factor(0.8) == pytest.approx(1.0328, abs=1e-4)
    assert center.factor(0.5) == center.factor(0.505) == math.inf


@pytest.mark.parametrize("metric", [L2, metrics.Angular()], ids=lambda m: m.name)
def test_failed_outputs_pull_nowhere(metric: Any) -> None:
    samples = torch.randn(60, 3, generator=generator(1)) + torch.tensor([2.0, 0.0, 0.0])
    broken = torch.cat((torch.full((20, 3), math.nan), samples))
    answer, clean = (gathered(GeometricMedian(), metric, s) for s in (broken, samples))
    assert metric(answer.value, clean.value) < 0.01
    assert clean.spread is not None
    assert clean.spread < answer.spread < math.inf  # type: ignore[operator]
    most = torch.cat((torch.full((61, 3), math.nan), samples))
    assert gathered(GeometricMedian(), metric, most).spread == math.inf
    with refused(CenterError, "one valid output at least"):
        gathered(GeometricMedian(), metric, torch.full((9, 3), math.nan))


@pytest.mark.parametrize("metric", [L2, metrics.Cosine(), metrics.Angular()], ids=lambda m: m.name)
@pytest.mark.parametrize("center", [GeometricMedian(), Medoid(20)], ids=lambda c: type(c).__name__)
def test_batches_do_not_matter_to_the_answer(metric: Any, center: Center) -> None:
    samples = 1 + torch.randn(150, 3, generator=generator(1))
    samples[3] = math.nan
    first, second = (
        gathered(center, metric, samples, samples[10:30], size=size) for size in (7, 64)
    )
    assert torch.equal(first.value, second.value)
    assert first.spread == pytest.approx(second.spread)


def test_outputs_that_point_in_opposite_directions_have_an_answer_too() -> None:
    one = torch.tensor([1.0, 2.0])
    samples = torch.stack([one, -one] * 10)
    answer = gathered(GeometricMedian(), metrics.Angular(), samples)
    assert torch.isfinite(answer.value).all()
    assert metrics.Angular()(answer.value, one) in (0.0, 1.0)


def test_a_metric_without_a_way_back_is_refused() -> None:
    for metric in (L1, metrics.TotalVariation(), metrics.BoxJaccard(), metrics.Custom(math.dist)):
        with refused(ArgumentError, "Euclidean", metric.name, "cs.Medoid()"):
            GeometricMedian().check(metric)
    with refused(ArgumentError, "tolerance"):
        GeometricMedian(0.5)


def test_the_default_is_the_sharpest_center_the_metric_supports() -> None:
    for sharp in (L2, metrics.SquaredL2(), metrics.Angular(), metrics.Cosine()):
        assert default_center(sharp) == GeometricMedian()
    for general in (L1, metrics.Discrete(), metrics.MaskJaccard()):
        assert default_center(general) == Medoid(100)


def test_outputs_of_a_size_of_their_own_are_not_spread_out() -> None:
    metric = metrics.L2()
    gathering = GeometricMedian().gather(metric, 8)
    for width, error in ((4, None), (1, OutputError), (3, OutputError)):
        outputs = torch.ones(4, width)
        if error is None:
            gathering.add_samples(metric.collate(outputs), outputs)
        else:
            with refused(error, "one size", f"4 and {width} numbers"):
                gathering.add_samples(metric.collate(outputs), outputs)


def test_numbers_that_differ_in_their_last_bits_have_a_median() -> None:
    """Steps below the last digit lead nowhere; in one dimension some sample always is a median."""
    noise = np.random.default_rng(5)
    for count in range(10, 70, 3):
        sizes = [count // 3, count // 3, count - 2 * (count // 3)]
        rows = np.repeat(noise.standard_normal((3, 1)), sizes, axis=0)
        tied = torch.from_numpy(rows + 1e-15 * noise.standard_normal((count, 1)))
        point = geometric_median(tied, slack=1e-3 * count)
        assert residual_pull(point, tied)[0] <= 1e-3 * count


# ---- The geometric median's theorem


SPHERICAL = [metrics.Angular(), metrics.Cosine(), metrics.Hellinger()]


@pytest.mark.parametrize("metric", SPHERICAL, ids=lambda m: m.name)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_rows_of_spherical_metrics_have_length_one(metric: Any, dtype: torch.dtype) -> None:
    """To within what `widest` allows for."""
    assert metric.spherical
    outputs = torch.rand((200, 301), generator=generator(2), dtype=dtype) ** 4 + 1e-6
    if isinstance(metric, metrics.Hellinger):
        outputs = outputs / outputs.sum(dim=1, keepdim=True)
    squares = metric.collate(outputs).rows.double().square().sum(dim=1)
    assert float((squares - 1).abs().max()) < 2.0**-20 / 2


def test_other_metrics_are_not_spherical() -> None:
    """A ray is one output only where outputs are directions."""
    others = (L1, L2, metrics.SquaredL2(), metrics.Rotation(), metrics.TotalVariation())
    assert not any(metric.spherical for metric in others)
    assert metrics.power(metrics.Angular(), 0.5).spherical


def test_one_level_is_its_factor_and_more_are_never_above_it() -> None:
    center = GeometricMedian()
    shares, radii = [0.3, 0.6, 0.8], [0.4, 1.0, 1.2]
    for p, r in zip(shares, radii, strict=True):
        single = center.furthest([p], [r])
        assert single == pytest.approx(center.factor(p) * r, rel=1e-9)
        assert center.furthest(shares, radii) <= single
    assert center.furthest([0.3], [0.4]) == math.inf
    assert center.furthest([], []) == math.inf


def test_a_level_that_cannot_be_shown_may_be_left_out() -> None:
    center = GeometricMedian()
    with_it = center.furthest([0.4, 0.7, 0.9], [0.5, 1.0, math.inf])
    assert with_it == pytest.approx(center.furthest([0.4, 0.7], [0.5, 1.0]), rel=1e-9)


def test_radii_of_zero_mean_a_median_at_the_point() -> None:
    center = GeometricMedian()
    assert center.furthest([0.2, 0.7], [0.0, 0.0]) == 0.0
    assert center.widest([0.2, 0.7], [0.0, 0.0]) == 0.0
    assert 0 < center.furthest([0.2, 0.7], [0.0, 1.0]) < center.factor(0.7)


@pytest.mark.parametrize("angle", [0.01, 0.3, 0.8, 1.2])
def test_the_cone_of_one_level_is_that_of_the_tangent_point(angle: float) -> None:
    """``factor(p) sin(angle)``, up to the spacing of the points that are tried."""
    center, p = GeometricMedian(), 0.8
    sine = center.widest([p], [2 * math.sin(angle / 2)])
    assert sine == pytest.approx(center.factor(p) * math.sin(angle), rel=2e-3)
    assert sine >= center.factor(p) * math.sin(angle) * (1 - 1e-9)


def test_wider_balls_never_bring_the_median_closer() -> None:
    center, rng = GeometricMedian(), np.random.default_rng(4)
    for _ in range(50):
        shares = np.unique(rng.uniform(0.05, 0.95, 8))
        radii = np.sort(rng.uniform(0, 1.9, len(shares)))
        wider = radii + rng.uniform(0, 0.1) * (rng.random(len(shares)) < 0.3)
        for bound in (center.furthest, center.widest):
            assert bound(list(shares), list(radii)) <= bound(list(shares), list(wider))
