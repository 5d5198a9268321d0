"""The records as data inside the page: columns of numbers, read by its script."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from centersmooth.report.groups import Group
from centersmooth.report.labels import readable
from centersmooth.report.panels import Panel
from centersmooth.report.words import attacker
from centersmooth.store.record import STATUSES

# Inside <script> only these could end the element or open another; JavaScript strings of old
# engines end at the last two.
_ESCAPED = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def payload(
    groups: Sequence[Group], panels: Sequence[Panel], tolerances: Sequence[float]
) -> Markup:
    """JSON that is safe inside a script element, whatever the labels hold."""
    places = {id(group): place for place, group in enumerate(groups)}
    data = {
        "statuses": STATUSES,
        "names": _names(groups),
        "panels": [
            {
                "attacker": attacker(panel.norm),
                "groups": [places[id(group)] for group in panel.groups],
                "eps": panel.eps,
                "headline": panel.headline,
                "tolerance": tolerance,
            }
            for panel, tolerance in zip(panels, tolerances, strict=True)
        ],
        "groups": [_columns(group) for group in groups],
    }
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return Markup(text.translate(_ESCAPED))


def _names(groups: Sequence[Group]) -> dict[str, str]:
    """Names of inputs that are not just their numbers."""
    return {
        str(index): ref
        for group in groups
        for index, ref in zip(group.index.tolist(), group.refs, strict=True)
        if ref != str(index)
    }


def _columns(group: Group) -> dict[str, Any]:
    seeds = set(group.seeds)
    return {
        "name": group.name,
        "metric": readable(group.key.metric),
        "diameter": group.diameter if math.isfinite(group.diameter) else None,
        "eps": group.eps,
        "index": _packed(group.index, np.int32),
        "status": _packed(group.status, np.uint8),
        "statuses": _packed(group.statuses, np.uint8),
        "bounds": _packed(group.bounds, np.float64),
        "errors": None if group.errors is None else _packed(group.errors, np.float64),
        "smoothing": _packed(group.smoothing_error, np.float32),
        "base": _packed(group.base_error, np.float32),
        "smoothed": _packed(group.smoothed_error, np.float32),
        "evaluations": _packed(group.evaluations, np.float64),
        "seconds": _packed(group.seconds, np.float32),
        "seeds": group.seeds if len(seeds) > 1 else "".join(seeds),
        "messages": {str(row): text for row, text in enumerate(group.messages) if text},
    }


def _packed(values: Any, kind: Any) -> str:
    """Little-endian bytes as base64; infinities and missing numbers survive."""
    order = np.dtype(kind).newbyteorder("<")
    with np.errstate(over="ignore"):  # a measured distance beyond single precision
        return base64.b64encode(np.ascontiguousarray(values, dtype=order).tobytes()).decode()
