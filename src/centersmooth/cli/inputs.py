"""Inputs to certify, from a folder of images or arrays, or from one NumPy file."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import typer

from centersmooth.cli.values import blamed
from centersmooth.errors import InputError, StoreError, expected

_IMAGES = (".png", ".jpg", ".jpeg", ".bmp", ".webp", ".tif", ".tiff")
_FORMATS = ("PNG", "JPEG", "BMP", "WEBP", "TIFF")
_MOST_PIXELS = 64 * 2**20
_MOST_BYTES = 2**32
"""Of what one array file unpacks to: far more would not be certified in a lifetime."""
_DAMAGE = (OSError, ValueError, EOFError, KeyError, MemoryError, zipfile.BadZipFile, zlib.error)
"""What a damaged array file may raise, or one whose header promises terabytes."""
_USUAL_KEYS = ("inputs", "images", "x")


class Folder(Sequence[torch.Tensor]):
    """Images (channels first, 0 to 1) and .npy arrays of a folder, by name, read when asked for."""

    def __init__(self, folder: Path, limit: int | None = None) -> None:
        known = (*_IMAGES, ".npy")
        files = (path for path in folder.rglob("*") if path.suffix.lower() in known)
        self._files = sorted(path for path in files if path.is_file())[:limit]
        self.names = [path.relative_to(folder).as_posix() for path in self._files]
        self.from_images = all(path.suffix.lower() in _IMAGES for path in self._files)

    def __len__(self) -> int:
        return len(self._files)

    def __getitem__(self, index: Any) -> Any:
        path = self._files[index]
        return as_input(_array(path)) if path.suffix.lower() == ".npy" else read_image(path)


class Arrays(Sequence[torch.Tensor]):
    """The items along the first axis of an array."""

    def __init__(self, array: np.ndarray, limit: int | None = None) -> None:
        self._array = array[:limit]
        self.names = [str(index) for index in range(len(self._array))]
        self.from_images = array.dtype == np.uint8

    def __len__(self) -> int:
        return len(self._array)

    def __getitem__(self, index: Any) -> Any:
        return as_input(self._array[index])


def load_inputs(path: Path, limit: int | None = None, hint: str = "--inputs") -> Folder | Arrays:
    """What a folder, an .npz archive or an .npy file holds, or the first so many of it."""
    with blamed(hint):
        if path.is_dir():
            found: Folder | Arrays = Folder(path, limit)
        elif path.suffix == ".npz":
            found = Arrays(_from_archive(path), limit)
        elif path.suffix == ".npy":
            found = Arrays(_array(path), limit)
        else:
            problem = f"expected a folder, an .npz or an .npy file, got {str(path)!r}."
            raise typer.BadParameter(problem, param_hint=hint)
    if not len(found):
        kinds = "images or .npy files" if path.is_dir() else "items"
        problem = f"expected {kinds} in {path}, got none."
        raise typer.BadParameter(problem, param_hint=hint)
    return found


def as_input(array: np.ndarray) -> torch.Tensor:
    """Numbers as models take them: single precision, 8-bit values from 0 to 1."""
    if array.dtype == np.uint8:
        return torch.from_numpy(np.array(array, dtype=np.float32)).div_(255)
    if array.dtype.kind not in "fiub":
        fix = "Save numbers, without pickles."
        raise InputError(expected("an array of numbers", str(array.dtype), fix))
    return torch.from_numpy(np.array(array, dtype=np.float32))


def read_image(path: Path) -> torch.Tensor:
    """A grey image as (1, H, W), any other as (3, H, W), with values from 0 to 1."""
    image = _pillow()
    try:
        with image.open(path, formats=_FORMATS) as picture:  # reads no more than the header
            width, height = picture.size
            if width * height > _MOST_PIXELS:
                raise ValueError(f"{width} x {height} pixels")
            return _planes(picture)
    except Exception as error:  # a decoder fed with damaged bytes may raise anything
        fix = f"Repair or remove the file; images up to {_MOST_PIXELS:,} pixels are read."
        raise InputError(expected(f"an image in {path.name}", str(error), fix)) from error


def _planes(picture: Any) -> torch.Tensor:
    """Channels first."""
    if picture.mode.startswith("I;16"):
        return torch.from_numpy(np.asarray(picture).astype(np.float32)[None] / 65535)
    if picture.mode in ("I", "F"):
        raise ValueError(f"pixels of mode {picture.mode}, whose range is unknown")
    if picture.mode in ("1", "L", "LA"):
        return as_input(np.asarray(picture.convert("L"))[None])
    return as_input(np.asarray(picture.convert("RGB")).transpose(2, 0, 1))


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError as error:
        fix = "pip install pillow"
        raise StoreError(expected("Pillow to read images", str(error), fix)) from error
    return Image


def _array(path: Path) -> np.ndarray:
    try:
        found = np.load(path, mmap_mode="r", allow_pickle=False)
    except _DAMAGE as error:
        fix = "Save it by numpy.save, without pickles."
        raise InputError(expected(f"an array in {path.name}", str(error), fix)) from error
    return _with_axis(found, path)


def _from_archive(path: Path) -> np.ndarray:
    """The array called inputs, images or x, or the only one there is."""
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(member.file_size for member in archive.infolist())
        if size > _MOST_BYTES:
            raise ValueError(f"{size:,} bytes")
        with np.load(path, allow_pickle=False) as arrays:
            name = next((name for name in _USUAL_KEYS if name in arrays.files), None)
            if name is None and len(arrays.files) != 1:
                raise ValueError(f"{len(arrays.files)} arrays: {', '.join(arrays.files)}")
            found = arrays[name or arrays.files[0]]
    except _DAMAGE as error:
        fix = f"Save one array by numpy.savez, or call it {_USUAL_KEYS[0]!r}."
        raise InputError(expected(f"an array of inputs in {path.name}", str(error), fix)) from error
    return _with_axis(found, path)


def _with_axis(array: Any, path: Path) -> np.ndarray:
    if isinstance(array, np.ndarray) and array.ndim > 0 and array.dtype.kind in "fiub":
        return array
    told = (getattr(array, name, None) for name in ("dtype", "shape"))
    got = " of shape ".join(map(str, told))
    fix = "The first axis counts inputs."
    raise InputError(expected(f"numbers in {path.name}", got, fix))
