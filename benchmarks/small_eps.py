"""The bound that vanishes with eps beside the one with a floor: Theorem D over Theorem C.

Both centers on the same draws of the packaged autoencoder and digits, at two budgets; and what
the clipped mean costs in time beside the geometric median. Records are written image by image.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import torch

import centersmooth as cs
from centersmooth.demo_model import autoencoder, digits

SIGMA = 0.25
SHIFTS = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)
ALPHA = 0.01
SIZES = {"default": (999, 4_000), "50,100": (9_999, 40_000)}
THOROUGH_IMAGES = 4
"""Of the images, the first so many at the larger budget too."""
METRICS = {"l2": cs.metrics.L2(), "angular": cs.metrics.Angular()}
CENTERS = {"C": cs.GeometricMedian(), "D": cs.ClippedMean()}


def one_image(index: int, sizes: dict[str, tuple[int, int]]) -> dict[str, Any]:
    """Bounds of both centers for both metrics, from the same draws."""
    model, noise, x = autoencoder(), cs.Gaussian(SIGMA), digits(index + 1)[0][index]
    record: dict[str, Any] = {"image": index, "bounds": {}, "evaluations": {}, "seconds": {}}
    for budget, (n, m) in sizes.items():
        pairs = [(name, kind) for name in METRICS for kind in CENTERS]
        smoothers = [
            cs.Smoother(model, noise, METRICS[name], CENTERS[kind], n, batch_size=256)
            for name, kind in pairs
        ]
        found = cs.certify_together(smoothers, x, m, ALPHA, seed=2_000 + index)
        bounds: dict[str, dict[str, list[float]]] = {name: {} for name in METRICS}
        for (name, kind), one in zip(pairs, found, strict=True):
            bounds[name][kind] = one.curve([SIGMA * h for h in SHIFTS])
        record["bounds"][budget] = bounds
        record["evaluations"][budget] = found[0].evaluations
        if budget == "default":
            record["seconds"] = _seconds(model, x, n, m)
    return record


def _seconds(model: Any, x: Any, n: int, m: int) -> dict[str, float]:
    """Wall clock of one certificate with each center, and of the passes alone."""
    spent = {}
    for kind, center in CENTERS.items():
        made = cs.Smoother(model, cs.Gaussian(SIGMA), METRICS["l2"], center, n, batch_size=256)
        made.certify(x, 300, seed=1)
        started = time.perf_counter()
        made.certify(x, m, seed=1)
        spent[kind] = round(time.perf_counter() - started, 3)
    batch = x.expand(256, *x.shape).contiguous()
    with torch.inference_mode():
        model(batch)
        started = time.perf_counter()
        for _ in range((n + m) // 256):
            model(batch)
    spent["passes"] = round(time.perf_counter() - started, 3)
    return spent


def run(folder: Path, images: int, quick: bool) -> dict[str, Any]:
    """All images, from the file of records or made now."""
    path = folder / "small_eps.jsonl"
    lines = path.read_text().splitlines() if path.exists() and not quick else []
    records = {record["image"]: record for record in map(json.loads, lines)}
    for index in range(images):
        if index not in records:
            both = index < THOROUGH_IMAGES and not quick
            records[index] = one_image(index, SIZES if both else {"default": SIZES["default"]})
            if not quick:
                with path.open("a") as file:
                    file.write(json.dumps(records[index]) + "\n")
            print(f"image {index}: done", flush=True)
    return {"images": [records[index] for index in range(images)]}
