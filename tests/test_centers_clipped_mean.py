from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

import centersmooth as cs
from centersmooth import metrics
from centersmooth.centers import Answer, ClippedMean
from centersmooth.centers.clipped_mean import (
    MARGIN,
    PAIRED,
    REACH,
    TOLERANCE,
    clipped_sum,
    pair_rank,
    scale,
)
from centersmooth.centers.geometric_median import geometric_median
from centersmooth.errors import ArgumentError, CenterError
from metric_laws import generator
from refusals import refused

L2 = metrics.L2()


def gathered(center: ClippedMean, metric: Any, samples: Any, size: int = 64) -> Answer:
    gathering = center.gather(metric, len(samples))
    for start in range(0, len(samples), size):
        part = samples[start : start + size]
        gathering.add_samples(metric.collate(part), part)
    return gathering.answer()


def cloud(count: int = 201, width: int = 3, seed: int = 1) -> torch.Tensor:
    return 1 + torch.randn(count, width, generator=generator(seed), dtype=torch.float64)


def naive(samples: torch.Tensor, radius: float) -> torch.Tensor:
    """The definition, sample by sample."""
    middle = geometric_median(samples, TOLERANCE * len(samples))
    total = torch.zeros_like(middle)
    for sample in samples:
        length = float((sample - middle).norm())
        total += (sample - middle) * min(1.0, radius / length if length else 1.0)
    return middle + total / len(samples)


@pytest.mark.parametrize("radius", [0.3, 1.0, 100.0])
def test_far_samples_are_pulled_in_to_the_radius(radius: float) -> None:
    samples = cloud()
    answer = gathered(ClippedMean(radius), L2, samples)
    assert torch.allclose(answer.value, naive(samples, radius), rtol=0, atol=1e-12)
    if radius == 100.0:
        assert torch.allclose(answer.value, samples.mean(dim=0), rtol=0, atol=1e-12)


def test_the_scale_is_what_nine_in_ten_pairs_keep() -> None:
    samples = cloud(200)
    gaps = sorted(float((samples[i] - samples[i + 1]).norm()) for i in range(0, 200, 2))
    assert scale(L2.collate(samples)) == pytest.approx(gaps[89])
    assert pair_rank(200) == pair_rank(201) == 90
    assert pair_rank(999) == math.ceil(PAIRED * 499)
    answer = gathered(ClippedMean(), L2, samples)
    assert torch.allclose(answer.value, naive(samples, REACH * gaps[89]), rtol=0, atol=1e-12)


def test_a_few_samples_however_far_move_the_answer_by_their_share_of_the_radius() -> None:
    samples = cloud(500)
    wild = samples.clone()
    wild[:10] = 1e12
    apart = (
        gathered(ClippedMean(6.0), L2, wild).value - gathered(ClippedMean(6.0), L2, samples).value
    )
    assert float(apart.norm()) < 10 / 500 * 12.0 + 0.1


def test_the_region_comes_from_the_samples_and_fits_the_clipping() -> None:
    samples = cloud(1_000, 30)
    answer = gathered(ClippedMean(), L2, samples)
    region, lengths = answer.region, (samples - answer.value).norm(dim=1)
    assert region is not None
    assert region.radius == pytest.approx(1.45 * float(np.quantile(lengths, 0.98, method="higher")))
    margin = MARGIN * float(np.quantile(lengths, 0.8, method="higher"))
    assert region.far == pytest.approx((region.radius + margin) / REACH)
    assert region.near == pytest.approx(1.3 * scale(L2.collate(samples)))
    given = gathered(ClippedMean(13.0), L2, samples).region
    assert given is not None
    assert given.radius == pytest.approx(13.0 - margin, rel=1e-3)


def test_coincident_outputs_have_themselves_as_mean() -> None:
    samples = torch.full((51, 2), 0.1)
    samples[:2] = 9.0
    answer = gathered(ClippedMean(), L2, samples)
    assert torch.allclose(answer.value, torch.tensor([0.1, 0.1]), rtol=1e-6)
    assert answer.region is not None
    assert answer.region.radius == 0
    assert cs.ClippedMean() == ClippedMean()


def test_failed_outputs_count_as_the_middle() -> None:
    samples = cloud(60)
    broken = torch.cat((torch.full((20, 3), math.nan, dtype=torch.float64), samples))
    answer = gathered(ClippedMean(50.0), L2, broken)
    middle = geometric_median(samples, TOLERANCE * 80)
    wanted = middle + (samples - middle).sum(dim=0) / 80
    assert torch.allclose(answer.value, wanted, rtol=0, atol=1e-12)
    with refused(CenterError, "one valid output at least"):
        gathered(ClippedMean(), L2, torch.full((20, 3), math.nan))


@pytest.mark.parametrize("metric", [L2, metrics.SquaredL2(), metrics.Angular(), metrics.Cosine()])
def test_batches_do_not_matter_to_the_answer(metric: Any) -> None:
    samples = cloud(150).float()
    one, other = (gathered(ClippedMean(), metric, samples, size) for size in (7, 64))
    assert torch.equal(one.value, other.value)
    assert one.region == other.region


def test_directions_have_the_mean_of_directions() -> None:
    """The reference is the mean itself, shorter than a unit vector."""
    samples = cloud(400) + torch.tensor([3.0, 0.0, 0.0])
    answer = gathered(ClippedMean(5.0), metrics.Angular(), samples)
    mean = (samples / samples.norm(dim=1, keepdim=True)).mean(dim=0)
    assert metrics.Angular()(answer.value, mean) < 1e-6
    assert answer.scale == pytest.approx(float(mean.norm()))
    assert torch.allclose(answer.reference.rows[0], mean, atol=1e-9)


@pytest.mark.parametrize(
    ("metric", "free"),
    [
        (L2, False),
        (metrics.SquaredL2(), False),
        (metrics.Angular(), True),
        (metrics.Hellinger(), True),
        (metrics.Rotation(), True),
    ],
    ids=str,
)
def test_scale_free_spaces_decode_multiples_alike(metric: Any, free: bool) -> None:
    space = metric.hilbert
    assert space.scale_free == free
    if not free:
        return
    rows = {
        "Angular": torch.tensor([[0.3, 0.4, -0.2]]).double(),
        "Hellinger": torch.tensor([[0.2, 0.3, 0.5]]).double(),
        "Rotation": torch.eye(3).double()[None],
    }[type(metric).__name__]
    point = metric.collate(rows).rows[0] + 0.05 * torch.arange(rows[0].numel()).double() / 9
    one, other = (space.decode(factor * point, rows) for factor in (1.0, 0.3))
    assert torch.allclose(one, other, atol=1e-9)


def test_moments_know_where_a_target_lies() -> None:
    samples = cloud(400)
    center = ClippedMean(9.0)
    answer = gathered(center, L2, samples)
    seen = center.moments(answer, L2.collate(torch.zeros(1, 3, dtype=torch.float64)))
    assert seen is not None
    seen.add(samples, torch.ones(400, dtype=torch.bool))
    assert seen.summary().away[1] == pytest.approx(float(samples.mean(dim=0).norm()), rel=0.05)
    assert seen.summary().scales == (1.0, 1.0)
    angular = metrics.Angular()
    answer = gathered(center, angular, samples)
    behind = center.moments(answer, angular.collate(-answer.value[None]))
    assert behind is not None
    assert behind.summary().scales[1] == 0.0


def test_what_cannot_be_averaged_is_refused() -> None:
    for metric in (metrics.L1(), metrics.BoxJaccard(), metrics.Custom(math.dist)):
        with refused(ArgumentError, "Euclidean", metric.name, "cs.Medoid()"):
            ClippedMean().check(metric)
    for radius in (0, -1.0, math.inf, math.nan, "3"):
        with refused(ArgumentError, "a positive, finite radius"):
            ClippedMean(radius)  # type: ignore[arg-type]


def test_the_sum_of_clipped_offsets_is_exact_within_the_limit() -> None:
    rows, middle = cloud(50), torch.ones(3, dtype=torch.float64)
    assert torch.allclose(clipped_sum(rows, middle, math.inf), (rows - 1).sum(dim=0))
    assert float(clipped_sum(rows, middle, 1e-3).norm()) <= 50e-3
    assert not clipped_sum(rows, middle, 0.0).any()
