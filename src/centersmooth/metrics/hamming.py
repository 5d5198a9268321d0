"""The number of places in which two outputs differ."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numba
import numpy as np
import torch

from centersmooth import kernels
from centersmooth.metrics.base import Block, Metric, as_tensor, flat_rows
from centersmooth.metrics.tokens import Tokens, common_codes, comparable, token_rows
from centersmooth.outputs import Outputs

_UP = 1.0 + 2.0**-51


@dataclass(frozen=True)
class Hamming(Metric):
    """``d(a, b) = the number of places where a and b differ``. Range [0, inf). Theorem B.

    For tensors of one shape (bits, label maps, token ids) and for strings or lists of tokens
    of any length: what one has beyond the end of the other differs. A metric, for a place
    where a and c differ is one where a and b or b and c do.

    With ``share=True`` the number is divided by the number of places (the pixel error of a
    label map): range [0, 1], for tensors of one shape only.
    """

    share: bool = False
    rounding: ClassVar[float] = 0.0
    unit: ClassVar[str] = "places"

    @property
    def diameter(self) -> float:  # type: ignore[override]
        return 1.0 if self.share else math.inf

    def collate(self, outputs: Outputs) -> Block:
        if self.share or isinstance(outputs, torch.Tensor) or _are_maps(outputs):
            return Block(*_places(outputs, self))
        rows = token_rows(outputs, split=False)
        return Block(rows, comparable(rows))

    def lengths(self, a: Any, b: Any) -> torch.Tensor:
        if isinstance(a, list) or isinstance(b, list):
            one, other, _ = common_codes(_sequences(a), _sequences(b))
            width = max((len(codes) for codes in (*one, *other)), default=0)
            return torch.from_numpy(_differing(_padded(one, width), _padded(other, width)))
        kernels.check_widths(a, b)
        a, b = _common_type(a, b)
        counts = torch.from_numpy(_differing(a.numpy(), b.numpy()))
        return (counts * (_UP / max(1, a.shape[1]))).clamp_(max=1.0) if self.share else counts


def _are_maps(outputs: Sequence[Any]) -> bool:
    """Whether all outputs are tensors that cannot be read as a sequence of tokens."""
    tensors = all(isinstance(output, (torch.Tensor, np.ndarray)) for output in outputs)
    return tensors and any(output.ndim != 1 for output in outputs)


def _sequences(rows: torch.Tensor | list[Tokens]) -> list[Tokens]:
    return rows if isinstance(rows, list) else [tuple(row) for row in rows.tolist()]


def _places(outputs: Outputs, metric: Metric) -> tuple[torch.Tensor, torch.Tensor]:
    """Flattened rows in the smallest type that holds them: bytes compare eight times faster."""
    tensor = as_tensor(outputs, metric).cpu()
    if tensor.is_floating_point() or tensor.is_complex():
        rows, valid = flat_rows(tensor, metric)
        return rows.contiguous(), valid
    rows = tensor.reshape(len(tensor), math.prod(tensor.shape[1:]))
    if tensor.dtype != torch.bool:
        rows = rows.to(torch.int64)
    bytes_do = tensor.dtype == torch.bool or bool(((rows >= 0) & (rows < 256)).all())
    rows = rows.to(torch.uint8 if bytes_do else torch.int64)
    return rows.contiguous(), torch.ones(len(rows), dtype=torch.bool)


def _common_type(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    dtype = torch.promote_types(a.dtype, b.dtype)
    if dtype.is_floating_point and a.dtype != b.dtype:
        dtype = torch.float64  # float32 cannot hold every whole number of the other block
    return a.to(dtype).contiguous(), b.to(dtype).contiguous()


def _padded(rows: list[np.ndarray], width: int) -> np.ndarray:
    """One row per sequence; -1, which is no token, after its end."""
    table = np.full((len(rows), width), -1, dtype=np.int32)
    for place, codes in enumerate(rows):
        table[place, : len(codes)] = codes
    return table


@numba.njit(cache=True, nogil=True)
def _differing(a, b):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    out = np.empty((a.shape[0], b.shape[0]), dtype=np.float64)
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            count = 0
            for x in range(a.shape[1]):
                count += a[i, x] != b[j, x]
            out[i, j] = count
    return out
