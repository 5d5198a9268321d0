"""Attackers that make a whole number of changes: words, bits, pixels."""

from __future__ import annotations

import math

SCALE = 4.0
"""Their natural unit: tables then show 1, 2, 4, 6 and 8 changes."""

# An eps that prints as a whole number must not mean one change less: three digits or more are
# always printed, so whatever is so close below a whole number counts as that number.
_PRINTED = 0.005


def changes(eps: float) -> int:
    """How many changes an attacker of size eps can make: 2.7 allows 2."""
    nearest = round(eps)
    return nearest if abs(eps - nearest) <= _PRINTED * max(1.0, eps) else math.floor(eps)
