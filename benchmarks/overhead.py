"""Wall clock of `certify` next to the same number of raw forward passes, in one run."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from allocator import keep_memory
from tables import table

import centersmooth as cs
from centersmooth.demo_model import autoencoder, digits

TITLE = "Overhead"
SIGMA = 0.25
BATCHES = (32, 64, 128, 256, 512)
LAYOUTS = (torch.contiguous_format, torch.channels_last)


def paper_autoencoder() -> torch.nn.Module:
    """The paper's architecture, untrained: only its speed matters here."""
    nn = torch.nn
    layers = [
        *(nn.Conv2d(1, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU()),
        *(nn.Conv2d(32, 64, 4, 2, 1), nn.ReLU()),
        *(nn.Conv2d(64, 128, 4, 2, 1), nn.BatchNorm2d(128), nn.ReLU(), nn.Flatten()),
        *(nn.Linear(128 * 49, 256), nn.Linear(256, 128 * 49), nn.ReLU()),
        *(nn.Unflatten(1, (128, 7, 7)), nn.ConvTranspose2d(128, 64, 4, 2, 1), nn.ReLU()),
        *(nn.ConvTranspose2d(64, 32, 4, 2, 1), nn.BatchNorm2d(32), nn.ReLU()),
        *(nn.Conv2d(32, 1, 3, padding=1), nn.Sigmoid()),
    ]
    return nn.Sequential(*layers).eval()


def seconds(work: Callable[[], object]) -> float:
    """How long it took."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def forward(model: torch.nn.Module, batch: torch.Tensor, passes: int) -> None:
    """Raw forward passes on one batch that never changes."""
    with torch.no_grad():
        for _ in range(0, passes, len(batch)):
            model(batch)


def best_batch(model: torch.nn.Module, x: torch.Tensor) -> tuple[torch.nn.Module, torch.Tensor]:
    """The fastest batch size and layout, given every chance."""
    trials = []
    for layout in LAYOUTS:
        laid_out = model.to(memory_format=layout)
        for size in BATCHES:
            batch = x.expand(size, *x.shape).contiguous(memory_format=layout)
            forward(laid_out, batch, size)
            rate = min(seconds(lambda b=batch: forward(model, b, 1024)) for _ in range(3))
            trials.append((rate, layout, batch))
    _, layout, batch = min(trials, key=lambda trial: trial[0])
    return model.to(memory_format=layout), batch


def measure(
    model: torch.nn.Module, answer_samples: int, samples: int, rounds: int
) -> dict[str, Any]:
    """Ratios of medians, raw passes and both metrics taking turns."""
    x = digits(1)[0][0]
    metrics = {"l2": cs.metrics.L2(), "tv": cs.metrics.TotalVariation()}
    smoothers = {
        name: cs.Smoother(model, cs.Gaussian(SIGMA), metric, answer_samples=answer_samples)
        for name, metric in metrics.items()
    }
    first = {
        name: seconds(lambda s=s: s.certify(x, samples, seed=0)) for name, s in smoothers.items()
    }
    passes = {name: s.certify(x, samples, seed=0).evaluations for name, s in smoothers.items()}
    raw_model, batch = best_batch(model, x)
    times: dict[str, list[float]] = {"raw": [], "l2": [], "tv": []}
    for _ in range(rounds):
        times["raw"].append(seconds(lambda: forward(raw_model, batch, passes["l2"])))
        for name, smoother in smoothers.items():
            times[name].append(seconds(lambda s=smoother: s.certify(x, samples, seed=1)))
    per_pass = statistics.median(times["raw"]) / passes["l2"]
    return {
        "evaluations": passes,
        "raw_passes_per_second": round(1 / per_pass),
        "raw_batch": len(batch),
        "ratio": {
            name: round(statistics.median(times[name]) / (per_pass * passes[name]), 3)
            for name in metrics
        },
        "first_call_ratio": {
            name: round(first[name] / (per_pass * passes[name]), 3) for name in metrics
        },
    }


def run(folder: Path, quick: bool) -> dict[str, Any]:
    """The packaged model and the paper's architecture, at two budgets."""
    keep_memory()
    rounds = 2 if quick else 5
    models = {"packaged": autoencoder, "paper's architecture": paper_autoencoder}
    results: dict[str, Any] = {"threads": torch.get_num_threads()}
    for name, build in models.items():
        results[f"{name}, 5,099"] = measure(build(), 999, 4_000, rounds)
        if not quick:
            results[f"{name}, 50,099"] = measure(build(), 9_999, 40_000, 3)
    return results


def tabulated(result: dict[str, Any]) -> str:
    """Certify's wall clock over raw forward passes."""
    rows = [
        [
            name,
            r["raw_passes_per_second"],
            r["raw_batch"],
            r["ratio"]["l2"],
            r["ratio"]["tv"],
            r["first_call_ratio"]["l2"],
            r["first_call_ratio"]["tv"],
        ]
        for name, r in result.items()
        if isinstance(r, dict)
    ]
    header = [
        "model, evaluations",
        "raw passes/s",
        "best batch",
        "l2",
        "tv",
        "l2 first",
        "tv first",
    ]
    note = (
        "Wall clock of certify over the same number of raw forward passes on one unchanging batch "
        f"at the best of {len(BATCHES)} batch sizes and two layouts "
        f"({result['threads']} threads, an allocator that keeps its memory). "
        "'First' includes checks, tuning and compilation of kernels.\n\n"
    )
    return note + table(header, rows)
