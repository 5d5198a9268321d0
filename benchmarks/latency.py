"""How long a finished certificate takes to answer, and how large its JSON is beside its value."""

from __future__ import annotations

import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from tables import table

import centersmooth as cs
from centersmooth.demo_model import autoencoder, digits

TITLE = "A finished certificate"
SIGMA = 0.25
KEPT = ("centersmooth.theorems", "centersmooth.noise", "centersmooth.binomial")


def milliseconds(certificate: cs.Certificate, eps: float) -> float:
    """One call of bound."""
    started = time.perf_counter()
    certificate.bound(eps)
    return 1e3 * (time.perf_counter() - started)


def forget() -> None:
    """As in a fresh process: whatever the library remembers of earlier answers is dropped."""
    for name, module in list(sys.modules.items()):
        if name.startswith(KEPT):
            for thing in vars(module).values():
                getattr(thing, "cache_clear", int)()


def run(folder: Path, quick: bool) -> dict[str, Any]:
    """First and later calls, at several eps, and the size of the JSON."""
    results = {}
    x = digits(1)[0][0]
    samples = 10_000 if quick else 200_000
    for name, metric in {"l2": cs.metrics.L2(), "tv": cs.metrics.TotalVariation()}.items():
        smoother = cs.Smoother(autoencoder(), cs.Gaussian(SIGMA), metric)
        certificate = smoother.certify(x, samples, seed=0)
        data = json.loads(certificate.to_json())
        value = len(json.dumps(data.pop("value")))
        first, again = [], []
        for eps in (0.1, 0.25, 0.5, 0.7):
            forget()
            first.append(milliseconds(certificate, eps))
            again.append(statistics.median(milliseconds(certificate, eps) for _ in range(9)))
        results[name] = {
            "samples": samples,
            "first_ms": round(max(first), 2),
            "again_ms": round(max(again), 4),
            "json_kb": round((len(json.dumps(data))) / 1024, 1),
            "value_kb": round(value / 1024, 1),
        }
    return results


def tabulated(result: dict[str, Any]) -> str:
    """A finished certificate's answers."""
    rows = [
        [n, f"{r['samples']:,}", r["first_ms"], r["again_ms"], r["json_kb"], r["value_kb"]]
        for n, r in result.items()
    ]
    header = ["metric", "m", "bound, first ms", "again ms", "JSON, KB", "its value, KB"]
    return table(header, rows)
