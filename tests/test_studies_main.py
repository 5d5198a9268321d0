"""The command line of the studies."""

from __future__ import annotations

from pathlib import Path

import pytest
from studies import __main__ as command
from studies import catalogue, scales
from studies.catalogue import PARTS, part_named
from studies.scales import FULL, SMALL, scale_named

from centersmooth.errors import ArgumentError
from refusals import refused


class Fake:
    """A part that leaves a mark."""

    name = "fake"
    ran: list[str] = []  # noqa: RUF012

    def run(self, scale: scales.Scale) -> None:
        self.ran.append(scale.name)

    def keep(self, scale: scales.Scale) -> None:
        self.ran.append(f"{scale.name}, kept")


def test_parts_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["list"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert listed == [*(p.name for p in PARTS), "celeba (when named)", "biggan (when named)"]
    assert len(set(listed)) == len(listed)


def test_a_part_runs_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "PARTS", (Fake(),))
    assert command.main(["run", "small", "--here", "--only", "fake"]) == 0
    assert Fake.ran == ["small", "small, kept"]


def test_what_an_unfinished_part_holds_is_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(scales, "RESULTS", tmp_path)
    monkeypatch.setattr(catalogue, "PARTS", (Fake(),))
    monkeypatch.setattr(Fake, "ran", [])
    assert command.main(["keep", "full", "--only", "fake"]) == 0
    assert Fake.ran == ["full, kept"]


def test_wrong_commands_say_what_is_right(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["run", "small", "--only", "nothing"]) == 1
    assert "python -m studies list" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        command.main(["run", "huge"])
    with refused(ArgumentError, "small or full"):
        scale_named("huge")
    with refused(ArgumentError, "a part of the studies"):
        part_named("nothing")


def test_a_part_that_fails_is_told_and_the_others_are_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each part has a process of its own, which here cannot know the part."""
    monkeypatch.setattr(scales, "RESULTS", tmp_path)
    monkeypatch.setattr(catalogue, "PARTS", (*catalogue.PARTS, Fake()))
    assert command.main(["run", "small", "--only", "fake"]) == 1
    assert "failed: fake" in capsys.readouterr().err


def test_sizes_of_other_parts_do_not_move_a_stopped_run() -> None:
    folder = SMALL.run_folder("faces", SMALL.faces)
    assert folder != SMALL.run_folder("faces", FULL.faces)
    assert folder != FULL.run_folder("faces", SMALL.faces)
    assert folder == SMALL.run_folder("faces", SMALL.faces)
