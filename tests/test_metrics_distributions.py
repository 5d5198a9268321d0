from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

from centersmooth.errors import OutputError
from centersmooth.metrics import Hellinger, JensenShannon, VariationDistance
from metric_laws import check_laws, generator
from refusals import refused

LAW = settings(derandomize=True, deadline=None, max_examples=60)
METRICS = (VariationDistance(), Hellinger(), JensenShannon())
weights = st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any)
distributions = weights.map(lambda w: torch.tensor(w, dtype=torch.float64) / sum(w))


def random_distributions(count: int, width: int, seed: int = 1) -> torch.Tensor:
    """Some near the corners, some in the middle, two nearly equal."""
    logits = torch.randn(count, width, generator=generator(seed), dtype=torch.float64)
    rows = (logits * torch.linspace(0.1, 12, count)[:, None]).softmax(dim=1)
    rows[1] = rows[0] * (1 - 1e-7) + 1e-7 * rows[2]
    return rows


@LAW
@given(st.lists(distributions, min_size=3, max_size=5))
def test_the_distances_have_their_formulas_and_obey_their_laws(some: list[Any]) -> None:
    block = torch.stack(some)
    found = [metric.pairwise(block, block) for metric in METRICS]
    for i, j in np.ndindex(found[0].shape):
        p, q = some[i], some[j]
        wanted = (
            float((p - q).abs().sum() / 2),
            float(((p.sqrt() - q.sqrt()).square().sum() / 2).sqrt()),
            jensenshannon(p, q) if i != j else 0.0,
        )
        for table, number in zip(found, wanted, strict=True):
            assert float(table[i, j]) == pytest.approx(number, abs=2e-8)
    for metric in METRICS:
        check_laws(metric, block)


def test_the_laws_hold_for_nearly_equal_distributions() -> None:
    for metric in METRICS:
        check_laws(metric, random_distributions(25, 6))


def test_distributions_without_a_common_class_are_at_the_diameter() -> None:
    one, other = torch.tensor([0.5, 0.5, 0, 0]), torch.tensor([0, 0, 0.1, 0.9])
    for metric in METRICS:
        assert metric(one, other) == pytest.approx(metric.diameter, rel=1e-7)
        assert metric(one, one) == pytest.approx(0, abs=1e-9)
    assert JensenShannon().diameter == math.sqrt(math.log(2))


def exact_jensen_shannon(p: torch.Tensor, q: torch.Tensor) -> float:
    """By its power series in double-double fashion: terms that only add up."""
    total = 0.0
    for a, b in zip(p.tolist(), q.tolist(), strict=True):
        x = (a - b) / (a + b)
        series = sum(x ** (2 * k) / (2 * k * (2 * k - 1)) for k in range(1, 40))
        total += (a + b) / 2 * series
    return math.sqrt(total)


@pytest.mark.parametrize("step", [1e-1, 1e-3, 1e-5, 1e-8, 1e-12])
def test_jensen_shannon_is_never_too_small_where_logarithms_cancel(step: float) -> None:
    p, r = random_distributions(3, 5, seed=4)[0], torch.full((5,), 0.2, dtype=torch.float64)
    metric = JensenShannon()
    block = metric.collate(torch.stack((p, p * (1 - step) + r * step)))
    found = float(metric.measure(block, block)[0, 1])
    wanted = exact_jensen_shannon(*block.rows)
    assert wanted * (1 - metric.rounding / 2) <= found <= wanted * (1 + 1e-6)


@pytest.mark.parametrize("metric", METRICS)
def test_means_stay_in_a_ball_that_holds_the_outputs(metric: Any) -> None:
    assert metric.mean_stays_in_ball
    some = random_distributions(60, 5, seed=2)
    means = metric.pool(some, 4)
    to_center = metric.pairwise(some[:1], some)[0].reshape(-1, 4).amax(dim=1)
    assert bool((metric.pairwise(some[:1], means)[0] <= to_center + 1e-12).all())


def test_the_hellinger_distance_is_bounded_from_its_coordinates() -> None:
    """Whatever point lies within delta of the row of w, its distribution is within the bound."""
    metric = Hellinger()
    space = metric.hilbert
    assert space is not None
    some = random_distributions(10, 4, seed=3)
    worst = 0.0
    for k in range(2_000):
        row = metric.collate(some[k % 10][None]).rows[0]
        step = torch.randn(4, generator=generator(k), dtype=torch.float64)
        delta = 0.02 + 0.9 * (k % 50) / 50
        decoded = space.decode(row + step / step.norm() * delta, some)
        distance, bound = metric(decoded, some[k % 10]), space.bound(delta)
        assert distance <= bound
        worst = max(worst, distance / bound)
    assert worst > 0.98  # the bound is no larger than it has to be
    assert space.bound(0) < 1e-6
    assert space.bound(1.0) == space.bound(2.0) == 1


def test_hellinger_decodes_what_it_embeds_and_always_answers() -> None:
    metric = Hellinger()
    space = metric.hilbert
    assert space is not None
    some = random_distributions(5, 6).float()
    for p in some:
        decoded = space.decode(metric.collate(p[None]).rows[0], some)
        assert decoded.dtype == torch.float32
        torch.testing.assert_close(decoded, p)
    lost = space.decode(-torch.ones(6, dtype=torch.float64), some)
    assert lost.tolist() == pytest.approx([1 / 6] * 6)


@pytest.mark.parametrize("metric", METRICS)
def test_what_is_no_distribution_is_refused_or_invalid(metric: Any) -> None:
    with refused(OutputError, "add up to 1", "total 2", "softmax"):
        metric.collate(torch.tensor([[0.5, 0.5], [1.0, 1.0]]))
    with refused(OutputError, "add up to 1", "least entry -0.5"):
        metric.collate(torch.tensor([[-0.5, 1.5]]))
    bad = torch.tensor([[0.0, 0.0], [math.nan, 1.0], [0.25, 0.75]])
    assert metric.collate(bad).valid.tolist() == [False, False, True]
    with refused(OutputError, "one size", "2 and 3"):
        metric.pairwise(torch.full((1, 2), 0.5), torch.tensor([[0.2, 0.3, 0.5]]))
    half = torch.tensor([[0.3335, 0.3335, 0.3335]])  # as half precision leaves it
    assert metric(half[0], torch.full((3,), 1 / 3)) == pytest.approx(0, abs=1e-6)
