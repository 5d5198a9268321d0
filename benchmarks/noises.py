"""Noisy copies per second of every noise, beside plain Gaussian numbers of the same shape.

Seconds are those of the processor, on one thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from tables import table

import centersmooth as cs
from centersmooth.demo_model import digits

TITLE = "Noises"
COPIES = 1_024
SENTENCE = ("rain " * 9 + "in may was warm as tea").split()
ROUNDS = 9


def cases() -> dict[str, tuple[str, cs.noise.Noise, Any]]:
    """Each noise with an input of its own kind."""
    image, n = digits(1)[0][0], cs.noise
    colour, values = image.expand(3, -1, -1).contiguous(), torch.linspace(0, 1, 784)
    edges = (torch.arange(784) % 5 == 0).float()
    return {
        "Gaussian": ("28×28 image", cs.Gaussian(0.25), image),
        "AnisotropicGaussian": (
            "3×28×28 image",
            n.AnisotropicGaussian(sigma=(0.2, 0.3, 0.4)),
            colour,
        ),
        "UniformL1": ("28×28 image", n.UniformL1(0.5), image),
        "LaplaceL1": ("28×28 image", n.LaplaceL1(0.2), image),
        "UniformLinf": ("784 values", n.UniformLinf(0.5, 784), values),
        "GaussianLinf": ("784 values", n.GaussianLinf(0.5, 784), values),
        "Ablation": ("28×28 image", n.Ablation(40, 784, channels=True), image),
        "PatchAblation": ("28×28 image", n.PatchAblation((7, 7), (28, 28)), image),
        "BitFlips": ("784 bits", n.BitFlips(0.02, 0.6), edges),
        "TokenDeletion": (f"{len(SENTENCE)} words", n.TokenDeletion(0.9), SENTENCE),
        "TokenSubstitution": ("24 ids", n.TokenSubstitution(0.5, 4), [0, 1, 2, 3] * 6),
        "GaussianShift": ("28×28 image", n.GaussianShift(6.0), image),
        "UniformShift": ("28×28 image", n.UniformShift(8), image),
        "Brightness": ("28×28 image", n.Brightness(0.2), image),
    }


def copies_per_second(draw: Callable[[], object]) -> float:
    """The best of some rounds."""
    draw()
    spent = []
    for _ in range(ROUNDS):
        started = time.process_time()
        draw()
        spent.append(time.process_time() - started)
    return COPIES / max(min(spent), 1e-9)


def run(folder: Path, quick: bool) -> dict[str, Any]:
    """All noises, one thread."""
    torch.set_num_threads(1)
    generator, found = torch.Generator().manual_seed(0), {}
    for name, (kind, noise, x) in cases().items():
        checked = noise.check_input(x, None)
        rate = copies_per_second(lambda n=noise, c=checked: n.sample(c, generator, COPIES))
        shape = tuple(torch.as_tensor(x).shape) if not isinstance(x, list) else (len(x),)
        plain = copies_per_second(lambda s=shape: torch.randn(COPIES, *s, generator=generator))
        found[name] = {"input": kind, "rate": rate, "plain": plain}
    return {"copies": found}


def tabulated(result: dict[str, Any]) -> str:
    """Copies per second of every noise."""
    rows = [
        [
            name,
            r["input"],
            f"{r['rate']:,.0f}",
            f"{r['plain']:,.0f}",
            f"{r['rate'] / r['plain']:.2f}",
        ]
        for name, r in result["copies"].items()
    ]
    note = (
        f"Noisy copies per second of processor time, one thread, {COPIES:,} at a time, beside as "
        "many tensors of plain Gaussian numbers (torch.randn).\n\n"
    )
    header = ["noise", "input", "copies/s", "plain numbers", "noise / plain"]
    return note + table(header, rows)
