"""Distances between blocks of rows, never smaller than the true ones.

A bound built on distances that rounding made too small would be a wrong bound, so every
kernel adds a proved bound on its own rounding error (docs/theory/arithmetic.md).
"""

from __future__ import annotations

import math

import numba
import numpy as np
import torch
from numpy.typing import NDArray

from centersmooth.errors import OutputError, expected

_UNIT_32 = 2.0**-24
_UNIT_64 = 2.0**-53
_CHUNK = 256
_SLAB = 2**22  # numbers handled in float64 at once
_CACHED = 2**18  # numbers in float64 that stay in the processor's cache
_SPOILT = 1e-9  # a squared distance below this share of (|a| + |b|)^2 has lost its digits
_TILE = 4
_DIGITS = 2.0**20  # a squared distance keeps so many times its error, or is computed directly
L1_ROUNDING = 2.0**-14
"""The relative slack of bounds whose distances `l1` measures: it makes them up to 3.1e-5 too large,
and what a query measures must not exceed what its certificate allowed for."""


def l1(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """l1 distances between the rows of a and the rows of b, in float64, rounded up."""
    check_widths(a, b)
    if a.device.type == "cpu" and b.device.type == "cpu":
        double = torch.float64 in (a.dtype, b.dtype)
        a, b = (a.double(), b.double()) if double else (a.float(), b.float())
        sums = torch.from_numpy(_l1_cpu(_rows(a), _rows(b)))
        unit = _UNIT_64 if double else _UNIT_32
        # One rounding for the difference and at most _CHUNK for a partial sum, all terms >= 0.
        return sums * (1.0 + (_CHUNK + 2) * unit + (a.shape[1] + 2) * _UNIT_64)
    return _l1_device(a, b)


def l2(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """l2 distances between the rows of a and the rows of b, in float64, rounded up.

    Few rows are subtracted directly. Many go through one matrix product, after both sides
    were moved so that the mean of a lies at the origin: uncentred products lose all digits
    of nearly equal rows.
    """
    check_widths(a, b)
    dim = a.shape[1]
    if min(len(a), len(b)) <= 3:
        squared = _squares_directly(a, b)
        return squared.sqrt_().mul_(1.0 + (dim + 4) * _UNIT_64)
    center = _wide(a).mean(dim=0)
    near = _wide_rest(a, center)
    norms = torch.linalg.vector_norm(near, dim=1)
    # Some rows at a time, so that what is made on the way stays in the cache.
    parts = torch.split(b, max(64, _CACHED // max(1, dim)))
    return torch.cat([_by_product(a, near, norms, part, center) for part in parts], dim=1)


def _by_product(
    a: torch.Tensor, near: torch.Tensor, norms: torch.Tensor, b: torch.Tensor, center: torch.Tensor
) -> torch.Tensor:
    """l2 distances from a to some rows of b, given a less the center and its norms."""
    others = _wide_rest(b, center)
    norms_b = torch.linalg.vector_norm(others, dim=1)
    lengths = near @ others.T
    slack = (2 * a.shape[1] + 8) * _UNIT_64
    share = max(_SPOILT, slack * _DIGITS)
    if lengths.device.type == "cpu":
        spoilt = _finish_cpu(lengths.numpy(), norms.numpy(), norms_b.numpy(), slack, share) > 0
    else:
        sums = norms.square()[:, None] + norms_b.square()[None, :]
        scale = (norms[:, None] + norms_b[None, :]).square_()
        lengths = lengths.mul_(-2.0).add_(sums).clamp_(min=0).add_(scale, alpha=slack).sqrt_()
        spoilt = True
    if spoilt:
        close = lengths <= math.sqrt(2 * share + slack) * (norms[:, None] + norms_b[None, :])
        _repair_near_pairs(lengths, close.nonzero(), a, b)
    return lengths


def check_widths(a: torch.Tensor, b: torch.Tensor) -> None:
    """Refuse rows of different sizes: they have no distance."""
    if len(a) and len(b) and a.shape[1:] != b.shape[1:]:
        got = f"{a.shape[1]} and {b.shape[1]} numbers each"
        fix = "Give the model's outputs (and a target) one shape."
        raise OutputError(expected("outputs of one size", got, fix))


def _repair_near_pairs(
    lengths: torch.Tensor, pairs: torch.Tensor, a: torch.Tensor, b: torch.Tensor
) -> None:
    """Recompute what cancellation spoilt: pairs much closer than they are to the origin."""
    up = 1.0 + (a.shape[1] + 4) * _UNIT_64
    for part in torch.split(pairs, max(1, _SLAB // max(1, a.shape[1]))):
        i, j = part[:, 0], part[:, 1]
        lengths[i, j] = (_wide(a[i]) - _wide(b[j])).square().sum(1).sqrt() * up


def _squares_directly(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    few, many, flip = (a, b, False) if len(a) <= len(b) else (b, a, True)
    if few.device.type == "cpu" and many.device.type == "cpu":
        squared = torch.from_numpy(_squares_cpu(_rows(few), _rows(many)))
        return squared.T if flip else squared
    few = _wide(few)
    parts = torch.split(many, max(1, _SLAB // max(1, many.shape[1])))
    rows = [torch.cat([(_wide(part) - row).square_().sum(1) for part in parts]) for row in few]
    squared = torch.stack(rows) if rows else few.new_zeros((0, len(many)))
    return squared.T if flip else squared


def _wide(rows: torch.Tensor) -> torch.Tensor:
    """In float64; devices without it (mps) hand over to the CPU."""
    return (rows.cpu() if rows.device.type == "mps" else rows).double()


def _wide_rest(rows: torch.Tensor, center: torch.Tensor) -> torch.Tensor:
    """Rows less the center, in float64: widened and subtracted in one pass over memory."""
    return rows.to(center.device) - center


def _rows(rows: torch.Tensor) -> NDArray[np.floating]:
    return np.ascontiguousarray(rows.detach().numpy())


def _l1_device(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """On a GPU: a slab of rows at a time, so that memory stays flat."""
    slab = max(1, 2**25 // max(1, b.numel()))
    wide = torch.float64 if a.device.type != "mps" else torch.float32
    unit = _UNIT_64 if wide == torch.float64 else _UNIT_32
    sums = [(part[:, None] - b[None]).abs_().sum(-1, dtype=wide) for part in torch.split(a, slab)]
    out = torch.cat(sums) if sums else b.new_zeros((0, len(b)), dtype=wide)
    difference = _UNIT_64 if a.dtype == torch.float64 else _UNIT_32
    return out * (1.0 + 2 * difference + (a.shape[1] + 2) * unit)


@numba.njit(fastmath={"reassoc", "nsz", "contract"}, cache=True, nogil=True)
def _finish_cpu(products, norms_a, norms_b, slack, share):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Products of rows become their distances; returns how many cancellation spoilt."""
    spoilt = 0
    for i in range(products.shape[0]):
        one = norms_a[i]
        for j in range(products.shape[1]):
            other = norms_b[j]
            scale = (one + other) * (one + other)
            squared = max(one * one + other * other - 2.0 * products[i, j], 0.0)
            spoilt += squared <= share * scale
            products[i, j] = math.sqrt(squared + slack * scale)
    return spoilt


@numba.njit(fastmath={"reassoc", "nsz", "contract"}, cache=True, nogil=True)
def _four_sums(row, b0, b1, b2, b3):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Four l1 distances from one row: lanes within a chunk in any order, chunks in float64."""
    zero = row.dtype.type(0)
    t0, t1, t2, t3 = 0.0, 0.0, 0.0, 0.0
    for start in range(0, row.size, _CHUNK):
        stop = min(start + _CHUNK, row.size)
        r, c0, c1 = row[start:stop], b0[start:stop], b1[start:stop]
        c2, c3 = b2[start:stop], b3[start:stop]
        s0, s1, s2, s3 = zero, zero, zero, zero
        for x in range(r.size):
            s0 += abs(r[x] - c0[x])
            s1 += abs(r[x] - c1[x])
            s2 += abs(r[x] - c2[x])
            s3 += abs(r[x] - c3[x])
        t0, t1, t2, t3 = t0 + s0, t1 + s1, t2 + s2, t3 + s3
    return t0, t1, t2, t3


@numba.njit(fastmath={"reassoc", "nsz", "contract"}, cache=True, nogil=True)
def _square(row, other):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    total = 0.0
    for x in range(row.size):
        difference = np.float64(row[x]) - np.float64(other[x])
        total += difference * difference
    return total


@numba.njit(parallel=True, cache=True, nogil=True)
def _squares_cpu(few, many):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Squared distances of a few rows to many, widened to float64 on the way."""
    out = np.empty((few.shape[0], many.shape[0]), dtype=np.float64)
    for j in numba.prange(many.shape[0]):
        for i in range(few.shape[0]):
            out[i, j] = _square(few[i], many[j])
    return out


@numba.njit(parallel=True, cache=True, nogil=True)
def _l1_cpu(a, b):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """All pairs, four rows of b at a time: the kernel is bound by loads, not by sums."""
    rows, count = a.shape[0], b.shape[0]
    out = np.empty((rows, count), dtype=np.float64)
    for tile in numba.prange((count + _TILE - 1) // _TILE):
        j0 = tile * _TILE
        j1, j2, j3 = min(j0 + 1, count - 1), min(j0 + 2, count - 1), min(j0 + 3, count - 1)
        for i in range(rows):
            sums = _four_sums(a[i], b[j0], b[j1], b[j2], b[j3])
            out[i, j0], out[i, j1], out[i, j2], out[i, j3] = sums
    return out
