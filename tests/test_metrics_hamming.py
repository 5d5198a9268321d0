from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from centersmooth.errors import OutputError
from centersmooth.metrics import Hamming
from metric_laws import check_laws, generator
from refusals import refused

LAW = settings(derandomize=True, deadline=None, max_examples=60)
texts = st.text(alphabet="abc", max_size=5)
SHARE = Hamming(share=True)


def maps(dtype: torch.dtype, high: int = 3) -> torch.Tensor:
    return torch.randint(0, high, (7, 4, 5), generator=generator(1)).to(dtype)


@pytest.mark.parametrize(
    "dtype", [torch.bool, torch.uint8, torch.int16, torch.int64, torch.float32, torch.float64]
)
def test_places_of_tensors_are_counted_whatever_their_type(dtype: torch.dtype) -> None:
    some = maps(dtype)
    wanted = (some[:, None] != some[None]).flatten(2).sum(-1).double()
    assert torch.equal(Hamming().pairwise(some, some), wanted)
    assert torch.equal(Hamming().pairwise(list(some), some), wanted)
    torch.testing.assert_close(SHARE.pairwise(some, some), wanted / 20)
    check_laws(Hamming(), some)
    check_laws(SHARE, some)


def test_large_labels_and_labels_of_two_types_are_compared_exactly() -> None:
    a, b = torch.tensor([[2**40, 1]]), torch.tensor([[2**40 + 1, 1]])
    assert Hamming().pairwise(a, b).item() == 1
    assert Hamming().pairwise(torch.tensor([[2**25 + 1]]), torch.tensor([[2.0**25]])).item() == 1
    assert Hamming().pairwise(torch.tensor([[7]]), torch.tensor([[7.0]])).item() == 0
    assert Hamming().pairwise(torch.tensor([[-1]]), torch.tensor([[255]])).item() == 1
    assert Hamming().pairwise(torch.tensor([[300]]), torch.tensor([[44]])).item() == 1


@LAW
@given(st.lists(texts, max_size=4), st.lists(texts, max_size=4))
def test_what_one_sequence_has_beyond_the_other_differs(a: list[str], b: list[str]) -> None:
    def naive(x: str, y: str) -> int:
        return sum(p != q for p, q in zip(x, y, strict=False)) + abs(len(x) - len(y))

    wanted = np.array([[naive(x, y) for y in b] for x in a], dtype=float).reshape(len(a), len(b))
    np.testing.assert_array_equal(Hamming().pairwise(a, b).numpy(), wanted)
    tokens = [list(x) for x in a], [tuple(y) for y in b]
    np.testing.assert_array_equal(Hamming().pairwise(*tokens).numpy(), wanted)


@LAW
@given(st.lists(texts, min_size=3, max_size=5))
def test_the_laws_of_a_distance_hold_for_sequences(some: list[str]) -> None:
    check_laws(Hamming(), some)


def test_token_ids_of_any_length_are_sequences() -> None:
    ids = [torch.tensor([1, 2, 3]), torch.tensor([1, 2]), torch.zeros(0, dtype=torch.long)]
    assert Hamming().pairwise(ids, ids)[0].tolist() == [0, 1, 3]
    assert Hamming()(ids[0], [1, 9, 3, 4]) == 2  # a target as a tensor, one as a list
    assert Hamming()("", "") == 0


def test_the_share_of_places_never_comes_out_too_small() -> None:
    a = torch.zeros(1, 49, dtype=torch.bool)
    for count in (0, 1, 7, 48, 49):
        b = torch.arange(49)[None] < count
        found = SHARE.lengths(SHARE.collate(a).rows, SHARE.collate(b).rows).item()
        assert count <= found * 49 <= count * (1 + 1e-14)
        assert found <= SHARE.diameter == 1


def test_what_cannot_be_compared_is_refused_or_invalid() -> None:
    bad = torch.tensor([[1.0, math.nan], [1.0, 2.0]])
    assert Hamming().collate(bad).valid.tolist() == [False, True]
    with refused(OutputError, "one shape", "(2,)", "(3,)"):
        SHARE.collate([torch.ones(2), torch.ones(3)])
    with refused(OutputError, "one size", "2 and 3"):
        Hamming().pairwise(torch.ones(1, 2), torch.ones(1, 3))
    with refused(OutputError, "a list of tokens"):
        Hamming().collate([{"a": 1}])
