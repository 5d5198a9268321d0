"""Edit distances between strings, or between lists of tokens."""

from __future__ import annotations

import importlib.util
import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numba
import numpy as np
import torch

from centersmooth.metrics.base import Block, Metric, check_diameter
from centersmooth.metrics.ragged import end_to_end
from centersmooth.metrics.tokens import Tokens, as_strings, common_codes, comparable, token_rows
from centersmooth.outputs import Outputs

_FAST = importlib.util.find_spec("rapidfuzz") is not None
_UP = 1.0 + 2.0**-50


class _Edits(Metric):
    """Rows are strings or tuples of tokens."""

    words: bool
    rounding: ClassVar[float] = 0.0

    def collate(self, outputs: Outputs) -> Block:
        rows = token_rows(outputs, split=self.words)
        return Block(rows, comparable(rows))


@dataclass(frozen=True)
class Levenshtein(_Edits):
    """``d(a, b) = the least number of insertions, deletions and substitutions from a to b``.

    Range [0, inf) unless a diameter (the greatest length) is given. Theorem B. A metric:
    edits can be undone, and those from a to b followed by those from b to c lead from a to c.

    Outputs are strings, compared by character or (``words=True``) by word, or lists of
    tokens. The empty string is as far from another as that one is long. Word errors are not
    divided by the length of a reference: that ratio is no metric.
    """

    words: bool = False
    diameter: float = math.inf
    unit: ClassVar[str] = "edits"

    def __post_init__(self) -> None:
        check_diameter(self.diameter)

    def lengths(self, a: Any, b: Any) -> torch.Tensor:
        return torch.from_numpy(edit_distances(a, b))


@dataclass(frozen=True)
class NormalizedLevenshtein(_Edits):
    """``d(a, b) = 2 L / (|a| + |b| + L)`` with L the Levenshtein distance. Range [0, 1]. Theorem B.

    A metric (Yujian and Bo 2007): ``D -> 2 D(a, b) / (D(a, p) + D(b, p) + D(a, b))`` keeps the
    triangle inequality of any metric D and fixed point p, here the empty string. Two empty
    strings are at distance 0, and the empty one is at distance 1 from all others.
    """

    words: bool = False
    diameter: float = field(default=1.0, init=False)

    def lengths(self, a: Any, b: Any) -> torch.Tensor:
        edits = edit_distances(a, b)
        sizes_a, sizes_b = (np.array([len(row) for row in rows], dtype=float) for rows in (a, b))
        total = sizes_a[:, None] + sizes_b[None, :] + edits
        share = np.divide(2 * edits, total, out=np.zeros_like(edits), where=total > 0)
        return torch.from_numpy(np.minimum(share * _UP, 1.0))


def edit_distances(a: list[Tokens], b: list[Tokens]) -> np.ndarray:
    """Levenshtein distances between all pairs; by rapidfuzz where it is installed."""
    return _by_rapidfuzz(a, b) if _FAST else _by_numba(a, b)


def _by_rapidfuzz(a: list[Tokens], b: list[Tokens]) -> np.ndarray:
    from rapidfuzz.distance import Levenshtein as fast
    from rapidfuzz.process import cdist

    one, other = as_strings(a, b)
    table = cdist(one, other, scorer=fast.distance, dtype=np.int32, workers=1)
    return np.asarray(table, dtype=np.float64).reshape(len(a), len(b))


def _by_numba(a: list[Tokens], b: list[Tokens]) -> np.ndarray:
    one, other, alphabet = common_codes(a, b)
    empty = np.zeros(0, dtype=np.int32)
    table = _edit_distances(*end_to_end(one, empty), *end_to_end(other, empty), alphabet)
    return np.asarray(table)


@numba.njit(cache=True, nogil=True)
def _edit_distances(a, starts_a, b, starts_b, alphabet):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Myers' bit-parallel algorithm: 64 rows of the dynamic programme per word."""
    out = np.empty((starts_a.size - 1, starts_b.size - 1), dtype=np.float64)
    for i in range(starts_a.size - 1):
        pattern = a[starts_a[i] : starts_a[i + 1]]
        blocks = (pattern.size + 63) // 64
        places = np.zeros((alphabet, blocks), dtype=np.uint64)
        for k in range(pattern.size):
            places[pattern[k], k // 64] |= np.uint64(1) << np.uint64(k % 64)
        up = np.empty(blocks, dtype=np.uint64)
        down = np.empty(blocks, dtype=np.uint64)
        for j in range(starts_b.size - 1):
            text = b[starts_b[j] : starts_b[j + 1]]
            out[i, j] = _edits(places, pattern.size, text, up, down)
    return out


@numba.njit(cache=True, nogil=True)
def _edits(places, size, text, up, down):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """One distance (Hyyrö 2003): vertical differences of a column as bits, +1 up, -1 down."""
    if size == 0:
        return text.size
    one, top = np.uint64(1), np.uint64(63)
    last = one << np.uint64((size - 1) % 64)
    up[:] = ~np.uint64(0)
    down[:] = np.uint64(0)
    score = size
    for character in text:
        plus, minus = one, np.uint64(0)  # the first row grows by one per character
        for block in range(up.size):
            match = places[character, block]
            seen = match | minus
            zero = (((seen & up[block]) + up[block]) ^ up[block]) | seen | down[block]
            right = down[block] | ~(zero | up[block])
            left = zero & up[block]
            if block == up.size - 1:
                score += np.int64((right & last) != 0) - np.int64((left & last) != 0)
            next_plus, next_minus = right >> top, left >> top
            right, left = (right << one) | plus, (left << one) | minus
            up[block] = left | ~(zero | right)
            down[block] = right & zero
            plus, minus = next_plus, next_minus
    return score
