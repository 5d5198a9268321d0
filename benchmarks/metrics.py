"""Pairs per second of every metric, next to the naive loop and the fastest library, in one run.

Ours is `pairwise` on two blocks of outputs as a model returns them, preparation included; so is
each library. The naive loop calls the formula for one pair at a time. Seconds are those of the
processor, on one thread: they do not count what else the machine does.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
import torch
from allocator import keep_memory
from metric_cases import Case, cases, lpips_metric, photographs
from metric_libraries import OTHER_FORMULA, Measure, available
from tables import table

from centersmooth.outputs import pick

TITLE = "Distances"
REFERENCES, SAMPLES = 100, 1000
SECONDS = 0.25
ROUNDS = 5, 40
ROUNDS_FOR = 1.5


def run(folder: Path, quick: bool) -> dict[str, Any]:
    """All metrics, one thread."""
    settle()
    pairs = {name: measured(name, case, quick) for name, case in cases().items()}
    return {"pairs": pairs, "lpips": lpips(200 if quick else 2_000, 10 if quick else 100)}


def settle() -> None:
    """One thread, and an allocator that keeps what it has."""
    torch.set_num_threads(1)
    numba.set_num_threads(1)
    keep_memory()


def measured(name: str, case: Case, quick: bool) -> dict[str, Any]:
    """The rates of one metric, after a check that all agree."""
    outputs = case.outputs(REFERENCES + SAMPLES)
    few = pick(outputs, range(6))
    naive, libraries = loop(case.formula), available(name)
    agree(
        case.metric.pairwise,
        few,
        naive,
        *(m for k, m in libraries.items() if (name, k) not in OTHER_FORMULA),
    )
    rates = rates_of({"ours": case.metric.pairwise, "naive": naive, **libraries}, outputs, quick)
    best = max(libraries, key=lambda key: rates[key], default=None)
    return {
        "ours": significant(rates["ours"]),
        "naive": significant(rates["naive"]),
        "library": best,
        "by_library": significant(rates[best]) if best else None,
    }


def significant(number: float) -> float:
    return float(f"{number:.4g}")


def loop(formula: Callable[[Any, Any], float]) -> Measure:
    return lambda a, b: np.array([[formula(x, y) for y in b] for x in a])


def agree(ours: Measure, few: Any, *others: Measure) -> None:
    """Refuse to compare the speed of different things."""
    wanted = np.asarray(ours(few, few))
    for other in others:
        np.testing.assert_allclose(np.asarray(other(few, few)), wanted, rtol=2e-3, atol=2e-3)


def rates_of(measures: dict[str, Measure], outputs: Any, quick: bool) -> dict[str, float]:
    """Pairs per second, the best of some rounds in which all take turns."""
    sizes = {key: affordable(measure, outputs, quick) for key, measure in measures.items()}
    best = dict.fromkeys(measures, 0.0)
    started = time.process_time()
    for count in range(ROUNDS[1]):
        if count >= ROUNDS[0] and time.process_time() > started + ROUNDS_FOR:
            break
        for key, measure in measures.items():
            rows, columns = sizes[key]
            if key == "naive" and count >= ROUNDS[0]:
                continue
            rate = rows * columns / seconds(measure, outputs, rows, columns)
            best[key] = max(best[key], rate)
    return best


def affordable(measure: Measure, outputs: Any, quick: bool) -> tuple[int, int]:
    """As many references and samples as take a quarter of a second at most."""
    rows, columns = 5, 20
    spent = min(seconds(measure, outputs, rows, columns) for _ in range(2))
    most = (0.1 if quick else SECONDS) / spent * rows * columns
    if most >= REFERENCES * SAMPLES:
        return REFERENCES, SAMPLES
    rows = max(rows, min(REFERENCES, int((most / 10) ** 0.5)))
    return rows, max(columns, min(SAMPLES, int(most / rows)))


def seconds(measure: Measure, outputs: Any, rows: int, columns: int) -> float:
    a = pick(outputs, range(rows))
    b = pick(outputs, range(len(outputs) - columns, len(outputs)))
    started = time.process_time()
    measure(a, b)
    return max(1e-9, time.process_time() - started)


def lpips(samples: int, candidates: int) -> dict[str, Any]:
    """All that a smoothed answer takes, over embedding each of its outputs once."""
    metric = lpips_metric()
    chosen, batches = photographs(candidates), photographs(samples).split(100)
    metric.collate(chosen[:16])
    embedding, answering = [], []
    for _ in range(2):
        started = time.process_time()
        for images in (chosen, *batches):
            metric.collate(images)
        embedding.append(time.process_time() - started)
        started = time.process_time()
        block = metric.collate(chosen)
        lengths = [metric.measure(block, metric.collate(images)) for images in batches]
        torch.cat(lengths, dim=1).kthvalue(samples // 2 + 1, dim=1)
        answering.append(time.process_time() - started)
    return {
        "samples": samples,
        "candidates": candidates,
        "embedding_s": significant(min(embedding)),
        "answer_s": significant(min(answering)),
        "ratio": round(min(answering) / min(embedding), 3),
    }


if __name__ == "__main__":
    import sys

    settle()
    for name, case in cases().items():
        if len(sys.argv) < 2 or name in sys.argv[1:]:
            print(name, measured(name, case, quick=True), flush=True)


def tabulated(result: dict[str, Any]) -> str:
    """Pairs per second of every metric."""
    rows = []
    for name, r in result["pairs"].items():
        library = ["none", "", ""]
        if r["library"]:
            theirs = r["by_library"]
            library = [r["library"], f"{theirs:,.0f}", f"{r['ours'] / theirs:.2f}"]
        rates = [f"{r['ours']:,.0f}", f"{r['naive']:,.0f}", f"{r['ours'] / r['naive']:,.0f}"]
        rows.append([name, *rates, *library])
    header = [
        "metric",
        "ours",
        "naive loop",
        "ours / naive",
        "library",
        "its pairs/s",
        "ours / its",
    ]
    lpips = result["lpips"]
    note = (
        f"Pairs per second of processor time, one thread, {REFERENCES} outputs against "
        f"{SAMPLES:,}, preparation of the outputs included; `naive` is the formula in a "
        "loop over pairs. Every library is checked to give the same distances; torchmetrics gets "
        "outputs in double precision, in which we compute.\n\n"
    )
    after = (
        f"\nLPIPS of {lpips['samples']:,} samples and {lpips['candidates']} candidates (AlexNet, "
        f"64 x 64 pixels): {lpips['ratio']:.2f} times the cost of embedding each output once "
        f"({lpips['embedding_s']:.1f} s).\n"
    )
    return note + table(header, rows) + after
