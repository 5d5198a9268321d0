from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from centersmooth.errors import FormatError, OutputError
from centersmooth.metrics.features import Features
from lpips_weights import small_weights
from metric_laws import generator
from refusals import refused

NAMES = ("alex", "vgg")


def images(count: int, size: int = 40) -> torch.Tensor:
    return torch.rand(count, 3, size, size, generator=generator(1)) * 2 - 1


def direct(name: str, arrays: dict[str, Any], a: torch.Tensor, b: torch.Tensor) -> float:
    """LPIPS of one pair of images, written down from its definition."""
    plan = ("c4/2", "*", "p3", "c1/2", "*", "p3", "c1/1", "*", "c1/1", "*", "c1/1", "*")
    if name == "vgg":
        pairs, triples = ("c1/1",) * 2, ("c1/1",) * 3
        start = (*pairs, "*", "p2", *pairs, "*", "p2", *triples, "*")
        plan = (*start, "p2", *triples, "*", "p2", *triples, "*")
    trunk = next(part for key, part in arrays.items() if not key.startswith("NetLin"))
    shift = torch.tensor([-0.030, -0.088, -0.188])[:, None, None]
    scale = torch.tensor([0.458, 0.448, 0.450])[:, None, None]
    x, y = ((image[None] - shift) / scale for image in (a, b))
    total, convolution, head = 0.0, 0, 0
    for step in plan:
        if step == "*":
            u, v = (f / (f.square().sum(1, keepdim=True).sqrt() + 1e-10) for f in (x, y))
            w = torch.from_numpy(arrays[f"NetLinLayer_{head}"]["Conv_0"]["kernel"]).reshape(-1)
            total += float(((u - v).square() * w[:, None, None]).sum(1).mean())
            head += 1
        elif step[0] == "p":
            x, y = (F.max_pool2d(f, int(step[1]), 2) for f in (x, y))
        else:
            layer = trunk[f"Conv_{convolution}"]
            kernel = torch.from_numpy(layer["kernel"].transpose(3, 2, 0, 1).copy())
            bias = torch.from_numpy(layer["bias"])
            stride, padding = int(step[1]), int(step[3])
            x, y = (F.relu(F.conv2d(f, kernel, bias, stride, padding)) for f in (x, y))
            convolution += 1
    return total


@pytest.mark.parametrize("name", NAMES)
def test_squared_distances_of_embeddings_are_lpips(name: str) -> None:
    arrays = small_weights(name)
    some = images(4)
    rows = Features(name, arrays).embed(some).double()
    for i in range(4):
        for j in range(4):
            wanted = direct(name, arrays, some[i], some[j])
            assert float((rows[i] - rows[j]).square().sum()) == pytest.approx(
                wanted, rel=2e-6, abs=1e-6
            )


@pytest.mark.parametrize("name", NAMES)
def test_a_row_depends_on_its_own_image_only(name: str) -> None:
    features, some = Features(name, small_weights(name)), images(21)
    rows = features.embed(some)
    assert torch.equal(features.embed(some[:3]), rows[:3])
    assert torch.equal(features.embed(some[20:]), rows[20:])
    assert torch.equal(features.embed(some.flip(0)), rows.flip(0))
    assert not rows.requires_grad


@pytest.mark.parametrize("name", NAMES)
def test_no_two_images_are_farther_than_the_diameter(name: str) -> None:
    features = Features(name, small_weights(name))
    some = torch.cat((images(10), torch.ones(1, 3, 40, 40), -torch.ones(1, 3, 40, 40)))
    rows = features.embed(some).double()
    assert float(torch.cdist(rows, rows).square().max()) <= features.diameter
    heads = sum(2 * float(head.max()) for head in features.heads)
    assert features.diameter == pytest.approx(heads, rel=1e-5)


def test_building_the_network_draws_no_random_number() -> None:
    before = torch.get_rng_state()
    Features("alex", small_weights("alex"))
    assert torch.equal(torch.get_rng_state(), before)


def test_images_too_small_for_a_network_are_refused() -> None:
    for name, least in (("alex", 31), ("vgg", 16)):
        features = Features(name, small_weights(name))
        assert len(features.embed(images(1, least))) == 1
        with refused(OutputError, f"{least} x {least} pixels", name, "Upsample"):
            features.embed(images(1, least - 1))


def test_weights_of_something_else_are_refused() -> None:
    with refused(FormatError, "weights of vgg", "VGG16_0"):
        Features("vgg", small_weights("alex"))
    missing = small_weights("alex")
    del missing["NetLinLayer_3"]
    with refused(FormatError, "weights of alex", "NetLinLayer_3"):
        Features("alex", missing)
    flat = small_weights("alex")
    flat["AlexNet_0"]["Conv_0"]["kernel"] = np.ones(3, dtype=np.float32)
    with refused(FormatError, "weights of alex"):
        Features("alex", flat)
    negative = small_weights("alex")
    negative["NetLinLayer_0"]["Conv_0"]["kernel"][0] = -1
    with refused(FormatError, "weights >= 0"):
        Features("alex", negative)
