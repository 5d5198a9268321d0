"""Noise for text and other sequences of tokens."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import torch

from centersmooth.errors import ArgumentError, InputError, expected
from centersmooth.noise.counts import SCALE, changes
from centersmooth.noise.draws import chosen, odds, randint
from centersmooth.noise.inputs import InputRange, any_tensor, token_list
from centersmooth.noise.options import probability, whole
from centersmooth.noise.regions import Curve, Regions, fill, sums
from centersmooth.noise.shared import SharedMass


@dataclass(frozen=True)
class TokenDeletion(SharedMass):
    """Deletes every token with probability p_delete, independently; the rest closes up.

    eps is the number of tokens that the attacker inserts, deletes or replaces: a Levenshtein
    distance (2.7 allows 2). ``mass_left(p, eps) = p - 1 + p_delete^eps``, clipped at 0. Exact:
    replacing eps tokens by new ones attains it.

    The input is a list of tokens of any kind (words, characters, ids); a model gets a list of
    such lists, of any length, the empty one included.
    """

    p_delete: float
    norm: ClassVar[str] = "Levenshtein"

    def __post_init__(self) -> None:
        probability(self.p_delete, "p_delete", "It is the probability that a token is deleted.")

    @property
    def scale(self) -> float:
        """Four edits, so that tables show 1, 2, 4, 6 and 8."""
        return SCALE

    def sample(self, x: list[Any], generator: torch.Generator, count: int) -> list[list[Any]]:
        """`count` lists of what is left of x."""
        shape = (count, len(x))
        gone = chosen(odds(self.p_delete), shape, generator, torch.device("cpu")).tolist()
        return [[token for token, out in zip(x, row, strict=True) if not out] for row in gone]

    def shared(self, eps: float) -> float:
        """p_delete^eps: the probability that the noise deletes all that was edited."""
        edits = changes(eps)
        # pow is accurate to one unit in the last place.
        return self.p_delete**edits * (1.0 - 2.0**-51) if edits else 1.0

    def attacks(
        self, x: Any, eps: float, count: int, generator: torch.Generator, input_range: InputRange
    ) -> list[Any]:
        """Random edits; what is inserted are other tokens of x, and copies of them."""
        known = list(x) or [""]
        found = []
        for _ in range(count):
            there = list(x)
            for _ in range(changes(eps)):
                place, kind = randint(len(there) + 1, generator), randint(3, generator)
                token = [known[randint(len(known), generator)]] if kind else []
                there[place : place + (kind < 2)] = token  # delete, replace, insert
            found.append(there)
        return found

    def check_input(self, x: Any, input_range: InputRange) -> list[Any]:
        """A list of tokens."""
        return token_list(x, input_range)


@dataclass(frozen=True)
class TokenSubstitution(Regions):
    """Replaces every token with probability p_replace by another one, all others alike.

    eps is the number of tokens that the attacker replaces by others of the vocabulary, at the
    same length: a Hamming distance (2.7 allows 2). psi comes from filling regions; exact.

    Tokens are ids, whole numbers from 0 to vocabulary - 1, in a list or an integer tensor.
    """

    p_replace: float
    vocabulary: int
    norm: ClassVar[str] = "Hamming"

    def __post_init__(self) -> None:
        probability(self.p_replace, "p_replace", "It is the probability that a token is replaced.")
        whole(self.vocabulary, "vocabulary", 2, "It is the number of different tokens.")
        most = 1 - 1 / self.vocabulary
        if not 0 < self.p_replace < most:
            fix = "At 0 there is no noise; at 1 - 1 / vocabulary nothing of the input is left."
            raise ArgumentError(expected(f"0 < p_replace < {most:g}", self.p_replace, fix))

    def sample(self, x: Any, generator: torch.Generator, count: int) -> Any:
        """`count` copies with replaced tokens: a tensor for a tensor, lists for a list."""
        ids = torch.as_tensor(x)  # an empty list would be a float tensor
        ids = ids.long() if isinstance(x, list) else ids
        shape = (count, *ids.shape)
        out = chosen(odds(self.p_replace), shape, generator, ids.device)
        # A step of 1, ..., vocabulary - 1 round the vocabulary is any other token, all alike.
        steps = torch.randint(1, self.vocabulary, shape, generator=generator, device=ids.device)
        copies = torch.where(out, (ids.long() + steps) % self.vocabulary, ids.long()).to(ids.dtype)
        return copies.tolist() if isinstance(x, list) else copies

    def curves(self, changes: int, fold: int) -> tuple[Curve, ...]:
        """One curve: all attacks with so many replaced tokens are alike."""
        return (_curve(self.p_replace, self.vocabulary, changes * fold),)

    def attacks(
        self, x: Any, eps: float, count: int, generator: torch.Generator, input_range: InputRange
    ) -> list[Any]:
        """Random tokens replaced by any others."""
        ids = torch.as_tensor(x).long().flatten()
        found = []
        for _ in range(count):
            places = torch.randperm(len(ids), generator=generator)[: changes(eps)].to(ids.device)
            steps = torch.randint(1, self.vocabulary, (len(places),), generator=generator)
            there = ids.clone()
            there[places] = (ids[places] + steps.to(ids.device)) % self.vocabulary
            found.append(there.tolist() if isinstance(x, list) else there.reshape(x.shape).to(x))
        return found

    def check_input(self, x: Any, input_range: InputRange) -> Any:
        """Ids below the size of the vocabulary."""
        if isinstance(x, torch.Tensor):
            x = any_tensor(x, input_range, type(self).__name__)
            known = _holds(x, self.vocabulary - 1) and _within(x.long(), self.vocabulary - 1)
        else:
            x = token_list(x, input_range)
            known = all(type(token) is int and 0 <= token < self.vocabulary for token in x)
        if not known:
            fix = "Give token ids: [words.index(word) for word in text], and decode in the model."
            what = f"whole numbers from 0 to {self.vocabulary - 1} (and a type that holds them)"
            raise InputError(expected(what, "other tokens", fix))
        return x

    def largest_move(self, x: Any, input_range: tuple[float, float]) -> float:
        """Every token replaced."""
        return float(x.numel() if isinstance(x, torch.Tensor) else len(x))


def _holds(x: torch.Tensor, largest: int) -> bool:
    """Whether the tensor's type has room for every token, not only for those of this text."""
    if x.is_floating_point() or x.is_complex() or x.dtype == torch.bool:
        return False
    return torch.iinfo(x.dtype).max >= largest


def _within(ids: torch.Tensor, largest: int) -> bool:
    return bool(((ids >= 0) & (ids <= largest)).all())


@lru_cache(maxsize=512)
def _curve(p_replace: float, vocabulary: int, replaced: int) -> Curve:
    """Regions by how many attacked places show the token of x' less how many show that of x.

    Each such place multiplies the likelihood ratio by keep / other > 1 or its inverse; places
    that show any third token leave it alone.
    """
    keep, other = 1.0 - p_replace, p_replace / (vocabulary - 1)
    here = sums((keep, (vocabulary - 2) * other, other), replaced)[replaced]
    return fill(here, here[::-1])
