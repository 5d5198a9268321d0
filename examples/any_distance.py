"""Certify answers that are no tensors, under a distance of your own.

A toy transcriber reads a signal: each stretch of 25 values becomes a letter by its mean, and equal
neighbours merge, so the answer is a string of any length. `cs.metrics.Custom` takes a function of
two answers; it must be symmetric and obey the triangle inequality, as the edit distance does. It
is called for every pair, so cache it where few different answers occur.
"""

from functools import cache
from itertools import groupby

import torch

import centersmooth as cs


def transcribe(signals: torch.Tensor) -> list[str]:
    levels = signals.unfold(1, 25, 25).mean(dim=2).round().long().clamp(0, 3)
    return ["".join("abcd"[level] for level, _ in groupby(row)) for row in levels.tolist()]


@cache
def edit_distance(a: str, b: str) -> int:
    costs = list(range(len(b) + 1))
    for i, letter in enumerate(a, start=1):
        before, costs[0] = costs[0], i
        for j, other in enumerate(b, start=1):
            change = before + (letter != other)
            before, costs[j] = costs[j], min(costs[j] + 1, costs[j - 1] + 1, change)
    return costs[-1]


signal = torch.tensor([0.1, 1.4, 1.6, 2.9, 2.2, 0.3, 0.0, 1.2]).repeat_interleave(25)
smoother = cs.Smoother(
    transcribe, cs.Gaussian(sigma=0.5), cs.metrics.Custom(edit_distance, diameter=8), seed=0
)
cert = smoother.certify(signal)
print(f"answer: {cert.value!r}")
for eps in (0.25, 0.5, 1.0):
    print(f"an attack of length {eps:g} edits at most {cert.bound(eps):.0f} letters")
