from __future__ import annotations

import base64
import io
import re

import numpy as np
import pytest
import torch
from PIL import Image

from centersmooth.report.pictures import Picture, Scale, picture, scale_of

UNIT = Scale(0.0, 1.0)


def pixels(found: Picture) -> np.ndarray:
    assert found.src is not None
    head, data = found.src.split(",")
    assert head == "data:image/png;base64"
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(data))))


@pytest.mark.parametrize("shape", [(5, 7), (1, 5, 7)])
def test_grey_images_are_shown_as_they_are(shape: tuple[int, ...]) -> None:
    output = torch.rand(shape, generator=torch.Generator().manual_seed(0))
    found = picture(output, UNIT)
    assert (found.width, found.height, found.small) == (7, 5, True)
    assert np.abs(pixels(found) / 255 - output.reshape(5, 7).numpy()).max() <= 0.5 / 255 + 1e-6


def test_colour_images_keep_their_channels() -> None:
    output = torch.zeros(3, 4, 6)
    output[0], output[1, :, :3] = 1.0, 0.5
    found = pixels(picture(output, UNIT))
    assert found.shape == (4, 6, 3)
    assert found[0, 0].tolist() == [255, 128, 0]
    assert found[0, 5].tolist() == [255, 0, 0]


def test_masks_and_bytes() -> None:
    mask = torch.zeros(6, 6, dtype=torch.bool)
    mask[:3] = True
    assert pixels(picture(mask, scale_of([mask])))[:, 0].tolist() == [255] * 3 + [0] * 3
    image = torch.full((6, 6), 200, dtype=torch.uint8)
    assert pixels(picture(image, scale_of([image])))[0, 0] == 200


def test_one_scale_for_all_that_is_compared() -> None:
    a, b = torch.full((4, 4), -1.0), torch.full((4, 4), 3.0)
    scale = scale_of([a, b, "no image"])
    assert scale == Scale(-1.0, 3.0)
    assert picture(a, scale).note == "grey levels from -1 to 3"
    assert (pixels(picture(a, scale)) == 0).all()
    assert (pixels(picture(b, scale)) == 255).all()
    assert scale_of([torch.rand(4, 4)]) == UNIT
    assert UNIT.note == ""


def test_not_a_number_is_black_and_leaves_the_scale_alone() -> None:
    output = torch.full((4, 4), 1.0)
    output[0, 0] = torch.nan
    output[0, 1] = torch.inf
    assert scale_of([output]) == UNIT
    assert pixels(picture(output, UNIT))[0, 0] == 0


def test_large_images_are_shrunk_but_know_their_size() -> None:
    found = picture(torch.zeros(3, 400, 800), UNIT)
    assert (found.width, found.height, found.small) == (800, 400, False)
    assert pixels(found).shape == (160, 320, 3)


def test_vectors_become_curves() -> None:
    found = picture(torch.arange(1000.0), UNIT)
    assert found.curve is not None
    assert re.fullmatch(r"M[\d.]+ [\d.]+(L[\d.]+ [\d.]+)+", found.curve)
    heights = [float(point.split()[1]) for point in found.curve[1:].split("L")]
    assert heights == sorted(heights, reverse=True)
    assert found.note == "values from 0 to 999"


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("a sentence", "a sentence"),
        ("", "(empty text)"),
        (None, "(nothing)"),
        ([], "(nothing)"),
        ([1, "two", 3.14159], "1, two, 3.142"),
        (frozenset({"b", "a"}), "{a, b}"),
        ({"box": torch.tensor([1.0, 2.5])}, "box: 1, 2.5"),
        (torch.zeros(0, 4), "(nothing)"),
        (torch.zeros(2, 3, 4, 5), "2×3×4×5 numbers from 0 to 0"),
        ("x\x00y\u202ez", "x\ufffdy\ufffdz"),
    ],
)
def test_all_else_becomes_text(output: object, said: str) -> None:
    assert picture(output, UNIT) == Picture(text=said)


def test_long_text_is_cut() -> None:
    found = picture("word " * 500, UNIT)
    assert found.text is not None
    assert len(found.text) == 600
    assert found.text.endswith("…")
