"""Random bit flips for sparse inputs and graphs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch

from centersmooth.errors import ArgumentError, InputError, expected
from centersmooth.noise.counts import changes as changed
from centersmooth.noise.draws import chosen, odds, randint
from centersmooth.noise.inputs import InputRange, any_tensor
from centersmooth.noise.options import probability, whole
from centersmooth.noise.regions import Curve, Regions, fill, sums

_AT_ONCE = 2**20
"""Bits that are drawn at once: their random numbers are 64 times as wide."""


@dataclass(frozen=True)
class BitFlips(Regions):
    """Flips every 0 to 1 with probability p_plus and every 1 to 0 with p_minus, independently.

    eps is the number of bits that the attacker flips (2.7 allows 2); `most_additions` and
    `most_deletions` say how many of them can be 0 to 1 and 1 to 0, where that is known. A small
    p_plus keeps sparse inputs sparse. psi comes from filling regions; exact.

    The input is a tensor of zeros and ones of any type. A graph without directions has one bit
    per pair of nodes: give the upper triangle, and unfold it inside the model.
    """

    p_plus: float
    p_minus: float
    most_additions: int | None = None
    most_deletions: int | None = None

    def __post_init__(self) -> None:
        meaning = "It is the probability that one bit flips."
        probability(self.p_plus, "p_plus", meaning)
        probability(self.p_minus, "p_minus", meaning)
        if not 0 < self.p_plus + self.p_minus < 1:
            fix = "With 0 there is no noise, and from 1 on nothing of the input is left."
            got = self.p_plus + self.p_minus
            raise ArgumentError(expected("0 < p_plus + p_minus < 1", got, fix))
        for name in ("most_additions", "most_deletions"):
            if getattr(self, name) is not None:
                whole(getattr(self, name), name, 0, "None sets no limit.")

    @property
    def norm(self) -> str:  # type: ignore[override]
        """Hamming, and what limits the attacker besides."""
        limits = (("additions", self.most_additions), ("deletions", self.most_deletions))
        known = [f"at most {most} {name}" for name, most in limits if most is not None]
        return f"Hamming ({', '.join(known)})" if known else "Hamming"

    def sample(self, x: torch.Tensor, generator: torch.Generator, count: int) -> torch.Tensor:
        """`count` copies with flipped bits."""
        ones, shape = x.bool(), tuple(x.shape)
        chances = torch.where(ones, odds(self.p_minus), odds(self.p_plus))
        rows = max(1, _AT_ONCE // max(1, x.numel()))
        parts = [min(rows, count - start) for start in range(0, count, rows)]
        draws = (chosen(chances, (part, *shape), generator, x.device) for part in parts)
        return torch.cat([ones ^ flips for flips in draws]).to(x.dtype)

    def curves(self, changes: int, fold: int) -> tuple[Curve, ...]:
        """One curve for every division of the flips into additions and deletions."""
        return _curves(self, changes, fold)

    def attacks(
        self, x: Any, eps: float, count: int, generator: torch.Generator, input_range: InputRange
    ) -> list[Any]:
        """Random flips, divided into additions and deletions in one of the strongest ways."""
        divisions = self.divisions(changed(eps))
        zeros, ones = ((x.flatten() == bit).nonzero()[:, 0] for bit in (0, 1))
        found = []
        for _ in range(count):
            added, deleted = divisions[randint(len(divisions), generator)]
            there = x.clone().flatten()
            for places, flips, value in ((zeros, added, 1), (ones, deleted, 0)):
                order = torch.randperm(len(places), generator=generator).to(places.device)
                there[places[order[:flips]]] = value
            found.append(there.reshape(x.shape))
        return found

    def divisions(self, changes: int) -> list[tuple[int, int]]:
        """The strongest attacks: (additions, deletions). Fewer flips are never stronger."""
        additions = changes if self.most_additions is None else min(changes, self.most_additions)
        deletions = changes if self.most_deletions is None else min(changes, self.most_deletions)
        flips = min(changes, additions + deletions)
        return [(a, flips - a) for a in range(flips - deletions, additions + 1)]

    def check_input(self, x: Any, input_range: InputRange) -> torch.Tensor:
        """A tensor of zeros and ones."""
        tensor = any_tensor(x, input_range, type(self).__name__)
        if not bool(((tensor == 0) | (tensor == 1)).all()):
            fix = "Bit flips perturb bits: threshold the input, or use Gaussian noise."
            raise InputError(expected("an input of zeros and ones", "other values", fix))
        return tensor

    def largest_move(self, x: torch.Tensor, input_range: tuple[float, float]) -> float:
        """Every bit flipped."""
        return float(x.numel())


@lru_cache(maxsize=512)
def _curves(noise: BitFlips, changes: int, fold: int) -> tuple[Curve, ...]:
    """Regions by the number of attacked bits that the noise flips at x: 0, 1, ..., all.

    `fold` draws of an input are one draw of `fold` copies of it. An added bit is flipped at x
    with p_plus and shows the same at x' with 1 - p_minus; a deleted one the other way round. The
    likelihood ratio rises with every flip by (1 - p_plus)(1 - p_minus) / (p_plus p_minus) > 1.
    """
    plus, minus = noise.p_plus, noise.p_minus
    most = changes * fold
    added_here, added_there = sums((1 - plus, plus), most), sums((minus, 1 - minus), most)
    deleted_here, deleted_there = sums((1 - minus, minus), most), sums((plus, 1 - plus), most)

    def curve(additions: int, deletions: int) -> Curve:
        here = np.convolve(added_here[additions], deleted_here[deletions])
        return fill(here, np.convolve(added_there[additions], deleted_there[deletions]))

    return tuple(curve(fold * a, fold * d) for a, d in noise.divisions(changes))
