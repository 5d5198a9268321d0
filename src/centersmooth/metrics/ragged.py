"""Outputs of varying size, laid end to end for compiled kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Ragged(NamedTuple):
    """Items of all outputs in one array; output i owns ``items[starts[i] : starts[i + 1]]``."""

    items: NDArray[Any]
    starts: NDArray[np.int64]


def end_to_end(rows: Sequence[NDArray[Any]], like: NDArray[Any]) -> Ragged:
    """Rows of one width (that of `like`, an array without items) as one contiguous array."""
    starts = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum([len(row) for row in rows], out=starts[1:])
    items = np.concatenate([like, *rows]) if rows else like
    return Ragged(np.ascontiguousarray(items, dtype=like.dtype), starts)
