"""Files for other people are complete, or what was there before."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from centersmooth.errors import StoreError
from centersmooth.store.files import cannot_write, folder, whole
from refusals import refused


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """A full disk, as far as this process can tell. Python ignores the signal."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_file_appears_once_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    with whole(path) as stream:
        stream.write(b"new")
        assert not path.exists()
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["table.csv"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_what_was_there_stays_after_an_error(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(b"old")

    def interrupted() -> None:
        with whole(path) as stream:
            stream.write(b"half")
            raise error

    with pytest.raises(error):
        interrupted()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["table.csv"]


def test_a_full_disk_is_told_with_the_file_and_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(b"old")
    told = refused(StoreError, "table.csv", "Free some space")
    with told, files_of_at_most(1_000), whole(path) as stream:
        stream.write(bytes(5_000))
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["table.csv"]


def test_a_device_is_written_to_as_it_is(tmp_path: Path) -> None:
    with refused(StoreError, "/dev/full", "No space left"), whole(Path("/dev/full")) as stream:
        stream.write(b"x")
    assert Path("/dev/full").is_char_device()


def test_a_link_leads_to_its_file(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with whole(tmp_path / "link") as stream:
        stream.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_a_folder_is_made_or_the_error_names_it(tmp_path: Path) -> None:
    assert folder(tmp_path / "a" / "b").is_dir()
    (tmp_path / "file").write_text("in the way")
    with refused(StoreError, "file", "choose a place"):
        folder(tmp_path / "file")


def test_an_error_without_words_is_told_anyway() -> None:
    assert "table.csv" in str(cannot_write("table.csv", OSError("odd")))
