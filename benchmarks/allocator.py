"""An allocator that keeps what it has."""

from __future__ import annotations

import ctypes

_TRIM, _MMAP = -1, -3  # glibc: when to give memory back, and when to map it


def keep_memory() -> None:
    """Otherwise whoever comes after a large temporary of another pays for fresh pages.

    In a fresh process glibc maps and unmaps every large tensor, which can halve the speed of a
    small model; whether it does depends on what was allocated before.
    """
    library = ctypes.CDLL(None)
    if hasattr(library, "mallopt"):
        for option in (_TRIM, _MMAP):
            library.mallopt(option, 2**30)
