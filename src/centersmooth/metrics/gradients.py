"""The image whose gradient has the least mean l1 distance to given ones, with a proof of the gap.

A convex problem on the edges of a grid: the mean of ``|t_e - a_ie|`` over the outputs i is a
piecewise linear function h_e of the value t_e on an edge, and t must be the gradient of an image.
Flows without sources or sinks are its dual: they see no gradient, so each of them with values
in [-1, 1] bounds the least mean from below (docs/theory/theorem-c-normed.md).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, diags
from scipy.sparse.linalg import splu

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

_LEAKS = 2.0**-26
"""The most that may come out of sources and sinks of a flow, all together, by rounding."""
_STEPS = 20_000
_SLAB = 2**22  # numbers that are sorted at once


class GradientFit:
    """Minimise the sum over edges of ``mean_i |(grad y)_e - a_ie|`` over images y (by ADMM).

    Any number of outputs costs no more per step than the search for a place among them.
    """

    def __init__(self, images: NDArray[Any], heads: Places, tails: Places) -> None:
        self._sorted = _sorted_differences(images, heads, tails)
        self._grid = _Grid(images.shape[1], heads, tails, _weights(self._sorted))

    def steps(self) -> Iterator[tuple[Floats, Floats]]:
        """Images (pixels in a row) and flows, ever closer to the best."""
        grid, weights = self._grid, self._grid.weights
        wanted = _medians(self._sorted)
        force, before = np.zeros_like(wanted), wanted.copy()
        stiffness, check = 1.0, 4
        for count in range(_STEPS):
            rho = stiffness * weights
            image = grid.image(wanted - force / rho)
            slopes = grid.gradient @ image
            if count in (0, check):
                yield image, grid.circulation(force)
                check = max(check, math.ceil(1.25 * count))
            before[:] = wanted
            _pull(self._sorted, slopes + force / rho, rho, wanted, force)
            apart = float(weights @ abs(slopes - wanted))
            moved = float(weights @ abs(wanted - before))
            stiffness *= 1.1 if apart > 4 * moved else 1 / 1.1 if moved > 4 * apart else 1.0

    def gap(self, row: Floats, flow: Floats) -> float:
        """How much smaller than at `row` the mean distance can be; infinite if nothing is known.

        The areas between the slopes of h_e and the flow, and what the flow sees of `row`: the
        rounding in it, for it would see nothing of a gradient.
        """
        if self._grid.leaks(flow) > _LEAKS:
            return math.inf
        return max(0.0, float(_areas(self._sorted, row, flow)) + float(flow @ row))


class _Grid:
    """Gradients of images and the flows orthogonal to them, with a weight for every edge."""

    def __init__(self, pixels: int, heads: Places, tails: Places, weights: Floats) -> None:
        count = len(heads)
        edges = np.concatenate([np.arange(count)] * 2)
        signs = np.concatenate((np.ones(count), -np.ones(count)))
        places = (edges, np.concatenate((heads, tails)))
        self.weights = weights
        self.gradient = csr_matrix((signs, places), shape=(count, pixels))
        self._across = self.gradient.T.tocsr()
        # The first pixel of each channel is held at 0, for constants cost nothing.
        held = np.ones(pixels)
        held[heads] = 0.0
        laplacian = self._across @ diags(weights) @ self.gradient
        self._solver = splu((laplacian + diags(held * weights.max(initial=1e-300))).tocsc())

    def image(self, slopes: Floats) -> Floats:
        """The image whose gradient is closest to these slopes, by weighted squares."""
        found: Floats = self._solver.solve(self._across @ (self.weights * slopes))
        return found

    def circulation(self, force: Floats) -> Floats:
        """A flow near this one, with values in [-1, 1] and without sources or sinks."""
        along = self.gradient @ self._solver.solve(self._across @ force)
        flow: Floats = force - self.weights * along
        shrunk: Floats = flow / max(1.0, float(abs(flow).max(initial=0.0)))
        return shrunk

    def leaks(self, flow: Floats) -> float:
        """All that comes out of sources and sinks."""
        return float(abs(self._across @ flow).sum())


def _sorted_differences(images: NDArray[Any], heads: Places, tails: Places) -> NDArray[Any]:
    """The differences of all images along every edge, in order; a few edges at a time."""
    values = np.empty((len(heads), len(images)), dtype=images.dtype)
    step = max(1, _SLAB // max(1, len(images)))
    for start in range(0, len(heads), step):
        part = slice(start, start + step)
        values[part] = (images[:, heads[part]] - images[:, tails[part]]).T
        values[part].sort(axis=1)
    return values


def _weights(values: NDArray[Any]) -> Floats:
    """Steep where outputs agree: about the curvature of h_e."""
    low, high = (values[:, int(share * (values.shape[1] - 1))] for share in (0.2, 0.8))
    spread = (high - low).astype(np.float64)
    widest = float(spread.max(initial=0.0)) or 1.0
    weights: Floats = 1.0 / np.maximum(spread, 1e-4 * widest)
    return weights


def _medians(values: NDArray[Any]) -> Floats:
    return values[:, (values.shape[1] - 1) // 2].astype(np.float64)


@numba.njit(cache=True, nogil=True)
def _pull(values, slopes, rho, wanted, force):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """On every edge the t of least ``h_e(t) + rho_e / 2 (t - slope_e)^2``, and the slope there."""
    edges, count = values.shape
    for e in range(edges):
        row, steep = values[e], count * rho[e]
        low, high = 0, count
        while low < high:
            k = (low + high) // 2
            if slopes[e] - (2 * k - count) / steep <= row[k]:
                high = k
            else:
                low = k + 1
        t = slopes[e] - (2 * low - count) / steep
        if low > 0 and t < row[low - 1]:
            t = np.float64(row[low - 1])
        wanted[e], force[e] = t, rho[e] * (slopes[e] - t)


@numba.njit(cache=True, nogil=True)
def _areas(values, row, flow):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Sum over edges of the integral of ``flow_e - h_e'`` from row_e to where h_e' passes flow_e.

    Sums of nonnegative terms near row_e: nothing cancels, however far some outputs are.
    """
    edges, count = values.shape
    total = 0.0
    for e in range(edges):
        line, place, wanted = values[e], row[e], flow[e] * count
        k = np.searchsorted(line, place, side="right")
        while k < count and 2 * k - count < wanted:
            total += (wanted - (2 * k - count)) * (line[k] - place)
            place = np.float64(line[k])
            k += 1
        k = np.searchsorted(line, row[e])
        place = row[e]
        while k > 0 and 2 * k - count > wanted:
            total += (2 * k - count - wanted) * (place - line[k - 1])
            place = np.float64(line[k - 1])
            k -= 1
    return total / count
