"""The bound that vanishes with eps beside the one with a floor: Theorem D over Theorem C.

Both centers on the same draws of the packaged autoencoder and digits, at two budgets; and what
the clipped mean costs in time beside the geometric median. Records are written image by image.
"""

from __future__ import annotations

import json
import statistics
import time
from pathlib import Path
from typing import Any

import torch
from tables import table

import centersmooth as cs
from centersmooth.demo_model import autoencoder, digits

TITLE = "Small eps: Theorem D beside Theorem C"
SIGMA = 0.25
SHIFTS = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)
ALPHA = 0.01
SIZES = {"default": (999, 4_000), "50,100": (9_999, 40_000)}
IMAGES = {"default": 10, "50,100": 4}
METRICS = {"l2": cs.metrics.L2(), "angular": cs.metrics.Angular()}
CENTERS = {"C": cs.GeometricMedian(), "D": cs.ClippedMean()}


def one_image(index: int, budget: str) -> dict[str, Any]:
    """Bounds of both centers for both metrics, from the same draws."""
    model, noise, x = autoencoder(), cs.Gaussian(SIGMA), digits(index + 1)[0][index]
    n, m = SIZES[budget]
    pairs = [(name, kind) for name in METRICS for kind in CENTERS]
    smoothers = [
        cs.Smoother(model, noise, METRICS[name], CENTERS[kind], n, batch_size=256)
        for name, kind in pairs
    ]
    found = cs.certify_together(smoothers, x, m, ALPHA, seed=2_000 + index)
    bounds: dict[str, dict[str, list[float]]] = {name: {} for name in METRICS}
    for (name, kind), one in zip(pairs, found, strict=True):
        bounds[name][kind] = one.curve([SIGMA * h for h in SHIFTS])
    return {
        "image": index,
        "budget": budget,
        "evaluations": found[0].evaluations,
        "bounds": bounds,
        "seconds": _seconds(model, x, n, m) if budget == "default" and index < 3 else None,
    }


def _seconds(model: Any, x: Any, n: int, m: int) -> dict[str, float]:
    """Processor time of one certificate with each center, and of the passes alone."""
    spent = {}
    for kind, center in CENTERS.items():
        made = cs.Smoother(model, cs.Gaussian(SIGMA), METRICS["l2"], center, n, batch_size=256)
        made.certify(x, 300, seed=1)
        started = time.process_time()
        made.certify(x, m, seed=1)
        spent[kind] = round(time.process_time() - started, 3)
    batch = x.expand(256, *x.shape).contiguous()
    with torch.inference_mode():
        model(batch)
        started = time.process_time()
        for _ in range((n + m) // 256):
            model(batch)
    spent["passes"] = round(time.process_time() - started, 3)
    return spent


def run(folder: Path, quick: bool) -> dict[str, Any]:
    """All images, from the file of records or made now."""
    path = folder / "small_eps.jsonl"
    lines = path.read_text().splitlines() if path.exists() and not quick else []
    records = {(one["image"], one["budget"]): one for one in map(json.loads, lines)}
    wanted = [(i, b) for b, count in IMAGES.items() for i in range(count)]
    for place in wanted[:2] if quick else wanted:
        if place not in records:
            records[place] = one_image(*place)
            if not quick:
                with path.open("a") as file:
                    file.write(json.dumps(records[place]) + "\n")
            print(f"image {place[0]}, {place[1]}: done", flush=True)
    return {"shifts": SHIFTS, "records": list(records.values())}


def tabulated(result: dict[str, Any]) -> str:
    """Median over images of Theorem D's bound over Theorem C's, per metric, budget and eps."""
    rows: list[list[object]] = []
    for metric in METRICS:
        for budget in SIZES:
            both = [r for r in result["records"] if r["budget"] == budget]
            if not both:
                continue
            pairs = [(r["bounds"][metric]["D"], r["bounds"][metric]["C"]) for r in both]
            places = range(len(SHIFTS))
            ratios = [statistics.median(d[i] / c[i] for d, c in pairs) for i in places]
            worst = max(d[1] / c[1] for d, c in pairs)
            ends = [metric, f"{both[0]['evaluations']:,}", len(both)]
            rows.append([*ends, *(f"{r:.3f}" for r in ratios), f"{worst:.3f}"])
    header = ["metric", "evaluations", "images", *(f"h = {h:g}" for h in SHIFTS)]
    header.append(f"worst image at {SHIFTS[1]:g}")
    slower = statistics.median(
        r["seconds"]["D"] / r["seconds"]["C"] for r in result["records"] if r["seconds"]
    )
    note = (
        "Medians over MNIST test images of (Theorem D's eps_2, `ClippedMean()`) / "
        "(Theorem C's, `GeometricMedian()`) on the same draws of the packaged autoencoder, sigma "
        f"= {SIGMA}, eps = h sigma, alpha = {ALPHA} (joint). Processor time of "
        f"one l2 certificate at the default budget, D / C: {slower:.2f}.\n\n"
    )
    return note + table(header, rows)
