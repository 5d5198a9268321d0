from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, binom

from centersmooth.report.aggregates import median, quantile, share, steps

LAW = settings(derandomize=True, deadline=None, max_examples=80)
numbers = st.floats(0, 100) | st.just(math.inf)
samples = st.lists(numbers, min_size=1, max_size=60)


@LAW
@given(samples)
def test_median_is_the_upper_middle_value(values: list[float]) -> None:
    found = median(np.asarray(values))
    assert found is not None
    assert found.value == sorted(values)[len(values) // 2]
    assert found.count == len(values)


def test_median_of_nothing() -> None:
    assert median(np.asarray([])) is None


@pytest.mark.parametrize("count", [6, 7, 20, 50, 101])
def test_interval_is_the_shortest_symmetric_one_that_holds_the_median(count: int) -> None:
    found = median(np.arange(1.0, count + 1))
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    low, high = int(found.low), int(found.high)
    # The population's median lies outside if fewer than `low` or at least `high` values lie below.
    outside = binom.cdf(low - 1, count, 0.5) + binom.sf(high - 1, count, 0.5)
    assert outside <= 0.05
    shorter = binom.cdf(low, count, 0.5) + binom.sf(high - 2, count, 0.5)
    assert shorter > 0.05
    assert low + high == count + 1


def test_five_inputs_have_no_interval() -> None:
    found = median(np.arange(5.0))
    assert found is not None
    assert (found.low, found.high) == (None, None)


@LAW
@given(samples, st.floats(0.01, 1))
def test_quantile_is_the_least_value_with_enough_at_or_below(values: list[float], q: float) -> None:
    found = quantile(np.asarray(values), q)
    enough = [v for v in values if sum(u <= v for u in values) >= q * len(values) - 1e-9]
    assert found == min(enough)


@pytest.mark.parametrize(("hits", "count"), [(0, 10), (3, 10), (10, 10), (1, 1), (499, 5_000)])
def test_share_has_the_interval_of_clopper_and_pearson(hits: int, count: int) -> None:
    found = share(hits, count)
    low = beta.ppf(0.025, hits, count - hits + 1) if hits else 0.0
    high = beta.ppf(0.975, hits + 1, count - hits) if hits < count else 1.0
    assert found.low == pytest.approx(low, abs=1e-12)
    assert found.high == pytest.approx(high, abs=1e-12)
    assert found.value == hits / count


def test_share_of_nothing_says_nothing() -> None:
    found = share(0, 0)
    assert (found.value, found.low, found.high) == (0.0, 0.0, 1.0)


@LAW
@given(samples, numbers)
def test_steps_count_what_is_at_most_a_tolerance(values: list[float], tolerance: float) -> None:
    x, y = steps(np.asarray(values))
    reached = y[x <= tolerance][-1] if (x <= tolerance).any() else 0.0
    exact = sum(v <= tolerance for v in values if math.isfinite(v)) / len(values)
    assert reached == pytest.approx(exact)


def test_thinned_steps_never_overstate() -> None:
    values = np.random.default_rng(0).lognormal(size=3_000)
    x, y = steps(values, most=50)
    assert len(x) == 50
    exact = np.asarray([(values <= t).mean() for t in x])
    assert (y <= exact + 1e-12).all()
    assert y[-1] == 1.0
