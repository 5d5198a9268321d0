"""How much faster two Ray workers are than one single-threaded process, and that they agree."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import Any

from tables import table

import centersmooth as cs
from centersmooth.demo_model import autoencoder, digits
from centersmooth.executors import Executor, Ray, Serial

TITLE = "Ray"
SAMPLES, INPUTS = 20_000, 24
WARM = 4  # records before the clock starts: processes stand, kernels are compiled
ROUNDS = 1  # each way, in turns; the best counts: more where others use the machine
WAYS: dict[str, Executor] = {
    "serial, 1 thread": Serial(threads=1),
    "Ray, 1 worker": Ray(workers=1, threads=1),
    "Ray, 2 workers": Ray(workers=2, threads=1),
}


def study(inputs: int, samples: int) -> cs.Study:
    """So many digits under one setting."""
    images, _ = digits(inputs)
    setting = cs.Setting(
        "l2", cs.Gaussian(0.25), cs.metrics.L2(), eps=(0.25,), samples=samples, answer_samples=999
    )
    # Fixed batches, or each way would measure its own; and whole inputs, however slow the machine.
    return cs.Study(
        images,
        [setting],
        model=autoencoder(),
        seed=0,
        batch_size=128,
        gallery=0,
        save_every=3_600,
    )


def one_way(on: Executor, inputs: int, samples: int) -> tuple[dict[str, float], list[Any]]:
    """Seconds in all and per record once it is warm; and the records."""
    times: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        study(inputs, samples).run(
            folder, on, progress=False, on_record=lambda _: times.append(time.perf_counter())
        )
        total = time.perf_counter() - started
        with cs.Store(Path(folder)) as store:
            found = [record.values() for record in store.records()]
    each = (times[-1] - times[WARM - 1]) / (len(times) - WARM)
    return {"total_s": round(total, 2), "record_s": round(each, 4)}, found


def run(folder: Path, quick: bool) -> dict[str, Any]:
    """Each way in turns; quick: fewer inputs and samples."""
    inputs, samples = (12, 5_000) if quick else (INPUTS, SAMPLES)
    best: dict[str, dict[str, float]] = {}
    held: list[Any] = []
    load = os.getloadavg()[0]
    for _ in range(1 if quick else ROUNDS):
        for name, on in WAYS.items():
            told, found = one_way(on, inputs, samples)
            print(name, told, flush=True)
            held = held or found
            if found != held:
                raise SystemExit(f"{name}: other records than {next(iter(WAYS))}")
            if name not in best or told["record_s"] < best[name]["record_s"]:
                best[name] = told
    base = best["serial, 1 thread"]["record_s"]
    for told in best.values():
        told["speedup"] = round(base / told["record_s"], 2)
    setup = {"inputs": inputs, "samples": samples, "cores": os.cpu_count(), "load_before": load}
    return {"setup": setup, "ways": best}


def tabulated(result: dict[str, Any]) -> str:
    """One process beside several."""
    setup, ways = result["setup"], result["ways"]
    rows = [[name, r["record_s"], r["total_s"], r["speedup"]] for name, r in ways.items()]
    note = (
        f"{setup['inputs']} digits through the autoencoder, {setup['samples']:,} samples each, on "
        f"{setup['cores']} cores (load {setup['load_before']:.1f} before it began). Seconds per "
        f"record are counted after the first {WARM}, when all processes stand; the total "
        "includes starting them. All ways gave the same records, bit for bit.\n\n"
    )
    header = ["where", "s per record", "total s", "times as fast as serial"]
    return note + table(header, rows)
