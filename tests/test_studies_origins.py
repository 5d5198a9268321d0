"""Files are fetched whole, checked and cached; whatever goes wrong leaves nothing behind."""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from studies.origins import (
    Edition,
    File,
    Npm,
    Origin,
    Pip,
    UnreachableError,
    Web,
    load,
    sha256_of,
    write_atomically,
)

from centersmooth.errors import FormatError
from refusals import refused

CONTENT = b"some weights"
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@dataclass(frozen=True)
class Shelf(Origin):
    """An origin that writes what it is told to, and counts how often it was asked."""

    content: bytes
    asked: list[str] = field(default_factory=list)
    stops: bool = False

    def fetch(self, folder: Path, name: str, limit: int) -> None:
        self.asked.append(name)
        (folder / name).write_bytes(self.content)
        if self.stops:
            raise KeyboardInterrupt


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "centersmooth"


def file(origin: Origin, name: str = "weights.bin") -> File:
    return File(name, SHA256, 100, origin)


def test_a_file_is_fetched_once_and_then_found(cache: Path) -> None:
    shelf = Shelf(CONTENT)
    for _ in range(2):
        assert file(shelf).path().read_bytes() == CONTENT
    assert shelf.asked == ["weights.bin"]
    assert os.listdir(cache) == ["weights.bin"]


@pytest.mark.parametrize("content", [b"other weights", b"", CONTENT[:-1], CONTENT * 20])
def test_a_wrong_file_never_reaches_the_cache(cache: Path, content: bytes) -> None:
    with refused(FormatError, SHA256, "fetch it again"):
        file(Shelf(content)).path()
    assert not os.listdir(cache)


def test_a_file_changed_in_the_cache_is_not_used(cache: Path) -> None:
    shelf = Shelf(CONTENT)
    file(shelf).path().write_bytes(b"tampered")
    with refused(FormatError, f"Delete {cache}"):
        file(shelf).path()
    assert len(shelf.asked) == 1


def test_an_interrupted_fetch_leaves_nothing_half_written(cache: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        file(Shelf(CONTENT[:4], stops=True)).path()
    assert not os.listdir(cache)
    assert file(Shelf(CONTENT)).path().read_bytes() == CONTENT


def test_what_is_cached_comes_before_what_would_have_to_be_fetched(cache: Path) -> None:
    far, near = Shelf(CONTENT), Shelf(CONTENT)
    file(near, "near.bin").path()
    editions = [
        Edition([file(far, "far.bin")], lambda paths: "far"),
        Edition([file(near, "near.bin")], lambda paths: "near"),
    ]
    assert load("weights", editions) == "near"
    assert not far.asked


def test_the_next_edition_is_tried_and_at_last_one_is_told_what_to_put_where(cache: Path) -> None:
    nowhere = file(Web("http://unsafe.invalid/weights.bin"), "official.bin")
    package = file(Shelf(CONTENT), "package.bin")
    editions = [
        Edition([nowhere], lambda paths: b"official"),
        Edition([package], lambda paths: paths[0].read_bytes()),
    ]
    assert load("weights", editions) == CONTENT
    with refused(UnreachableError, "https", "Put official.bin into", str(cache)):
        load("weights", editions[:1])


def test_plain_http_and_unknown_hosts_are_unreachable(cache: Path) -> None:
    for address in ("http://unsafe.invalid/a", "file:///etc/passwd", "https://nowhere.invalid/a"):
        with pytest.raises(UnreachableError):
            file(Web(address)).path()
    assert not os.listdir(cache)


def test_a_missing_or_failing_package_manager_is_unreachable(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    monkeypatch.setenv("PATH", str(tools))
    with pytest.raises(UnreachableError, match="npm is not installed"):
        file(Npm("weights@1")).path()
    failing = tools / "npm"
    failing.write_text("#!/bin/sh\necho no such package >&2\nexit 1\n")
    failing.chmod(failing.stat().st_mode | stat.S_IEXEC)
    with pytest.raises(UnreachableError, match="no such package"):
        file(Npm("weights@1")).path()


def test_npm_is_told_to_run_nothing(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools, said = tmp_path / "tools", tmp_path / "said"
    tools.mkdir()
    tool = tools / "npm"
    tool.write_text(
        f'#!/bin/sh\necho "$@" > {said}\nprintf "%s" "{CONTENT.decode()}" > weights.bin\n'
    )
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    assert file(Npm("weights@1")).path().read_bytes() == CONTENT
    assert said.read_text().split() == ["pack", "--loglevel=error", "--ignore-scripts", "weights@1"]


def test_pip_checks_hashes_and_builds_nothing() -> None:
    assert Pip("weights==1", SHA256).options == ("--only-binary", ":all:")


def test_writing_is_all_or_nothing(tmp_path: Path) -> None:
    path = write_atomically(tmp_path / "new" / "file", b"one")
    assert path.read_bytes() == b"one"
    with pytest.raises(TypeError):
        write_atomically(path, "text")  # type: ignore[arg-type]
    assert path.read_bytes() == b"one"
    assert os.listdir(path.parent) == ["file"]
    assert sha256_of(path) == hashlib.sha256(b"one").hexdigest()
