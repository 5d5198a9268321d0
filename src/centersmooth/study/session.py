"""What is written down of the software and the machine that a run used."""

from __future__ import annotations

import importlib.metadata
import platform
import sqlite3
from datetime import datetime, timezone
from typing import Any

import torch


def versions() -> dict[str, str]:
    """Of everything that computes numbers."""
    from centersmooth import __version__  # only now is the package whole

    packages = ("numpy", "scipy", "numba")
    return {
        "centersmooth": __version__,
        "python": platform.python_version(),
        # What is installed need not say which build it is: for which processors and GPUs.
        "torch": str(torch.__version__),
        **{name: _version(name) for name in packages},
        "sqlite": sqlite3.sqlite_version,
    }


def machine() -> dict[str, str]:
    """The kind of machine: other hardware may differ in the last bits."""
    return {
        "node": platform.node(),
        "system": platform.platform(),
        "processor": torch.backends.cpu.get_cpu_capability(),
    }


def now() -> str:
    """The time, as the report shows it."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def session(executor: str, threads: int) -> dict[str, Any]:
    """One visit to a run."""
    told = {"started": now(), "versions": versions(), "machine": machine()}
    return {**told, "executor": executor, "threads": threads}


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"
