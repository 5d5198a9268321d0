from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau, rankdata

from centersmooth.errors import ArgumentError, OutputError
from centersmooth.metrics import KendallTau, SpearmanFootrule
from metric_laws import check_laws, generator
from refusals import refused

LAW = settings(derandomize=True, deadline=None, max_examples=60)
scores = st.lists(st.integers(0, 4), min_size=5, max_size=5).map(lambda s: torch.tensor(s).float())


def naive_pairs(a: torch.Tensor, b: torch.Tensor) -> float:
    """1 for every pair ordered the other way round, 1/2 where only one of them ties."""
    total = 0.0
    for i, j in itertools.combinations(range(len(a)), 2):
        x, y = float((a[i] - a[j]).sign()), float((b[i] - b[j]).sign())
        total += 1.0 if x * y < 0 else 0.5 * (x != y)
    return total


@LAW
@given(st.lists(scores, min_size=3, max_size=5))
def test_the_distances_have_their_formulas_and_obey_their_laws(some: list[Any]) -> None:
    block = torch.stack(some)
    pairs, ranks = (kind().pairwise(block, block) for kind in (KendallTau, SpearmanFootrule))
    for i, j in np.ndindex(pairs.shape):
        assert float(pairs[i, j]) == naive_pairs(some[i], some[j])
        gaps = np.abs(rankdata(some[i]) - rankdata(some[j]))
        assert float(ranks[i, j]) == gaps.sum()
    check_laws(KendallTau(items=5), block)
    check_laws(SpearmanFootrule(items=5), block)


def test_without_ties_tau_is_the_correlation_that_scipy_knows() -> None:
    some = torch.randn(6, 40, generator=generator(1))
    found = KendallTau().pairwise(some, some)
    for i, j in itertools.combinations(range(6), 2):
        tau = kendalltau(some[i], some[j]).statistic
        assert float(found[i, j]) == pytest.approx((1 - tau) / 2 * (40 * 39 / 2))


def test_the_opposite_order_attains_the_diameter() -> None:
    up = torch.arange(7.0)
    assert KendallTau(items=7)(up, -up) == 21 == KendallTau(items=7).diameter
    assert SpearmanFootrule(items=7)(up, -up) == 24 == SpearmanFootrule(items=7).diameter
    assert KendallTau().diameter == SpearmanFootrule().diameter == math.inf


def test_only_the_order_of_the_scores_counts() -> None:
    some = torch.randn(4, 9, generator=generator(2))
    for metric in (KendallTau(), SpearmanFootrule()):
        assert torch.equal(metric.pairwise(some.exp(), some), metric.pairwise(some, some))
        assert metric(torch.zeros(9), torch.ones(9)) == 0
        assert metric(torch.zeros(1), torch.ones(1)) == 0
    order = torch.tensor([2, 0, 1])  # best first: item 2, then 0, then 1
    assert KendallTau()(order.argsort(), torch.tensor([1, 2, 0])) == 0


def test_large_rankings_are_counted_exactly() -> None:
    some = torch.stack([torch.randperm(3_000, generator=generator(k)) for k in range(2)])
    gaps = (some[0] - some[1]).abs().sum()
    assert SpearmanFootrule()(some[0], some[1]) == float(gaps)


def test_scores_without_meaning_are_refused_or_invalid() -> None:
    for metric in (KendallTau(items=3), SpearmanFootrule(items=3)):
        with refused(OutputError, "scores of 3 items", "4 of them"):
            metric.collate(torch.zeros(2, 4))
        bad = torch.tensor([[1.0, math.nan, 0.0], [1.0, 2.0, 3.0]])
        assert metric.collate(bad).valid.tolist() == [False, True]
    for kind in (KendallTau, SpearmanFootrule):
        with refused(OutputError, "one size"):
            kind().pairwise(torch.zeros(1, 20), torch.zeros(1, 30))
        with refused(ArgumentError, "items >= 1"):
            kind(items=0)
