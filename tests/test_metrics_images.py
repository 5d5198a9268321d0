from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from centersmooth.errors import ArgumentError, OutputError
from centersmooth.metrics import TotalVariation
from centersmooth.metrics.images import differences, edges
from metric_laws import check_laws, generator
from refusals import refused

LAW = settings(derandomize=True, deadline=None, max_examples=40)
SHAPES = [(1,), (7,), (1, 1), (4, 6), (1, 5), (3, 4, 6), (2, 5, 1)]
TV = TotalVariation()
images = arrays(np.float32, (4, 2, 3, 4), elements=st.floats(-10, 10, width=32))


def naive(image: torch.Tensor) -> float:
    """The sum over neighbours right and below, pixel by pixel, channel by channel."""
    total = 0.0
    for place in itertools.product(*map(range, image.shape)):
        for axis in range(max(0, image.dim() - 2), image.dim()):
            step = tuple(p + (a == axis) for a, p in enumerate(place))
            if step[axis] < image.shape[axis]:
                total += abs(float(image[step]) - float(image[place]))
    return total


def checkerboard(shape: tuple[int, ...]) -> torch.Tensor:
    grid = torch.meshgrid(*(torch.arange(n) for n in shape[-2:]), indexing="ij")
    return ((sum(grid) % 2) * torch.ones(shape)).float()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_distance_is_the_total_variation_of_the_difference(
    shape: tuple[int, ...], dtype: torch.dtype
) -> None:
    a, b = (torch.randn(3, *shape, generator=generator(s)).to(dtype) for s in (1, 2))
    found = TV.pairwise(a, b)
    for i, j in itertools.product(range(3), range(3)):
        truth = naive(a[i].double() - b[j].double())
        assert float(found[i, j]) == pytest.approx(truth, rel=2e-5)
        assert TV(a[i], b[j]) == pytest.approx(truth, rel=2e-5)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_edge_is_summed_once(shape: tuple[int, ...]) -> None:
    assert differences(torch.zeros(2, *shape)).shape == (2, edges(shape))


@pytest.mark.parametrize("shape", SHAPES)
def test_a_checkerboard_and_its_negative_attain_the_diameter(shape: tuple[int, ...]) -> None:
    low, high = -1.0, 2.0
    metric = TotalVariation(value_range=(low, high), shape=shape)
    board = checkerboard(shape)
    a, b = low + (high - low) * board, high - (high - low) * board
    assert metric.diameter == 2 * (high - low) * edges(shape)
    assert metric(a, b) == metric.diameter
    assert TV(a, b) == pytest.approx(metric.diameter, rel=2e-5)


def test_the_diameter_is_unknown_until_range_and_shape_are_given() -> None:
    assert TV.diameter == math.inf
    assert TotalVariation(value_range=(0, 1)).diameter == math.inf
    assert TotalVariation(shape=(3, 3)).diameter == math.inf
    for bad in ((1, 0), (1, 1), (0, math.nan)):
        with refused(ArgumentError, "low < high"):
            TotalVariation(value_range=bad, shape=(3, 3))


@LAW
@given(images)
def test_the_laws_of_a_distance_hold(batch: np.ndarray) -> None:
    check_laws(TV, torch.from_numpy(batch))


def test_images_that_differ_by_a_constant_are_the_same() -> None:
    image = torch.randn(3, 5, 5, generator=generator(1), dtype=torch.float64)
    assert TV(image, image + 0.5) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("shape", [(), (1, 3, 4, 5)])
def test_what_is_no_signal_and_no_image_is_refused(shape: tuple[int, ...]) -> None:
    with refused(OutputError, "a signal, a grey or a colour image", str(shape), "(C, H, W)"):
        TV.collate(torch.zeros(2, *shape))


def test_images_of_different_size_are_refused() -> None:
    with refused(OutputError, "one shape", "varying size"):
        TV.collate([torch.zeros(3, 3), torch.zeros(3, 4)])
    with refused(OutputError, "one size"):
        TV(torch.zeros(3, 3), torch.zeros(3, 4))


def test_an_image_with_nan_is_invalid() -> None:
    batch = torch.zeros(3, 4, 4)
    batch[1, 2, 2] = math.nan
    assert TV.collate(batch).valid.tolist() == [True, False, True]


def test_pooling_takes_the_mean_of_each_run() -> None:
    pooled: Any = TV.pool(torch.arange(8.0).reshape(4, 2), 2)
    assert pooled.tolist() == [[1.0, 2.0], [5.0, 6.0]]


def test_values_beyond_a_declared_range_are_refused_as_the_diameter_would_not_hold() -> None:
    metric = TotalVariation(value_range=(1, 2), shape=(2, 2))
    checkers = torch.tensor([[1.0, 2.0], [2.0, 1.0]])
    assert metric(checkers, 3 - checkers) == metric.diameter == 8
    with refused(OutputError, "(1, 2)", "from 0.5 to 2"):
        metric.collate((checkers + torch.tensor([[-0.5, 0], [0, 0]]))[None])
    spoilt = torch.stack([checkers, torch.full((2, 2), math.nan)])
    assert metric.collate(spoilt).valid.tolist() == [True, False]
