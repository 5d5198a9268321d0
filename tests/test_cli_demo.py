"""`centersmooth demo` as a user runs it: on one digit, with few samples."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image
from typer.testing import CliRunner, Result

import centersmooth as cs
from centersmooth.cli import app
from centersmooth.demo_model import digits


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Path]:
    out = tmp_path_factory.mktemp("demo") / "new" / "folder"
    arguments = ["demo", "--out", str(out), "--digits", "1", "--seed", "7", "--quick"]
    return CliRunner().invoke(app, arguments), out


def test_prints_tables_the_reading_and_a_certificate(ran: tuple[Result, Path]) -> None:
    result, out = ran
    assert result.exit_code == 0
    assert "published" in result.stdout
    assert "The first line says: change the image of the 0" in " ".join(result.stdout.split())
    assert "It does not say" in result.stdout
    assert "Certificate for one input: L2 distance" in result.stdout
    assert str(out / "curves.png") in result.stdout


def test_fits_a_terminal_of_80_columns(ran: tuple[Result, Path]) -> None:
    result, out = ran
    lines = [line for line in result.stdout.splitlines() if str(out) not in line]
    assert max(len(line.rstrip()) for line in lines) <= 80
    assert "…" not in result.stdout  # rich cuts off what does not fit


def test_writes_pictures(ran: tuple[Result, Path]) -> None:
    for name in ("digits.png", "curves.png"):
        with Image.open(ran[1] / name) as picture:
            assert min(picture.size) > 300
            assert len(picture.convert("L").getcolors() or []) > 20  # not blank


def test_saved_certificate_answers_like_the_printed_one(ran: tuple[Result, Path]) -> None:
    result, out = ran
    certificate = cs.Certificate.load(out / "certificate.json")
    assert certificate.seed == 7
    assert certificate.value.shape == digits(1)[0][0].shape
    assert certificate.guarantee(0.5)[:60] in " ".join(result.stdout.split())
    assert f"{certificate.bound(0.25):.2f}" in result.stdout


def test_an_expected_error_is_one_line_and_exit_code_1(tmp_path: Path) -> None:
    taken = tmp_path / "file"
    taken.write_text("in the way")
    result = CliRunner().invoke(app, ["demo", "--out", str(taken), "--digits", "1"])
    assert result.exit_code == 1
    assert result.stderr.startswith("Error:")
    assert "Traceback" not in result.output


def test_refuses_more_digits_than_it_shows() -> None:
    assert CliRunner().invoke(app, ["demo", "--digits", "11"]).exit_code == 2


def test_help_names_every_command_and_version_prints() -> None:
    assert "demo" in CliRunner().invoke(app, ["--help"]).stdout
    assert CliRunner().invoke(app, ["--version"]).stdout == f"centersmooth {cs.__version__}\n"
