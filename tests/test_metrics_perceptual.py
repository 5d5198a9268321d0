from __future__ import annotations

import math

import pytest
import torch

import centersmooth as cs
from centersmooth.demo_model import digits
from centersmooth.errors import ArgumentError, OutputError
from centersmooth.metrics import LPIPS
from centersmooth.metrics.features import Features
from lpips_weights import small_weights
from metric_laws import check_laws, generator
from refusals import refused

FEATURES = Features("alex", small_weights("alex"))
METRIC = LPIPS(network=FEATURES)


def images(count: int) -> torch.Tensor:
    some = torch.rand(max(count, 4), 3, 36, 36, generator=generator(1))
    some[1] = some[0] + 1e-4 * some[2]
    some[3] = 0
    return some[:count]


def test_the_distance_is_the_square_of_a_metric() -> None:
    some = images(12)
    check_laws(METRIC, some)
    rows = FEATURES.embed(some * 2 - 1).double()
    wanted = (rows[:, None] - rows[None]).square().sum(-1)
    torch.testing.assert_close(METRIC.pairwise(some, some), wanted, rtol=1e-3, atol=1e-12)
    assert METRIC.published_gamma == 2
    assert METRIC(some[0], some[0]) == 0
    assert METRIC(some[0], some[1]) < METRIC(some[0], some[2]) <= METRIC.diameter


def test_digits_are_the_farther_the_more_noise_they_have() -> None:
    image = torch.nn.functional.interpolate(digits(1)[0], 36)[0]
    noise = torch.randn(image.shape, generator=generator(3))
    found = [METRIC(image, image + s * noise) for s in (0, 0.05, 0.2, 0.6)]
    assert found == sorted(found)
    assert found[0] == 0


def test_grey_images_have_three_equal_channels() -> None:
    grey = torch.rand(3, 36, 36, generator=generator(2))
    wanted = METRIC.pairwise(grey[:, None].expand(-1, 3, -1, -1), images(2))
    assert torch.equal(METRIC.pairwise(grey, images(2)), wanted)
    assert torch.equal(METRIC.pairwise(grey[:, None], images(2)), wanted)


def test_the_range_of_values_is_an_option() -> None:
    some = images(5)
    wanted = METRIC.pairwise(some, some)
    centred = LPIPS(network=FEATURES, value_range=(-1, 1)).pairwise(some * 2 - 1, some * 2 - 1)
    torch.testing.assert_close(centred, wanted, rtol=1e-3, atol=1e-8)


def test_bounds_add_roots_up() -> None:
    """d = rho^2, so radii R around w and r' around the answer give (sqrt R + sqrt t)^2."""
    assert METRIC.gamma == 1
    assert METRIC.value(math.sqrt(0.04) + math.sqrt(0.09)) == pytest.approx(0.25)
    assert METRIC.hilbert is None
    assert isinstance(
        cs.Smoother(torch.nn.Identity().eval(), cs.Gaussian(1), METRIC).center, cs.Medoid
    )


def test_published_networks_are_named_and_not_loaded_before_they_are_needed() -> None:
    metric = LPIPS("vgg", weights="/nowhere/at/all.tar.gz")
    assert metric.diameter == 6.6216
    assert LPIPS().diameter == 8.0475
    assert metric == LPIPS("vgg", (0.0, 1.0), "/nowhere/at/all.tar.gz")
    with refused(cs.CentersmoothError, "the LPIPS weights", "/nowhere/at/all.tar.gz"):
        metric.collate(images(1))


def test_what_is_no_image_is_refused_or_invalid() -> None:
    with refused(OutputError, "(3, H, W)", "(2, 36, 36)"):
        METRIC.collate(torch.zeros(1, 2, 36, 36))
    with refused(OutputError, "(3, H, W)", "(36,)"):
        METRIC.collate(torch.zeros(1, 36))
    with refused(OutputError, "one size"):
        METRIC.pairwise(images(1), torch.zeros(1, 3, 50, 50))
    with refused(OutputError, "31 x 31"):
        METRIC.collate(torch.zeros(1, 3, 28, 28))
    bad = images(4)
    bad[2, 0, 0, 0] = math.nan
    assert METRIC.collate(bad).valid.tolist() == [True, True, False, True]
    with refused(ArgumentError, "network='alex' or 'vgg'", "'resnet'"):
        LPIPS("resnet")
    with refused(ArgumentError, "low < high"):
        LPIPS(value_range=(1, -1))
