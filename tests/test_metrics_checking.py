from __future__ import annotations

import math

import pytest
import torch

from centersmooth import metrics as m
from centersmooth.errors import ArgumentError, OutputError
from metric_laws import generator
from refusals import refused

LINE = [float(x) for x in range(12)]


def gap(a: float, b: float) -> float:
    return abs(a - b)


def problems(metric: object, outputs: object = LINE, **options: object) -> str:
    report = m.check(metric, outputs, **options)  # type: ignore[arg-type]
    assert report.ok == (not report.problems)
    return "; ".join(report.problems)


def test_a_metric_breaks_no_law() -> None:
    report = m.check(gap, LINE, empty=0.0)
    assert report.ok
    assert (report.metric, report.outputs, report.invalid) == ("gap", 12, 0)
    assert report.largest == 11
    assert report.needed_gamma == pytest.approx(1)
    assert report.pairs_per_second > 0
    assert "no law broken" in str(report)
    assert "0 to 11 away" in report.empty


@pytest.mark.parametrize("metric", [m.L2(), m.Angular(), m.TotalVariation(), m.SquaredL2()])
def test_the_metrics_of_the_library_pass(metric: m.Metric) -> None:
    outputs = torch.randn(30, 5, generator=generator(1))
    outputs[1] = outputs[0] * (1 + 1e-6)
    report = m.check(metric, outputs)
    assert report.ok, report


def test_each_broken_law_is_named() -> None:
    assert "d(b, a)" in problems(lambda a, b: max(0.0, b - a))
    assert "d(a, a) is not 0" in problems(lambda a, b: 1.0)
    assert "NaN or negative" in problems(lambda a, b: math.nan if a == 3 and b == 5 else gap(a, b))
    assert "NaN or negative" in problems(lambda a, b: -gap(a, b))
    assert "exceeds the diameter" in problems(m.Custom(gap, diameter=5.0))
    assert "triangle inequality fails" in problems(lambda a, b: gap(a, b) ** 2)


def test_the_relaxation_that_would_do_is_found() -> None:
    """Squares of whole numbers need gamma = 2, attained by equal steps."""

    def squared(a: float, b: float) -> float:
        return (a - b) ** 2

    report = m.check(squared, LINE)
    assert report.needed_gamma == pytest.approx(2.0)
    assert report.worst is not None
    assert report.worst.direct == pytest.approx(2 * report.worst.detour)
    assert report.worst.b not in (report.worst.a, report.worst.c)
    assert m.check(m.Custom(squared, relaxation=2.0), LINE).ok
    assert not m.check(m.Custom(squared, relaxation=1.9), LINE).ok


def test_a_pair_that_differs_alone_and_in_a_block_is_found() -> None:
    class Ranked(m.L1):
        """Distances divided by the largest of the block: no distance at all."""

        def lengths(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
            found = super().lengths(a, b)
            return found / found.max().clamp(min=1e-9)

    assert "another length than in a block" in problems(Ranked(), torch.tensor(LINE)[:, None])


def test_a_value_that_falls_is_found() -> None:
    class Wrong(m.L1):
        def value(self, rho: float) -> float:
            return 1.0 / (1.0 + rho)

    assert "falls where rho grows" in problems(Wrong(), torch.tensor(LINE)[:, None])


def test_the_empty_output_is_tried() -> None:
    boxes = [torch.tensor([0.0, 0, 2 + k, 2]) for k in range(5)]
    report = m.check(m.BoxJaccard(), boxes, empty=torch.zeros(0, 4))
    assert report.ok
    assert report.empty == "1 to 1 away from the others"
    assert m.check(m.BoxJaccard(), boxes).empty.startswith("not tried")
    directions = torch.eye(3)
    assert "cannot be measured" in problems(m.Angular(), directions, empty=torch.zeros(3))
    assert "refused" in problems(m.L2(), directions, empty=torch.zeros(0))


def test_an_empty_output_that_is_too_near_breaks_the_triangle() -> None:
    """0 from everything: a way round by the empty output would be free."""

    def broken(a: str, b: str) -> float:
        return 0.0 if not a or not b else float(a != b)

    assert m.check(broken, ["cat", "dog", "cow"]).ok
    assert "triangle inequality fails" in problems(broken, ["cat", "dog", "cow"], empty="")


def test_invalid_outputs_are_counted_and_left_out() -> None:
    outputs = torch.randn(10, 3, generator=generator(2))
    outputs[4, 1] = math.nan
    report = m.check(m.L2(), outputs)
    assert (report.outputs, report.invalid) == (10, 1)
    assert report.ok


def test_slow_metrics_are_tried_on_fewer_outputs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("centersmooth.metrics.checking._SECONDS", 1e-9)
    report = m.check(gap, [float(k) for k in range(150)])
    assert report.outputs == 10
    monkeypatch.setattr("centersmooth.metrics.checking._SECONDS", 1e9)
    assert m.check(gap, [float(k) for k in range(300)]).outputs == 200


def test_nothing_to_try_is_refused() -> None:
    with refused(ArgumentError, "two outputs or more"):
        m.check(gap, [1.0])
    with refused(OutputError, "the metric can measure", "none"):
        m.check(m.L2(), torch.full((4, 2), math.nan))
