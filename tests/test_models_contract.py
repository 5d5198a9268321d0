from __future__ import annotations

import math
import warnings
from typing import Any

import pytest
import torch
from torch import nn

from centersmooth import metrics
from centersmooth.errors import BatchDependenceError, ModelError
from centersmooth.metrics import Metric
from centersmooth.models import Model, check_contract
from refusals import refused

BATCH = torch.randn(12, 3, generator=torch.Generator().manual_seed(0))


def check(function: Any, metric: Metric | None = None, batch: Any = BATCH) -> int:
    metric = metric or metrics.L2()
    return check_contract(Model(function, None), batch, metric.collate, metric.measure)


@pytest.fixture(autouse=True)
def _warnings_are_errors() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def two_valued(batch: torch.Tensor) -> torch.Tensor:
    return (batch[:, :1] > 0.8).float() * torch.tensor([[1.0, 2.0, 3.0]])


def in_place(batch: torch.Tensor) -> torch.Tensor:
    return batch.sub_(0.5).div_(0.25)


def seeded_noise(batch: torch.Tensor) -> torch.Tensor:
    """Looks deterministic, but every batch brings the same draws: samples that share them."""
    return batch + torch.randn(batch.shape, generator=torch.Generator().manual_seed(0))


def rounding(batch: torch.Tensor) -> torch.Tensor:
    return batch + 1e-6 * batch.mean()


@pytest.mark.parametrize(
    ("function", "metric"),
    [
        (lambda batch: batch, metrics.L2()),
        (lambda batch: batch * 0 + 7.3, metrics.L2()),
        (lambda batch: batch * 0 + 7.3, metrics.L1()),
        (lambda batch: batch * math.nan, metrics.L2()),
        (lambda batch: (batch > 0).sum(1), metrics.Discrete()),
        (lambda batch: [frozenset(row.tolist()) for row in batch], metrics.SetJaccard()),
        (two_valued, metrics.L2()),
        (in_place, metrics.L2()),
        (rounding, metrics.L2()),
        (nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2), nn.Dropout()).eval(), metrics.L2()),
    ],
)
def test_a_model_of_single_inputs_passes(function: Any, metric: Metric) -> None:
    assert check(function, metric) == 24


@pytest.mark.parametrize(
    "function",
    [
        lambda batch: batch - batch.mean(dim=0),
        lambda batch: batch / batch.std(),
        lambda batch: batch.flip(0) * len(batch) + batch.sum(),
        nn.BatchNorm1d(3).train(),
        lambda batch: batch + torch.arange(len(batch))[:, None],
        seeded_noise,
    ],
)
def test_a_model_that_mixes_the_rows_of_a_batch_is_refused(function: Any) -> None:
    with refused(BatchDependenceError, "one input each", "model.eval()", "one_at_a_time"):
        check(function)


def test_mixing_is_noticed_in_any_metric() -> None:
    with refused(BatchDependenceError):
        check(lambda batch: (batch > batch.mean(dim=0)).int() + batch.sum().int(), metrics.L1())
    with refused(BatchDependenceError):
        check(lambda batch: [f"{x.sum()}/{batch.sum()}" for x in batch], metrics.Discrete())


def test_a_model_with_randomness_of_its_own_is_told_so() -> None:
    generator = torch.Generator().manual_seed(1)
    with pytest.warns(UserWarning, match="draws randomness of its own"):
        assert check(lambda b: b + torch.randn(b.shape, generator=generator)) == 24


def test_a_model_that_overwrites_its_outputs_is_refused() -> None:
    buffer = torch.zeros(8, 3)

    def reusing(batch: torch.Tensor) -> torch.Tensor:
        return torch.add(batch, 1, out=buffer[: len(batch)])

    with refused(ModelError, "new outputs", "overwrites", "outputs.clone()"):
        check(reusing)
    assert check(lambda batch: torch.ones(12, 3)[: len(batch)]) == 24


def test_sequences_of_inputs_are_checked_too() -> None:
    words = ["one", "two", "three"] * 4
    assert check(lambda batch: [len(word) for word in batch], metrics.L1(), words) == 24
    with refused(BatchDependenceError):
        check(lambda batch: [len("".join(batch))] * len(batch), metrics.L1(), words[:8] + ["x"] * 4)


def test_the_inputs_are_left_as_they_were() -> None:
    before = BATCH.clone()
    check(in_place)
    assert torch.equal(before, BATCH)
