"""`centersmooth certify` as a user types it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from centersmooth.cli.values import NAMES
from centersmooth.store import Store
from cli_files import command, image_folder, model_file, words

SMALL = {
    "--samples": 100,
    "--answer-samples": 50,
    "--alpha": 0.1,
    "--batch-size": 64,
    "--seed": 3,
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with a model and images."""
    model_file(tmp_path)
    image_folder(tmp_path)
    return tmp_path


def certify(place: Path, *more: Any, model: str = "predict", **changed: Any) -> Any:
    options = {
        "--model": f"{place / 'own_model.py'}:{model}",
        "--inputs": place / "images",
        "--metric": "l2",
        "--sigma": 0.25,
        "--eps": "0.1,0.2",
        "--out": place / "run",
        **SMALL,
        **changed,
    }
    return command("certify", *pairs(options), *more)


def pairs(options: dict[str, Any]) -> list[str]:
    return [str(part) for option in options.items() for part in option]


def records(place: Path) -> list[Any]:
    with Store(place / "run") as store:
        return list(store.records())


def test_one_command_certifies_a_folder_of_images(place: Path) -> None:
    result = certify(place)
    assert result.exit_code == 0, result.output
    assert "3 of 3 records" in result.output
    assert "l2, sigma 0.25" in result.output
    assert "3 of 3" in result.output.splitlines()[-4]
    assert f"centersmooth report {place / 'run'}" in result.output
    found = records(place)
    assert [record.input_ref for record in found] == ["0.png", "1.png", "2.png"]
    assert all(len(record.bounds) == 2 for record in found)


def test_the_same_command_goes_on_and_another_is_refused(place: Path) -> None:
    assert certify(place, "--limit", 2).exit_code == 0
    again = certify(place, "--limit", 2)
    assert again.exit_code == 0
    assert "0 new" in again.output
    other = certify(place)
    assert other.exit_code == 1
    assert "3 inputs instead of 2" in words(other)
    assert "Traceback" not in other.output


def test_several_sigmas_are_several_settings(place: Path) -> None:
    assert certify(place, **{"--sigma": "0.25,0.5"}).exit_code == 0
    assert {record.setting for record in records(place)} == {"l2, sigma 0.25", "l2, sigma 0.5"}


def test_json_is_a_line_per_record_and_a_summary(place: Path) -> None:
    result = certify(place, "--json")
    *lines, last = (json.loads(line) for line in result.stdout.splitlines())
    assert [line["bounds"] for line in lines] == [list(r.bounds) for r in records(place)]
    assert last["summary"]["counts"] == {"certified": 3}
    assert last["summary"]["expected"] == 3


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (BrokenPipeError(32, "Broken pipe"), "expected a reader of the output"),
        (OSError(28, "No space left on device", "records.jsonl"), "'records.jsonl'"),
    ],
)
def test_an_output_that_takes_no_more_is_told_and_the_record_is_safe(
    place: Path, monkeypatch: pytest.MonkeyPatch, error: OSError, told: str
) -> None:
    def fails(record: Any) -> None:
        raise error

    monkeypatch.setattr("centersmooth.cli.running._print_record", fails)
    result = certify(place, "--json")
    assert result.exit_code == 1
    assert told in words(result)
    assert "records of a run are safe" in words(result)
    assert len(records(place)) == 1


def test_targets_certify_errors(place: Path) -> None:
    np.savez(place / "targets.npz", targets=np.zeros((3, 5), dtype=np.float32))
    assert certify(place, "--targets", place / "targets.npz").exit_code == 0
    assert all(record.errors is not None for record in records(place))
    short = {"--targets": place / "targets.npz", "--limit": 2, "--out": place / "other"}
    assert certify(place, **short).exit_code == 0


def test_jaccard_is_that_of_what_the_model_returns(place: Path) -> None:
    assert certify(place, model="masks", **{"--metric": "jaccard"}).exit_code == 0
    assert {record.metric for record in records(place)} == {"MaskJaccard"}


def test_an_npz_of_numbers(place: Path) -> None:
    np.savez(place / "data.npz", inputs=np.random.default_rng(0).normal(size=(2, 6)))
    assert certify(place, **{"--inputs": place / "data.npz"}).exit_code == 0
    assert len(records(place)) == 2


def test_an_unreadable_image_fails_alone_and_the_exit_code_says_so(place: Path) -> None:
    (place / "images" / "0.png").write_bytes(b"\x89PNG\r\n\x1a\nrubbish")
    result = certify(place)
    assert result.exit_code == 1
    assert "1 failed" in result.output
    assert "0.png" in result.output
    assert "--retry-failed" in result.output
    assert [record.status for record in records(place)] == ["failed", "certified", "certified"]


@pytest.mark.parametrize(
    ("changed", "wanted"),
    [
        ({"--sigma": "-1"}, ["--sigma", "positive"]),
        ({"--sigma": "a"}, ["--sigma", "numbers like"]),
        ({"--eps": ""}, ["--eps", "numbers like"]),
        ({"--eps": "-0.1"}, ["--eps", "finite eps"]),
        ({"--eps": "0.9"}, ["--samples", "--eps", "enough samples for eps = 0.9"]),
        ({"--eps": "0.1,30", "--sigma": "20"}, ["--eps", "declared range"]),
        ({"--alpha": "0.7"}, ["--alpha", "0 < alpha < 0.5"]),
        ({"--metric": "l3"}, ["--metric", "one of jaccard, l1, l2"]),
        ({"--model": "own_model"}, ["--model", "pkg.module:name"]),
        ({"--model": "no_such_module:build"}, ["--model", "No module named"]),
        ({"--inputs": "nowhere"}, ["--inputs", "a folder"]),
        ({"--range": "1"}, ["--range", "two rising numbers"]),
        ({"--targets": "nowhere"}, ["--targets", "a folder"]),
        ({"--on": "mars"}, ["--on", "serial", "ray"]),
        ({"--workers": "2"}, ["--workers", "--on ray"]),
        ({"--samples": "0"}, ["--samples"]),
    ],
)
def test_mistakes_name_their_option(
    place: Path, changed: dict[str, str], wanted: list[str]
) -> None:
    result = certify(place, **changed)
    assert result.exit_code == 2, result.output
    for part in wanted:
        assert part in words(result)
    assert not list((place / "run").glob("*.sqlite")) or "declared range" in wanted


def test_too_many_targets_are_a_mistake(place: Path) -> None:
    np.savez(place / "targets.npz", targets=np.zeros((9, 5)))
    result = certify(place, "--targets", place / "targets.npz")
    assert result.exit_code == 2
    assert "--targets" in words(result)


def test_help_names_every_metric_and_fits_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = command("certify", "--help").output
    assert max(map(len, text.splitlines())) <= 80
    for name in NAMES.split(", "):
        assert name in words(command("certify", "--help"))


# --------------------------------------------------------------------------------- Ctrl-C


def test_ctrl_c_leaves_a_run_that_goes_on(place: Path) -> None:
    arguments = [
        "certify", "--model", "own_model:slow", "--inputs", "images", "--metric", "l2",
        "--sigma", "0.25", "--eps", "0.1", "--out", "run", "--json",
        *pairs({**SMALL, "--samples": 2000}),
    ]  # fmt: skip
    script = "from centersmooth.cli import app; app()"
    started = subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        cwd=place,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
        # A shell in the background lets its children ignore Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert started.stdout is not None
    first = json.loads(started.stdout.readline())
    started.send_signal(signal.SIGINT)
    _, told = started.communicate()
    assert started.returncode == 130, told
    assert "the same command goes on" in told
    assert "Traceback" not in told
    assert 1 <= len(records(place)) < 3
    ended = subprocess.run(
        [sys.executable, "-c", script, *arguments], cwd=place, capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stderr
    found = records(place)
    assert len(found) == 3
    assert list(found[0].bounds) == first["bounds"]


# ----------------------------------------------------------------------------------- fuzz

VALUES = st.sampled_from(
    ["", "0", "-1", "1", "0.1", "0.1,0.2", "nan", "inf", "1e400", "l2", "jaccard", "ray", "serial",
     "own_model.py:predict", "own_model.py:build", "own_model.py:wrong", "own_model.py:raising",
     "own_model.py:number", "own_model:", ":", "os:getcwd", "images", "images/0.png", "nowhere",
     "/dev/null", "own_model.py", "0,1", "1,0", "🙂", "\x00", "-", "--", "a" * 300]
)  # fmt: skip
OPTIONS = st.sampled_from(
    ["--model", "--inputs", "--metric", "--sigma", "--eps", "--samples", "--answer-samples",
     "--alpha", "--targets", "--range", "--limit", "--model-version", "--seed", "--batch-size",
     "--address", "--workers", "--threads", "--retry-failed", "--json", "--no-such-option"]
)  # fmt: skip
GOOD = {
    "--model": "own_model.py:predict",
    "--inputs": "images",
    "--metric": "l2",
    "--sigma": "0.25",
    "--eps": "0.1",
    "--samples": "50",
    "--answer-samples": "20",
    "--limit": "1",
    "--batch-size": "64",
    "--alpha": "0.2",
}


@settings(
    derandomize=True,
    deadline=None,
    max_examples=120,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(st.tuples(OPTIONS, VALUES), min_size=1, max_size=3), st.booleans())
def test_whatever_is_typed_ends_in_an_exit_code_and_words(
    place: Path, monkeypatch: pytest.MonkeyPatch, typed: list[tuple[str, str]], usual: bool
) -> None:
    monkeypatch.chdir(place)
    options = {**(GOOD if usual else {}), **dict(typed)}
    ends_in_words(options, place / "run" / str(abs(hash(tuple(pairs(options))))))


def ends_in_words(options: dict[str, Any], out: Path) -> None:
    result = command("certify", *pairs(options), "--out", out)
    assert result.exit_code in (0, 1, 2)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert "Traceback" not in result.output
    if result.exit_code:
        assert result.output.strip()


def test_a_goal_or_a_tolerance_stops_early(place: Path) -> None:
    for more in (("--goal", "0.1,50"), ("--tolerance", "0.3")):
        out = place / more[0]
        result = certify(place, *more, **{"--samples": 2_000, "--out": out})
        assert result.exit_code == 0, result.output
        with Store(out) as store:
            found = [record.evaluations for record in store.records()]
        assert all(spent < 50 + 2_000 for spent in found)


@pytest.mark.parametrize(
    ("option", "value"),
    [("--goal", "0.1"), ("--goal", "a,b"), ("--goal", "0.1,-1"), ("--tolerance", "1.5")],
)
def test_goals_without_sense_name_their_option(place: Path, option: str, value: str) -> None:
    result = certify(place, option, value)
    assert result.exit_code == 2, result.output
    assert option in words(result)
