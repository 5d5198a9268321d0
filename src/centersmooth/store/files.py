"""Files for other people: complete, or not there at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from centersmooth.errors import StoreError, expected


@contextmanager
def whole(path: Path) -> Iterator[BinaryIO]:
    """A stream that becomes the file once all of it is written; an old file stays until then.

    Devices and pipes are written to as they are.
    """
    place = path.resolve()
    special = place.exists() and not place.is_file()
    partial = place if special else place.with_name(place.name + ".partial")
    try:
        with partial.open("wb") as stream:
            yield stream
        if not special:
            os.replace(partial, place)
    except BaseException as error:
        if not special:
            with suppress(OSError):
                partial.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise cannot_write(path, error) from error
        raise


def folder(path: Path) -> Path:
    """The folder, made if it is not there."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(path, error) from error
    return path


def cannot_write(what: object, error: OSError) -> StoreError:
    """The error for a full disk, a folder that is write-protected, and their like."""
    fix = "Free some space, or choose a place you can write to; the run itself is unharmed."
    return StoreError(expected(f"to write {what}", error.strerror or error, fix))
