"""Pairs per second of every metric, next to the naive loop and the fastest library, in one run.

Ours is `pairwise` on two blocks of outputs as a model returns them, preparation included; so is
each library. The naive loop calls the formula for one pair at a time.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from metric_cases import Case, cases
from metric_libraries import OTHER_FORMULA, Measure, available

from centersmooth.outputs import pick

REFERENCES, SAMPLES = 100, 1000
SECONDS = 1.0


def run(quick: bool) -> dict[str, Any]:
    """All metrics, one thread."""
    torch.set_num_threads(1)
    return {name: measured(name, case, quick) for name, case in cases().items()}


def measured(name: str, case: Case, quick: bool) -> dict[str, Any]:
    """The rates of one metric, after a check that all agree."""
    outputs = case.outputs(REFERENCES + SAMPLES)
    few = pick(outputs, range(6))
    ours, naive = case.metric.pairwise, loop(case.formula)
    libraries = available(name)
    agree(ours, few, naive, *(() if name in OTHER_FORMULA else libraries.values()))
    rates = {key: rate(library, outputs, quick) for key, library in libraries.items()}
    best = max(rates, key=lambda key: rates[key], default=None)
    found = {"ours": rate(ours, outputs, quick), "naive": rate(naive, outputs, quick)}
    result: dict[str, Any] = {key: round(value, -1) for key, value in found.items()}
    result["library"] = best
    result["by_library"] = round(rates[best], -1) if best else None
    return result


def loop(formula: Callable[[Any, Any], float]) -> Measure:
    return lambda a, b: np.array([[formula(x, y) for y in b] for x in a])


def agree(ours: Measure, few: Any, *others: Measure) -> None:
    """Refuse to compare the speed of different things."""
    wanted = np.asarray(ours(few, few))
    for other in others:
        np.testing.assert_allclose(np.asarray(other(few, few)), wanted, rtol=2e-3, atol=2e-3)


def rate(measure: Measure, outputs: Any, quick: bool) -> float:
    """Pairs per second, the best of three on as many pairs as take about a second at most."""
    rows, columns = 5, 20
    seconds = min(timed(measure, outputs, rows, columns) for _ in range(2))
    most = (0.1 if quick else SECONDS) / seconds * rows * columns
    if most >= REFERENCES * SAMPLES:
        rows, columns = REFERENCES, SAMPLES
    else:
        rows = max(5, min(REFERENCES, int((most / 10) ** 0.5)))
        columns = max(20, min(SAMPLES, int(most / rows)))
    return rows * columns / min(timed(measure, outputs, rows, columns) for _ in range(3))


def timed(measure: Measure, outputs: Any, rows: int, columns: int) -> float:
    a = pick(outputs, range(rows))
    b = pick(outputs, range(REFERENCES, REFERENCES + columns))
    started = time.process_time()
    measure(a, b)
    return time.process_time() - started


if __name__ == "__main__":
    import sys

    for name, case in cases().items():
        if len(sys.argv) < 2 or name in sys.argv[1:]:
            r = measured(name, case, quick=True)
            by = f"{r['by_library']:12,.0f} {r['ours'] / r['by_library']:8.2f}" if r["library"] else ""
            print(f"{name:22} {r['ours']:14,.0f} {r['naive']:12,.0f} {r['library']} {by}", flush=True)
