"""Bounds side by side with the published procedure, on the same trained model and images.

The published bounds take long and depend on nothing of ours: one record per image, written as
soon as it is known, so that an interrupted run goes on where it was.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tables import median_ratios, table

import centersmooth as cs
from centersmooth.demo_model import autoencoder, digits
from centersmooth.metrics import Block, MaskJaccard
from centersmooth.outputs import Outputs

TITLE = "Bounds beside the published procedure"
SIGMA = 0.25
SHIFTS = (1.0, 1.5, 2.0)
ALPHA = 0.01
SIZES = {"50,100": (9_999, 40_000), "default": (999, 4_000), "1,700": (499, 1_100)}


@dataclass(frozen=True)
class ThresholdedJaccard(MaskJaccard):
    """Jaccard distance of the images thresholded at one half."""

    def collate(self, outputs: Outputs) -> Block:
        """The masks."""
        return super().collate(outputs > 0.5)  # type: ignore[operator]


METRICS = {
    "l2": cs.metrics.L2(),
    "angular": cs.metrics.Angular(),
    "tv": cs.metrics.TotalVariation(),
    "jaccard": ThresholdedJaccard(),
}


def published_bounds(index: int, m: int) -> dict[str, Any]:
    """The published procedure on one image, all four metrics from the same draws."""
    x = digits(index + 1)[0][index]
    eps = [SIGMA * h for h in SHIFTS]
    started = time.perf_counter()
    found = cs.published.certify_together(
        autoencoder(), x, cs.Gaussian(SIGMA), list(METRICS.values()), eps, m=m, seed=index
    )
    return {
        "image": index,
        "m": m,
        "evaluations": found[0][0].evaluations,
        "seconds": round(time.perf_counter() - started, 1),
        "bounds": {name: [c.bound for c in one] for name, one in zip(METRICS, found, strict=True)},
        "status": {name: [c.status for c in one] for name, one in zip(METRICS, found, strict=True)},
    }


def our_bounds(index: int) -> dict[str, Any]:
    """Ours on one image: the default centers at three budgets."""
    model, noise, x = autoencoder(), cs.Gaussian(SIGMA), digits(index + 1)[0][index]
    eps = [SIGMA * h for h in SHIFTS]
    record: dict[str, Any] = {"image": index, "bounds": {}, "evaluations": {}}
    for budget, (n, m) in SIZES.items():
        smoothers = [
            cs.Smoother(model, noise, metric, answer_samples=n) for metric in METRICS.values()
        ]
        certificates = cs.certify_together(smoothers, x, m, ALPHA, seed=1_000 + index)
        record["bounds"][budget] = {
            name: c.curve(eps) for name, c in zip(METRICS, certificates, strict=True)
        }
        record["evaluations"][budget] = max(c.evaluations for c in certificates)
    return record


def run(folder: Path, quick: bool) -> dict[str, Any]:
    """The published bounds of all images, from their file or made now, and ours."""
    images, published_m = (2, 20_000) if quick else (10, 1_000_000)
    path = folder / f"published-{published_m}.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    records = {record["image"]: record for record in map(json.loads, lines)}
    for index in range(images):
        if index not in records:
            records[index] = published_bounds(index, published_m)
            with path.open("a") as file:
                file.write(json.dumps(records[index]) + "\n")
            print(f"image {index}: published in {records[index]['seconds']} s", flush=True)
    return {
        "published": [records[index] for index in range(images)],
        "ours": [our_bounds(index) for index in range(images)],
    }


def tabulated(result: dict[str, Any]) -> str:
    """Median over images of ours / published, per metric, budget and eps / sigma."""
    published, ours = result["published"], result["ours"]
    rows = []
    for metric in METRICS:
        for budget in SIZES:
            here = [record["bounds"][budget][metric] for record in ours]
            there = [record["bounds"][metric] for record in published]
            most = [record["bounds"]["50,100"][metric] for record in ours]
            cells = [*median_ratios(here, there), *median_ratios(here, most)]
            rows.append([metric, f"{ours[0]['evaluations'][budget]:,}", *cells])
    shifts = [f"h = {h:g}" for h in SHIFTS]
    header = ["metric", "our evaluations", *shifts, *(f"/ 50,100 at {h}" for h in shifts)]
    abstained = sum(s != "certified" for r in published for v in r["status"].values() for s in v)
    note = (
        f"Medians over {len(ours)} MNIST test images of (our eps_2) / (published eps_2), sigma "
        f"= {SIGMA}, eps = h sigma, alpha = {ALPHA}; published: n = 10,000, m = "
        f"{published[0]['m']:,}, {published[0]['evaluations']:,} evaluations, "
        f"{abstained} abstentions. The last three columns compare with our own largest budget.\n\n"
    )
    return note + table(header, rows)
