from __future__ import annotations

import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from centersmooth.report.labels import readable, shortened, tree

LAW = settings(derandomize=True, deadline=None, max_examples=80)
anything = st.text(st.characters(codec=None))


@LAW
@given(anything)
def test_readable_text_can_be_written_and_stays_as_it_is(text: str) -> None:
    found = readable(text)
    found.encode("utf-8")
    assert readable(found) == found
    assert len(found) == len(text)
    hidden = {"Cc", "Cf", "Cs", "Co"}
    assert all(unicodedata.category(c) not in hidden or c in "\u200c\u200d" for c in found)


def test_marks_that_turn_text_around_are_shown_as_such() -> None:
    assert readable("safe\u202edetpyrc") == "safe\ufffddetpyrc"
    assert readable("a\x1b[31m\x00") == "a\ufffd[31m\ufffd"


def test_ordinary_text_of_any_script_stays() -> None:
    for text in ("σ = 0.25", "Größe, 100 %", "字", "مرحبا", "👩\u200d🔬"):
        assert readable(text) == text


def test_lines_are_joined_unless_wanted() -> None:
    assert readable("a\nb\u2028c") == "a b c"
    assert readable("a\nb", lines=True) == "a\nb"


def test_shortened_says_that_it_is() -> None:
    assert shortened("abcdef", 4) == "abc…"
    assert shortened("abcd", 4) == "abcd"


def test_tree_keeps_numbers_and_cuts_what_is_long() -> None:
    found = tree({"a\x00": [1, None, "x" * 1000], "b": list(range(100))})
    assert list(found) == ["a\ufffd", "b"]
    assert found["a\ufffd"][:2] == [1, None]
    assert len(found["a\ufffd"][2]) == 300
    assert found["b"][-1] == "and 60 more"
