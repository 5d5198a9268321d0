from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from centersmooth.errors import ArgumentError, OutputError
from centersmooth.metrics import Levenshtein, NormalizedLevenshtein
from centersmooth.metrics import text as module
from metric_laws import check_laws
from refusals import refused

LAW = settings(derandomize=True, deadline=None, max_examples=60)
texts = st.text(alphabet="abé😀 ", max_size=7)


def naive(a: Sequence[Any], b: Sequence[Any]) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        above, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            above, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, above + (x != y))
    return row[-1]


@LAW
@given(st.lists(texts, max_size=4), st.lists(texts, max_size=4))
def test_both_kernels_count_edits(a: list[str], b: list[str]) -> None:
    wanted = np.array([[naive(x, y) for y in b] for x in a], dtype=float).reshape(len(a), len(b))
    np.testing.assert_array_equal(module._by_numba(a, b), wanted)
    np.testing.assert_array_equal(module.edit_distances(a, b), wanted)


@pytest.mark.parametrize("size", [63, 64, 65, 127, 128, 129, 300])
def test_patterns_longer_than_a_word_are_counted_right(size: int) -> None:
    rng = np.random.default_rng(size)
    a, b = (["".join(rng.choice(list("abc"), n)) for n in (size, size // 2)] for _ in range(2))
    wanted = [[naive(x, y) for y in b] for x in a]
    assert module._by_numba(a, b).tolist() == wanted
    assert Levenshtein().pairwise(a, b).tolist() == wanted


@LAW
@given(st.lists(texts, min_size=3, max_size=5))
def test_the_laws_of_a_distance_hold(some: list[str]) -> None:
    check_laws(Levenshtein(), some)
    check_laws(NormalizedLevenshtein(), some)
    check_laws(Levenshtein(words=True), some)


def test_words_are_the_tokens_if_asked_for() -> None:
    a, b = "the cat sat on the mat", "the dog sat on a mat"
    assert Levenshtein(words=True)(a, b) == 2
    assert Levenshtein(words=True)(a.split(), b) == 2
    assert Levenshtein()(a.split(), b.split()) == 2
    assert Levenshtein()(torch.tensor([1, 2, 3]), [1, 3]) == 1
    assert NormalizedLevenshtein(words=True)(a, b) == pytest.approx(2 * 2 / 14)


def test_the_empty_string_is_as_far_as_the_other_is_long() -> None:
    assert Levenshtein()("", "") == 0
    assert Levenshtein()("", "four") == Levenshtein()("four", "") == 4
    assert NormalizedLevenshtein()("", "") == 0
    assert NormalizedLevenshtein()("", "four") == 1 == NormalizedLevenshtein().diameter


@LAW
@given(texts, texts)
def test_the_normalised_distance_has_its_formula_and_is_rounded_up(a: str, b: str) -> None:
    edits, total = naive(a, b), len(a) + len(b) + naive(a, b)
    wanted = 2 * edits / total if total else 0.0
    found = float(NormalizedLevenshtein().lengths([a], [b])[0, 0])
    assert wanted <= found <= wanted * (1 + 1e-14)


def test_a_ratio_to_the_reference_would_break_the_triangle_inequality() -> None:
    """Why no word error *rate* is offered: L / |b| fails where the normalised distance holds."""
    a, b, c = "ab", "aba", "ba"
    rate = {pair: naive(*pair) / max(map(len, pair)) for pair in ((a, b), (b, c), (a, c))}
    assert rate[a, c] > rate[a, b] + rate[b, c]
    fair = NormalizedLevenshtein()
    assert fair(a, c) <= fair(a, b) + fair(b, c)


def test_options_and_outputs_that_make_no_sense_are_refused() -> None:
    assert Levenshtein(diameter=5)("", "much too long") == 5
    for metric in (Levenshtein(), NormalizedLevenshtein()):
        assert metric.collate([[1.0, math.nan], "ok"]).valid.tolist() == [False, True]
        with refused(OutputError, "a string or a list of tokens", "int"):
            metric.collate([7])
    with refused(ArgumentError, "diameter > 0"):
        Levenshtein(diameter=0)
