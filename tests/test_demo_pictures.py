"""The demo's pictures: sized by what they show, drawn without touching the caller's matplotlib."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from matplotlib import pyplot as plt
from PIL import Image

from centersmooth import demo
from centersmooth.demo_model import autoencoder
from centersmooth.demo_pictures import save_curves, save_strip, upward


@pytest.fixture(scope="module")
def found() -> list[demo.Certified]:
    return 2 * demo.certify_all(autoencoder(), 1, 3, demo.Budget(1_000, 1_300, 9_500))


def size_of(path: Path) -> tuple[int, int]:
    with Image.open(path) as picture:
        return picture.size


def test_strip_grows_by_one_column_per_digit(found: list[demo.Certified], tmp_path: Path) -> None:
    save_strip(tmp_path / "one.png", autoencoder(), found[:1], 0.25)
    save_strip(tmp_path / "two.png", autoencoder(), found, 0.25)
    (narrow, height), (wide, same) = (size_of(tmp_path / f"{n}.png") for n in ("one", "two"))
    assert height == same
    assert wide - narrow == pytest.approx(160 * 1.1, abs=2)


def test_pictures_are_reproducible(found: list[demo.Certified], tmp_path: Path) -> None:
    for name in ("a.png", "b.png"):
        save_strip(tmp_path / name, autoencoder(), found, 0.25)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_nothing_of_pyplot_is_touched(found: list[demo.Certified], tmp_path: Path) -> None:
    before = plt.get_backend(), dict(plt.rcParams), plt.get_fignums()
    save_strip(tmp_path / "strip.png", autoencoder(), found, 0.25)
    save_curves(tmp_path / "curves.png", found, demo.GRID)
    assert (plt.get_backend(), dict(plt.rcParams), plt.get_fignums()) == before


@pytest.mark.parametrize(
    ("bound", "shown"), [(0.0, "0.000"), (1.0001, "1.001"), (2.5, "2.500"), (math.inf, "none")]
)
def test_bounds_are_rounded_up(bound: float, shown: str) -> None:
    assert upward(bound) == shown
