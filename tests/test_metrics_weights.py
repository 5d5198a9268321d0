from __future__ import annotations

import hashlib
import io
import os
import pickle
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from centersmooth.errors import FormatError
from centersmooth.metrics import weights
from refusals import refused

ARRAYS = {
    "AlexNet_0": {"Conv_0": {"kernel": np.arange(6, dtype=np.float32).reshape(1, 2, 3)}},
    "NetLinLayer_0": {"Conv_0": {"kernel": np.ones(2, dtype=np.float64)}},
}
# As numpy 1 wrote them, which is what the published files hold.
OLD_NAMES = b"numpy._core.multiarray", b"numpy.core.multiarray"


def archive(folder: Path, **members: bytes) -> Path:
    """A package like the published one."""
    path = folder / "package.tar.gz"
    with tarfile.open(path, "w:gz") as package:
        for name, data in members.items():
            info = tarfile.TarInfo(weights._MEMBERS[name])
            info.size = len(data)
            package.addfile(info, io.BytesIO(data))
    return path


@pytest.mark.parametrize("protocol", [2, 4])
def test_nested_arrays_are_read_as_they_were(protocol: int) -> None:
    data = pickle.dumps(ARRAYS, protocol=protocol)
    old = data.replace(*OLD_NAMES) if protocol == 2 else data
    assert old != data or protocol == 4
    for form in (data, old):
        found = weights.unpickled(form)
        kernel = found["AlexNet_0"]["Conv_0"]["kernel"]
        np.testing.assert_array_equal(kernel, ARRAYS["AlexNet_0"]["Conv_0"]["kernel"])
        assert kernel.dtype == np.float32
        assert list(found) == list(ARRAYS)


class Hostile:
    """Runs a command when it is unpickled."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.call = function, arguments

    def __reduce__(self) -> Any:
        return self.call


def test_no_code_in_a_pickle_is_run(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    for function in (os.mkdir, os.system, eval, np.fromfile, getattr):
        hostile = {"AlexNet_0": Hostile(function, str(trace))}
        with refused(FormatError, "a pickle of arrays", "do not use it"):
            weights.unpickled(pickle.dumps(hostile))
    assert not trace.exists()


def test_code_inside_an_array_of_objects_is_not_run_either(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    hidden = np.array([Hostile(os.mkdir, str(trace))], dtype=object)
    with refused(FormatError, "a call of"):
        weights.unpickled(pickle.dumps({"AlexNet_0": hidden}))
    assert not trace.exists()


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (np.array([None]), "float arrays"),
        (np.array(["text"]), "float arrays"),
        (np.array([np.nan]), "float arrays"),
        (np.array([1, 2]), "float arrays"),
        ({1: np.ones(1)}, "dict"),
        ([np.ones(1)], "list"),
        ("text", "str"),
    ],
)
def test_anything_but_dicts_of_finite_floats_is_refused(content: Any, word: str) -> None:
    with refused(FormatError, word):
        weights.unpickled(pickle.dumps({"AlexNet_0": content}))


def test_damaged_pickles_are_refused() -> None:
    data = pickle.dumps(ARRAYS)
    for damaged in (b"", b"no pickle at all", data[:-20], data[: len(data) // 2]):
        with refused(FormatError, "a pickle of arrays", "damaged"):
            weights.unpickled(damaged)


def test_only_the_pinned_file_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = archive(tmp_path, alex=pickle.dumps(ARRAYS))
    with refused(FormatError, f"SHA-256 {weights.SHA256}", "Delete"):
        weights.load("alex", str(path))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert weights.checked(path, digest) == path.read_bytes()
    monkeypatch.setattr(weights, "SHA256", digest)
    assert list(weights.load("alex", str(path))) == list(ARRAYS)
    with refused(FormatError, "vgg16.ckpt"):
        weights.load("vgg", str(path))


def test_a_file_that_is_not_there_says_what_to_give(tmp_path: Path) -> None:
    with refused(FormatError, "LPIPS weights", weights.ARCHIVE):
        weights.load("alex", str(tmp_path / "missing.tar.gz"))


def test_the_cache_is_the_users_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert weights.cache_folder() == tmp_path / "centersmooth"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert weights.cache_folder() == Path.home() / ".cache" / "centersmooth"
