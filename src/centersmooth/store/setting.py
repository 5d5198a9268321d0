"""What the store keeps of a setting: once per run, not once per record."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from centersmooth.store.record import PROCEDURES

Description = Mapping[str, Any]
"""A setting as JSON; `read` checks the part that records are made of."""


def read(text: str) -> dict[str, Any]:
    """The description, its eps and diameter as floats; a ValueError if it is none."""
    data = json.loads(text)
    if not isinstance(data, dict):
        raise ValueError("a setting that is no object")
    for key, kind in (
        ("name", str),
        ("metric_name", str),
        ("noise", dict),
        ("confidence", dict),
        ("eps", list),
        ("draws", int),
    ):
        if not isinstance(data.get(key), kind):
            raise ValueError(f"a setting without its {key}")
    if data.get("procedure") not in PROCEDURES:
        raise ValueError(f"procedure {data.get('procedure')!r}")
    data["eps"] = tuple(_positive(value) for value in data["eps"])
    infinite = data.get("diameter") == "infinity"
    data["diameter"] = math.inf if infinite else _positive(data.get("diameter"))
    return data


def _positive(value: Any) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0:
        return float(value)
    raise ValueError(f"{value!r} where a number >= 0 belongs")
