from __future__ import annotations

import base64
import json
import math
from typing import Any

import numpy as np

import centersmooth as cs
from centersmooth.report.embedding import payload
from centersmooth.report.groups import gather
from centersmooth.report.panels import arrange
from report_runs import HOSTILE, record, setting, without

OF = setting(HOSTILE, cs.metrics.L2())
FOUND = [
    record(OF, 0, (0.1, 1 / 3, 2.5), errors=(1.0, 2.0, 3.0), input_ref=HOSTILE),
    record(OF, 1, (1e-300, 1.0, 1e300)),
    without(OF, 2, "failed", HOSTILE),
]


def embedded() -> tuple[str, dict[str, Any]]:
    groups = gather(FOUND)
    text = str(payload(groups, arrange(groups), [0.5]))
    return text, json.loads(text)


def unpacked(text: str, kind: str) -> list[float]:
    return np.frombuffer(base64.b64decode(text), dtype=kind).tolist()


def test_bounds_come_back_bit_for_bit() -> None:
    (group,) = embedded()[1]["groups"]
    expected = [*FOUND[0].bounds, *FOUND[1].bounds, *[math.inf] * 3]
    assert unpacked(group["bounds"], "<f8") == expected
    errors = unpacked(group["errors"], "<f8")
    assert errors[:3] == [1.0, 2.0, 3.0]
    assert all(math.isnan(error) for error in errors[3:6])
    assert errors[6:] == [math.inf] * 3
    assert group["diameter"] is None


def test_statuses_indices_and_seeds_come_back() -> None:
    _, data = embedded()
    (group,) = data["groups"]
    assert unpacked(group["index"], "<i4") == [0, 1, 2]
    assert [data["statuses"][int(code)] for code in unpacked(group["status"], "u1")] == [
        "certified",
        "certified",
        "failed",
    ]
    assert len(unpacked(group["statuses"], "u1")) == 9
    assert group["seeds"] == [str(2**62 + i) for i in range(3)]
    assert unpacked(group["evaluations"], "<f8") == [5099.0] * 3


def test_one_seed_for_all_is_said_once() -> None:
    groups = gather([record(OF, i, (1, 2, 3), seed=7) for i in range(3)])
    assert json.loads(str(payload(groups, arrange(groups), [1.0])))["groups"][0]["seeds"] == "7"


def test_nothing_in_it_can_end_the_script_or_turn_its_text_around() -> None:
    text, data = embedded()
    assert not any(c in text for c in "<>&\u2028\u2029\u202e\x1b")
    shown = "</script><img src=x onerror=alert(1)>"
    (group,) = data["groups"]
    assert group["name"].startswith(shown)
    assert data["names"]["0"].startswith(shown)
    assert group["messages"]["2"].startswith(shown)


def test_panels_point_at_their_groups() -> None:
    _, data = embedded()
    assert data["panels"] == [
        {
            "attacker": "ℓ2 distance",
            "groups": [0],
            "eps": [0.1, 0.25, 0.5],
            "headline": 0.25,
            "tolerance": 0.5,
        }
    ]
    assert data["names"].keys() == {"0"}
