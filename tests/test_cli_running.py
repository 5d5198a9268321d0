"""How a study on the command line is told of, and how it ends."""

from __future__ import annotations

import io
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

import pytest
import torch
import typer

from centersmooth.cli.options import Machines
from centersmooth.cli.running import INTERRUPTED, carry_out, executor, table
from centersmooth.errors import StoreError
from centersmooth.executors import Ray, Serial
from small_studies import model, setting, study


def test_options_describe_executors() -> None:
    assert isinstance(executor(Machines.serial, None, None, None), Serial)
    assert executor(Machines.serial, None, None, 3).threads == 3
    there = executor(Machines.ray, "auto", 4, 2, 0.5)
    assert isinstance(there, Ray)
    assert (there.address, there.workers, there.threads, there.gpus) == ("auto", 4, 2, 0.5)
    for machines, options, name in (
        (Machines.serial, ("auto", None, None), "--address"),
        (Machines.serial, (None, 2, None, None), "--workers"),
        (Machines.serial, (None, None, None, 1), "--gpus"),
        (Machines.ray, (None, None, None, 1.5), "--gpus"),
    ):
        with pytest.raises(typer.BadParameter) as caught:
            executor(machines, *options)
        assert caught.value.param_hint == name


def carried_out(own: Any, out: Path, **options: Any) -> int:
    """The exit code, 0 when nothing was raised."""
    usual = {"retry_failed": False, "as_json": False, "usage": "FILE", **options}
    try:
        carry_out(own, out, Serial(), **usual)
    except typer.Exit as ended:
        return int(ended.exit_code)
    return 0


def test_a_finished_run_is_told_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert carried_out(study(), tmp_path) == 0
    told = capsys.readouterr()
    assert "9 of 9 records" in told.out
    assert "\n".join(table(study(), tmp_path)) in told.out
    assert told.err == ""


def test_failures_are_counted_at_the_diameter_and_end_in_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def failing(batch: torch.Tensor) -> torch.Tensor:
        return torch.full((len(batch), 4), torch.nan)

    assert carried_out(study(2, [setting()], model=failing), tmp_path) == 1
    told = capsys.readouterr()
    assert "2 failed" in told.err
    assert "NaN" in told.err
    assert told.out.count("inf") == 2
    assert "0 of 2" in told.out


def test_a_name_gives_no_orders_to_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def failing(batch: torch.Tensor) -> torch.Tensor:
        raise ValueError("\x1b[2J\x07 gone")

    own = study(1, [setting()], model=failing, names=["\x1b]0;owned\x07 \u202egnp.exe"])
    assert carried_out(own, tmp_path) == 1
    told = capsys.readouterr()
    assert "owned" in told.err
    assert "gone" in told.err
    for order in ("\x1b", "\x07", "\u202e"):
        assert order not in told.out + told.err


def test_ctrl_c_ends_in_130(tmp_path: Path) -> None:
    def interrupted(batch: torch.Tensor) -> torch.Tensor:
        raise KeyboardInterrupt

    with redirect_stderr(io.StringIO()) as told:
        assert carried_out(study(1, [setting()], model=interrupted), tmp_path) == INTERRUPTED
    assert "goes on from there" in told.getvalue()
    assert str(tmp_path) in told.getvalue()


def test_warnings_are_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def random(batch: torch.Tensor) -> torch.Tensor:
        return model(batch) + torch.rand(len(batch), 4)

    assert carried_out(study(1, [setting()], model=random), tmp_path) == 0
    told = capsys.readouterr().err
    assert "Warning: the model answers the same batch differently" in told
    assert "contract.py" not in told


def test_other_errors_pass_on(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError):
        carried_out(study(1), tmp_path / "file")
