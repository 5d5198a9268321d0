"""Distances between blocks of rows, never smaller than the true ones.

A bound built on distances that rounding made too small would be a wrong bound, so every
kernel adds a proved bound on its own rounding error (docs/theory/arithmetic.md).
"""

from __future__ import annotations

import numba
import numpy as np
import torch
from numpy.typing import NDArray

from centersmooth.errors import OutputError, expected

_UNIT_32 = 2.0**-24
_UNIT_64 = 2.0**-53
_CHUNK = 256
_SLAB = 2**22  # numbers handled in float64 at once
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
    a, b = _wide(a), _wide(b)
    center = a.mean(dim=0)
    near_a, near_b = a - center, b - center
    norms_a, norms_b = near_a.square().sum(1), near_b.square().sum(1)
    sums = norms_a[:, None] + norms_b[None, :]
    squared = torch.addmm(sums, near_a, near_b.T, alpha=-2.0).clamp_(min=0)
    scale = (norms_a.sqrt()[:, None] + norms_b.sqrt()[None, :]).square_()
    error = (2 * dim + 8) * _UNIT_64
    spoilt = (squared <= scale * max(1e-9, error * _DIGITS)).nonzero()
    squared.add_(scale, alpha=error)
    _repair_near_pairs(squared, spoilt, a, b)
    return squared.sqrt_()


def check_widths(a: torch.Tensor, b: torch.Tensor) -> None:
    """Refuse rows of different sizes: they have no distance."""
    if len(a) and len(b) and a.shape[1:] != b.shape[1:]:
        got = f"{a.shape[1]} and {b.shape[1]} numbers each"
        fix = "Give the model's outputs (and a target) one shape."
        raise OutputError(expected("outputs of one size", got, fix))


def _repair_near_pairs(
    squared: torch.Tensor, pairs: torch.Tensor, a: torch.Tensor, b: torch.Tensor
) -> None:
    """Recompute what cancellation spoilt: pairs much closer than they are to the origin."""
    up = (1.0 + (a.shape[1] + 4) * _UNIT_64) ** 2
    for part in torch.split(pairs, max(1, _SLAB // max(1, a.shape[1]))):
        i, j = part[:, 0], part[:, 1]
        squared[i, j] = (a[i] - b[j]).square().sum(1) * up


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
