"""Strings and lists of tokens, as whole numbers that compiled kernels compare."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from centersmooth.errors import OutputError, expected
from centersmooth.outputs import Outputs

Tokens: TypeAlias = str | tuple[Hashable, ...]
Codes: TypeAlias = NDArray[np.int32]


def token_rows(outputs: Outputs, *, split: bool) -> list[Tokens]:
    """Each output as a string or a tuple of tokens; with `split`, strings become their words."""
    return [_tokens(output, split) for output in outputs]


def _tokens(output: Any, split: bool) -> Tokens:
    if isinstance(output, str):
        return tuple(output.split()) if split else output
    if isinstance(output, (torch.Tensor, np.ndarray)):
        output = output.tolist()
    if isinstance(output, (list, tuple)):
        try:
            hash(tuple(output))
            return tuple(output)
        except TypeError:
            pass
    fix = "Return one string, or one flat list of tokens, per input."
    raise OutputError(expected("a string or a list of tokens", type(output).__name__, fix))


def comparable(rows: Sequence[Tokens]) -> torch.Tensor:
    """Which outputs hold only tokens that equal themselves (NaN does not)."""
    fine = [isinstance(row, str) or all(token == token for token in row) for row in rows]
    return torch.tensor(fine, dtype=torch.bool)


def common_codes(a: Sequence[Tokens], b: Sequence[Tokens]) -> tuple[list[Codes], list[Codes], int]:
    """Both blocks with tokens numbered 0, 1, 2, ...; equal tokens get equal numbers."""
    if all(isinstance(row, str) for row in (*a, *b)):
        return _codes_of_strings(a, b)  # type: ignore[arg-type]
    numbers: dict[Hashable, int] = {}
    one, other = (
        [
            np.array([numbers.setdefault(token, len(numbers)) for token in row], dtype=np.int32)
            for row in block
        ]
        for block in (a, b)
    )
    return one, other, len(numbers)


def _codes_of_strings(a: Sequence[str], b: Sequence[str]) -> tuple[list[Codes], list[Codes], int]:
    lengths = [len(row) for row in (*a, *b)]
    joined = "".join((*a, *b)).encode("utf-32-le", errors="surrogatepass")
    characters, codes = np.unique(np.frombuffer(joined, dtype="<u4"), return_inverse=True)
    parts = np.split(codes.astype(np.int32), np.cumsum(lengths)[:-1])
    return parts[: len(a)], parts[len(a) : len(a) + len(b)], len(characters)


def as_strings(a: Sequence[Tokens], b: Sequence[Tokens]) -> tuple[list[str], list[str]]:
    """Both blocks with one character per token, for libraries that are fast on strings."""
    if all(isinstance(row, str) for row in (*a, *b)):
        return list(a), list(b)  # type: ignore[arg-type]
    numbers: dict[Hashable, str] = {}
    one, other = (
        ["".join(numbers.setdefault(t, _character(len(numbers))) for t in row) for row in block]
        for block in (a, b)
    )
    return one, other


def _character(number: int) -> str:
    """The character of a number, past the surrogates, which are none."""
    return chr(number if number < 0xD800 else number + 0x800)
