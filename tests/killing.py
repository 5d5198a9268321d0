"""Processes that work on a run until SIGKILL takes them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sqlite3
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch

import centersmooth as cs
from centersmooth.executors import Ray
from centersmooth.study import Study
from small_studies import published, setting, slow_model, study

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["killing", "centersmooth.study"])


def interrupted_study() -> Study:
    """Six inputs: two metrics on shared draws, the published procedure, one counted in spans."""
    settings = [
        setting("l2"),
        setting("l1", cs.metrics.L1()),
        published(),
        setting("long", samples=700, only=(0, 3, 5)),
    ]
    return study(6, settings, model=slow_model, seed=11, save_every=0.04)


def work(folder: Path) -> None:
    """What a process does until it is killed."""
    interrupted_study().run(folder)


def work_through_ray(folder: Path, address: str) -> None:
    """The same on a cluster, with the threads that the run is compared at."""
    interrupted_study().run(folder, on=Ray(address, workers=2, threads=torch.get_num_threads()))


def work_until_statement(folder: Path, number: int) -> None:
    """The same, but the process kills itself at that SQL statement, before it is carried out."""
    connect = sqlite3.connect
    left = number

    def count(_: str) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def traced(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection = connect(*arguments, **options)
        connection.set_trace_callback(count)
        return connection

    sqlite3.connect = traced  # type: ignore[assignment]
    work(folder)


def killed_after(seconds: Iterable[float], target: Callable[..., None], *arguments: Any) -> int:
    """Start a process for each, kill it after so many seconds; how many were still at work."""
    hit = 0
    for moment in seconds:
        process = _FORKS.Process(target=target, args=arguments)
        process.start()
        process.join(moment)
        process.kill()
        process.join()
        hit += process.exitcode == -signal.SIGKILL
    return hit


def killed_at_statement(number: int, folder: Path) -> bool:
    """Whether the process got as far as that statement and died there."""
    process = _FORKS.Process(target=work_until_statement, args=(folder, number))
    process.start()
    process.join()
    return process.exitcode == -signal.SIGKILL
