from __future__ import annotations

import base64
import json
import pickle
import zlib
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from centersmooth.errors import FormatError
from centersmooth.moments import Moments, Reference, Region
from centersmooth.sketch import Ranked, Sketch, keys_of, values_of
from refusals import refused

LAW = settings(derandomize=True, deadline=None, max_examples=60)
LOOSE = 1 + 2.0**-10
INFINITE = 0x7F800000
lengths = st.floats(0, 2.0**100, width=32) | st.sampled_from([0.0, 1.0, np.inf, 1e-40])
samples = arrays(np.float32, st.tuples(st.just(3), st.integers(1, 40)), elements=lengths)


def counted(*parts: Any) -> Sketch:
    sketch = Sketch(len(parts[0]))
    for part in parts:
        sketch.add(np.asarray(part))
    return sketch


def distances(rows: int, count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).lognormal(0, 2, (rows, count))


# ---- rounding up


def test_every_float_is_rounded_up_by_a_thousandth_at_most() -> None:
    near_steps = (np.arange(0, 0x3FC01)[:, None] * 2**13 + np.array([-1, 0, 1])).ravel()
    bits = np.concatenate((near_steps, np.arange(0, INFINITE, 4099)))
    exact = bits[(bits >= 0) & (bits <= INFINITE)].astype(np.int32).view(np.float32)
    rounded = values_of(keys_of(exact))
    assert (rounded >= exact).all()
    normal = (exact >= np.finfo(np.float32).tiny) & np.isfinite(rounded)
    assert (rounded[normal] <= exact[normal].astype(np.float64) * LOOSE).all()
    assert np.isinf(rounded[np.isinf(exact)]).all()


def test_doubles_between_two_floats_are_rounded_up_too() -> None:
    between = np.float32([1.0, 1024.0, 3e-5, 7.7e30]).astype(np.float64)[:, None] * (
        1 + np.array([-1e-9, -1e-15, 1e-15, 1e-9])
    )
    assert (values_of(keys_of(between)) >= between).all()
    assert (values_of(keys_of(np.array([1e-300, 5e-324]))) > 0).all()
    assert np.isinf(values_of(keys_of(np.array([1e39, 1e300, np.inf])))).all()


def test_zero_is_zero_with_either_sign() -> None:
    assert keys_of(np.array([0.0, -0.0])).tolist() == [0, 0]


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("bits", [0xFFFFFFFF, 0xFFC00000, 0x7FC00000, 0x7FFFFFFF, 0x7F800001])
def test_every_kind_of_nan_is_refused(bits: int) -> None:
    bad = np.array([0, bits], dtype=np.uint32).view(np.float32)
    for values in (bad, bad.astype(np.float64)):
        with pytest.raises(ValueError, match="not NaN"):
            keys_of(values)


@pytest.mark.parametrize("bad", [-1.0, -1e-45, -np.inf])
def test_negative_distances_are_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="nonnegative"):
        keys_of(np.array([1.0, bad]))


# ---- order statistics


def check_against_sorting(found: Ranked, all_distances: np.ndarray) -> None:
    for row, values in enumerate(np.sort(all_distances, axis=1)):
        for j, value in enumerate(values, start=1):
            smallest = found.smallest(row, j)
            assert smallest >= value
            kept = 10 if row < 2 else 2  # how little of a row is rounded up to one value
            if kept * j > len(values) and value >= np.finfo(np.float32).tiny:
                assert smallest <= value * LOOSE


@LAW
@given(samples)
def test_order_statistics_are_those_of_the_sorted_distances(values: np.ndarray) -> None:
    check_against_sorting(counted(values).ranked(), values)


def test_order_statistics_of_many_distances() -> None:
    values = distances(2, 3001)
    values[1, ::3] = 0.0
    check_against_sorting(counted(values).ranked(), values)


def test_rows_are_ranked_together() -> None:
    values = distances(4, 501)
    ranked, joined = counted(values).ranked(), np.sort(values[1:].ravel())
    for rank in (800, 1100, 1400, 1503):
        found = ranked.smallest_together([1, 2, 3], rank)
        assert joined[rank - 1] <= found
        if rank > 1300:  # beyond the rows' own medians nothing else is rounded
            assert found <= LOOSE * joined[rank - 1]
    assert ranked.smallest_together([2], 400) == ranked.smallest(2, 400)


def test_several_rows_are_read_at_once() -> None:
    found = counted(distances(5, 200)).ranked()
    for j in (1, 100, 101, 200):
        expected = [found.smallest(row, j) for row in (2, 3, 4)]
        assert found.smallest_of_rows(2, j).tolist() == expected
    assert len(found.smallest_of_rows(5, 100)) == 0


# ---- adding and merging


@LAW
@given(st.lists(samples, min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_the_order_of_adding_and_merging_does_not_matter(parts: list[Any], random: Any) -> None:
    added = counted(*parts)
    shuffled = random.sample(parts, len(parts))
    merged = Sketch(3)
    for part in shuffled:
        merged.merge(counted(part))
    assert merged.total == added.total == sum(part.shape[1] for part in parts)
    assert merged.ranked() == added.ranked()
    assert merged.ranked() == counted(np.concatenate(shuffled, axis=1)).ranked()


def test_merging_leaves_the_other_sketch_alone() -> None:
    one, other = counted(distances(2, 50, 1)), counted(1e9 * distances(2, 50, 2))
    before = other.ranked()
    one.merge(other)
    one.add(distances(2, 50, 3))
    assert other.ranked() == before
    assert other.total == 50


def test_empty_sketches_merge() -> None:
    one = counted(distances(2, 10))
    before = one.ranked()
    one.merge(Sketch(2))
    assert one.ranked() == before
    empty = Sketch(2)
    empty.merge(one)
    assert empty.ranked() == before


def test_blocks_of_other_reference_points_are_refused() -> None:
    with pytest.raises(ValueError, match="2 rows"):
        Sketch(2).add(np.zeros((3, 5)))
    with pytest.raises(ValueError, match="2 and 3 rows"):
        Sketch(2).merge(Sketch(3))


def test_memory_does_not_grow_with_the_number_of_distances() -> None:
    sketch, sizes = Sketch(4), []
    for seed in range(20):
        sketch.add(np.random.default_rng(seed).uniform(1, 8, (4, 20_000)))
        sizes.append(sketch._counts.nbytes + sketch._zeros.nbytes)
    assert sketch.total == 400_000
    assert sizes == [sizes[0]] * 20


def test_different_counts_are_different() -> None:
    found = counted([[1.0, 2.0]]).ranked()
    assert found != counted([[1.0, 3.0]]).ranked()
    assert found != counted([[1.0, 2.0], [1.0, 2.0]]).ranked()
    assert found != "counts"


# ---- to keep


@LAW
@given(samples)
def test_json_gives_the_same_order_statistics(values: np.ndarray) -> None:
    found = counted(values).ranked()
    assert Ranked.from_json(json.loads(json.dumps(found.to_json()))) == found


def test_a_hundred_rows_of_many_distances_are_small_on_disk() -> None:
    found = counted(np.random.default_rng(0).uniform(1, 3, (102, 4_000))).ranked()
    assert len(json.dumps(found.to_json())) < 150_000


def packed(raw: bytes) -> str:
    return base64.b85encode(zlib.compress(raw)).decode()


GOOD: dict[str, Any] = {
    "rows": 2,
    "columns": 2,
    "keys": packed(bytes([5, 3])),
    "counts": packed(bytes([1, 2, 0, 3])),
}
BOMB = packed(bytes(200_000_000))


def test_the_wellformed_example_is_read() -> None:
    found = Ranked.from_json(GOOD)
    assert (found.rows, found.total) == (2, 3)


@pytest.mark.parametrize(
    "damage",
    [
        {"rows": 0},
        {"rows": -2},
        {"rows": 2**40, "columns": 1},
        {"rows": 2**20, "columns": 2**17},
        {"rows": float("inf")},
        {"rows": float("nan")},
        {"rows": "two"},
        {"rows": None},
        {"columns": 0},
        {"columns": 3},
        {"columns": 2**31},
        {"keys": GOOD["keys"][:-3]},
        {"keys": "not base 85 \u00e9"},
        {"keys": packed(bytes([5, 0]))},
        {"keys": packed(bytes([255, 255]) + 2 * (2**63).to_bytes(8, "little"))},
        {"keys": packed(bytes([5, 255]) + (2**40).to_bytes(8, "little"))},
        {"keys": packed(bytes([5, 3, 3]))},
        {"keys": BOMB},
        {"counts": BOMB},
        {"counts": packed(bytes([1, 2, 0]))},
        {"counts": packed(bytes([1, 2, 0, 4]))},
        {"counts": packed(bytes([0, 0, 0, 0]))},
        {"counts": packed(bytes([255, 2, 0, 3]))},
        {"counts": packed(bytes([255, 0, 255, 0]) + 2 * (2**64 - 3).to_bytes(8, "little"))},
        {"counts": None},
        {"counts": [1, 2, 0, 3]},
    ],
)
def test_damaged_or_hostile_counts_are_refused(damage: dict[str, Any]) -> None:
    with refused(FormatError, "damaged"):
        Ranked.from_json({**GOOD, **damage})


@pytest.mark.parametrize("data", [None, 3, "text", [], {}, {"rows": 1}])
def test_anything_else_is_refused(data: Any) -> None:
    with refused(FormatError, "damaged"):
        Ranked.from_json(data)


@LAW
@given(samples, samples)
def test_a_sketch_kept_as_bytes_still_merges(one: np.ndarray, other: np.ndarray) -> None:
    kept = Sketch.from_bytes(counted(one).to_bytes())
    kept.merge(counted(other))
    assert kept.ranked() == counted(one, other).ranked()
    assert Sketch.from_bytes(Sketch(3).to_bytes()).total == 0


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"garbage",
        counted([[1.0, 2.0]]).to_bytes()[:-5],
        zlib.compress(b""),
        zlib.compress(b"short"),
        zlib.compress(b"\xff" * 4096),
        zlib.compress(np.array([1, 2, 0, 0, 1], dtype="<i8").tobytes()),
        zlib.compress(np.array([1, 2, 0, 0, -2], dtype="<i8").tobytes()),
        zlib.compress(np.array([2**40, 2, 0, 0, 2], dtype="<i8").tobytes()),
        zlib.compress(np.array([1, 0, 2**50, 1024, 0], dtype="<i8").tobytes()),
    ],
)
def test_bytes_that_are_no_sketch_are_refused(data: bytes) -> None:
    with refused(FormatError):
        Sketch.from_bytes(data)


# ---- parts on disk


@LAW
@given(samples, samples)
def test_parts_kept_as_bytes_merge_exactly(one: np.ndarray, other: np.ndarray) -> None:
    whole = counted(one, other)
    merged = Sketch.from_bytes(counted(one).to_bytes())
    merged.merge(Sketch.from_bytes(counted(other).to_bytes()))
    assert merged.ranked() == whole.ranked()
    assert merged.total == whole.total


@LAW
@given(samples, st.data())
def test_damaged_bytes_are_refused_or_harmless(block: np.ndarray, data: st.DataObject) -> None:
    good = zlib.decompress(counted(block).to_bytes())
    place = data.draw(st.integers(0, len(good) - 1))
    bad = good[:place] + bytes([good[place] ^ data.draw(st.integers(1, 255))]) + good[place + 1 :]
    try:
        found = Sketch.from_bytes(zlib.compress(bad))
    except FormatError:
        return
    assert found.ranked().total == found.total  # a sound sketch still, if another one


# ---- with moments


def with_moments(seed: int) -> Sketch:
    moments = Moments((Reference(np.zeros(2), 1.0),), Region(1.5, 1.0, 2.0))
    sketch = Sketch(1, moments)
    rows = torch.from_numpy(np.random.default_rng(seed).standard_normal((50, 2)))
    sketch.add(rows.norm(dim=1)[None].numpy())
    moments.add(rows, torch.ones(50, dtype=torch.bool))
    return sketch


def test_moments_go_where_the_distances_go() -> None:
    one, other = with_moments(1), with_moments(2)
    merged = one.empty()
    for part in (other, pickle.loads(pickle.dumps(one))):
        merged.merge(Sketch.from_bytes(part.to_bytes()))
    one.merge(other)
    assert one.total == 100
    assert one.ranked() == merged.ranked()
    back = Ranked.from_json(json.loads(json.dumps(one.ranked().to_json(), allow_nan=False)))
    assert back == one.ranked()
    assert back.moments == one.ranked().moments != with_moments(1).ranked().moments
    assert with_moments(1).ranked() != with_moments(2).ranked()


def test_sketches_with_moments_and_without_are_not_merged() -> None:
    for one, other in ((with_moments(1), Sketch(1)), (Sketch(1), with_moments(1))):
        with pytest.raises(ValueError, match="with moments and without"):
            one.merge(other)
    assert Sketch(1).empty().moments is None
