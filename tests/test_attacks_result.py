from __future__ import annotations

import json
import math
from typing import Any

import pytest
import torch

import centersmooth as cs
from centersmooth.attacks import Audit, Verdict
from centersmooth.outputs import decode

SPLIT = cs.Split(0.01, 0.01)


def outcome(violations: int, trials: int = 50, level: Any = SPLIT, **changed: Any) -> Audit:
    values: dict[str, Any] = {
        "eps": 0.25,
        "bound": 1.23456,
        "movement": 0.8,
        "typical": 0.7,
        "verdict": Verdict.of(violations, trials, level),
        "about": "the certified answer",
        "worst": torch.arange(3.0),
        "found_by": "gradient ascent",
        "unanswered": 0,
        "evaluations": 12_345,
        "seed": 7,
        "metric": "L2",
        "norm": "l2",
        **changed,
    }
    return Audit(**values)


def plain(audit: Audit) -> str:
    return " ".join(str(audit).split())


def test_an_unbroken_certificate_is_not_called_proved() -> None:
    text = plain(outcome(0))
    for words in (
        "Audit at eps = 0.25: not broken",
        "within l2 distance 0.25 (by gradient ascent) moves the answer 0.8 (L2)",
        "the bound is 1.235, 1.54 times that",
        "0 of 50 answers lie beyond the bound",
        "An audit never proves a bound",
        "12,345 forward passes. Seed: 7.",
    ):
        assert words in text


def test_a_broken_one_is_told_with_its_odds() -> None:
    text = plain(outcome(50, movement=2.0))
    assert "Audit at eps = 0.25: BROKEN" in text
    assert "50 of 50 answers lie beyond the bound" in text
    assert "may come up with probability 1 % at most" in text
    assert "with probability 1e-100" in text


def test_violations_that_do_not_tell_are_explained() -> None:
    assert "it takes 20 answers at least" in plain(outcome(3, 5, cs.Joint(0.01)))
    text = plain(outcome(30, 50, cs.Joint(0.01)))
    assert "not broken" in text
    assert "their share is at least 36" in text
    assert "one of up to 50 % is not excluded" in text


def test_queries_without_an_answer_are_counted() -> None:
    assert "2 more queries gave no answer" in plain(outcome(0, unanswered=2))


def test_tightness_is_the_bound_over_the_movement() -> None:
    assert outcome(0).tightness == pytest.approx(1.23456 / 0.8)
    still = outcome(0, movement=0.0)
    assert still.tightness == math.inf
    assert "times that" not in plain(still)


def test_json_holds_everything() -> None:
    data = json.loads(outcome(2, bound=math.inf).to_json())
    assert torch.equal(decode(data["worst"]), torch.arange(3.0))
    assert decode(data["bound"]) == math.inf
    assert (data["violations"], data["trials"], data["broken"]) == (2, 50, False)
    assert data["rate"][0] < 0.04 < data["rate"][1]
    assert data["schema"] == 1
