"""l2 distances between rows of many thousand features, rounded up.

As `kernels.l2`, but some columns at a time: rows of half a million features do not fit the
processor's cache, and converting them to double precision costs more than the products.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from centersmooth import kernels

_UNIT_32, _UNIT_64 = 2.0**-24, 2.0**-53
_TILE = 256
_COLUMNS = 32 * _TILE
_PAIRS = 2**22
_NEAR = 0.01

Squares = tuple[torch.Tensor, torch.Tensor]
"""Squared distances, and ``(|a| + |b|)^2`` about a common origin, which scales their error."""


def long_l2(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """l2 distances between all rows, in float64, at least as large as they are."""
    kernels.check_widths(a, b)
    if min(len(a), len(b)) <= 3:
        return kernels.l2(a, b)
    if a.device.type == "cpu" and a.dtype == b.dtype == torch.float32:
        squared, scale = _in_single(a.numpy(), b.numpy())
        if not bool((squared <= _NEAR * scale).any()):
            # A sum of _TILE products has a relative error of _TILE units, in any order; each
            # factor, a difference, has one unit. The few more cover second-order terms.
            return squared.add_(scale, alpha=(_TILE + 16) * _UNIT_32).sqrt_()
    return _in_double(a, b)


def _in_single(a: NDArray[np.float32], b: NDArray[np.float32]) -> Squares:
    """By numpy: torch may be told to round the factors of products in single precision."""
    products = np.zeros((len(a), len(b)))
    norms_a, norms_b = np.zeros(len(a)), np.zeros(len(b))
    for start in range(0, a.shape[1], _COLUMNS):
        one, other = a[:, start : start + _COLUMNS], b[:, start : start + _COLUMNS]
        center = one.mean(axis=0, dtype=np.float32)
        tiles_a, tiles_b = _tiles(one - center), _tiles(other - center)
        products += np.matmul(tiles_a, tiles_b.transpose(0, 2, 1)).sum(axis=0, dtype=np.float64)
        norms_a += np.einsum("tic,tic->ti", tiles_a, tiles_a).sum(axis=0, dtype=np.float64)
        norms_b += np.einsum("tic,tic->ti", tiles_b, tiles_b).sum(axis=0, dtype=np.float64)
    found = (torch.from_numpy(part) for part in (norms_a, norms_b, products))
    return _squares(*found)


def _tiles(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows cut into tiles of columns, zeros after the end."""
    missing = -rows.shape[1] % _TILE
    whole = np.pad(rows, ((0, 0), (0, missing))) if missing else rows
    return whole.reshape(len(rows), -1, _TILE).transpose(1, 0, 2)


def _in_double(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    dim = a.shape[1]
    norms_a, norms_b = (torch.zeros(len(r), dtype=torch.float64, device=r.device) for r in (a, b))
    products = torch.zeros((len(a), len(b)), dtype=torch.float64, device=a.device)
    for start in range(0, dim, _COLUMNS // 2):
        one, other = (rows[:, start : start + _COLUMNS // 2].double() for rows in (a, b))
        center = one.mean(dim=0)
        one, other = one - center, other - center
        norms_a += one.square().sum(1)
        norms_b += other.square().sum(1)
        products.addmm_(one, other.T)
    squared, scale = _squares(norms_a, norms_b, products)
    near = (squared <= 1e-9 * scale).nonzero()
    # The error bound of kernels.l2, which holds for sums in any order.
    squared.clamp_(min=0).add_(scale, alpha=(2 * dim + 8) * _UNIT_64)
    for part in torch.split(near, max(1, _PAIRS // max(1, dim))):
        i, j = part[:, 0], part[:, 1]
        exact = (a[i].double() - b[j].double()).square().sum(1)
        squared[i, j] = exact * (1.0 + (dim + 4) * _UNIT_64) ** 2
    return squared.sqrt_()


def _squares(norms_a: torch.Tensor, norms_b: torch.Tensor, products: torch.Tensor) -> Squares:
    squared = norms_a[:, None] + norms_b[None, :] - 2.0 * products
    return squared, (norms_a.sqrt()[:, None] + norms_b.sqrt()[None, :]).square_()
