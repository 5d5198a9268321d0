from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

from centersmooth import metrics
from centersmooth.errors import ArgumentError
from centersmooth.metrics import Block, Metric
from centersmooth.metrics.base import check_diameter, mean_pool, one_tensor, pools
from refusals import refused


class Gap(Metric):
    """The least a metric of one's own must define."""

    diameter = 5.0

    def collate(self, outputs: Any) -> Block:
        rows = torch.stack([one_tensor(output) for output in outputs]).reshape(-1, 1)
        return Block(rows, torch.isfinite(rows[:, 0]))

    def lengths(self, a: Any, b: Any) -> torch.Tensor:
        return (a - b.T).abs().double()


def test_a_metric_of_ones_own_needs_two_methods() -> None:
    gap = Gap()
    assert gap(1.0, 3.5) == 2.5
    assert gap(torch.tensor(1.0), torch.tensor(9.0)) == 5.0
    assert gap.pairwise([1.0, 2.0], [4.0]).tolist() == [[3.0], [2.0]]
    assert gap.name == "Gap"
    assert gap.hilbert is None
    assert gap.from_json(gap.to_json(2.5)) == 2.5
    with refused(ArgumentError, "Gap", "Medoid(pool=1)"):
        gap.pool([1.0], 1)


def test_an_invalid_output_is_infinitely_far_from_all_even_itself() -> None:
    block = Gap().collate([1.0, math.nan])
    assert Gap().measure(block, block).tolist() == [[0.0, math.inf], [math.inf, math.inf]]


def test_blocks_are_taken_apart_and_joined() -> None:
    for rows in (torch.arange(4.0)[:, None], ["a", "b", "c", "d"]):
        block = Block(rows, torch.tensor([True, False, True, True]))
        parts = [block.take(0, 1), block.take(1, 4)]
        assert [len(part) for part in parts] == [1, 3]
        whole = Block.join(parts)
        assert list(whole.rows) == list(rows)
        assert torch.equal(whole.valid, block.valid)


def test_one_output_becomes_one_tensor_without_loss() -> None:
    assert one_tensor(0.1).item() == 0.1
    assert one_tensor([[1, 2**53 + 1]]).tolist() == [[1, 2**53 + 1]]
    assert one_tensor(np.float32(0.1)).dtype == torch.float32
    grown = torch.ones(2, requires_grad=True)
    assert not one_tensor(grown).requires_grad


@pytest.mark.parametrize("diameter", [0, -1, math.nan, "1", None])
def test_a_diameter_that_would_cut_every_bound_off_is_refused(diameter: object) -> None:
    with refused(ArgumentError, "diameter > 0", repr(diameter)):
        check_diameter(diameter)


def test_every_public_metric_has_its_mathematics_in_its_docstring() -> None:
    for name in metrics.__all__:
        kind = getattr(metrics, name)
        if isinstance(kind, type) and issubclass(kind, Metric) and kind is not Metric:
            assert "d(a, b)" in (kind.__doc__ or ""), name


def test_who_can_pool_is_known_through_derived_metrics() -> None:
    assert pools(metrics.L1())
    assert pools(metrics.clipped(metrics.L1(), 1.0))
    assert not pools(metrics.Discrete())
    assert not pools(metrics.clipped(metrics.Levenshtein(), 1.0))


def test_a_mean_of_equal_outputs_is_that_output() -> None:
    """Summed in float32, three times 0.1 is not three tenths."""
    outputs = torch.full((9, 4), 0.1)
    assert torch.equal(mean_pool(outputs, 9, metrics.L1())[0], outputs[0])
    large = torch.full((7, 4), 16_777_217.0) / 3
    assert torch.equal(mean_pool(large, 7, metrics.L1())[0], large[0])
