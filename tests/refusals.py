"""What every error of the library must look like to the one who reads it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from centersmooth.errors import CentersmoothError

FORM = re.compile(r"expected .+, got .+\. \S.*", re.DOTALL)


@contextmanager
def refused(kind: type[CentersmoothError], *words: str) -> Iterator[None]:
    """The block raises this error, worded "expected ..., got ..., then the fix", with the words."""
    with pytest.raises(kind) as caught:
        yield
    text = str(caught.value)
    assert FORM.fullmatch(text), text
    for word in words:
        assert word in text, f"{word!r} is missing in: {text}"
