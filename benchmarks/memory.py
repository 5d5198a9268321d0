"""Peak memory of `certify` above the model's own, each case in a process of its own."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch
from tables import table

import centersmooth as cs
from centersmooth.demo_model import autoencoder, digits

TITLE = "Memory"


class Upscaler(torch.nn.Module):
    """A cheap generator of 3x128x128 images."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Upsample(scale_factor=4),
            torch.nn.Conv2d(3, 3, 3, padding=1),
            torch.nn.Sigmoid(),
        )

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        """From 3x32x32 to 3x128x128."""
        return self.layers(batch)  # type: ignore[no-any-return]


METRICS = {"l2": cs.metrics.L2(), "tv": cs.metrics.TotalVariation()}
CASES = {
    "28x28 l2": ("l2", 999, 1_000_000),
    "28x28 tv": ("tv", 999, 1_000_000),
    "3x128x128 l2": ("l2", 1_999, 100_000),
    "3x128x128 tv": ("tv", 1_999, 100_000),
}
LIMITS_MB = {"28x28": 300, "3x128x128": 1_000}


def peak_mb() -> float:
    """The most memory this process ever had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def one_case(name: str, scale: float) -> dict[str, Any]:
    """The model alone first (imports and compiled kernels included), then certify."""
    metric, answer_samples, samples = CASES[name]
    torch.manual_seed(0)
    small = name.startswith("28")
    model = autoencoder() if small else Upscaler().eval()
    x = digits(1)[0][0] if small else torch.rand(3, 32, 32)
    smoother = cs.Smoother(model, cs.Gaussian(0.25), METRICS[metric], answer_samples=answer_samples)
    warm = cs.Smoother(
        lambda b: b, cs.Gaussian(0.25), METRICS[metric], answer_samples=50, batch_size=64
    )
    warm.certify(torch.rand(1, 4, 4), 100)  # compiles what will be used
    size = smoother.source(x, 0)[0].batching.size
    with torch.no_grad():
        for _ in range(5):
            model(torch.rand(size, *x.shape))
    before = peak_mb()
    certificate = smoother.certify(x, max(200, int(samples * scale)), seed=0)
    bounds = certificate.curve([0.1, 0.25])
    return {
        "samples": certificate.sizes.m,
        "batch": size,
        "model_mb": round(before),
        "above_mb": round(peak_mb() - before),
        "bounds": bounds,
    }


def run(folder: Path, quick: bool) -> dict[str, Any]:
    """All cases; quick ones draw a fiftieth of the samples."""
    scale = "0.02" if quick else "1"
    results = {}
    for name in CASES:
        command = [sys.executable, __file__, name, scale]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        results[name] = json.loads(output.splitlines()[-1])
        print(name, results[name], flush=True)
    return results


if __name__ == "__main__":
    print(json.dumps(one_case(sys.argv[1], float(sys.argv[2]))))


def tabulated(result: dict[str, Any]) -> str:
    """Peak memory above the model's own."""
    rows = [[n, f"{r['samples']:,}", r["model_mb"], r["above_mb"]] for n, r in result.items()]
    return table(["case", "m", "model alone, MB", "certify adds, MB"], rows)
