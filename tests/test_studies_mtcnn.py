"""The three small networks, with random weights in a wheel of the published layout."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
import torch
from studies import mtcnn
from studies.mtcnn import MTCNN, moved, published_in, pyramid, squared, suppressed

from centersmooth.errors import FormatError
from refusals import refused
from test_studies_archives import zipped

NETWORKS = ("pnet", "rnet", "onet")


def published_name(name: str, network: str) -> str:
    """What a weight of ours is called in the published files."""
    ends = {"pnet": ("conv4_1", "conv4_2"), "rnet": ("dense5_1", "dense5_2")}
    score, move = ends.get(network, ("dense6_1", "dense6_2"))
    return name.removeprefix("trunk.").replace("score", score).replace("move", move)


def wheel(folder: Path, model: MTCNN, **more: torch.Tensor) -> Path:
    files = []
    for network in reversed(NETWORKS):  # the order inside the archive must not matter
        state = getattr(model, network).state_dict()
        named = {published_name(name, network): value for name, value in state.items()}
        buffer = io.BytesIO()
        torch.save({**named, **(more if network == "onet" else {})}, buffer)
        files.append((f"facenet_pytorch/data/{network}.pt", buffer.getvalue()))
    return zipped(folder / "facenet.whl", *files, ("facenet_pytorch/__init__.py", b"evil()"))


def random_model() -> MTCNN:
    torch.manual_seed(0)
    return MTCNN()


def test_published_weights_find_their_places(tmp_path: Path) -> None:
    model = random_model()
    landmarks = {"dense6_3.weight": torch.zeros(10, 256), "dense6_3.bias": torch.zeros(10)}
    found = published_in(wheel(tmp_path, model, **landmarks))
    assert not found.training
    for network in NETWORKS:
        own, read = (getattr(m, network).state_dict() for m in (model, found))
        assert all(torch.equal(own[name], read[name]) for name in own)
    assert sorted(name for name in model.onet.state_dict() if "conv4" in name) == [
        "trunk.conv4.bias",
        "trunk.conv4.weight",
    ]


def test_weights_of_another_network_are_refused(tmp_path: Path) -> None:
    with refused(FormatError, "weights of MTCNN"):
        published_in(wheel(tmp_path, random_model(), unknown=torch.zeros(1)))


def test_an_answer_is_one_box_inside_the_contract(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mtcnn, "THRESHOLDS", (0.0, 0.0, 0.0))
    model, images = random_model(), torch.rand(2, 3, 48, 48)
    boxes = model(images)
    for box, image in zip(boxes, images, strict=True):
        assert box.shape == (1, 4)
        assert bool((box[:, 2:] > box[:, :2]).all())
        # Each image is judged by itself.
        torch.testing.assert_close(model(image[None])[0], box, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("thresholds", [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)])
def test_no_face_is_an_empty_box(
    monkeypatch: pytest.MonkeyPatch, thresholds: tuple[float, float, float]
) -> None:
    """Whichever of the three networks sees none."""
    monkeypatch.setattr(mtcnn, "THRESHOLDS", thresholds)
    (box,) = random_model()(torch.rand(1, 3, 40, 40))
    assert box.shape == (0, 4)


def test_values_beyond_black_and_white_are_clipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mtcnn, "THRESHOLDS", (0.0, 0.0, 0.0))
    model, image = random_model(), torch.rand(1, 3, 40, 40) * 3 - 1
    assert torch.equal(model(image)[0], model(image.clamp(0, 1))[0])


def rows(*boxes: tuple[float, ...]) -> np.ndarray:
    """x1, y1, x2, y2, score, and no corrections."""
    return np.array([(*box, 0, 0, 0, 0) for box in boxes], dtype=float)


def test_weaker_boxes_on_a_better_one_are_suppressed() -> None:
    found = rows((0, 0, 10, 10, 0.8), (1, 0, 11, 10, 0.9), (20, 20, 30, 30, 0.7))
    assert suppressed(found, 0.5) == [1, 2]
    assert suppressed(found, 0.9) == [1, 0, 2]
    inner = rows((0, 0, 40, 40, 0.9), (10, 10, 20, 20, 0.8))
    assert suppressed(inner, 0.7) == [0, 1]
    assert suppressed(inner, 0.7, of_smaller=True) == [0]
    assert suppressed(np.empty((0, 9)), 0.5) == []


def test_squares_keep_the_center_and_the_larger_side() -> None:
    assert squared(np.array([[0.0, 0, 10, 20]])).tolist() == [[-5, 0, 15, 20]]


def test_corrections_are_shares_of_the_sides() -> None:
    found = rows((0, 0, 9, 19, 0.5))
    found[:, 5:] = (0.1, 0.1, -0.1, -0.1)
    assert moved(found).tolist() == [[1, 2, 8, 17]]


def test_the_pyramid_starts_at_faces_of_twenty_pixels_and_ends_at_twelve() -> None:
    scales = pyramid(128, 200)
    assert scales[0] == 0.6
    assert 128 * scales[-1] >= 12 > 128 * scales[-1] * 0.709
    assert pyramid(10, 10) == []
