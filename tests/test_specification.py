from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

import pytest

from centersmooth import centers, metrics, noise
from centersmooth.errors import FormatError
from centersmooth.specification import describe, restore
from refusals import refused

KNOWN: list[tuple[Any, Any, type]] = [
    (noise.Gaussian(0.25), noise, noise.Noise),
    (metrics.L1(), metrics, metrics.Metric),
    (metrics.L2(diameter=3.0), metrics, metrics.Metric),
    (metrics.Angular(), metrics, metrics.Metric),
    (metrics.BoxJaccard(), metrics, metrics.Metric),
    (metrics.TotalVariation(value_range=(0.0, 1.0), shape=(3, 4, 5)), metrics, metrics.Metric),
    (centers.Medoid(20, pool=2, outer=5), centers, centers.Center),
    (centers.Medoid(), centers, centers.Center),
    (centers.GeometricMedian(1e-4), centers, centers.Center),
]


@pytest.mark.parametrize(("thing", "module", "base"), KNOWN, ids=lambda part: repr(part)[:30])
def test_what_is_described_is_restored(thing: Any, module: Any, base: type) -> None:
    text = json.dumps(describe(thing), allow_nan=False)
    back = restore(json.loads(text), module, base)
    assert back == thing
    assert repr(back) == repr(thing)
    hash(back)


def test_infinity_is_written_in_words() -> None:
    described = describe(metrics.L2())
    assert described["fields"]["diameter"] == "infinity"
    assert restore(described, metrics, metrics.Metric).diameter == math.inf


@dataclass(frozen=True)
class Scaled(metrics.L1):
    """One of a user's own, with an option."""

    factor: float = 2.0


class Plain(metrics.L1):
    """One of a user's own that is no dataclass itself."""


@pytest.mark.parametrize("thing", [Scaled(), Plain(), metrics.Custom(math.dist), object()])
def test_ones_own_is_named_but_must_be_passed_when_reading(thing: Any) -> None:
    described = describe(thing)
    assert described["type"] == type(thing).__name__
    json.dumps(described, allow_nan=False)
    with refused(FormatError, "one of your own", "metric=", type(thing).__name__):
        restore(described, metrics, metrics.Metric)


@pytest.mark.parametrize(
    "data",
    [
        None,
        3,
        "L2",
        [],
        {},
        {"type": "L2"},
        {"fields": {}},
        {"type": "Metric", "fields": {}},
        {"type": "Block", "fields": {}},
        {"type": "vectors", "fields": {}},
        {"type": "__builtins__", "fields": {}},
        {"type": ["L2"], "fields": {}},
        {"type": None, "fields": {}},
        {"type": "L2", "fields": None},
        {"type": "L2", "fields": []},
        {"type": "L2", "fields": {"diameter": -1}},
        {"type": "L2", "fields": {"diameter": "wide"}},
        {"type": "L2", "fields": {"radius": 1}},
        {"type": "Angular", "fields": {"diameter": 0.1}},
        {"type": "Custom", "fields": {"distance": "print"}},
        {"type": "TotalVariation", "fields": {"value_range": [1.0, 0.0]}},
        {"type": "TotalVariation", "fields": {"value_range": 3}},
    ],
)
def test_anything_else_is_refused(data: Any) -> None:
    with refused(FormatError):
        restore(data, metrics, metrics.Metric)
