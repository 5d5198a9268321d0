"""Archives are read by name, in memory, within limits; nothing else in them matters."""

from __future__ import annotations

import gzip
import io
import os
import pickle
import random
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
import torch
from studies.archives import gunzipped, tar_members, tar_names, tensors, zip_members

from centersmooth.errors import FormatError
from refusals import refused


def tar(path: Path, *members: tuple[str, bytes | None]) -> Path:
    """An archive of these files; None makes a link to /etc/passwd."""
    with tarfile.open(path, "w:gz") as archive:
        for name, content in members:
            info = tarfile.TarInfo(name)
            if content is None:
                info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
                archive.addfile(info)
            else:
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
    return path


def zipped(path: Path, *members: tuple[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return path


def test_members_come_in_the_order_asked_for(tmp_path: Path) -> None:
    files = ("b", b"two"), ("a", b"one"), ("c", b"three")
    for found in (
        tar_members(tar(tmp_path / "a.tgz", *files), {"a": 9, "b": 9}),
        zip_members(zipped(tmp_path / "a.zip", *files), {"a": 9, "b": 9}),
    ):
        assert list(found.items()) == [("a", b"one"), ("b", b"two")]


def test_paths_that_climb_are_never_followed(tmp_path: Path) -> None:
    inside = tmp_path / "deep" / "er"
    inside.mkdir(parents=True)
    climbing = ("../../escaped", b"x"), ("/tmp/escaped-from-test", b"x"), ("a", b"one")
    assert tar_members(tar(inside / "a.tgz", *climbing), {"a": 9}) == {"a": b"one"}
    assert zip_members(zipped(inside / "a.zip", *climbing), {"a": 9}) == {"a": b"one"}
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a.tgz", "a.zip", "deep", "er"]
    assert not Path("/tmp/escaped-from-test").exists()


def test_links_and_second_copies_are_refused(tmp_path: Path) -> None:
    with refused(FormatError, "one plain file", "a link"):
        tar_members(tar(tmp_path / "link.tgz", ("a", None)), {"a": 9})
    with refused(FormatError, "second copy"):
        tar_members(tar(tmp_path / "twice.tgz", ("a", b"1"), ("a", b"2")), {"a": 9})
    with pytest.warns(UserWarning, match="Duplicate"):
        path = zipped(tmp_path / "twice.zip", ("a", b"1"), ("a", b"2"))
    with refused(FormatError, "second copy"):
        zip_members(path, {"a": 9})


def test_nothing_larger_than_expected_is_unpacked(tmp_path: Path) -> None:
    bomb = b"\0" * 5_000_000
    with refused(FormatError, "at most"):
        tar_members(tar(tmp_path / "a.tgz", ("a", bomb)), {"a": 1_000})
    with refused(FormatError, "at most"):
        zip_members(zipped(tmp_path / "a.zip", ("a", bomb)), {"a": 1_000})
    (tmp_path / "a.gz").write_bytes(gzip.compress(bomb))
    with refused(FormatError, "at most"):
        gunzipped(tmp_path / "a.gz", 1_000)


def test_missing_members_are_named(tmp_path: Path) -> None:
    with refused(FormatError, "an archive with b, c"):
        tar_members(tar(tmp_path / "a.tgz", ("a", b"1")), {"a": 9, "b": 9, "c": 9})
    with refused(FormatError, "an archive with b"):
        zip_members(zipped(tmp_path / "a.zip", ("a", b"1")), {"a": 9, "b": 9})


def test_damaged_archives_are_refused(tmp_path: Path) -> None:
    whole = tar(tmp_path / "a.tgz", ("a", random.Random(0).randbytes(20_000))).read_bytes()
    packed = zipped(tmp_path / "a.zip", ("a", random.Random(0).randbytes(20_000))).read_bytes()
    for damaged in (b"", b"no archive", whole[:10_000], whole[:-10_000] + bytes(10_000)):
        (tmp_path / "damaged").write_bytes(damaged)
        with pytest.raises(FormatError):
            tar_members(tmp_path / "damaged", {"a": 30_000})
        with pytest.raises(FormatError):
            gunzipped(tmp_path / "damaged", 30_000)
    for damaged in (
        b"",
        b"no archive",
        packed[:10_000],
        packed[:200] + bytes([packed[200] ^ 1]) + packed[201:],
    ):
        (tmp_path / "damaged").write_bytes(damaged)
        with pytest.raises(FormatError):
            zip_members(tmp_path / "damaged", {"a": 30_000})


def test_names_of_one_folder_only(tmp_path: Path) -> None:
    files = [
        ("f/b.jpg", b""),
        ("f/a.jpg", b""),
        ("f/a.png", b""),
        ("f/g/c.jpg", b""),
        ("d.jpg", b""),
    ]
    path = tar(tmp_path / "a.tgz", *files, ("f/link.jpg", None))
    assert tar_names(path, "f/", ".jpg") == ["f/a.jpg", "f/b.jpg"]


def saved(value: Any) -> bytes:
    buffer = io.BytesIO()
    torch.save(value, buffer)
    return buffer.getvalue()


class Hostile:
    """Runs a command when it is unpickled."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.mkdir, (self.path,)


def test_weights_are_read_and_no_code_is_run(tmp_path: Path) -> None:
    state = {"layer.weight": torch.arange(3.0)}
    assert torch.equal(tensors(saved(state))["layer.weight"], state["layer.weight"])
    trace = tmp_path / "trace"
    hostile = Hostile(str(trace))
    for content in (saved(hostile), saved({"a": hostile}), pickle.dumps(hostile), b"", b"x"):
        with refused(FormatError, "saved weights"):
            tensors(content)
    assert not trace.exists()
    for other in ([torch.zeros(1)], {"a": 1}, {1: torch.zeros(1)}):
        with refused(FormatError, "tensors by name"):
            tensors(saved(other))
