"""`centersmooth study`, and study files of every kind."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from centersmooth.cli.loading import load_study
from centersmooth.store import Store
from centersmooth.study import Study
from cli_files import STUDY, command, study_file, words


def test_a_study_file_runs_and_goes_on(tmp_path: Path) -> None:
    path = study_file(tmp_path)
    first = command("study", path, "--out", tmp_path / "run")
    assert first.exit_code == 0, first.output
    assert "3 of 3 records" in first.output
    again = command("study", path, "--out", tmp_path / "run")
    assert again.exit_code == 0
    assert "0 new" in again.output
    with Store(tmp_path / "run") as store:
        assert len(store) == 3


def test_a_changed_study_file_is_refused(tmp_path: Path) -> None:
    command("study", study_file(tmp_path), "--out", tmp_path / "run")
    other = study_file(tmp_path, STUDY.replace("(0.1, 0.2)", "(0.1, 0.3)"))
    result = command("study", other, "--out", tmp_path / "run")
    assert result.exit_code == 1
    assert "eps" in words(result)
    assert "another folder" in words(result)


def test_out_is_asked_for(tmp_path: Path) -> None:
    result = command("study", study_file(tmp_path))
    assert result.exit_code == 2
    assert "--out" in words(result)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("x = 1", "got none"),
        ("study = 3", "got int"),
        ("def study(): return 3", "got int"),
        ("def study(): return 1 / 0", "ZeroDivisionError"),
        ("import no_such_module", "No module named"),
        ("study = (", "SyntaxError"),
        ("raise SystemExit(3)", "SystemExit"),
        ("import centersmooth as cs\ncs.Gaussian(-1)", "line 2"),
    ],
)
def test_a_file_without_a_study_is_a_mistake_in_words(
    tmp_path: Path, text: str, wanted: str
) -> None:
    result = command("study", study_file(tmp_path, text), "--out", tmp_path / "run")
    assert result.exit_code == 2
    assert wanted in words(result)
    assert "Traceback" not in result.output


def test_no_file_is_a_mistake(tmp_path: Path) -> None:
    result = command("study", tmp_path / "nowhere.py", "--out", tmp_path / "run")
    assert result.exit_code == 2
    assert "FILE" in words(result)


# ----------------------------------------------------------------------------------- fuzz


def a_study_or_a_mistake(path: Path) -> bool:
    """A study comes out, or one kind of error that says something; any other error passes on."""
    try:
        return isinstance(load_study(path), Study)
    except typer.BadParameter as error:
        return bool(str(error).strip())


PIECES = st.sampled_from(
    ["import centersmooth as cs", "import torch", "study = None", "study = cs.Study",
     "def study():", "    return 3", "    return", "class study: pass", "study = lambda: [][0]",
     "study = study", "raise ValueError('é')", "raise KeyError", "x = 'unfinished", "\tmixed",
     "from centersmooth.study import *", "study = Study([1], [])", "import sys; sys.exit('bye')",
     "study = type('S', (), {})()", "del study", "\x00", "# -*- coding: nonsense -*-", "return 1"]
)  # fmt: skip


@settings(
    derandomize=True,
    deadline=None,
    max_examples=200,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(PIECES, max_size=6).map("\n".join).map(str.encode) | st.binary(max_size=60))
def test_any_file_is_a_study_or_a_mistake_in_words(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "fuzzed.py"
    path.write_bytes(content)
    assert a_study_or_a_mistake(path)


@settings(
    derandomize=True,
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.integers(0, len(STUDY) - 1), st.integers(0, 40))
def test_a_study_file_with_a_hole_is_a_study_or_a_mistake(
    tmp_path: Path, start: int, length: int
) -> None:
    path = study_file(tmp_path, STUDY[:start] + STUDY[start + length :])
    assert a_study_or_a_mistake(path)
