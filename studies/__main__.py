"""python -m studies: list the parts, run them, and write figures and pages from their records."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence

import torch

from centersmooth.errors import CentersmoothError
from studies.catalogue import ON_REQUEST, PARTS, part_named
from studies.scales import Scale, scale_named


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code: 1 if a part failed, 2 for a wrong command."""
    options = _parser().parse_args(arguments)
    try:
        if options.command == "list":
            print("\n".join(part.name for part in PARTS))
            print("\n".join(f"{part.name} (when named)" for part in ON_REQUEST))
            return 0
        scale = scale_named(options.scale)
        if options.command == "write":
            return _write(scale)
        if options.command == "keep":
            _fix_threads()
            for name in options.only:
                part_named(name).keep(scale)
            return _write(scale)
        names = options.only or [part.name for part in PARTS]
        for name in names:
            part_named(name)
        return _run_here(names, scale) if options.here else _run(names, scale, options.jobs)
    except CentersmoothError as error:
        print(error, file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m studies", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="the parts there are")
    run = commands.add_parser("run", help="run parts, then write; goes on where it was stopped")
    run.add_argument("scale", choices=["small", "full"])
    run.add_argument("--only", nargs="+", metavar="PART", help="these parts; all when left out")
    run.add_argument("--jobs", type=int, default=2, help="processes, one thread each")
    run.add_argument("--here", action="store_true", help="in this process, and write nothing")
    keep = commands.add_parser("keep", help="records of what unfinished parts hold, then write")
    keep.add_argument("scale", choices=["small", "full"])
    keep.add_argument("--only", nargs="+", metavar="PART", required=True)
    write = commands.add_parser("write", help="figures and pages from the committed records")
    write.add_argument("scale", choices=["small", "full"])
    return parser


def _run_here(names: Sequence[str], scale: Scale) -> int:
    _fix_threads()
    for name in names:
        started = time.perf_counter()
        part_named(name).run(scale)
        part_named(name).keep(scale)
        print(f"{name}: {time.perf_counter() - started:.0f} s", flush=True)
    return 0


def _fix_threads() -> None:
    """One thread sums in one order: the same seed, the same weights and records."""
    torch.set_num_threads(1)


def _run(names: Sequence[str], scale: Scale, jobs: int) -> int:
    """Every part in a process of its own, so many at a time; then whatever records there are."""
    waiting, failed = list(names), []
    running: dict[str, subprocess.Popen[bytes]] = {}
    # Two threads in two processes would only fight for the cores.
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "studies", "run", scale.name, "--here", "--only"]
    while waiting or running:
        while waiting and len(running) < max(1, jobs):
            name = waiting.pop(0)
            running[name] = subprocess.Popen([*command, name], env=environment)
        time.sleep(0.2)
        for name, process in list(running.items()):
            if process.poll() is not None:
                del running[name]
                if process.returncode:
                    failed.append(name)
    _write(scale)
    if failed:
        print(f"failed: {', '.join(failed)}; the same command tries again", file=sys.stderr)
    return 1 if failed else 0


def _write(scale: Scale) -> int:
    from studies.findings import write

    for path in write(scale):
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
