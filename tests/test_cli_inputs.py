"""Images and arrays are read as models take them, and hostile ones are refused."""

from __future__ import annotations

import struct
import warnings
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import typer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from centersmooth.cli.inputs import as_input, load_inputs, read_image
from centersmooth.errors import InputError
from cli_files import image_folder
from refusals import refused


def saved(path: Path, array: np.ndarray, **options: Any) -> Path:
    Image.fromarray(array).save(path, **options)
    return path


def test_images_come_channels_first_from_zero_to_one(tmp_path: Path) -> None:
    grey = np.array([[0, 255, 51]], dtype=np.uint8)
    colour = np.zeros((2, 3, 3), dtype=np.uint8)
    colour[0, 1] = (255, 51, 0)
    found = read_image(saved(tmp_path / "grey.png", grey))
    assert torch.equal(found, torch.tensor([[[0.0, 1.0, 0.2]]]))
    found = read_image(saved(tmp_path / "colour.bmp", colour))
    assert found.shape == (3, 2, 3)
    assert torch.equal(found[:, 0, 1], torch.tensor([1.0, 0.2, 0.0]))
    deep = read_image(saved(tmp_path / "deep.png", np.array([[0, 65535]], dtype=np.uint16)))
    assert torch.equal(deep, torch.tensor([[[0.0, 1.0]]]))
    veiled = read_image(saved(tmp_path / "veiled.png", np.full((2, 2, 4), 255, dtype=np.uint8)))
    assert veiled.shape == (3, 2, 2)


def test_a_folder_is_read_by_name_with_its_folders(tmp_path: Path) -> None:
    images = image_folder(tmp_path, 2)
    (images / "a").mkdir()
    np.save(images / "a" / "x.npy", np.ones(3))
    (images / "notes.txt").write_text("not an input")
    found = load_inputs(images)
    assert found.names == ["0.png", "1.png", "a/x.npy"]
    assert len(found) == 3
    assert torch.equal(found[2], torch.ones(3))
    assert not found.from_images
    assert load_inputs(images, 2).from_images
    with pytest.raises(IndexError):
        found[3]


def test_arrays_become_single_precision_and_bytes_become_shares() -> None:
    assert as_input(np.array([0, 255], dtype=np.uint8)).tolist() == [0.0, 1.0]
    for kind in ("float64", "float16", "int64", "bool"):
        found = as_input(np.array([0, 1], dtype=kind))
        assert found.dtype == torch.float32
        assert found.tolist() == [0.0, 1.0]


def test_archives_have_one_array_or_a_usual_name(tmp_path: Path) -> None:
    one, two = np.ones((2, 3)), np.zeros((4, 3))
    np.savez(tmp_path / "one.npz", anything=one)
    np.savez(tmp_path / "two.npz", labels=two, images=one)
    np.savez(tmp_path / "unclear.npz", a=one, b=two)
    np.save(tmp_path / "plain.npy", one)
    for name in ("one.npz", "two.npz", "plain.npy"):
        found = load_inputs(tmp_path / name)
        assert (len(found), found.names) == (2, ["0", "1"])
        assert found[1].tolist() == [1.0] * 3
    assert len(load_inputs(tmp_path / "one.npz", 1)) == 1
    with pytest.raises(typer.BadParameter, match="2 arrays: a, b"):
        load_inputs(tmp_path / "unclear.npz")


class Evil:
    """Unpickling it would leave a file."""

    def __init__(self, mark: Path) -> None:
        self._mark = mark

    def __reduce__(self) -> Any:
        return (Path.touch, (self._mark,))


def test_pickles_are_never_opened(tmp_path: Path) -> None:
    evil = np.array([Evil(tmp_path / "mark")], dtype=object)
    np.save(tmp_path / "evil.npy", evil, allow_pickle=True)
    np.savez(tmp_path / "evil.npz", evil)
    for name in ("evil.npy", "evil.npz"):
        with pytest.raises(typer.BadParameter, match="expected"):
            load_inputs(tmp_path / name)
    assert not (tmp_path / "mark").exists()


def test_an_archive_that_would_fill_the_memory_is_refused(tmp_path: Path) -> None:
    """Two members of a few bytes that the directory declares to be almost 4 GiB each."""
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w") as archive:
        archive.writestr("inputs.npy", b"small")
        archive.writestr("images.npy", b"small")
    data = bytearray((tmp_path / "bomb.npz").read_bytes())
    place = -1
    for _ in range(2):
        place = data.index(b"PK\x01\x02", place + 1)
        data[place + 24 : place + 28] = struct.pack("<I", 2**32 - 2)
    (tmp_path / "bomb.npz").write_bytes(bytes(data))
    with pytest.raises(typer.BadParameter, match="8,589,934,588 bytes"):
        load_inputs(tmp_path / "bomb.npz")


@pytest.mark.parametrize("name", ["huge.npy", "huge.npz"])
def test_an_array_that_promises_terabytes_is_refused(tmp_path: Path, name: str) -> None:
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000, 4), }".ljust(117)
    content = b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + header.encode() + b"\n"
    if name.endswith("npz"):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr("inputs.npy", content)
    else:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(typer.BadParameter, match="expected an array"):
        load_inputs(tmp_path / name)


def test_an_archive_of_something_else_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "letters.npz", "w") as archive:
        archive.writestr("inputs.npy", b"dear aunt")
    for content in (None, b"", b"PK\x03\x04 and no more"):
        if content is not None:
            (tmp_path / "letters.npz").write_bytes(content)
        with pytest.raises(typer.BadParameter, match="expected"):
            load_inputs(tmp_path / "letters.npz")


def test_an_image_that_would_fill_the_memory_is_refused(tmp_path: Path) -> None:
    """A PNG of a few bytes whose header claims a hundred thousand pixels squared."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    header = struct.pack(">IIBBBBB", 100_000, 100_000, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0" * 100)) + chunk(b"IEND", b"")
    (tmp_path / "bomb.png").write_bytes(b"\x89PNG\r\n\x1a\n" + body)
    with refused(InputError, "bomb.png", "67,108,864 pixels"):
        read_image(tmp_path / "bomb.png")


@settings(
    derandomize=True,
    deadline=None,
    max_examples=150,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    kind=st.sampled_from(["png", "jpeg", "bmp", "webp", "tiff"]),
    where=st.floats(0, 1, exclude_max=True),
    damage=st.binary(min_size=1, max_size=30),
    cut=st.booleans(),
)
def test_damaged_images_are_read_or_refused_in_words(
    tmp_path: Path, kind: str, where: float, damage: bytes, cut: bool
) -> None:
    pixels = np.random.default_rng(1).integers(0, 256, (9, 7, 3), dtype=np.uint8)
    path = saved(tmp_path / f"image.{kind}", pixels, format=kind)
    data = path.read_bytes()
    start = int(where * len(data))
    path.write_bytes(data[:start] + damage + (b"" if cut else data[start + len(damage) :]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Pillow tells of the damage
        try:
            found = read_image(path)
        except InputError:
            return
    assert found.dim() == 3
    assert 0 <= float(found.min()) <= float(found.max()) <= 1


@pytest.mark.parametrize(
    "name", ["nowhere", "file.txt", "empty", "scalar.npy", "text.npy", "none.npy"]
)
def test_what_cannot_be_inputs_is_told(tmp_path: Path, name: str) -> None:
    (tmp_path / "file.txt").write_text("x")
    (tmp_path / "empty").mkdir()
    np.save(tmp_path / "scalar.npy", np.float32(1))
    np.save(tmp_path / "text.npy", np.array(["a"]))
    np.save(tmp_path / "none.npy", np.ones((0, 3)))
    with pytest.raises(typer.BadParameter, match="expected") as caught:
        load_inputs(tmp_path / name, hint="--here")
    assert caught.value.param_hint == "--here"
