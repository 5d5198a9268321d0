"""Differences between studies, in words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from centersmooth.store import Identity
from centersmooth.store.changes import UNREADABLE, changes

KEPT = Identity(
    settings=[{"name": "l2", "eps": [0.1], "samples": 400}],
    inputs=[("a.png", "11"), ("b.png", "22")],
    models=[{"name": "Net", "weights": "aa", "version": None}],
    options={"seed": None},
)


def test_nothing_changed_says_nothing() -> None:
    tuples = replace(KEPT, settings=[{"name": "l2", "eps": (0.1,), "samples": 400}])
    assert changes(KEPT, KEPT) == changes(KEPT, tuples) == ""


@pytest.mark.parametrize(
    ("now", "words"),
    [
        ({"settings": [{**KEPT.settings[0], "samples": 900}]}, "samples 900 instead of 400"),
        ({"settings": [{**KEPT.settings[0], "new": 1}]}, "new 1 instead of null"),
        ({"settings": []}, "0 settings instead of 1"),
        ({"inputs": [("a.png", "11")]}, "1 inputs instead of 2"),
        ({"inputs": [("a.png", "11"), ("b.png", "23")]}, "number 1 (b.png)"),
        ({"inputs": [("a.png", "11"), ("c.png", "22")]}, "number 1 (c.png, was b.png)"),
        ({"models": [{**KEPT.models[0], "weights": "bb"}]}, "other weights of the model Net"),
        ({"models": [{**KEPT.models[0], "version": "2"}]}, "another version of the model Net"),
        ({"models": [{**KEPT.models[0], "name": "Web"}]}, "the model Web instead of Net"),
        ({"options": {"seed": 3}}, "the study with seed 3 instead of null"),
    ],
)
def test_each_change_is_named(now: dict[str, Any], words: str) -> None:
    assert words in changes(KEPT, replace(KEPT, **now))


def test_an_input_that_could_not_be_read_may_be_repaired_but_not_break() -> None:
    broken = replace(KEPT, inputs=[("a.png", "11"), ("b.png", UNREADABLE)])
    assert changes(broken, KEPT) == ""
    assert "number 1 (b.png)" in changes(KEPT, broken)
    renamed = replace(KEPT, inputs=[("a.png", "11"), ("c.png", "22")])
    assert "was b.png" in changes(broken, renamed)


def test_many_changes_are_counted() -> None:
    inputs = [("x", str(i)) for i in range(10)]
    kept = replace(KEPT, inputs=[("x", "old")] * 10)
    assert changes(kept, replace(KEPT, inputs=inputs)).endswith("and 7 more changes")
