"""Records keep every bit on their way to the database and back."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from centersmooth.errors import FormatError
from centersmooth.outputs import encode
from centersmooth.store.record import COLUMNS, Record, Sampled, decoded, from_row, storable, to_row
from store_runs import example

SETTING = {
    "name": "l2",
    "procedure": "sharp",
    "noise": {"type": "Gaussian", "fields": {"sigma": 0.25}},
    "metric_name": "L2",
    "eps": (0.1, 0.2),
    "diameter": math.inf,
    "confidence": {"form": "Joint", "alpha": 0.01},
    "draws": 3,
}

lengths = st.floats(min_value=0, allow_nan=False)
counts = st.integers(0, 2**63 - 1)
texts = st.text(st.characters(exclude_categories=["Cs"]))


@st.composite
def records(draw: Any) -> Record:
    failed = draw(st.booleans())
    bounds = () if failed else tuple(draw(st.lists(lengths, min_size=2, max_size=2)))
    status = st.sampled_from(["certified", "abstained", "undecided"])
    errors = () if failed else tuple(draw(st.lists(lengths, min_size=2, max_size=2)))
    sampled = st.builds(Sampled, lengths, texts)
    return Record(
        index=draw(counts),
        setting="l2",
        procedure="sharp",
        noise=SETTING["noise"],
        metric="L2",
        status="failed" if failed else draw(status),
        message=draw(texts),
        eps=(0.1, 0.2),
        bounds=bounds,
        statuses=() if failed else (draw(status), draw(status)),
        errors=draw(st.sampled_from([None, errors])),
        diameter=math.inf,
        confidence=SETTING["confidence"],
        smoothing_error=draw(st.none() | lengths),
        base_error=draw(st.none() | lengths),
        smoothed_error=draw(st.none() | lengths),
        evaluations=draw(counts),
        probes=draw(counts),
        seconds=draw(lengths),
        seed=draw(counts),
        draws=3,
        input_ref="a name",
        input=draw(st.none() | texts),
        base=draw(st.none() | texts),
        smoothed=draw(st.none() | texts),
        samples=draw(st.none() | st.lists(sampled, max_size=3).map(tuple)),
    )


@settings(derandomize=True, deadline=None, max_examples=100)
@given(records())
def test_a_row_gives_back_the_record(record: Record) -> None:
    row = to_row(record, place=7, session=1)
    assert dict(zip(COLUMNS, row, strict=True))["place"] == 7
    assert from_row(row, SETTING, "a name", record.input) == record


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"bounds": (1.0,)}, "bounds"),
        ({"bounds": (1.0, 6.0)}, "diameter"),
        ({"errors": (1.0,)}, "bounds"),
        ({"errors": (1.0, 5.5)}, "diameter"),
        ({"status": "splendid"}, "splendid"),
        ({"statuses": ("certified", "failed")}, "statuses"),
        ({"status": "failed"}, "failed"),
        ({"evaluations": -1}, "count"),
        ({"smoothing_error": math.nan}, "number"),
        ({"smoothed": b"blob"}, "text"),
    ],
)
def test_a_row_without_sense_is_refused(changes: dict[str, Any], word: str) -> None:
    row = to_row(example(**changes), 0, 1)
    with pytest.raises(ValueError, match=word):
        from_row(row, {**SETTING, "diameter": 5.0}, "", None)


def test_values_leave_out_the_time_alone() -> None:
    one, other = example(seconds=1.0), example(seconds=2.0)
    assert one.values() == other.values()
    assert example(seed=2).values() != one.values()


def test_numpy_and_whole_numbers_are_stored_as_they_come_back() -> None:
    tensor = torch.tensor(2)
    row = to_row(example(smoothing_error=1, seed=tensor, base_error=-0.0), 0, 1)
    kept = dict(zip(COLUMNS, row, strict=True))
    assert isinstance(kept["smoothing_error"], float)
    assert type(kept["seed"]) is int
    assert math.copysign(1, kept["base_error"]) == 1


def test_decoded_reads_outputs_and_refuses_the_rest() -> None:
    tensor = torch.arange(6.0).reshape(2, 3)
    assert torch.equal(decoded(json.dumps(encode(tensor))), tensor)
    deep = "[" * 100_000
    for text in ("", "nonsense", deep, '{"tensor": "!", "dtype": "float32", "shape": [1]}'):
        with pytest.raises(FormatError, match="expected"):
            decoded(text)


def test_storable_keeps_good_text_and_spells_out_the_rest() -> None:
    assert storable("ä 漢 🙂") == "ä 漢 🙂"
    assert storable("a\udcff") == "a\\udcff"
