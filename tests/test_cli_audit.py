"""`centersmooth audit` as a user types it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import centersmooth as cs
from centersmooth.cli.inputs import load_inputs
from cli_files import command, image_folder, model_file, words


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with a model, images, and a certificate of the second one."""
    model_file(tmp_path)
    x = load_inputs(image_folder(tmp_path))[1]
    np.save(tmp_path / "targets.npy", np.zeros((3, 5), dtype=np.float32))
    smoother(0.25).certify(x, 200, target=np.zeros(5, np.float32)).save(tmp_path / "cert.json")
    return tmp_path


def smoother(sigma: float) -> cs.Smoother:
    return cs.Smoother(
        lambda batch: batch.flatten(1)[:, :5] * 2,
        cs.Gaussian(sigma),
        cs.metrics.L2(),
        answer_samples=50,
        input_range=(0, 1),
        batch_size=64,
        seed=1,
    )


def audit(place: Path, *more: Any, cert: str = "cert.json", inputs: str = "images") -> Any:
    options = ("--model", f"{place / 'own_model.py'}:predict", "--inputs", place / inputs)
    quick = ("--eps", 0.1, "--trials", 5, "--seed", 3, "--batch-size", 64)
    return command("audit", place / cert, *options, *quick, *more)


def test_the_certified_input_is_found_and_attacked(place: Path) -> None:
    result = audit(place)
    assert result.exit_code == 0, result.output
    assert "Audit at eps = 0.1: not broken" in result.output
    assert "0 of 5 answers lie beyond the bound" in words(result)


def test_json_holds_the_outcome(place: Path) -> None:
    found = json.loads(audit(place, "--json").stdout)
    assert found["eps"] == 0.1
    assert found["broken"] is False
    assert found["trials"] == 5


def test_the_error_is_audited_where_targets_are_given(place: Path) -> None:
    result = audit(place, "--targets", place / "targets.npy")
    assert result.exit_code == 0, result.output
    assert "from the target" in words(result)


def test_a_broken_certificate_has_an_exit_code_of_its_own(place: Path) -> None:
    """A certificate that claims the answer of another model."""
    data = json.loads((place / "cert.json").read_text())
    near = cs.Certificate.load(place / "cert.json")
    far = json.loads(json.dumps(data))
    far["value"] = cs.metrics.L2().to_json(near.value + 100)
    (place / "wrong.json").write_text(json.dumps(far))
    result = audit(place, "--trials", 25, cert="wrong.json")
    assert result.exit_code == 3
    assert "BROKEN" in result.output


def test_what_is_wrong_is_told_with_its_option(place: Path) -> None:
    np.save(place / "others.npy", np.zeros((2, 3, 4, 4), dtype=np.float32))
    other = audit(place, inputs="others.npy")
    assert other.exit_code == 2
    assert "the certified input" in words(other)
    assert "got 2 others" in words(other)
    assert "--inputs" in words(other)
    (place / "broken.json").write_text("{}")
    damaged = audit(place, cert="broken.json")
    assert damaged.exit_code == 1
    assert "a certificate of schema" in words(damaged)
    missing = audit(place, cert="missing.json")
    assert missing.exit_code == 1
    assert "Traceback" not in missing.output
    huge = audit(place, "--eps", 100)
    assert huge.exit_code == 2
    assert "eps <= " in words(huge)
