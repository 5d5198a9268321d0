"""Outputs of a model for several inputs: a tensor with a leading axis, or a sequence."""

from __future__ import annotations

import base64
import math
import zlib
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import torch

from centersmooth.errors import FormatError, expected

Outputs: TypeAlias = torch.Tensor | Sequence[Any]

_DTYPES = {
    name: getattr(torch, name)
    for name in (
        "float64",
        "float32",
        "float16",
        "int64",
        "int32",
        "int16",
        "int8",
        "uint8",
        "bool",
    )
}
_LARGEST = 2**31


def pick(outputs: Outputs, indices: Sequence[int]) -> Outputs:
    """The outputs at these places."""
    if isinstance(outputs, torch.Tensor):
        return outputs[list(indices)]
    return [outputs[i] for i in indices]


def join(parts: Sequence[Outputs]) -> Outputs:
    """Several blocks of outputs as one."""
    if all(isinstance(part, torch.Tensor) for part in parts):
        return torch.cat(list(parts))  # type: ignore[arg-type]
    return [output for part in parts for output in part]


def encode(output: Any) -> Any:
    """One output as JSON: tensors compressed, containers element by element."""
    if isinstance(output, float) and not math.isfinite(output):
        return {"float": str(output)}
    if output is None or isinstance(output, (bool, int, float, str)):
        return output
    if isinstance(output, np.generic):
        return encode(output.item())
    if isinstance(output, (torch.Tensor, np.ndarray)):
        return _encode_tensor(torch.as_tensor(output).detach().cpu())
    if isinstance(output, dict):
        return {"dict": [[encode(key), encode(value)] for key, value in output.items()]}
    if isinstance(output, (set, frozenset)):
        return {"set": [encode(item) for item in sorted(output, key=repr)]}
    if isinstance(output, (list, tuple)):
        kind = "tuple" if isinstance(output, tuple) else "list"
        return {kind: [encode(item) for item in output]}
    fix = "Give the metric its own `to_json` and `from_json`."
    raise FormatError(expected("an output that JSON can hold", type(output).__name__, fix))


def decode(data: Any) -> Any:
    """Read what `encode` wrote; anything else is refused."""
    if data is None or isinstance(data, (bool, int, float, str)):
        return data
    if isinstance(data, dict) and "tensor" in data:
        return _decode_tensor(data)
    if isinstance(data, dict) and data.get("float") in ("inf", "-inf", "nan"):
        return float(data["float"])
    try:
        if isinstance(data, dict) and len(data) == 1:
            return _decode_container(*next(iter(data.items())))
        got = type(data).__name__
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        if isinstance(error, FormatError):
            raise
        got = str(error)
    fix = "The file is damaged or comes from a metric with its own format: pass metric=."
    raise FormatError(expected("an encoded output", got, fix))


def _decode_container(kind: str, items: Any) -> Any:
    if not isinstance(items, list):
        raise TypeError(f"{type(items).__name__} in place of a list of items")
    if kind == "dict":
        return {decode(key): decode(value) for key, value in items}
    builder = {"list": list, "tuple": tuple, "set": frozenset}[kind]
    return builder(decode(item) for item in items)


def _encode_tensor(tensor: torch.Tensor) -> dict[str, Any]:
    name = str(tensor.dtype).removeprefix("torch.")
    if name not in _DTYPES:
        if not tensor.is_floating_point():
            fix = "Give the metric its own `to_json` and `from_json`."
            raise FormatError(expected("a tensor that JSON can hold", tensor.dtype, fix))
        tensor, name = tensor.float(), "float32"  # bfloat16 and the like: exact in float32
    raw = zlib.compress(tensor.contiguous().numpy().tobytes(), 6)
    return {"tensor": base64.b64encode(raw).decode(), "dtype": name, "shape": list(tensor.shape)}


def _decode_tensor(data: dict[str, Any]) -> torch.Tensor:
    try:
        shape = [int(size) for size in data["shape"]]
        dtype = _DTYPES[data["dtype"]]
        size = int(np.prod(shape, dtype=np.float64)) * torch.empty((), dtype=dtype).element_size()
        if min(shape, default=0) < 0 or size > _LARGEST:
            raise ValueError(f"shape {shape}")
        decoder = zlib.decompressobj()
        raw = decoder.decompress(base64.b64decode(data["tensor"], validate=True), size + 1)
        if len(raw) != size or not decoder.eof:
            raise ValueError(f"{len(raw)} bytes for shape {shape}")
        if not raw:
            return torch.empty(shape, dtype=dtype)
        return torch.frombuffer(bytearray(raw), dtype=dtype).reshape(shape)
    except (KeyError, TypeError, ValueError, OverflowError, RuntimeError, zlib.error) as error:
        what = "an encoded tensor"
        raise FormatError(expected(what, str(error), "The file is damaged.")) from error
