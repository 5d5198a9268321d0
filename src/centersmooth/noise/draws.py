"""Random choices whose probabilities are right to the last bit of a double."""

from __future__ import annotations

import torch

_STEPS = 2**53
"""Single-precision uniforms have 2^24 steps: too coarse for rare choices."""


def odds(probability: float) -> int:
    """How many of 2^53 equally likely cases the event has."""
    return round(probability * _STEPS)


def chosen(
    cases: int | torch.Tensor,
    shape: tuple[int, ...],
    generator: torch.Generator,
    device: torch.device,
) -> torch.Tensor:
    """Booleans, true in so many of 2^53 cases (one number, or one per place), independently."""
    return torch.randint(_STEPS, shape, generator=generator, device=device) < cases


def randint(cases: int, generator: torch.Generator) -> int:
    """A whole number from 0 to cases - 1."""
    return int(torch.randint(cases, (), generator=generator))


def subsets(
    size: int, total: int, count: int, generator: torch.Generator, device: torch.device
) -> torch.Tensor:
    """`count` random subsets of `size` out of `total` places, as booleans (count, total)."""
    # The places with the largest of so many different keys: ties are out of reach.
    keys = torch.randint(2**62, (count, total), generator=generator, device=device)
    places = keys.topk(size, dim=1).indices
    inside = torch.zeros((count, total), dtype=torch.bool, device=device)
    return inside.scatter_(1, places, True)
