"""Every row ends in a checksum: a flipped bit must not become a smaller bound."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from centersmooth.errors import FormatError, expected


def digest(table: str, values: Sequence[Any]) -> bytes:
    """Of what a row of a table holds, down to the last bit of its floats."""
    told = [value.hex() if isinstance(value, (bytes, float)) else value for value in values]
    return hashlib.blake2b(json.dumps([table, told]).encode(), digest_size=16).digest()


def put(
    connection: sqlite3.Connection, table: str, values: Sequence[Any], verb: str = "INSERT"
) -> int:
    """Write a row with its checksum; returns its number."""
    marks = ", ".join("?" for _ in values)
    row = (*values, digest(table, values))
    done = connection.execute(f"{verb} INTO {table} VALUES ({marks}, ?)", row)
    return done.lastrowid or 0


def opened(table: str, row: Sequence[Any], path: Path) -> tuple[Any, ...]:
    """What a row holds, if it is what was written."""
    *values, stored = row
    if stored != digest(table, values):
        raise damaged(path, f"a row of {table} that does not match its checksum")
    return tuple(values)


def parsed(text: Any, path: Path) -> Any:
    """JSON from a row."""
    try:
        return json.loads(text)
    except (ValueError, TypeError, RecursionError) as error:
        raise damaged(path, str(error)) from error


def damaged(path: Path, got: str) -> FormatError:
    """The error for rows that cannot be trusted."""
    fix = "The store is damaged: restore a copy, or run the study anew."
    return FormatError(expected(f"sound rows in {path}", got, fix))
