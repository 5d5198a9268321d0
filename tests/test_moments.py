from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest
import torch

from centersmooth.errors import FormatError
from centersmooth.moments import Moments, Reference, Region, Summary, neighbours
from refusals import refused

REGION = Region(radius=1.5, near=1.0, far=2.0)
ORIGIN = np.array([3.0, -1.0])


def moments() -> Moments:
    target = Reference(np.array([0.0, 1.0]), 0.5)
    return Moments((Reference(ORIGIN, 1.0), target), REGION)


def outputs(count: int = 401, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    random = np.random.default_rng(seed)
    rows = torch.from_numpy(ORIGIN + random.standard_normal((count, 2)) * [1.0, 0.3])
    return rows, torch.from_numpy(random.random(count) > 0.1)


def test_the_summary_is_what_its_definition_says() -> None:
    rows, valid = outputs()
    seen = moments()
    seen.add(rows, valid)
    found = seen.summary()
    offsets = rows.numpy() - ORIGIN
    inside = valid.numpy() & (np.linalg.norm(offsets, axis=1) <= 1.5)
    y = np.where(inside[:, None], offsets, 0.0)
    mean = ORIGIN + y.mean(axis=0)
    assert found.region == REGION
    assert found.top == pytest.approx(float(np.linalg.eigvalsh(y.T @ y / 401)[-1]), rel=1e-6)
    assert found.away == pytest.approx(
        (np.linalg.norm(mean - ORIGIN), np.linalg.norm(mean - [0.0, 1.0])), rel=1e-6
    )
    assert (found.scales, found.pairs) == ((1.0, 0.5), 200)
    assert found.norm == pytest.approx(math.sqrt(10), rel=1e-6)
    gaps = [
        float((rows[i] - rows[i + 1]).norm()) if valid[i] and valid[i + 1] else math.inf
        for i in range(0, 400, 2)
    ]
    assert found.near_pairs == sum(gap <= 1.0 for gap in gaps)
    assert found.far_pairs == sum(gap >= 2.0 for gap in gaps)


def test_numbers_are_rounded_up_never_down() -> None:
    rows, valid = outputs(37, seed=2)
    seen = moments()
    seen.add(rows, valid)
    offsets = rows.numpy() - ORIGIN
    y = np.where((valid.numpy() & (np.linalg.norm(offsets, axis=1) <= 1.5))[:, None], offsets, 0)
    assert seen.summary().top >= np.linalg.eigvalsh(y.T @ y / 37)[-1]
    assert seen.summary().away[0] >= np.linalg.norm(y.mean(axis=0))


@pytest.mark.parametrize("cuts", [(0, 401), (0, 64, 128, 401), (0, 2, 400, 401)])
def test_parts_add_up_in_any_order_also_from_disk(cuts: tuple[int, ...]) -> None:
    rows, valid = outputs()
    whole, merged = moments(), moments().empty()
    whole.add(rows, valid)
    spans = list(itertools.pairwise(cuts))
    for start, stop in reversed(spans):
        part = moments()
        part.add(rows[start:stop], valid[start:stop])
        merged.merge(Moments.from_bytes(part.to_bytes()))
    assert merged.summary() == whole.summary()


def test_wide_outputs_take_no_more_memory_with_their_number() -> None:
    wide = Moments((Reference(np.zeros(3_000), 1.0),), Region(1e9, 0.0, 0.0))
    sizes = []
    for seed in range(3):
        rows = torch.randn(300, 3_000, generator=torch.Generator().manual_seed(seed))
        wide.add(rows, torch.ones(300, dtype=torch.bool))
        sizes.append(len(wide.to_bytes()))
    assert max(sizes) < 256 * 3_000 * 8 * 1.1
    assert Moments.from_bytes(wide.to_bytes()).summary() == wide.summary()


def test_moments_about_different_points_are_not_merged() -> None:
    other = Moments((Reference(ORIGIN + 1, 1.0),), REGION)
    with pytest.raises(ValueError, match="another origin"):
        moments().merge(other)


def test_a_summary_survives_json_and_a_damaged_one_is_refused() -> None:
    seen = moments()
    seen.add(*outputs())
    data = json.loads(json.dumps(seen.summary().to_json(), allow_nan=False))
    assert Summary.from_json(data) == seen.summary()
    for change in (
        {"top": -1.0},
        {"top": "nan"},
        {"far_pairs": 10**9},
        {"away": [1.0]},
        {"region": {"radius": 1.0}},
        {"pairs": None},
    ):
        with refused(FormatError, "the moments of a certificate", "damaged"):
            Summary.from_json(data | change)


def test_damaged_bytes_are_refused() -> None:
    seen = moments()
    seen.add(*outputs())
    packed = seen.to_bytes()
    for bad in (b"", packed[: len(packed) // 2], packed.replace(b"mean", b"neam")):
        with refused(FormatError, "the moments of a part", "damaged"):
            Moments.from_bytes(bad)


def test_neighbours_are_disjoint_pairs() -> None:
    rows = np.array([[0.0], [1.0], [5.0], [9.0], [100.0]])
    valid = np.array([True, True, True, True, True])
    assert neighbours(rows, valid).tolist() == [1.0, 4.0]
    valid[2] = False
    assert neighbours(rows, valid).tolist() == [1.0, math.inf]
    assert neighbours(rows[:1], valid[:1]).tolist() == []


def test_single_outputs_find_their_neighbours_too() -> None:
    rows, valid = outputs(40)
    whole, one_by_one = moments(), moments()
    whole.add(rows, valid)
    for i in range(40):
        one_by_one.add(rows[i : i + 1], valid[i : i + 1])
    assert one_by_one.summary() == whole.summary()
