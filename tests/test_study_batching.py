"""Batches are measured once per run, and spans end where batches do."""

from __future__ import annotations

import math
from pathlib import Path

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from centersmooth.sampling import Batching
from centersmooth.store import Writer
from centersmooth.study.batching import Batchings, spans
from centersmooth.study.identity import identify
from small_studies import inputs, setting, study


@settings(derandomize=True, deadline=None, max_examples=200)
@given(
    samples=st.integers(1, 100_000),
    size=st.integers(1, 5_000),
    rate=st.floats(1e-3, 1e7) | st.just(math.inf),
    seconds=st.floats(1e-3, 100),
)
def test_spans_cover_the_samples_and_end_at_batches(
    samples: int, size: int, rate: float, seconds: float
) -> None:
    found = spans(samples, size, rate, seconds)
    assert [start for start, _ in found] == [0, *(stop for _, stop in found[:-1])]
    assert found[-1][1] == samples
    assert all(start % size == 0 for start, _ in found)
    assert all(start < stop for start, stop in found)
    if len(found) > 1:
        assert found[0][1] - size < rate * seconds  # no longer than asked for, but for a batch


def test_a_run_measures_once_per_shape_and_keeps_it(tmp_path: Path) -> None:
    own = study(1, batch_size=None)
    with Writer(tmp_path) as writer:
        writer.begin(identify(own), {}, {})
        first = Batchings(own, writer, seed=1).of(0, own.settings[0], inputs(1)[0])
        again = Batchings(own, writer, seed=2).of(0, own.settings[0], inputs(2)[1])
        assert again == first
        wide = Batchings(study(1, batch_size=100), writer, seed=1)
        assert wide.of(1, own.settings[0], inputs(1)[0])[0] == Batching(100)
        assert wide.of(0, own.settings[0], inputs(1)[0]) == first
    assert first[1] > 0
    assert math.isfinite(first[1])


def test_an_input_that_cannot_be_measured_is_left_to_its_certification(tmp_path: Path) -> None:
    def picky(batch: torch.Tensor) -> torch.Tensor:
        raise RuntimeError("not these")

    own = study(1, [setting()], model=picky, batch_size=None)
    with Writer(tmp_path) as writer:
        writer.begin(identify(own), {}, {})
        batching, rate = Batchings(own, writer, seed=1).of(0, own.settings[0], inputs(1)[0])
    assert batching.size >= 1
    assert spans(10**6, batching.size, rate, 30.0) == [(0, 10**6)]
