"""Members of archives, read into memory by name: nothing is unpacked to disk, no path followed."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch

from centersmooth.errors import FormatError, expected

_DAMAGED = "The file is damaged or not the one meant: delete it and fetch it again."


def tar_members(path: Path, limits: Mapping[str, int]) -> dict[str, bytes]:
    """The named plain files of a tar archive, each at most so many bytes."""
    found: dict[str, bytes] = {}
    try:
        with tarfile.open(path, "r:*") as archive:
            for member in archive:
                if member.name in limits:
                    if not member.isreg() or member.name in found:
                        raise _refused(member.name, "a link, a folder or a second copy")
                    _check_size(member.name, member.size, limits)
                    stream = archive.extractfile(member)
                    assert stream is not None, "plain files have content"
                    found[member.name] = stream.read()
            while archive.fileobj and archive.fileobj.read(2**20):
                pass  # the checksum comes last, and nobody else reads that far
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        raise FormatError(expected(f"{path.name} to be an archive", error, _DAMAGED)) from error
    return _all_there(found, limits)


def zip_members(path: Path, limits: Mapping[str, int]) -> dict[str, bytes]:
    """The same of a zip archive (wheels are such)."""
    found: dict[str, bytes] = {}
    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                if member.filename in limits:
                    if member.filename in found:
                        raise _refused(member.filename, "a second copy")
                    _check_size(member.filename, member.file_size, limits)
                    with archive.open(member) as stream:
                        # What the directory says of the size need not be true.
                        content = stream.read(limits[member.filename] + 1)
                    _check_size(member.filename, len(content), limits)
                    found[member.filename] = content
    except (zipfile.BadZipFile, EOFError, OSError, zlib.error, NotImplementedError) as error:
        raise FormatError(expected(f"{path.name} to be an archive", error, _DAMAGED)) from error
    return _all_there(found, limits)


def tar_names(path: Path, prefix: str, suffix: str) -> list[str]:
    """The names of plain files in one folder of a tar archive, in alphabetical order."""
    try:
        with tarfile.open(path, "r:*") as archive:
            names = {member.name for member in archive if member.isreg()}
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        raise FormatError(expected(f"{path.name} to be an archive", error, _DAMAGED)) from error
    inside = (name for name in names if name.startswith(prefix) and name.endswith(suffix))
    return sorted(name for name in inside if "/" not in name[len(prefix) :])


def gunzipped(path: Path, limit: int) -> bytes:
    """The content of a .gz file of at most so many bytes."""
    try:
        with gzip.open(path, "rb") as stream:
            content = stream.read(limit + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise FormatError(expected(f"{path.name} to be gzipped", error, _DAMAGED)) from error
    if not content:
        raise FormatError(expected(f"{path.name} to be gzipped", "nothing in it", _DAMAGED))
    _check_size(path.name, len(content), {path.name: limit})
    return content


def tensors(content: bytes) -> dict[str, torch.Tensor]:
    """A saved state dict: torch reads weights only, so no code in the file is run."""
    try:
        found: Any = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
    except Exception as error:  # a damaged pickle can make its reader raise anything
        raise FormatError(expected("saved weights", type(error).__name__, _DAMAGED)) from error
    names_fit = isinstance(found, dict) and all(isinstance(name, str) for name in found)
    if not names_fit or not all(isinstance(value, torch.Tensor) for value in found.values()):
        raise FormatError(expected("tensors by name", type(found).__name__, _DAMAGED))
    return dict(found)


def _check_size(name: str, size: int, limits: Mapping[str, int]) -> None:
    if size > limits[name]:
        raise _refused(name, f"{size:,} bytes or more, {limits[name]:,} at most are expected")


def _refused(name: str, got: str) -> FormatError:
    return FormatError(expected(f"{name} to be one plain file", got, _DAMAGED))


def _all_there(found: dict[str, bytes], wanted: Iterable[str]) -> dict[str, bytes]:
    """In the order in which they were asked for, whatever the archive's own is."""
    if missing := sorted(set(wanted) - set(found)):
        raise FormatError(expected("an archive with " + ", ".join(missing), "none", _DAMAGED))
    return {name: found[name] for name in wanted}
