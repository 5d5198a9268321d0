"""Rows that are not what was written are refused."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from centersmooth.errors import FormatError
from centersmooth.store.seal import digest, opened, parsed, put
from refusals import refused

PATH = Path("run.sqlite")
cells = (
    st.none()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False).map(lambda x: x + 0.0)
    | st.text(st.characters(exclude_categories=["Cs"]))
    | st.binary(max_size=20)
)


@settings(derandomize=True, deadline=None, max_examples=100)
@given(st.lists(cells, min_size=2, max_size=2))
def test_rows_survive_the_database(values: list[Any]) -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (a, b, digest BLOB)")
    assert put(connection, "t", values) == 1
    row = connection.execute("SELECT * FROM t").fetchone()
    assert list(opened("t", row, PATH)) == values
    connection.close()


@settings(derandomize=True, deadline=None, max_examples=100)
@given(st.lists(cells, max_size=4), st.lists(cells, max_size=4))
def test_different_rows_have_different_digests(one: list[Any], other: list[Any]) -> None:
    same = [(type(a), a) for a in one] == [(type(b), b) for b in other]
    assert (digest("t", one) == digest("t", other)) == same


def test_a_row_of_another_table_is_refused() -> None:
    row = (1, "a", digest("other", (1, "a")))
    with refused(FormatError, "a row of t"):
        opened("t", row, PATH)


@pytest.mark.parametrize("text", ["", "{", None, b"\xff", "[" * 100_000])
def test_damaged_json_is_refused(text: Any) -> None:
    with refused(FormatError):
        parsed(text, PATH)
