"""The laws every distance must obey, and outputs to try them on."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

ROUNDING = 1e-6


def generator(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def unit_rows(count: int, width: int) -> torch.Tensor:
    """Random directions in double precision, the axes among them."""
    rows = torch.randn(count, width, generator=generator(3), dtype=torch.float64)
    rows[:width] = torch.eye(width, dtype=torch.float64)
    return rows / rows.norm(dim=1, keepdim=True)


def check_laws(metric: Any, outputs: Any) -> None:
    """Identity, symmetry, range, and the triangle inequality in every order of the outputs."""
    block = metric.collate(outputs)
    assert bool(block.valid.all())
    rho = metric.measure(block, block).numpy()
    d = metric.pairwise(outputs, outputs).numpy()
    assert (rho >= 0).all()
    assert not np.isnan(rho).any()
    np.testing.assert_allclose(d, np.minimum(metric.value(rho), metric.diameter))
    assert (np.diagonal(rho) <= 1e-6).all()
    np.testing.assert_allclose(rho, rho.T, rtol=1e-6, atol=1e-12)
    assert (d <= metric.diameter).all()
    _check_triangles(rho, metric.gamma)
    _check_triangles(d, metric.published_gamma)


def _check_triangles(table: np.ndarray, gamma: float) -> None:
    """table[a, c] <= gamma (table[a, b] + table[b, c])"""
    around = gamma * (table[:, :, None] + table[None, :, :])
    assert (table[:, None, :] <= around * (1 + ROUNDING) + ROUNDING).all()
