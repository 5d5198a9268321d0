from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from centersmooth.errors import OutputError
from centersmooth.metrics.tokens import as_strings, common_codes, comparable, token_rows
from refusals import refused

LAW = settings(derandomize=True, deadline=None, max_examples=60)
texts = st.lists(st.text(max_size=6), max_size=4)


def test_outputs_become_strings_or_tuples_of_tokens() -> None:
    assert token_rows(["a b", ["a", "b"], ("c",), torch.tensor([3, 4]), []], split=False) == [
        "a b",
        ("a", "b"),
        ("c",),
        (3, 4),
        (),
    ]
    assert token_rows(["the  cat\nsat", ""], split=True) == [("the", "cat", "sat"), ()]


@pytest.mark.parametrize(
    ("output", "got"),
    [
        (3, "int"),
        (None, "NoneType"),
        (b"ab", "bytes"),
        ([["a"]], "list"),
        (torch.ones(2, 2), "list"),
    ],
)
def test_what_is_no_flat_sequence_is_refused(output: Any, got: str) -> None:
    with refused(OutputError, "a list of tokens", got):
        token_rows([output], split=False)


def test_tokens_that_differ_from_themselves_cannot_be_compared() -> None:
    rows = token_rows(["ab", [1.0, math.nan], torch.tensor([1.0])], split=False)
    assert comparable(rows).tolist() == [True, False, True]


@LAW
@given(texts, texts)
def test_equal_characters_and_only_they_get_equal_numbers(a: list[str], b: list[str]) -> None:
    one, other, count = common_codes(a, b)
    number = {
        character: code
        for text, codes in zip([*a, *b], [*one, *other], strict=True)
        for character, code in zip(text, codes.tolist(), strict=True)
    }
    assert len(set(number.values())) == len(number) == count
    for text, codes in zip([*a, *b], [*one, *other], strict=True):
        assert codes.tolist() == [number[character] for character in text]
        assert all(0 <= code < count for code in codes.tolist())


@LAW
@given(texts, texts)
def test_words_and_characters_as_tokens_agree(a: list[str], b: list[str]) -> None:
    def told_apart(rows: Any) -> Any:
        one, other, count = common_codes(*rows)
        places: dict[int, int] = {}
        codes = [code for row in (*one, *other) for code in row.tolist()]
        return [places.setdefault(code, len(places)) for code in codes], count

    assert told_apart((a, b)) == told_apart(([tuple(t) for t in a], [tuple(t) for t in b]))


def test_libraries_get_one_character_per_token() -> None:
    a, b = as_strings([("the", "cat"), (1, "the")], [("cat",), ()])
    assert [len(text) for text in (*a, *b)] == [2, 2, 1, 0]
    assert a[0][0] == a[1][1]
    assert a[0][1] == b[0]
    assert as_strings(["ab"], ["b"]) == (["ab"], ["b"])
    many, _ = as_strings([tuple(range(60_000))], [])
    assert len(set(many[0])) == 60_000
    assert not any(0xD800 <= ord(character) < 0xE000 for character in many[0])
