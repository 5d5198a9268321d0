from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from centersmooth import metrics
from centersmooth.centers import WeberPoint
from centersmooth.centers.base import majority
from centersmooth.errors import ArgumentError, CenterError
from metric_laws import generator
from refusals import refused

L1, TV = metrics.L1(), metrics.TotalVariation()


def answer_of(center: WeberPoint, metric: Any, samples: Any, size: int = 64) -> Any:
    gathering = center.gather(metric, len(samples))
    for start in range(0, len(samples), size):
        part = samples[start : start + size]
        gathering.add_samples(metric.collate(part), part)
    return gathering.answer()


def normal(*shape: int, seed: int = 1) -> torch.Tensor:
    return torch.randn(shape, generator=generator(seed))


def nasty() -> dict[str, torch.Tensor]:
    base = normal(201, 5, 4)
    atoms = torch.stack([base[i % 5] for i in range(200)])
    scales = 10.0 ** torch.linspace(-12, 3, 201)[:, None, None]
    uniform = torch.rand(201, 8, 8, generator=generator(2))
    return {
        "one sample": base[:1],
        "constant": torch.full((50, 4, 4), 3.7),
        "two atoms": torch.stack([base[0]] * 101 + [base[1]] * 100),
        "half and half": torch.stack([base[0]] * 100 + [base[1]] * 100),
        "five atoms": atoms,
        "black and white": (uniform > 0.5).float(),
        "mostly black": (uniform > 0.9).float(),
        "whole numbers": (2 * base).round(),
        "Cauchy": base / base[:, :1, :1].flip(0),
        "every scale at once": scales * base,
        "pixels of every scale": base * 10.0 ** torch.linspace(-9, 3, 4),
        "huge": 1e30 * base,
        "tiny": 1e-30 * base,
        "a far half": torch.cat((base[:100] * 1e-3, base[100:] * 1e-3 + 1e4 * normal(5, 4))),
        "at 1000, its last digits": 1000 + 1e-4 * base,
        "double": base.double(),
        "half precision": (100 + base).half(),
        "whole numbers at a billion": 1_000_000_000 + (3 * base).round().long(),
        "sparse": base * (torch.rand(base.shape, generator=generator(3)) > 0.9),
        "colour": normal(99, 3, 7, 7),
        "a signal": normal(201, 30),
        "a strip": normal(201, 1, 9),
        "a pixel": normal(201, 1, 1),
    }


def mean_distance(metric: Any, point: torch.Tensor, samples: torch.Tensor) -> float:
    return float(metric.pairwise(point[None], samples).mean())


@pytest.mark.parametrize("metric", [L1, TV], ids=lambda m: m.name)
@pytest.mark.parametrize("name", nasty())
def test_no_sample_and_no_neighbour_has_a_smaller_mean_distance(metric: Any, name: str) -> None:
    """Of the answer as it leaves the smoother, up to the tolerance and the rounding of rows."""
    samples, center = nasty()[name], WeberPoint()
    answer = answer_of(center, metric, samples)
    assert answer.value.shape == samples.shape[1:]
    found = mean_distance(metric, answer.value, samples)
    size = float(answer.reference.rows.double().abs().sum())
    slack = 2 * center.tolerance * answer.spread + 4 * metric.normed.floor * size + 2e-5 * found
    step = answer.spread * normal(6, *samples.shape[1:], seed=4) / answer.value.numel()
    near = answer.value.double() + torch.cat((step, 0.01 * step))
    for other in (*samples[::40].double(), *near, samples.double().mean(dim=0)):
        assert found <= mean_distance(metric, other, samples) + slack
    lengths = metric.pairwise(answer.value[None], samples)[0].sort().values
    assert answer.spread == pytest.approx(float(lengths[majority(len(samples)) - 1]))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_answers_lie_in_the_declared_range(dtype: torch.dtype) -> None:
    """At its usual level this one leaves it; a constant, which costs nothing, brings it back."""
    noisy = torch.rand(5, 1, 4, generator=generator(28)) * 2 - 0.5
    samples = noisy.clamp(0, 1).to(dtype)
    free = answer_of(WeberPoint(), TV, samples)
    assert float(free.value.max()) > 1.1
    ranged = metrics.TotalVariation(value_range=(0.0, 1.0), shape=(1, 4))
    answer = answer_of(WeberPoint(), ranged, samples)
    assert bool(((answer.value >= 0) & (answer.value <= 1)).all())
    assert answer.value.dtype == dtype
    before, after = (float(TV.pairwise(a.value[None], samples).mean()) for a in (free, answer))
    assert after == pytest.approx(before, rel=1e-4)


def test_an_answer_that_spans_more_than_the_range_is_an_error_not_a_wrong_bound() -> None:
    """The least mean distance lies outside; clamped, the point has a gap, which is measured."""
    rows = [(0, 0.5, 1, 0), (0.5, 1, 0, 0.5), (1, 0, 0.5, 1)]
    samples = torch.tensor(rows)[:, None]
    free = answer_of(WeberPoint(), TV, samples).value
    assert float(free.max() - free.min()) > 1
    ranged = metrics.TotalVariation(value_range=(0.0, 1.0), shape=(1, 4))
    with refused(CenterError, "a point of least mean distance"):
        answer_of(WeberPoint(), ranged, samples)


def test_the_l1_point_is_the_median_of_every_coordinate() -> None:
    samples = normal(51, 3, 2)
    answer = answer_of(WeberPoint(), L1, samples)
    assert torch.equal(answer.value, samples.median(dim=0).values)
    assert answer.value.dtype == torch.float32


@pytest.mark.parametrize("metric", [L1, TV], ids=lambda m: m.name)
@pytest.mark.parametrize("pool", [1, 2, 4])
def test_batches_do_not_matter_and_pools_are_means_of_runs(metric: Any, pool: int) -> None:
    samples = normal(83, 4, 4)
    center = WeberPoint(pool)
    one, other = (answer_of(center, metric, samples, size) for size in (8, 64))
    assert torch.equal(one.value, other.value)
    count = 83 // pool
    means = samples[: count * pool].reshape(count, pool, 4, 4).double().mean(dim=1)
    assert torch.allclose(answer_of(WeberPoint(), metric, means).value.to(one.value), one.value)


@pytest.mark.parametrize("pool", [1, 2, 4])
def test_the_views_are_the_means_of_all_parts(pool: int) -> None:
    outputs, center = normal(4 * pool + pool - 1, 3), WeberPoint(pool)
    views = center.view(L1, outputs)
    assert len(views) == center.views == 2 * pool - 1
    groups = outputs[: 4 * pool].reshape(4, pool, 3).double()
    wanted = [
        groups[:, s : s + size].mean(dim=1) for size in center.scales for s in range(0, pool, size)
    ]
    for view, mean in zip(views, wanted, strict=True):
        assert torch.equal(view.double(), mean)


@pytest.mark.parametrize("metric", [L1, TV], ids=lambda m: m.name)
def test_failed_outputs_are_left_out_and_counted_as_far(metric: Any) -> None:
    samples = normal(60, 3, 3)
    broken = torch.cat((torch.full((20, 3, 3), math.nan), samples))
    answer, clean = (answer_of(WeberPoint(), metric, s) for s in (broken, samples))
    assert torch.equal(answer.value, clean.value)
    assert clean.spread < answer.spread < math.inf
    most = torch.cat((torch.full((61, 3, 3), math.nan), samples))
    assert answer_of(WeberPoint(), metric, most).spread == math.inf
    half_broken = answer_of(
        WeberPoint(2), metric, samples.index_fill(0, torch.tensor([0, 5]), math.inf)
    )
    assert torch.isfinite(half_broken.value).all()
    with refused(CenterError, "one valid output at least"):
        answer_of(WeberPoint(), metric, torch.full((9, 3, 3), math.nan))


def test_measuring_leaves_room_for_the_rounding_of_rows() -> None:
    images = TV.collate(1000 + normal(5, 4, 4))
    room = WeberPoint().measure(TV, images, images) - TV.measure(images, images)
    size = images.rows.double().abs().sum(dim=1)
    assert torch.allclose(room, 2.0**-22 * size[:, None].expand(5, 5))
    assert torch.equal(WeberPoint().measure(L1, images, images), L1.measure(images, images))


class NeverBest(metrics.L1):
    """An l1 whose solver only knows a point far off."""

    @property
    def normed(self) -> Any:
        class Stuck:
            floor = 0.0

            def approach(self, outputs: torch.Tensor, dtype: torch.dtype) -> Any:
                yield outputs[0], 1.0

        return Stuck()


def test_a_gap_that_stays_too_large_is_an_error() -> None:
    with refused(CenterError, "least mean distance", "a gap of 1", "tolerance", "Medoid()"):
        answer_of(WeberPoint(), NeverBest(), normal(31, 3))


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"pool": 0}, "pool among"),
        ({"pool": 3}, "pool among"),
        ({"pool": True}, "pool among"),
        ({"tolerance": 0.5}, "tolerance"),
        ({"tolerance": 0.0}, "tolerance"),
    ],
)
def test_a_weber_point_that_makes_no_sense_is_refused(options: dict[str, Any], word: str) -> None:
    with refused(ArgumentError, word):
        WeberPoint(**options)


def test_distances_that_are_no_norm_are_refused() -> None:
    for metric in (metrics.L2(), metrics.BoxJaccard(), metrics.Custom(math.dist)):
        with refused(ArgumentError, "a metric that is a norm", metric.name, "cs.Medoid()"):
            WeberPoint().check(metric)
    with refused(ArgumentError, "answer_samples >= pool"):
        WeberPoint(8).gather(L1, 7)
