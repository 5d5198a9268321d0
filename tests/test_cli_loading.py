"""Models and studies come from files and modules of the user's own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import typer
from ray import cloudpickle

from centersmooth.cli.loading import load_model, load_study
from cli_files import model_file, study_file


def test_a_function_of_a_batch_and_a_module_are_models_and_others_are_called(
    tmp_path: Path,
) -> None:
    path = model_file(tmp_path)
    batch = torch.rand(2, 48)
    assert torch.equal(load_model(f"{path}:predict")(batch), batch[:, :5] * 2)
    built = load_model(f"{path}:build")
    assert isinstance(built, torch.nn.Module)
    assert built(batch).shape == (2, 5)


def test_a_module_beside_the_user_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model_file(tmp_path, "beside_me_only.py")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert callable(load_model("beside_me_only:predict"))


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("nothing", "It has time, torch, build"),
        ("number", "got no 'number'"),
        ("wrong", "wrong() to return a model, got int"),
        ("raising", "RuntimeError: no weights here"),
    ],
)
def test_what_is_no_model_is_told(tmp_path: Path, name: str, wanted: str) -> None:
    with pytest.raises(typer.BadParameter) as caught:
        load_model(f"{model_file(tmp_path)}:{name}")
    assert wanted in str(caught.value)
    assert caught.value.param_hint == "--model"


@pytest.mark.parametrize("text", ["", ":", "a", "a:", ":b", "nowhere.py:b"])
def test_the_form_of_a_name_is_told(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="expected"):
        load_model(text)


OPEN = """
import pickle, sys, torch
with open(sys.argv[1], "rb") as parcel:
    model = pickle.load(parcel)
print(model(torch.full((1, 6), 100.0)).tolist())
"""


def test_what_a_file_defines_travels_by_value(tmp_path: Path) -> None:
    """Other processes have no such module: its classes must be in the parcel themselves."""
    own = load_study(study_file(tmp_path))
    model = own.settings[0].model
    assert type(model).__module__ not in sys.modules
    (tmp_path / "parcel").write_bytes(cloudpickle.dumps(model))
    opened = subprocess.run(
        [sys.executable, "-c", OPEN, str(tmp_path / "parcel")], capture_output=True, text=True
    )
    assert opened.stdout.strip() == "[[1.0, 1.0, 1.0, 1.0]]", opened.stderr


def test_a_file_changed_within_a_second_is_read_anew(tmp_path: Path) -> None:
    """Python's own cache goes by seconds and sizes."""
    path = tmp_path / "quick.py"
    for word in ("one", "two", "six"):
        path.write_text(f"def build(batch):\n    return {word!r}\n")
        os.utime(path, (1_000_000_000, 1_000_000_000))
        assert load_model(f"{path}:build", "--model")([]) == word
