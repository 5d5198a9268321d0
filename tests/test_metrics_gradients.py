from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from scipy.optimize import linprog

from centersmooth import metrics
from centersmooth.metrics.gradients import GradientFit, _areas
from centersmooth.metrics.images import differences, ends
from metric_laws import generator

TV = metrics.TotalVariation()
SHAPES = [(9,), (4, 3), (1, 6), (6, 1), (2, 3, 3)]


def normal(*shape: int, seed: int = 1) -> torch.Tensor:
    return torch.randn(shape, generator=generator(seed), dtype=torch.float64)


def fit_of(images: torch.Tensor) -> GradientFit:
    shape = tuple(images.shape[1:])
    return GradientFit(images.reshape(len(images), -1).numpy(), *ends(shape))


def mean_distance(image: torch.Tensor, images: torch.Tensor) -> float:
    return float((differences(image[None]) - differences(images)).abs().sum(dim=1).mean())


def least_mean_distance(images: torch.Tensor) -> float:
    """By linear programming: an image, and a bound on every |difference| from every output."""
    rows = differences(images).numpy()
    count, edges = rows.shape
    shape = tuple(images.shape[1:])
    pixels = math.prod(shape)
    heads, tails = ends(shape)
    gradient = np.zeros((edges, pixels))
    gradient[range(edges), heads] = 1.0
    gradient[range(edges), tails] = -1.0
    tall = np.tile(gradient, (count, 1))
    slack = -np.eye(count * edges)
    matrix = np.block([[tall, slack], [-tall, slack]])
    right = np.concatenate((rows.ravel(), -rows.ravel()))
    cost = np.concatenate((np.zeros(pixels), np.full(count * edges, 1.0 / count)))
    bounds = [(None, None)] * pixels + [(0, None)] * (count * edges)
    found = linprog(cost, A_ub=matrix, b_ub=right, bounds=bounds, method="highs")
    assert found.status == 0
    return float(found.fun)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("kind", ["normal", "few values"])
def test_the_gap_is_never_below_the_true_one_and_ends_near_zero(
    shape: tuple[int, ...], kind: str
) -> None:
    images = normal(12, *shape)
    if kind == "few values":
        images = images.round()
    least, gaps = least_mean_distance(images), []
    for image, gap in TV.normed.approach(images, torch.float64):
        assert gap >= mean_distance(image, images) - least - 1e-9
        gaps.append(gap)
        if gap < 1e-5 * least:
            break
    assert gaps[-1] < 1e-5 * least
    assert len(shape) == 1 or 1 in shape or gaps[0] > gaps[-1]


def test_edges_and_their_ends_agree() -> None:
    for shape in SHAPES:
        image = normal(*shape)
        heads, tails = ends(shape)
        flat = image.ravel()
        assert torch.equal(flat[heads] - flat[tails], differences(image[None])[0])


def test_any_flow_without_sources_proves_a_gap() -> None:
    """Also far from the best, and with values up to one: never less than the true gap."""
    images = normal(15, 3, 3, seed=3)
    fit, least = fit_of(images), least_mean_distance(images)
    numbers = np.random.default_rng(0)
    flows = [flow for _, (_, flow) in zip(range(6), fit.steps(), strict=False)]
    for _ in range(20):
        image = torch.from_numpy(numbers.normal(size=(3, 3)))
        row = differences(image[None])[0].numpy()
        mix = numbers.dirichlet(np.ones(6)) @ np.array(flows)
        for flow in (mix, -mix, mix / abs(mix).max(), 0 * mix):
            assert fit.gap(row, flow) >= mean_distance(image, images) - least - 1e-12


def test_a_flow_with_a_source_proves_nothing() -> None:
    """The wrong twin: the slopes at any image would prove that it is the best one."""
    images, image = normal(15, 3, 3, seed=3), normal(3, 3)
    rows, row = differences(images).numpy(), differences(image[None])[0].numpy()
    slopes = np.sign(row - rows).mean(axis=0)
    claimed = _areas(np.sort(rows.T, axis=1), row, slopes)
    assert claimed < 1e-12
    assert mean_distance(image, images) > least_mean_distance(images) + 1
    assert fit_of(images).gap(row, slopes) == math.inf


def test_what_rounding_leaves_in_rows_counts() -> None:
    """Rows that are no gradients, seen by the flow, are part of the gap."""
    images = normal(15, 3, 3, seed=3)
    fit = fit_of(images)
    *_, (image, flow) = (step for _, step in zip(range(8), fit.steps(), strict=False))
    row = differences(torch.from_numpy(image).reshape(1, 3, 3))[0].numpy()
    off = row + 1e-3 * np.sign(flow)
    areas = fit.gap(off, flow) - float(flow @ off)
    assert fit.gap(off, flow) > areas + 5e-4 * abs(flow).sum()


@pytest.mark.parametrize("images", [normal(1, 3, 4), torch.ones(20, 2, 2), normal(5, 1, 1)])
def test_one_output_is_its_own_middle(images: Any) -> None:
    image, gap = next(iter(TV.normed.approach(images, torch.float64)))
    assert TV(image, images[0]) < 1e-12 or len(images) == 5
    assert gap < 1e-12
    assert float(image.mean()) == pytest.approx(float(images.mean(dim=(1, 2)).median()))


def test_the_level_of_every_channel_is_the_middle_one() -> None:
    images = normal(31, 3, 4, 4) + torch.tensor([0.0, 5.0, -7.0]).reshape(3, 1, 1)
    *_, (image, _) = (
        step for _, step in zip(range(8), TV.normed.approach(images, torch.float64), strict=False)
    )
    wanted = images.mean(dim=(2, 3)).median(dim=0).values
    assert torch.allclose(image.mean(dim=(1, 2)), wanted)
