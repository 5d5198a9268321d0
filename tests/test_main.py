from __future__ import annotations

import subprocess
import sys

import centersmooth


def test_the_module_is_the_command() -> None:
    line = [sys.executable, "-m", "centersmooth", "--version"]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    assert centersmooth.__version__ in done.stdout
