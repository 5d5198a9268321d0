"""How far many vectors spread along the direction in which they spread most.

Both classes bound the top eigenvalue of ``A^T A``, A being the matrix of all rows that were
added, in memory that does not grow with their number. Sums of two of a kind are again one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float64]

WIDEST = 1024
"""Up to here the whole matrix is kept."""
_KEPT = 128
_ROUNDING = 1e-9  # relative; eigenvalues and sums in float64 err by far less


def directions(width: int) -> Directions:
    """The exact matrix for rows of moderate width, a sketch of it for wide ones."""
    return Matrix(width) if width <= WIDEST else FrequentDirections(width)


class Directions(ABC):
    """Second moments of rows, as far as their top eigenvalue needs them."""

    width: int

    @abstractmethod
    def add(self, rows: Rows) -> None:
        """Count more rows."""

    @abstractmethod
    def merge(self, other: Any) -> None:
        """Count all rows that another of the same kind has seen."""

    @abstractmethod
    def top(self) -> float:
        """An upper bound on the top eigenvalue of ``A^T A``."""

    @abstractmethod
    def arrays(self) -> dict[str, NDArray[Any]]:
        """Its whole state."""

    @abstractmethod
    def load(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Take up a state that `arrays` gave."""


class Matrix(Directions):
    """``A^T A`` itself."""

    def __init__(self, width: int) -> None:
        self.width = width
        self._sum = np.zeros((width, width))

    def add(self, rows: Rows) -> None:
        self._sum += rows.T @ rows

    def merge(self, other: Matrix) -> None:
        self._sum += other._sum

    def top(self) -> float:
        return _top(self._sum)

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {"sum": self._sum}

    def load(self, arrays: dict[str, NDArray[Any]]) -> None:
        if arrays["sum"].shape != self._sum.shape:
            raise ValueError("a matrix of another width")
        self._sum = arrays["sum"]


class FrequentDirections(Directions):
    """A few rows B and a number `lost` with ``A^T A <= B^T B + lost I`` (Liberty 2013).

    When the buffer is full, every squared singular value of B is reduced by that of number
    ``kept + 1``, or to 0, and `lost` grows by as much: what the reduction takes from ``B^T B``
    is at most that multiple of the identity. So the inequality holds after every step.
    """

    def __init__(self, width: int, kept: int = _KEPT) -> None:
        self.width, self.kept, self.lost = width, kept, 0.0
        self._rows = np.zeros((2 * kept, width))
        self._filled = 0

    def add(self, rows: Rows) -> None:
        while len(rows):
            part = rows[: len(self._rows) - self._filled]
            self._rows[self._filled : self._filled + len(part)] = part
            self._filled += len(part)
            rows = rows[len(part) :]
            if self._filled == len(self._rows):
                self._shrink()

    def merge(self, other: FrequentDirections) -> None:
        self.lost += other.lost
        self.add(other._rows[: other._filled])

    def _shrink(self) -> None:
        squares, left = np.linalg.eigh(self._rows @ self._rows.T)
        cut = max(0.0, float(squares[-self.kept - 1]))
        largest, left = squares[-self.kept :], left[:, -self.kept :]
        remaining = np.maximum(largest - cut, 0.0)
        # Directions as small as rounding have nothing to scale: they go into `lost`.
        clear = largest > _ROUNDING * squares[-1]
        scale = np.sqrt(np.where(clear, remaining / np.where(clear, largest, 1.0), 0.0))
        unclear = float(largest[~clear].max(initial=0.0))
        self._rows[: self.kept] = (left * scale).T @ self._rows
        self.lost += max(cut, unclear) + _ROUNDING * max(0.0, float(squares[-1]))
        self._filled = self.kept

    def top(self) -> float:
        rows = self._rows[: self._filled]
        return _top(rows @ rows.T) + self.lost

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {"rows": self._rows[: self._filled], "lost": np.array([self.lost])}

    def load(self, arrays: dict[str, NDArray[Any]]) -> None:
        rows, (lost,) = arrays["rows"], arrays["lost"]
        if rows.shape[1:] != (self.width,) or len(rows) >= len(self._rows) or not lost >= 0:
            raise ValueError("directions of another size")
        self._filled, self.lost = len(rows), float(lost)
        self._rows[: self._filled] = rows


def _top(square: Rows) -> float:
    """The top eigenvalue of a symmetric matrix, rounded up."""
    if not square.size:
        return 0.0
    top = float(np.linalg.eigvalsh(square)[-1])
    return max(0.0, top) * (1.0 + _ROUNDING)
