from __future__ import annotations

import itertools

import torch
from scipy.stats import binomtest

from centersmooth.noise.draws import chosen, odds, subsets
from noise_laws import assert_samples_follow, generator

CPU = torch.device("cpu")


def test_odds_are_exact_where_single_precision_is_not() -> None:
    assert odds(0.5) == 2**52
    assert odds(2.0**-40) == 2**13
    assert abs(odds(1e-9) / 2**53 - 1e-9) < 1e-16


def test_chosen_at_one_rate_and_at_one_rate_per_place() -> None:
    draws = chosen(odds(0.3), (20_000,), generator(), CPU)
    assert binomtest(int(draws.sum()), 20_000, 0.3).pvalue > 1e-6
    rates = torch.tensor([odds(0.1), odds(0.9)])
    draws = chosen(rates, (20_000, 2), generator(), CPU).sum(dim=0).tolist()
    assert [binomtest(n, 20_000, p).pvalue > 1e-6 for n, p in zip(draws, (0.1, 0.9), strict=True)]
    assert not chosen(0, (100,), generator(), CPU).any()


def test_every_subset_is_as_likely() -> None:
    rows = subsets(2, 5, 20_000, generator(), CPU)
    places = [tuple(row.nonzero()[:, 0].tolist()) for row in rows]
    law = dict.fromkeys(itertools.combinations(range(5), 2), 0.1)
    assert_samples_follow(law, places)
