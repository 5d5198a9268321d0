"""Rows of bits in 64-bit words, and the number of bits that two rows share or differ in."""

from __future__ import annotations

import numba
import numpy as np
import torch
from numba.extending import intrinsic

_WORD = 64


def packed(bits: torch.Tensor) -> torch.Tensor:
    """Rows of booleans as rows of words, the last one padded with zeros."""
    raw = np.packbits(bits.cpu().numpy(), axis=1)
    words = np.zeros((len(bits), -(-bits.shape[1] // _WORD) * (_WORD // 8)), dtype=np.uint8)
    words[:, : raw.shape[1]] = raw
    return torch.from_numpy(words.view(np.int64))


def differing(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """How many bits differ, for all pairs of rows: exact, in float64."""
    return torch.from_numpy(_differing(*_words(a, b)))


def shared(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """How many bits are set in both, for all pairs of rows: exact, in float64."""
    return torch.from_numpy(_shared(*_words(a, b)))


def counts(rows: torch.Tensor) -> torch.Tensor:
    """How many bits are set in each row: exact, in float64."""
    return differing(rows, rows.new_zeros((1, rows.shape[1])))[:, 0]


def _words(a: torch.Tensor, b: torch.Tensor) -> tuple[np.ndarray, np.ndarray]:
    one, other = np.ascontiguousarray(a.numpy()), np.ascontiguousarray(b.numpy())
    return one.view(np.uint64), other.view(np.uint64)


@intrinsic
def _popcount(typing, word):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    def emit(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return builder.ctpop(arguments[0])

    return word(word), emit


@numba.njit(cache=True, nogil=True)
def _differing(a, b):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    out = np.empty((a.shape[0], b.shape[0]), dtype=np.float64)
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            count = np.uint64(0)
            for word in range(a.shape[1]):
                count += _popcount(a[i, word] ^ b[j, word])  # type: ignore[call-arg]
            out[i, j] = count
    return out


@numba.njit(cache=True, nogil=True)
def _shared(a, b):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    out = np.empty((a.shape[0], b.shape[0]), dtype=np.float64)
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            count = np.uint64(0)
            for word in range(a.shape[1]):
                count += _popcount(a[i, word] & b[j, word])  # type: ignore[call-arg]
            out[i, j] = count
    return out
