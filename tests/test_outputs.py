from __future__ import annotations

import base64
import json
import math
import zlib
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from centersmooth.errors import FormatError
from centersmooth.outputs import decode, encode, join, pick
from refusals import refused

LAW = settings(derandomize=True, deadline=None, max_examples=100)
DTYPES = [
    torch.float64,
    torch.float32,
    torch.float16,
    torch.bfloat16,
    torch.int64,
    torch.int32,
    torch.int16,
    torch.int8,
    torch.uint8,
    torch.bool,
]
keys = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
values = st.recursive(
    keys | st.frozensets(keys),
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


def kept(output: Any) -> Any:
    return decode(json.loads(json.dumps(encode(output), allow_nan=False)))


def test_picking_and_joining_go_for_tensors_and_sequences() -> None:
    tensor = torch.arange(6).reshape(3, 2)
    assert torch.equal(pick(tensor, [2, 0]), torch.tensor([[4, 5], [0, 1]]))
    assert pick(["a", "b", "c"], [2, 0]) == ["c", "a"]
    assert torch.equal(join([tensor[:1], tensor[1:]]), tensor)
    assert join([["a"], ("b", "c")]) == ["a", "b", "c"]
    rows = join([tensor[:1], [torch.zeros(5)]])  # a model may change its mind about the type
    assert [len(row) for row in rows] == [2, 5]


# ---- round trips


@LAW
@given(values)
def test_every_container_comes_back(output: Any) -> None:
    back = kept(output)
    assert back == output
    assert type(back) is type(output)


def test_containers_keep_their_kind() -> None:
    output = {7: ["a", ("b", None)], (2, 3): frozenset({4}), True: {"x": 1.5}}
    back = kept(output)
    assert back == output
    assert isinstance(back[7][1], tuple)
    assert isinstance(back[(2, 3)], frozenset)
    assert kept({4, 5}) == {4, 5}


def test_numbers_that_json_lacks_come_back() -> None:
    assert kept([math.inf, -math.inf]) == [math.inf, -math.inf]
    assert math.isnan(kept(math.nan))
    assert math.copysign(1, kept(-0.0)) == -1


@pytest.mark.parametrize("number", [np.float32(1.5), np.int64(3), np.bool_(True), np.float64(0.1)])
def test_numpy_scalars_become_pythons(number: Any) -> None:
    back = kept(number)
    assert back == number.item()
    assert type(back) is type(number.item())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (2, 3, 4)])
def test_tensors_come_back_exactly(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    tensor = (100 * torch.randn(shape, generator=torch.Generator().manual_seed(0))).to(dtype)
    back = kept(tensor)
    assert back.shape == tensor.shape
    assert back.dtype == (torch.float32 if dtype == torch.bfloat16 else dtype)
    assert torch.equal(back.to(dtype), tensor)


def test_odd_tensors_come_back() -> None:
    nan = kept(torch.tensor([math.nan, math.inf, -0.0, 1e-45]))
    assert torch.isnan(nan[0])
    assert nan[1:].tolist() == [math.inf, -0.0, torch.tensor(1e-45).item()]
    grown = torch.arange(12.0, requires_grad=True).reshape(3, 4).T[::2]
    assert torch.equal(kept(grown), grown.detach())
    assert torch.equal(kept(np.arange(4.0)), torch.arange(4.0, dtype=torch.float64))


@pytest.mark.parametrize(
    "output", [object(), {"a": object()}, b"bytes", torch.zeros(2, dtype=torch.complex64), 1j]
)
def test_what_json_cannot_hold_is_refused_rather_than_bent(output: Any) -> None:
    with refused(FormatError, "JSON", "to_json"):
        encode(output)


# ---- hostile files


def tensor_of(raw: bytes, dtype: Any = "float32", shape: Any = (2,)) -> dict[str, Any]:
    packed = base64.b64encode(zlib.compress(raw)).decode()
    return {"tensor": packed, "dtype": dtype, "shape": shape}


GOOD = tensor_of(bytes(8))


def nested(depth: int) -> Any:
    data: Any = 1
    for _ in range(depth):
        data = {"list": [data]}
    return data


@pytest.mark.parametrize(
    "data",
    [
        {**GOOD, "shape": [3]},
        {**GOOD, "shape": [-2]},
        {**GOOD, "shape": [-1, -2]},
        {**GOOD, "shape": [2**40, 2**40]},
        {**GOOD, "shape": [10**400]},
        {**GOOD, "shape": [math.inf]},
        {**GOOD, "shape": [math.nan]},
        {**GOOD, "shape": "two"},
        {**GOOD, "shape": None},
        {**GOOD, "dtype": "complex64"},
        {**GOOD, "dtype": "__class__"},
        {**GOOD, "dtype": ["float32"]},
        {**GOOD, "tensor": GOOD["tensor"][:-4]},
        {**GOOD, "tensor": GOOD["tensor"][:8]},
        {**GOOD, "tensor": "no base 64!"},
        {**GOOD, "tensor": base64.b64encode(b"no zlib").decode()},
        {**GOOD, "tensor": None},
        {"tensor": GOOD["tensor"]},
        tensor_of(bytes(100_000_000)),
    ],
)
def test_damaged_or_hostile_tensors_are_refused(data: Any) -> None:
    assert decode(GOOD).tolist() == [0.0, 0.0]
    with refused(FormatError, "damaged"):
        decode(data)


@pytest.mark.parametrize(
    "data",
    [
        [1, 2],
        {},
        {"a": [], "list": []},
        {"pickle": ["x"]},
        {"list": 3},
        {"list": "abc"},
        {"dict": [1, 2]},
        {"dict": [[1, 2, 3]]},
        {"dict": {"a": 1}},
        {"dict": [[{"list": []}, 1]]},
        {"set": [{"list": []}]},
        {"float": "1e5"},
        {"list": [{"list": [{"tensor": 5}]}]},
        nested(100_000),
    ],
)
def test_damaged_or_hostile_containers_are_refused(data: Any) -> None:
    with refused(FormatError, "damaged"):
        decode(data)
