from __future__ import annotations

import math

import numpy as np
import pytest
import torch

import centersmooth as cs
from centersmooth import metrics as m
from centersmooth.centers import GeometricMedian, Medoid, default_center
from centersmooth.errors import ArgumentError, OutputError, TrainingModeError
from metric_laws import check_laws, generator
from refusals import refused


def points(count: int = 8) -> torch.Tensor:
    some = torch.randn(count, 3, generator=generator(1), dtype=torch.float64)
    some[1] = some[0]
    some[2] = 2 * some[0]
    return some


@pytest.mark.parametrize("exponent", [0.25, 0.5, 1.0, 1.5, 2.0, 3.0])
@pytest.mark.parametrize("base", [m.L2(), m.L1(), m.SquaredL2(), m.Angular()])
def test_a_power_is_the_power_and_adds_up_the_lengths_below(
    base: m.Metric, exponent: float
) -> None:
    metric, some = m.power(base, exponent), points()
    check_laws(metric, some)
    wanted = base.pairwise(some, some).numpy() ** exponent
    np.testing.assert_allclose(metric.pairwise(some, some), wanted, rtol=1e-9)
    assert torch.equal(
        metric.measure(metric.collate(some), metric.collate(some)),
        base.measure(base.collate(some), base.collate(some)),
    )
    assert metric.diameter == pytest.approx(base.diameter**exponent)
    assert metric.gamma == 1


def test_the_published_gamma_of_a_power_is_needed() -> None:
    """0, 1, 2 on a line attain 2^(e - 1); exponents up to 1 need none."""
    a, b, c = (torch.tensor([x], dtype=torch.float64) for x in (0.0, 1.0, 2.0))
    for exponent in (1.5, 2.0, 3.0):
        metric = m.power(m.L2(), exponent)
        attained = metric(a, c) / (metric(a, b) + metric(b, c))
        assert metric.published_gamma == pytest.approx(attained)
        assert attained > 1.4
    assert m.power(m.L2(), 0.5).published_gamma == 1
    assert m.power(m.SquaredL2(), 0.5).published_gamma == pytest.approx(math.sqrt(2))
    assert m.power(m.SquaredL2(), 2.0).published_gamma == pytest.approx(8)


def test_clipping_counts_everything_beyond_the_cutoff_alike() -> None:
    metric, some = m.clipped(m.L2(), 1.5), points()
    check_laws(metric, some)
    wanted = np.minimum(m.L2().pairwise(some, some).numpy(), 1.5)
    np.testing.assert_array_equal(metric.pairwise(some, some), wanted)
    assert metric.diameter == 1.5
    assert m.clipped(m.BoxJaccard(), 3.0).diameter == 1.0
    assert m.clipped(m.SquaredL2(), 1.0).published_gamma == 2.0


def test_an_infinite_distance_is_clipped_too() -> None:
    metric = m.clipped(m.Hausdorff(), 7.0)
    assert metric(torch.zeros(0, 2), torch.zeros(1, 2)) == 7.0
    assert metric.value(math.inf) == 7.0


def test_euclidean_metrics_stay_so() -> None:
    for metric in (m.power(m.L2(), 0.5), m.clipped(m.Angular(), 0.2)):
        assert isinstance(default_center(metric), GeometricMedian)
    for metric in (m.power(m.L1(), 0.5), m.clipped(m.Discrete(), 0.5)):
        assert isinstance(default_center(metric), Medoid)
    assert m.power(m.L2(), 2.0).hilbert.bound(0.3) == pytest.approx(0.09)
    assert m.clipped(m.L2(), 0.2).hilbert.bound(0.3) == 0.2


def test_bounds_of_a_power_are_powers_of_bounds() -> None:
    """The same seed draws the same noise, and lengths are the same."""
    weights = torch.randn(4, 6, generator=generator(2))
    options = {"answer_samples": 51, "batch_size": 64, "seed": 1}

    def bound(metric: m.Metric) -> float:
        smoother = cs.Smoother(lambda x: x @ weights.T, cs.Gaussian(0.25), metric, **options)
        return smoother.certify(torch.zeros(6), samples=200, seed=2).bound(0.1)

    assert bound(m.power(m.L2(), 2.0)) == pytest.approx(bound(m.SquaredL2()), rel=1e-9)
    assert bound(m.power(m.L1(), 0.5)) == pytest.approx(bound(m.L1()) ** 0.5, rel=1e-9)
    assert bound(m.clipped(m.L2(), 1e-3)) == 1e-3


def test_pooling_is_that_of_the_metric_below() -> None:
    some = points(8)
    for metric in (m.power(m.L2(), 0.5), m.clipped(m.L2(), 1.0)):
        assert metric.mean_stays_in_ball
        assert torch.equal(metric.pool(some, 4), m.L2().pool(some, 4))
    with refused(ArgumentError, "pool"):
        m.clipped(m.SetJaccard(), 1.0).pool([], 2)


def test_an_encoder_sees_each_output_once() -> None:
    seen = []

    def lengths(texts: list[str]) -> torch.Tensor:
        seen.extend(texts)
        return torch.tensor([[float(len(text))] for text in texts])

    metric = m.through(lengths, m.L1())
    some = ["a", "bb", "", "dddd"]
    found = metric.pairwise(some, some).numpy()
    np.testing.assert_allclose(
        found, [[0, 1, 1, 3], [1, 0, 2, 2], [1, 2, 0, 4], [3, 2, 4, 0]], rtol=1e-4
    )
    assert seen == some * 2
    assert metric.name == "L1 through lengths"
    check_laws(metric, ["a", "bb", "cc", ""])


def test_through_has_the_laws_of_the_metric_and_no_way_back() -> None:
    metric = m.through(torch.sigmoid, m.Cosine())
    check_laws(metric, points())
    assert (metric.gamma, metric.published_gamma, metric.diameter) == (1.0, 2.0, 2.0)
    assert metric.hilbert is None
    assert metric.rounding == m.Cosine().rounding


def test_encoders_that_cannot_be_used_are_refused_and_nan_is_invalid() -> None:
    with refused(TrainingModeError, "evaluation mode"):
        m.through(torch.nn.Dropout(), m.L2())
    with refused(OutputError, "3 encoded outputs", "1"):
        m.through(lambda outputs: outputs[:1], m.L2()).collate(torch.zeros(3, 2))
    with refused(OutputError, "3 encoded outputs", "float"):
        m.through(lambda outputs: 1.0, m.L2()).collate(torch.zeros(3, 2))
    logs = m.through(torch.log, m.L2()).collate(torch.tensor([[1.0], [-1.0], [0.0]]))
    assert logs.valid.tolist() == [True, False, False]


def uphill(a: float, b: float) -> float:
    """Twice as far up as down; obeys the triangle inequality."""
    return 2 * (b - a) if b > a else a - b


@pytest.mark.parametrize(("how", "factor"), [("sum", 3.0), ("max", 2.0)])
def test_there_and_back_is_symmetric(how: str, factor: float) -> None:
    metric, some = m.symmetrised(uphill, how, diameter=10.0), [0.0, 1.0, 1.0, 4.0, -0.5]
    check_laws(metric, some)
    wanted = [[factor * abs(a - b) for b in some] for a in some]
    assert metric.pairwise(some, some).tolist() == np.minimum(wanted, metric.diameter).tolist()
    assert metric.diameter == (20.0 if how == "sum" else 10.0)
    assert "uphill" in metric.name


def test_symmetrised_keeps_the_relaxation_and_never_loses_a_nan() -> None:
    assert m.symmetrised(uphill, relaxation=2.0).gamma == 2.0
    with refused(ArgumentError, "how='sum' or 'max'"):
        m.symmetrised(uphill, "min")
    for broken in (
        lambda a, b: math.nan if a > b else 1.0,
        lambda a, b: math.nan if a < b else 1.0,
    ):
        for how in ("sum", "max"):
            with refused(OutputError, "distances >= 0"):
                m.symmetrised(broken, how)(0.0, 1.0)


@pytest.mark.parametrize("value", [0, -1.0, math.inf, math.nan])
def test_exponents_and_cutoffs_that_make_no_distance_are_refused(value: float) -> None:
    with refused(ArgumentError, "exponent > 0"):
        m.power(m.L2(), value)
    if value != math.inf:
        with refused(ArgumentError, "diameter > 0"):
            m.clipped(m.L2(), value)
