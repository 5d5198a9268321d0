from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from centersmooth.demo_model import digits
from centersmooth.errors import ArgumentError, OutputError
from centersmooth.metrics import SSIM, power
from metric_laws import check_laws, generator
from refusals import refused


def naive(a: torch.Tensor, b: torch.Tensor, window: int, width: float = 1.0) -> float:
    """SSIM window by window, from its definition."""
    c1, c2, found = (0.01 * width) ** 2, (0.03 * width) ** 2, []
    for y in range(a.shape[-2] - window + 1):
        for x in range(a.shape[-1] - window + 1):
            p, q = (m[..., y : y + window, x : x + window].flatten(-2).double() for m in (a, b))
            mean_p, mean_q = p.mean(-1), q.mean(-1)
            var_p, var_q = p.var(-1), q.var(-1)
            area = window * window
            cov = ((p - mean_p[..., None]) * (q - mean_q[..., None])).sum(-1) / (area - 1)
            light = (2 * mean_p * mean_q + c1) / (mean_p**2 + mean_q**2 + c1)
            found.append(light * (2 * cov + c2) / (var_p + var_q + c2))
    return float(torch.stack(found).mean())


def images(count: int, *shape: int) -> torch.Tensor:
    """Noise, stripes, flat images, nearly equal ones."""
    some = torch.rand(count, *shape, generator=generator(1))
    some[0], some[1] = 0.0, 1.0
    some[2] = (some[2] > 0.5).float()
    some[3] = 1 - some[2]
    some[4] = some[5] + 1e-4 * some[6]
    some[7] = some[7] * 0.01 + 0.5
    return some


@pytest.mark.parametrize(("shape", "window"), [((9, 8), 7), ((9, 8), 2), ((3, 8, 7), 5)])
def test_the_distance_has_its_formula_and_obeys_its_laws(
    shape: tuple[int, ...], window: int
) -> None:
    metric, some = SSIM(window=window), images(12, *shape)
    found = metric.pairwise(some, some)
    for i, j in np.ndindex(found.shape):
        similar = naive(some[i], some[j], window)
        assert float(found[i, j]) ** 2 == pytest.approx(1 - similar, abs=1e-9)
    check_laws(metric, some)
    check_laws(power(metric, 2), some)
    assert float(found.max()) <= metric.diameter == math.sqrt(2)


def test_one_minus_ssim_itself_would_break_the_triangle_inequality() -> None:
    """Why lengths are roots: the square needs its gamma of 2."""
    first, last = images(12, 8, 8)[8:10]
    square = power(SSIM(window=8), 2)
    middle = (first + last) / 2
    assert square(first, last) > 1.2 * (square(first, middle) + square(middle, last))
    assert SSIM(window=8)(first, last) <= SSIM(window=8)(first, middle) + SSIM(window=8)(
        middle, last
    )


def test_digits_are_the_farther_the_more_noise_they_have() -> None:
    image = digits(1)[0][0]
    noise = torch.randn(image.shape, generator=generator(2))
    found = [SSIM()(image, (image + s * noise).clamp(0, 1)) for s in (0, 0.02, 0.1, 0.3, 1)]
    assert found == sorted(found)
    assert found[0] == 0
    assert found[1] > 0


def test_images_that_hardly_differ_keep_their_distance() -> None:
    image = torch.full((1, 8, 8), 0.5, dtype=torch.float64)
    other = image.clone()
    other[0, 3, 3] += 1e-9
    found = SSIM(window=8)(image[0], other[0])
    mean, variance = 1e-9 / 64, 1e-18 / 64
    assert found**2 == pytest.approx(mean**2 / (0.5 + 1e-4) + variance / 9e-4, rel=1e-6)


def test_the_range_moves_and_scales_with_the_values() -> None:
    some = images(10, 8, 8).double()
    found = SSIM().pairwise(some, some)
    eight_bit = SSIM(value_range=(0, 255)).pairwise(some * 255, some * 255)
    centred = SSIM(value_range=(-1, 1)).pairwise(some * 2 - 1, some * 2 - 1)
    torch.testing.assert_close(eight_bit, found, atol=1e-7, rtol=0)
    torch.testing.assert_close(centred, found, atol=1e-7, rtol=0)


def test_what_is_no_image_of_the_range_is_refused_or_invalid() -> None:
    with refused(OutputError, "7 pixels a side", "(6, 9)"):
        SSIM().collate(torch.zeros(1, 6, 9))
    with refused(OutputError, "7 pixels a side", "(20,)"):
        SSIM().collate(torch.zeros(1, 20))
    with refused(OutputError, "in about (0.0, 1.0)", "to 255", "value_range"):
        SSIM().collate(torch.full((1, 8, 8), 255.0))
    with refused(OutputError, "images of one shape", "(8, 8)", "(9, 9)"):
        SSIM().pairwise(torch.zeros(1, 8, 8), torch.zeros(1, 9, 9))
    bad = torch.zeros(2, 8, 8)
    bad[0, 0, 0] = math.nan
    assert SSIM().collate(bad).valid.tolist() == [False, True]
    with refused(ArgumentError, "window >= 2"):
        SSIM(window=1)
    with refused(ArgumentError, "low < high"):
        SSIM(value_range=(1, 0))
