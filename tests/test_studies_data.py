"""Data sets are read from the official files and from packages alike; fixtures stand for both."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from studies import data
from studies.origins import UnreachableError

from centersmooth.errors import FormatError
from refusals import refused
from test_studies_archives import tar, zipped

RNG = np.random.default_rng(0)


def idx(array: np.ndarray) -> bytes:
    header = np.array([0x800 + array.ndim, *array.shape], dtype=">i4").tobytes()
    return header + array.astype(np.uint8).tobytes()


@pytest.fixture
def digits(monkeypatch: pytest.MonkeyPatch) -> dict[str, np.ndarray]:
    """Twelve training and five test digits in place of MNIST."""
    shapes = dict(zip(data._IDX, [(12, 28, 28), (12,), (5, 28, 28), (5,)], strict=True))
    monkeypatch.setattr(data, "_IDX", shapes)
    return {name: RNG.integers(0, 10, shape) for name, shape in shapes.items()}


def test_both_editions_of_mnist_give_the_same(
    tmp_path: Path, digits: dict[str, np.ndarray]
) -> None:
    paths = []
    for name, array in digits.items():
        paths.append(tmp_path / f"{name}.gz")
        paths[-1].write_bytes(gzip.compress(idx(array)))
    members = [(f"package/data/{name}", idx(array)) for name, array in digits.items()]
    package = tar(tmp_path / "package.tgz", *members, ("package/index.js", b"evil()"))
    one, other = data.mnist_of_files(paths), data.mnist_of_package(package)
    for found in (one, other):
        assert found.train.shape == (12, 1, 28, 28)
        assert torch.equal(
            found.test[:, 0], torch.from_numpy(digits["t10k-images-idx3-ubyte"]).byte()
        )
        assert found.test_labels.tolist() == digits["t10k-labels-idx1-ubyte"].tolist()
    assert torch.equal(one.train, other.train)


@pytest.mark.parametrize("damage", [lambda b: b[:-1], lambda b: b"\1" + b[1:], lambda b: b""])
def test_damaged_idx_files_are_refused(damage: object) -> None:
    content = idx(np.zeros((2, 3, 3)))
    assert data.idx_array(content, (2, 3, 3)).shape == (2, 3, 3)
    with refused(FormatError, "IDX bytes of shape (2, 3, 3)"):
        data.idx_array(damage(content), (2, 3, 3))  # type: ignore[operator]


def png(pixels: np.ndarray, kind: str = "PNG") -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(pixels.astype(np.uint8)).save(buffer, kind)
    return buffer.getvalue()


@pytest.fixture
def photos(monkeypatch: pytest.MonkeyPatch) -> np.ndarray:
    """Four photos per file in place of ten thousand."""
    monkeypatch.setattr(data, "_BATCH", 4)
    return RNG.integers(0, 256, (6, 4, 3, 32, 32)).astype(np.uint8)


def test_both_editions_of_cifar_give_the_same(tmp_path: Path, photos: np.ndarray) -> None:
    labels = RNG.integers(0, 10, (6, 4)).astype(np.uint8)
    names = (*data._BATCHES, "test_batch")
    rows = np.concatenate([labels[..., None], photos.reshape(6, 4, -1)], axis=2)
    binary = [
        (f"cifar-10-batches-bin/{n}.bin", r.tobytes()) for n, r in zip(names, rows, strict=True)
    ]
    pictures = [p.transpose(0, 2, 3, 1).reshape(4, 1024, 3) for p in photos]
    package = [(f"package/{n}.png", png(p)) for n, p in zip(names, pictures, strict=True)]
    train, test = labels[:5].reshape(-1).tolist(), labels[5].tolist()
    package += [("package/train_lables.json", json.dumps(train).encode())]
    package += [("package/test_lables.json", json.dumps(test).encode())]
    one = data.cifar_of_binary(tar(tmp_path / "binary.tgz", *binary))
    other = data.cifar_of_package(tar(tmp_path / "package.tgz", *package))
    for found in (one, other):
        assert torch.equal(found.train, torch.from_numpy(photos[:5].reshape(20, 3, 32, 32)))
        assert torch.equal(found.test, torch.from_numpy(photos[5]))
        assert found.train_labels.tolist() == train
        assert found.test_labels.tolist() == test


def test_damaged_cifar_is_refused(tmp_path: Path, photos: np.ndarray) -> None:
    names = (*data._BATCHES, "test_batch")
    short = [(f"cifar-10-batches-bin/{n}.bin", b"\0" * 100) for n in names]
    with refused(FormatError, f"{4 * 3073:,} bytes"):
        data.cifar_of_binary(tar(tmp_path / "binary.tgz", *short))
    for content in (b"{", b'["a"]', b"[0.5]", b"[11]", b"[-1]", b"[[1]]"):
        with refused(FormatError, "labels"):
            data._labels(content)


def test_pictures_of_another_kind_or_size_are_refused() -> None:
    pixels = np.zeros((4, 6, 3))
    assert data.opened(png(pixels), "RGB", (6, 4)).shape == (4, 6, 3)
    for content in (b"", b"no picture", png(pixels)[:40], png(pixels, "BMP")):
        with refused(FormatError, "a picture"):
            data.opened(content, "RGB", None)
    with refused(FormatError, "(4, 6)"):
        data.opened(png(pixels), "RGB", (4, 6))


def test_portraits_are_the_same_ones_however_many_are_wanted(tmp_path: Path) -> None:
    folder = data._AVATARS
    files = [(f"{folder}{n}.jpg", png(np.full((20, 20, 3), 20 * n), "JPEG")) for n in range(9)]
    path = tar(tmp_path / "package.tgz", *files, (f"{folder}readme.md", b""))
    few, some = data.portraits_of(path, 3, 16), data.portraits_of(path, 6, 16)
    assert few[0].shape == (3, 3, 16, 16)
    assert few[1] == some[1][:3]
    assert torch.equal(few[0], some[0][:3])
    assert len(set(some[1])) == 6
    with refused(FormatError, "10 portraits"):
        data.portraits_of(path, 10, 16)


def test_classes_take_turns_among_the_chosen() -> None:
    labels = torch.tensor([1, 1, 0, 1, 0], dtype=torch.uint8)
    test = torch.arange(5, dtype=torch.uint8).reshape(5, 1, 1, 1)
    found, names = data.Images(test, labels, test, labels).chosen(4)
    assert names == ["test 2", "test 0", "test 4", "test 1"]
    assert (found.flatten() * 255).round().tolist() == [2, 0, 4, 1]


def test_celeba_is_read_from_where_it_was_put(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with refused(UnreachableError, data.CELEBA, str(tmp_path)):
        data.celeba(2)
    (tmp_path / "centersmooth").mkdir()
    photo = png(np.full((22, 18, 3), 200), "JPEG")
    names = [f"img_align_celeba/{number:06d}.jpg" for number in (182_638, 182_639, 1)]
    zipped(tmp_path / "centersmooth" / data.CELEBA, *((name, photo) for name in names))
    found, chosen = data.celeba(2, 16)
    assert found.shape == (2, 3, 16, 16)
    assert chosen == ["182638.jpg", "182639.jpg"]


def test_the_astronaut_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = np.zeros((512, 512, 3))
    whole[:256, 96:352] = 240
    wheel = zipped(tmp_path / "wheel.whl", ("skimage/data/astronaut.png", png(whole)))
    head = data.astronaut_of(wheel, 16)
    assert head.shape == (3, 16, 16)
    assert float(head.min()) > 0.9  # cut out of the dark
    monkeypatch.setattr(data, "astronaut", lambda size: head)
    monkeypatch.setattr(data, "portraits", lambda n, size: (torch.zeros(n, 3, 16, 16), ["a", "b"]))
    photos, names = data.people(3, 16)
    assert names == ["astronaut.png", "a", "b"]
    assert torch.equal(photos[0], head)
    assert data.people(1, 16)[1] == ["astronaut.png"]
