"""Descriptions of settings are checked where records are made of them."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

import centersmooth as cs
from centersmooth.store.setting import read
from centersmooth.study.setting import description
from small_studies import published, setting


def test_what_a_study_writes_is_read() -> None:
    for own in (setting(), setting("jaccard", cs.metrics.MaskJaccard()), published()):
        found = read(json.dumps(description(own, 2, 0)))
        assert found["name"] == own.name
        assert found["eps"] == own.eps
        assert found["diameter"] == own.metric.diameter
        assert found["procedure"] == own.procedure
    assert math.isinf(read(json.dumps(description(setting(), 0, 0)))["diameter"])


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("name", 3),
        ("noise", []),
        ("confidence", None),
        ("procedure", "magic"),
        ("eps", ["a"]),
        ("eps", [-0.1]),
        ("eps", [True]),
        ("diameter", None),
        ("draws", "1"),
    ],
)
def test_what_makes_no_sense_is_refused(key: str, value: Any) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        read(json.dumps({**description(setting(), 0, 0), key: value}))


def test_no_object_is_refused() -> None:
    with pytest.raises(ValueError, match="object"):
        read("[1]")
