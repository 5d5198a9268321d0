"""`centersmooth plan`: what a budget can do, before it is spent."""

from __future__ import annotations

from pathlib import Path

import pytest

import centersmooth as cs
from cli_files import command, image_folder, model_file, words


def test_a_plan_without_a_model_says_what_samples_can_do() -> None:
    result = command("plan", "--sigma", "0.25,0.5", "--eps", "0.1,1,9")
    assert result.exit_code == 0, result.output
    text = words(result)
    assert "Gaussian(sigma=0.25)" in text
    assert "Gaussian(sigma=0.5)" in text
    assert "4,999 forward passes per input." in text
    assert "4 no - 265," in text  # four sigmas: not with 4,000, but with 265 thousand
    assert "36 no - none" in text


def test_a_plan_agrees_with_certify(tmp_path: Path) -> None:
    model = model_file(tmp_path)
    images = image_folder(tmp_path)
    shared = ("--sigma", 0.25, "--eps", 0.75, "--metric", "l2")
    told = words(command("plan", *shared))
    assert "0.75 3 no" in told
    refused = command(
        "certify", *shared, "--model", f"{model}:predict", "--inputs", images, "--out", tmp_path
    )
    assert refused.exit_code == 2
    reach = cs.Smoother(_never, cs.Gaussian(0.25), cs.metrics.L2())
    from centersmooth.planning import plan

    assert f"{plan(reach, 0.75).largest_eps:.4g}" in told


def _never(batch: object) -> object:
    return batch


def test_with_a_model_the_time_here_is_told(tmp_path: Path) -> None:
    result = command(
        "plan", "--sigma", 0.25, "--eps", 0.1, "--model", f"{model_file(tmp_path)}:build",
        "--inputs", image_folder(tmp_path), "--batch-size", 64,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "passes per second." in words(result)


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["--sigma", "0.25", "--eps", "x"], "--eps"),
        (["--sigma", "0", "--eps", "1"], "--sigma"),
        (["--sigma", "1", "--eps", "1", "--alpha", "2"], "--alpha"),
        (["--sigma", "1", "--eps", "1", "--metric", "no"], "--metric"),
        (["--sigma", "1", "--eps", "1", "--model", "a:b"], "--inputs"),
        (["--sigma", "1", "--eps", "1", "--range", "2,1"], "--range"),
        (["--sigma", "1", "--eps", "1", "--answer-samples", "3"], "--answer-samples"),
    ],
)
def test_mistakes_name_their_option(arguments: list[str], wanted: str) -> None:
    result = command("plan", *arguments)
    assert result.exit_code == 2, result.output
    assert wanted in words(result)
