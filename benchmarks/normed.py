"""Total variation: centers side by side with the published procedure, on the images of `bounds`.

All centers share the draws of an image, and the published bounds are those recorded for
`bounds`. One record per image, written as soon as it is known.
"""

from __future__ import annotations

import json
import math
import statistics
import time
from pathlib import Path
from typing import Any

import torch
from bounds import ALPHA, SHIFTS, SIGMA, published_bounds
from tables import median_ratios, table

import centersmooth as cs
from centersmooth.centers import Center
from centersmooth.demo_model import autoencoder, digits
from centersmooth.outputs import join
from centersmooth.sampling import SAMPLES

TITLE = "Centers for total variation"
CENTERS: dict[str, Center] = {
    "medoid": cs.Medoid(),
    "medoid, candidates of 4": cs.Medoid(candidates=100, pool=4),
    "Weber point": cs.WeberPoint(),
    "Weber point, pool 2": cs.WeberPoint(pool=2),
    "Weber point, pool 4": cs.WeberPoint(pool=4),
}
SIZES = {"50,100": (9_999, 40_000), "default": (999, 4_000)}


def bounds_of(index: int) -> dict[str, Any]:
    """All centers on one image, at both budgets."""
    model, noise, x = autoencoder(), cs.Gaussian(SIGMA), digits(index + 1)[0][index]
    metric = cs.metrics.TotalVariation()
    record: dict[str, Any] = {"image": index, "bounds": {}}
    for budget, (n, m) in SIZES.items():
        smoothers = [
            cs.Smoother(model, noise, metric, center, answer_samples=n, batch_size=128)
            for center in CENTERS.values()
        ]
        certificates = cs.certify_together(smoothers, x, m, ALPHA, seed=1_000 + index)
        record["bounds"][budget] = {
            name: [_finite(c.bound(SIGMA * h)) for h in SHIFTS]
            for name, c in zip(CENTERS, certificates, strict=True)
        }
    record["seconds"] = answer_seconds(smoothers[2], x)
    return record


def _finite(bound: float) -> float | None:
    return bound if bound < float("inf") else None


def answer_seconds(smoother: cs.Smoother, x: torch.Tensor) -> dict[str, float]:
    """What the Weber point of 999 outputs costs, beside the forward passes that make them."""
    source, _ = smoother.source(x, 0)
    started = time.perf_counter()
    outputs = join(list(source.outputs(SAMPLES, (0, 999))))
    passes = time.perf_counter() - started
    gathering = smoother.center.gather(smoother.metric, 999)
    started = time.perf_counter()
    gathering.add_samples(smoother.metric.collate(outputs), outputs)
    gathering.answer()
    return {"passes": round(passes, 3), "answer": round(time.perf_counter() - started, 3)}


def published(folder: Path, index: int, m: int) -> list[float]:
    """The published bounds, as `bounds` recorded them or made now."""
    path = folder / f"published-{m}.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    for record in map(json.loads, lines):
        if record["image"] == index:
            return list(record["bounds"]["tv"])
    record = published_bounds(index, m)
    with path.open("a") as file:
        file.write(json.dumps(record) + "\n")
    return list(record["bounds"]["tv"])


def run(folder: Path, quick: bool) -> dict[str, Any]:
    """Ours, from their file or made now, beside the published bounds."""
    images, published_m = (2, 20_000) if quick else (10, 1_000_000)
    path = folder / "normed.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    records = {record["image"]: record for record in map(json.loads, lines)}
    for index in range(images):
        if index not in records:
            records[index] = bounds_of(index)
            with path.open("a") as file:
                file.write(json.dumps(records[index]) + "\n")
            print(f"image {index}: {records[index]['seconds']}", flush=True)
    return {
        "m": published_m,
        "published": [published(folder, index, published_m) for index in range(images)],
        "ours": [records[index] for index in range(images)],
    }


def tabulated(result: dict[str, Any]) -> str:
    """Median over images of ours / published for total variation, per center and budget."""
    ours, there = result["ours"], result["published"]
    rows = []
    for budget in SIZES:
        for center in CENTERS:
            here = [[b or math.inf for b in r["bounds"][budget][center]] for r in ours]
            ratios = ["-" if r == "inf" else r for r in median_ratios(here, there)]
            rows.append([center, budget, *ratios])
    seconds = {k: statistics.median(r["seconds"][k] for r in ours) for k in ("passes", "answer")}
    note = (
        f"Total variation: medians over {len(ours)} images of (our eps_2) / (published eps_2), "
        f"sigma = {SIGMA}, alpha = {ALPHA}; published at m = {result['m']:,}. "
        f"A Weber point of 999 outputs takes {seconds['answer']:.2f} s, their forward passes "
        f"{seconds['passes']:.2f} s.\n\n"
    )
    return note + table(["center", "budget", *(f"h = {h:g}" for h in SHIFTS)], rows)
