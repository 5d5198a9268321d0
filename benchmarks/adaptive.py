"""Samples spent on a question that sampling stops for, beside numbers fixed beforehand.

The question is whether eps_2 is at most a goal that lies 20 % above or 20 % below what a
thorough certificate (40,000 samples, no looks) gives, with the same seed and so the same answer.
A fixed number of samples settles the question if its bound is on the same side of the goal.
"""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

import bounds
from tables import table

import centersmooth as cs
from centersmooth.demo_model import autoencoder, digits

TITLE = "Stopping when the question is settled"
SHIFTS = (0.5, 1.0, 2.0)
METRICS = ("l2", "tv", "jaccard")
MARGINS = {"met": 1.2, "missed": 0.8}
MOST = {"default": 4_000, "thorough": 40_000}
LISTED = tuple(64 * 2**i for i in range(10))
"""The fixed numbers among which the least that meets the goal is looked for, in hindsight."""


def of_image(index: int, most: dict[str, int]) -> dict[str, Any]:
    """All metrics, shifts and margins on one image."""
    model, noise, x = autoencoder(), cs.Gaussian(bounds.SIGMA), digits(index + 1)[0][index]
    metrics = [bounds.METRICS[name] for name in METRICS]
    smoothers = [cs.Smoother(model, noise, metric, batch_size=256) for metric in metrics]
    seed, alpha = 2_000 + index, bounds.ALPHA
    thorough = cs.certify_together(smoothers, x, most["thorough"], alpha, seed=seed)
    listed = {
        m: cs.certify_together(smoothers, x, m, alpha, seed=seed)
        for m in LISTED
        if m < most["default"]
    }
    rows = []
    for place, (name, smoother) in enumerate(zip(METRICS, smoothers, strict=True)):
        for shift in SHIFTS:
            eps = shift * bounds.SIGMA
            reached = thorough[place].bound(eps)
            fixed = {m: certificates[place].bound(eps) for m, certificates in listed.items()}
            for margin, factor in MARGINS.items():
                goal = factor * reached
                row = {"metric": name, "shift": shift, "margin": margin}
                hindsight = [m for m, bound in fixed.items() if bound <= goal]
                row["hindsight"] = min(hindsight, default=None) if margin == "met" else None
                for budget, samples in most.items():
                    c = smoother.certify(x, samples, alpha, seed=seed, goal=(eps, goal))
                    row[budget] = {
                        "outcome": c.outcome,
                        "samples": c.sizes.m,
                        "evaluations": c.evaluations,
                    }
                rows.append(row)
    return {"image": index, "questions": rows}


def run(folder: Path, quick: bool) -> dict[str, Any]:
    """Twelve images, or two with fewer samples."""
    most = {"default": 2_000, "thorough": 4_000} if quick else MOST
    images = []
    for index in range(2 if quick else 12):
        images.append(of_image(index, most))
        print(f"image {index}: goals done", flush=True)
    return {"most": most, "images": images}


def tabulated(result: dict[str, Any]) -> str:
    """Samples spent until the question is settled, and how many times fewer that is."""
    asked = [question for image in result["images"] for question in image["questions"]]
    rows, most = [], result["most"]
    for metric in (*METRICS, "all"):
        for margin in MARGINS:
            for shift in (*SHIFTS, "all"):
                here = [
                    q
                    for q in asked
                    if metric in (q["metric"], "all")
                    and shift in (q["shift"], "all")
                    and q["margin"] == margin
                ]
                if (metric == "all") == (shift == "all"):
                    rows.append([metric, margin, shift, *cells_of(here, most)])
    header = ["metric", "goal", "eps / sigma", "samples, most 4,000", "times fewer"]
    header += ["settled rightly", "samples, most 40,000", "times fewer", "settled rightly"]
    note = (
        f"Is eps_2 at most 1.2 (goal met) or 0.8 times (missed) what {most['thorough']:,} "
        f"samples prove? Medians over {len(result['images'])} images of the certification samples "
        "until that is settled, and how many times fewer than the fixed number (its share of the "
        "median, answer and candidates not counted). The last column of each budget counts the "
        "questions settled as the thorough bound says.\n\n"
    )
    return note + table([*header, "least fixed m in hindsight"], rows)


def cells_of(asked: list[dict[str, Any]], most: dict[str, int]) -> list[object]:
    """Medians over some questions, per budget."""
    cells: list[object] = []
    for budget, samples in most.items():
        spent = statistics.median(question[budget]["samples"] for question in asked)
        right = sum(q[budget]["outcome"] == f"goal {q['margin']}" for q in asked)
        cells += [f"{spent:,.0f}", f"{samples / spent:.1f}", f"{right} of {len(asked)}"]
    known = [q["hindsight"] for q in asked if q["hindsight"] is not None]
    return [*cells, f"{statistics.median(known):,.0f}" if known else "-"]
