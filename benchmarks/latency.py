"""How long a finished certificate takes to answer, and how large its JSON is beside its value."""

from __future__ import annotations

import json
import statistics
import time
from typing import Any

import centersmooth as cs
from centersmooth.demo_model import autoencoder, digits
from centersmooth.theorems import ball_rank, geometric_median, medoid

SIGMA = 0.25


def milliseconds(certificate: cs.Certificate, eps: float) -> float:
    """One call of bound."""
    started = time.perf_counter()
    certificate.bound(eps)
    return 1e3 * (time.perf_counter() - started)


def forget() -> None:
    """As in a fresh process: no rank is known."""
    for cached in (
        ball_rank,
        medoid._outer_ranks,
        geometric_median._levels,
        geometric_median._until,
    ):
        cached.cache_clear()


def run(quick: bool) -> dict[str, Any]:
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
