from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from centersmooth import metrics as m
from centersmooth.centers import GeometricMedian, Medoid, default_center
from centersmooth.errors import ArgumentError, OutputError
from centersmooth.metrics.combination import SideBySide
from metric_laws import check_laws, generator
from refusals import refused

BUILDERS = {1.0: m.weighted_sum, 2.0: m.euclidean_sum, math.inf: m.maximum}
WEIGHTS = {"v": 2.0, "q": 0.5}
PARTS = {"v": m.L2(), "q": m.Hellinger()}


def outputs(count: int, seed: int = 0) -> list[dict[str, torch.Tensor]]:
    """A vector and a distribution each, equal and nearly equal ones among them."""
    vectors = torch.randn(count, 3, generator=generator(seed), dtype=torch.float64)
    shares = torch.rand(count, 4, generator=generator(seed + 1), dtype=torch.float64) ** 3 + 1e-9
    vectors[1], shares[1] = vectors[0], shares[0]
    vectors[2], shares[2] = vectors[0] + 1e-9, torch.eye(4)[0]
    shares = shares / shares.sum(dim=1, keepdim=True)
    return [{"v": v, "q": q} for v, q in zip(vectors, shares, strict=True)]


def norm(order: float, distances: Any) -> Any:
    return np.linalg.norm(np.stack(distances), ord=order, axis=0)


@pytest.mark.parametrize("order", BUILDERS)
def test_the_distance_is_the_norm_of_the_parts(order: float) -> None:
    metric, some = BUILDERS[order](PARTS, WEIGHTS), outputs(9)
    check_laws(metric, some)
    parts = [
        WEIGHTS[key] * part.pairwise([o[key] for o in some], [o[key] for o in some]).numpy()
        for key, part in PARTS.items()
    ]
    wanted = norm(order, [part.ravel() for part in parts]).reshape(9, 9)
    found = metric.pairwise(some, some).numpy()
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-12)
    assert (found >= wanted * (1 - 1e-12)).all()
    assert metric(some[0], some[1]) == 0


@pytest.mark.parametrize("order", BUILDERS)
def test_diameter_and_gamma_come_from_the_parts(order: float) -> None:
    metric = BUILDERS[order]({"a": m.BoxJaccard(), "b": m.Cosine()}, {"a": 3.0, "b": 0.5})
    assert metric.diameter == pytest.approx(float(np.linalg.norm([3.0, 1.0], ord=order)))
    assert metric.gamma == metric.published_gamma == 2.0
    assert BUILDERS[order](PARTS).diameter == math.inf
    assert BUILDERS[order](PARTS).gamma == 1


def test_a_relaxed_part_needs_its_gamma() -> None:
    """Squares on a line: from 0 to 2 by way of 1 is half as far."""
    metric = m.weighted_sum([m.SquaredL2(), m.Discrete()])
    a, b, c = ((torch.tensor([x]), "same") for x in (0.0, 1.0, 2.0))
    assert metric(a, c) == pytest.approx(metric.gamma * (metric(a, b) + metric(b, c)), rel=1e-4)


def test_the_empty_output_of_a_part_is_that_parts_affair() -> None:
    metric = m.weighted_sum({"box": m.BoxJaccard(), "name": m.Discrete()}, {"box": 1, "name": 0.5})
    none, one = torch.zeros(0, 4), torch.tensor([0.0, 0, 2, 2])
    some = [{"box": box, "name": name} for box in (none, one) for name in ("", "cat")]
    wanted = [[0, 0.5, 1, 1.5], [0.5, 0, 1.5, 1], [1, 1.5, 0, 0.5], [1.5, 1, 0.5, 0]]
    np.testing.assert_allclose(metric.pairwise(some, some), wanted, rtol=1e-5)


def test_euclidean_parts_make_a_euclidean_whole_where_it_pays() -> None:
    assert isinstance(default_center(m.weighted_sum([m.L2()] * 4)), GeometricMedian)
    assert isinstance(default_center(m.weighted_sum([m.L2()] * 5)), Medoid)
    assert isinstance(default_center(m.maximum([m.L2()] * 5)), Medoid)
    assert isinstance(default_center(m.euclidean_sum([m.L2()] * 5)), GeometricMedian)
    assert isinstance(default_center(m.euclidean_sum([m.L2(), m.SquaredL2()])), Medoid)
    assert isinstance(default_center(m.euclidean_sum([m.L2(), m.L1()])), Medoid)


@pytest.mark.parametrize("order", BUILDERS)
@given(seed=st.integers(0, 10_000), size=st.floats(1e-3, 0.9))
def test_a_point_near_the_row_of_w_decodes_to_an_output_near_w(
    order: float, seed: int, size: float
) -> None:
    """The whole of what Theorem C asks of a space, on moves of random direction."""
    metric, some = BUILDERS[order](PARTS, WEIGHTS), outputs(3, seed)
    space = metric.hilbert
    assert isinstance(space, SideBySide)
    row = metric.collate(some).rows[0]
    move = torch.randn(len(row), generator=generator(seed + 2), dtype=torch.float64)
    move[:2] = 0.0  # the widths of the parts, which no mean of rows changes
    if seed % 3 == 1:
        move[2:5] = 0.0
    if seed % 3 == 2:
        move[5:] = 0.0
    delta = size * min(space.scales)
    found = space.decode(row + delta * move / move.norm(), some)
    assert metric(found, some[0]) <= space.bound(delta) * (1 + 1e-5)


@pytest.mark.parametrize("order", BUILDERS)
def test_the_bound_of_two_flat_parts_is_nearly_attained(order: float) -> None:
    """Of the vectors of length delta, the norm of order p of the parts is largest at one."""
    metric = BUILDERS[order]([m.L2(), m.L2()])
    exact = {1.0: math.sqrt(2.0), 2.0: 1.0, math.inf: 1.0}[order]
    assert exact <= metric.hilbert.bound(1.0) <= 1.003 * exact
    assert metric.hilbert.bound(math.inf) == math.inf


def test_tuples_are_decoded_as_tuples() -> None:
    metric = m.euclidean_sum([m.L2(), m.L2()], [1.0, 2.0])
    some = [(torch.tensor([1.0, 2.0]), torch.tensor([3.0])), (torch.zeros(2), torch.zeros(1))]
    block = metric.collate(some)
    found = metric.hilbert.decode(block.rows[0], some)
    assert isinstance(found, tuple)
    assert [part.tolist() for part in found] == [[1.0, 2.0], [3.0]]


def test_blocks_are_taken_apart_and_joined_part_by_part() -> None:
    metric = m.weighted_sum({"v": m.L1(), "q": m.VariationDistance()})
    some = outputs(7)
    block = metric.collate(some)
    joined = m.Block.join([block.take(0, 3), block.take(3, 7)])
    assert torch.equal(metric.measure(joined, block), metric.measure(block, block))


def test_a_part_that_is_invalid_spoils_its_output_only() -> None:
    metric, some = m.weighted_sum(PARTS), outputs(4)
    some[2]["v"] = torch.tensor([math.nan, 0, 0], dtype=torch.float64)
    assert metric.collate(some).valid.tolist() == [True, True, False, True]


def test_what_does_not_fit_is_refused() -> None:
    with refused(OutputError, "'q'", "dict without it"):
        m.weighted_sum(PARTS).collate([{"v": torch.zeros(3)}])
    with refused(ArgumentError, "at least one metric"):
        m.weighted_sum([])
    with refused(ArgumentError, "at least one metric"):
        m.maximum({"a": "L2"})  # type: ignore[dict-item]
    for weights in ([1.0], [1.0, 0.0], {0: 1.0}, [1.0, math.inf]):
        with refused(ArgumentError, "one positive weight per part"):
            m.euclidean_sum([m.L2(), m.L1()], weights)


def test_the_name_tells_the_parts() -> None:
    assert m.weighted_sum([m.L2(), m.Discrete()]).name == "Sum of L2, Discrete"
    assert m.maximum([m.L2()]).name == "Maximum of L2"
