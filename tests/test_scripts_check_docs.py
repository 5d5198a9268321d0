"""scripts/check_docs.py finds broken links and broken examples, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "scripts" / "check_docs.py"


def check(folder: Path, page: str) -> tuple[int, str]:
    (folder / "page.md").write_text(page, encoding="utf-8")
    command = [sys.executable, str(SCRIPT), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


@pytest.mark.parametrize(
    "page",
    [
        "# A *title*, 2\n\n# A title, 2\n\n[down](#a-title-2-1) [up](page.md#a-title-2)",
        "[elsewhere](https://example.org/x.md) and `[code](nowhere.md)`",
        "```python\nraise SystemExit('not marked')\n[x](nowhere.md)\n```",
        "```python file=own.py\nx = 1\n```\n\n```python run\nimport own\nassert own.x == 1\n```",
        "```console run\ncentersmooth --version\ncentersmooth nonsense  # exit code 2\nls\n```",
        "- item\n\n  ```python run\n  x = 1\n  ```\n\n```python run\nassert x == 1\n```",
    ],
)
def test_accepts_what_is_true(tmp_path: Path, page: str) -> None:
    assert check(tmp_path, page)[0] == 0


@pytest.mark.parametrize(
    ("page", "complaint"),
    [
        ("\n[gone](gone.md)", "page.md:2: no such file: gone.md"),
        ("[nowhere](#nowhere)\n\n# Somewhere", "page.md:1: no such heading: #nowhere"),
        ("![picture\nover lines](gone.png)", "page.md:1: no such file: gone.png"),
        ("```console run\ncentersmooth nonsense\n```", "exit code 2 instead of 0"),
        ("```console run\ncentersmooth --help # exit code 1\n```", "exit code 0 instead of 1"),
        ("text\n\n```python run\n1 / 0\n```", 'page.md.py", line 4'),
    ],
)
def test_reports_what_is_not(tmp_path: Path, page: str, complaint: str) -> None:
    status, output = check(tmp_path, page)
    assert status == 1
    assert complaint in output


def test_skips_hidden_and_installed_folders(tmp_path: Path) -> None:
    for name in (".venv", "build"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "bad.md").write_text("[gone](gone.md)")
    assert check(tmp_path, "fine")[0] == 0
