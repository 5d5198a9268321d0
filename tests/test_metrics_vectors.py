from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from centersmooth import metrics
from centersmooth.errors import ArgumentError, OutputError
from metric_laws import check_laws, generator, unit_rows
from refusals import refused

LAW = settings(derandomize=True, deadline=None, max_examples=60)
NORMED = [metrics.L1(), metrics.L2(), metrics.SquaredL2()]
DIRECTIONAL = [metrics.Angular(), metrics.Cosine()]
ALL = [*NORMED, *DIRECTIONAL]
numbers = st.floats(-100, 100, width=32).map(lambda v: 0.0 if abs(v) < 1e-3 else v)
triples = arrays(np.float32, (3, 4), elements=numbers)


def cosine(a: list[float], b: list[float]) -> mpmath.mpf:
    with mpmath.workdps(40):
        dot = mpmath.fdot(a, b)
        return dot / mpmath.sqrt(mpmath.fdot(a, a) * mpmath.fdot(b, b))


def half_turns(a: list[float], b: list[float]) -> float:
    with mpmath.workdps(40):
        return float(mpmath.acos(max(-1, min(1, cosine(a, b)))) / mpmath.pi)


FORMULAS: dict[str, Callable[[list[float], list[float]], float]] = {
    "L1": lambda a, b: math.fsum(abs(p - q) for p, q in zip(a, b, strict=True)),
    "L2": math.dist,
    "SquaredL2": lambda a, b: math.fsum((p - q) ** 2 for p, q in zip(a, b, strict=True)),
    "Angular": half_turns,
    "Cosine": lambda a, b: float(1 - cosine(a, b)),
}


@pytest.mark.parametrize("metric", ALL, ids=lambda m: m.name)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_distance_is_its_formula(metric: Any, dtype: torch.dtype) -> None:
    a, b = (torch.randn(n, 2, 5, generator=generator(n)).to(dtype) for n in (4, 6))
    found = metric.pairwise(a, b)
    for i, j in np.ndindex(4, 6):
        one, other = a[i].flatten().tolist(), b[j].flatten().tolist()
        truth = FORMULAS[metric.name](one, other)
        assert float(found[i, j]) == pytest.approx(truth, rel=2e-5)
        assert metric(a[i], b[j]) == pytest.approx(truth, rel=2e-5)


@pytest.mark.parametrize("metric", ALL, ids=lambda m: m.name)
@LAW
@given(triples)
def test_the_laws_of_a_distance_hold(metric: Any, triple: np.ndarray) -> None:
    outputs = torch.from_numpy(triple)
    if metric in DIRECTIONAL:
        outputs = outputs[outputs.norm(dim=1) > 0]
    check_laws(metric, outputs)


def test_ranges_are_attained() -> None:
    a = torch.tensor([1.0, 2.0, -3.0])
    assert metrics.Angular()(a, -2 * a) == 1.0
    assert metrics.Angular()(a, 5 * a) == pytest.approx(0, abs=2e-7)
    assert metrics.Cosine()(a, -a) == 2.0
    assert metrics.Discrete()(a, -a) == 1.0
    assert metrics.L1()(a, -a) == pytest.approx(12, rel=2e-5)
    assert all(metric.diameter == math.inf for metric in NORMED)


@pytest.mark.parametrize("kind", [metrics.L1, metrics.L2, metrics.SquaredL2])
def test_a_given_diameter_is_never_exceeded(kind: Any) -> None:
    metric = kind(diameter=2.0)
    assert metric(torch.zeros(3), torch.full((3,), 9.0)) == 2.0
    for diameter in (0, -1.0, math.nan, "2"):
        with refused(ArgumentError, "diameter > 0"):
            kind(diameter=diameter)


def test_a_diameter_that_is_part_of_the_definition_is_no_option() -> None:
    for kind in (metrics.Angular, metrics.Cosine, metrics.Discrete):
        with pytest.raises(TypeError):
            kind(0.1)


# ---- directions


@pytest.mark.parametrize("metric", DIRECTIONAL, ids=lambda m: m.name)
@pytest.mark.parametrize("power", range(1, 15))
def test_near_parallel_and_near_opposite_vectors_keep_their_angle(metric: Any, power: int) -> None:
    a = torch.randn(8, 30, generator=generator(power), dtype=torch.float64)
    b = a + 10.0**-power * torch.randn(8, 30, generator=generator(99), dtype=torch.float64)
    for sign in (1, -1):
        for count in (1, 8):  # few rows take another path through the kernel
            found = metric.pairwise(a[:count], sign * b[:count]).diagonal().tolist()
            for distance, one, other in zip(found, a.tolist(), (sign * b).tolist(), strict=False):
                truth = FORMULAS[metric.name](one, other)
                assert distance >= truth * (1 - 2.0**-20) - 1e-15
                assert distance <= truth * (1 + 1e-4) + 2e-7


def test_directions_in_single_precision_are_off_by_their_rounding_only() -> None:
    a = torch.randn(200, 30, generator=generator(1))
    for b in (a, -a, a * 3.7, a + 1e-6 * a.flip(0), 1e-6 * a.flip(0) - a):
        found = metrics.Angular().pairwise(a, b).diagonal().tolist()
        for distance, one, other in zip(found, a.tolist(), b.tolist(), strict=True):
            assert distance == pytest.approx(half_turns(one, other), abs=2.0**-22)


def test_length_does_not_matter_to_a_direction() -> None:
    a, b = torch.randn(2, 30, generator=generator(1))
    for metric in DIRECTIONAL:
        for scale in (1e-30, 1e-3, 1e3, 1e30):
            assert metric(scale * a, b) == pytest.approx(metric(a, b), rel=1e-5)


@pytest.mark.parametrize("metric", DIRECTIONAL, ids=lambda m: m.name)
def test_an_output_without_a_direction_is_invalid(metric: Any) -> None:
    bad = torch.tensor([[0.0, 0.0], [1e200, 1e200], [1e-160, 2e-160]], dtype=torch.float64)
    assert metric.collate(bad).valid.tolist() == [False] * 3
    assert metric.collate(torch.tensor([[1e-45, 0.0], [3e38, 3e38]])).valid.all()


# ---- the way back from a Euclidean space


@pytest.mark.parametrize("metric", [*NORMED[1:], *DIRECTIONAL], ids=lambda m: m.name)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_point_near_the_row_of_w_decodes_to_an_output_near_w(
    metric: Any, dtype: torch.dtype
) -> None:
    w = torch.randn(2, 3, generator=generator(1)).to(dtype)
    like = torch.randn(5, 2, 3, generator=generator(2)).to(dtype)
    row = metric.collate(w[None]).rows[0].double()
    room = 2.0**-20 if dtype == torch.float32 else 1e-9  # the decoded point is rounded
    for delta in (1e-6, 1e-3, 0.1, 0.5, 0.9, 0.999, 1.5):
        worst = 0.0
        for offset in unit_rows(40, 6):
            decoded = metric.hilbert.decode(row + delta * offset, like)
            assert decoded.shape == w.shape
            assert decoded.dtype == dtype
            distance = metric(decoded, w)
            assert distance <= metric.hilbert.bound(delta) * (1 + 1e-6) + room
            worst = max(worst, distance)
        if metric in NORMED:
            assert worst >= 0.99 * metric.hilbert.bound(delta)


def test_the_angle_to_a_point_is_bounded_by_the_tangent_from_w() -> None:
    """The bound arcsin(delta) is attained where the line of sight touches the ball."""
    w = torch.tensor([1.0, 0.0], dtype=torch.float64)
    for metric in DIRECTIONAL:
        for delta in (0.01, 0.5, 0.99):
            touching = [1 - delta**2, delta * math.sqrt(1 - delta**2)]
            decoded = metric.hilbert.decode(torch.tensor(touching, dtype=torch.float64), w[None])
            bound = metric.hilbert.bound(delta)
            assert metric(decoded, w) == pytest.approx(bound, rel=1e-3)
            assert metric(decoded, w) <= bound * (1 + 1e-12)
        assert metric.hilbert.bound(1.0) == metric.diameter
        assert metric.hilbert.bound(math.inf) == metric.diameter


def test_a_decoded_direction_has_the_length_of_the_outputs() -> None:
    like = torch.tensor([[3.0, 4.0], [0.0, 5.0], [50.0, 0.0]])
    decoded = metrics.Angular().hilbert.decode(torch.tensor([0.6, -0.8]).double(), like)
    assert decoded.tolist() == pytest.approx([3.0, -4.0])
    no_direction = metrics.Angular().hilbert.decode(torch.zeros(2).double(), like)
    assert torch.isfinite(no_direction).all()


def test_whole_numbers_are_decoded_without_rounding() -> None:
    point = torch.tensor([1e9 + 0.25, 3.0], dtype=torch.float64)
    for like in (torch.tensor([[1, 2]]), [[1, 2]], [[1.0, 2.0]]):
        assert metrics.L2().hilbert.decode(point, like).tolist() == point.tolist()


# ---- what models return


@pytest.mark.parametrize("metric", ALL, ids=lambda m: m.name)
def test_an_output_with_nan_or_infinity_is_invalid_and_far_from_all(metric: Any) -> None:
    outputs = torch.ones(4, 3)
    outputs[1, 2], outputs[3, 0] = math.nan, -math.inf
    block = metric.collate(outputs)
    assert block.valid.tolist() == [True, False, True, False]
    lengths = metric.measure(block, block)
    assert torch.isinf(lengths).tolist() == [[False, True] * 2, [True] * 4] * 2
    with refused(OutputError, "invalid one at 1"):
        metric.pairwise(outputs, outputs)


@pytest.mark.parametrize("metric", ALL, ids=lambda m: m.name)
def test_outputs_come_as_tensors_lists_arrays_or_numbers(metric: Any) -> None:
    a, b = torch.tensor([[1.0, 2.0], [3.0, -1.0]]), torch.tensor([[4.0, 0.5]])
    found = metric.pairwise(a, b)
    for form in (list, torch.Tensor.tolist, lambda t: list(t.numpy()), lambda t: t.half()):
        assert torch.allclose(metric.pairwise(form(a), form(b)), found, rtol=2e-5)
    assert metric.pairwise([], a).shape == (0, 2)
    assert metric.pairwise(a[:0], a[:0]).shape == (0, 0)


@pytest.mark.parametrize("metric", NORMED, ids=lambda m: m.name)
def test_pythons_numbers_keep_their_double_precision(metric: Any) -> None:
    for a, b in ((1e9 + 1, 1e9 + 2), ([2**40 + 1], [2**40])):
        assert metric(a, b) == pytest.approx(1, rel=2e-5)
    assert metric(torch.tensor([True, False]), torch.tensor([True, True])) == pytest.approx(1)


@pytest.mark.parametrize("metric", ALL, ids=lambda m: m.name)
def test_outputs_of_another_shape_are_refused(metric: Any) -> None:
    with refused(OutputError, metric.name, "Tensor(2,), Tensor(3,)", "varying size"):
        metric.collate([torch.zeros(2), torch.zeros(3)])
    with refused(OutputError, "3 and 2 numbers"):
        metric(torch.ones(3), torch.ones(2))
    with refused(OutputError, "real outputs"):
        metric.collate(torch.ones(2, 3, dtype=torch.complex64))
    with refused(OutputError, "str"):
        metric.collate(["a", "b"])


@pytest.mark.parametrize("metric", ALL, ids=lambda m: m.name)
def test_pooling_takes_the_mean_of_each_run(metric: Any) -> None:
    outputs = torch.arange(12.0).reshape(6, 2)
    assert metric.pool(outputs, 3).tolist() == [[2.0, 3.0], [8.0, 9.0]]
    equal = torch.rand(1000, generator=torch.Generator().manual_seed(0))
    for size in (3, 7, 10):  # or R = 0 would promise an answer that rounding moves
        assert torch.equal(metric.pool(equal.expand(size, -1), size)[0], equal.double())
    assert metric.pool(list(outputs.long()), 2).tolist() == [[1.0, 2.0], [5.0, 6.0], [9.0, 10.0]]


# ---- anything that can be compared


SAME = [
    ("a", "a"),
    (3, np.int64(3)),
    (0.0, -0.0),
    (torch.tensor([0.0, 1.0]), torch.tensor([-0.0, 1.0])),
    (torch.zeros(2, 3).T, torch.zeros(3, 2)),
    (torch.ones(2, dtype=torch.bfloat16), torch.ones(2, dtype=torch.bfloat16)),
    (np.str_("a"), "a"),
    (frozenset({1, 2}), frozenset({2, 1})),
    ((1, ("b", torch.ones(2))), (1, ("b", torch.ones(2)))),
    (None, None),
]
DIFFERENT = [
    ("a", "b"),
    ("1", 1),
    (torch.tensor([1.000001]), torch.tensor([1.000002])),
    ((torch.tensor([1.000001]),), (torch.tensor([1.000002]),)),
    ((torch.arange(5000),), (torch.cat((torch.arange(4999), torch.tensor([0]))),)),
    (torch.zeros(4), torch.zeros(2, 2)),
    (frozenset({1, 2}), (1, 2)),
    (("a", "bc"), ("ab", "c")),
    (None, "None"),
]


@pytest.mark.parametrize(("pairs", "distance"), [(SAME, 0.0), (DIFFERENT, 1.0)])
def test_equal_outputs_and_no_others_are_at_distance_zero(
    pairs: list[tuple[Any, Any]], distance: float
) -> None:
    for one, other in pairs:
        assert metrics.Discrete()(one, other) == distance, (one, other)
        assert metrics.Discrete()(other, one) == distance


def test_outputs_that_cannot_be_compared_are_invalid_or_refused() -> None:
    nan = [math.nan, torch.tensor([math.nan]), (1, math.nan), np.float64("nan"), "fine"]
    assert metrics.Discrete().collate(nan).valid.tolist() == [False] * 4 + [True]
    for thing in ([1, 2], {"a": 1}, object()):
        with refused(OutputError, type(thing).__name__, "tuples"):
            metrics.Discrete().collate([thing])


def test_labels_of_a_batch_are_compared_one_by_one() -> None:
    labels = torch.tensor([3, 1, 3])
    assert metrics.Discrete().pairwise(labels, labels[:1]).flatten().tolist() == [0.0, 1.0, 0.0]
    assert metrics.Discrete().pairwise(["a", "b"], []).shape == (2, 0)
    with refused(ArgumentError, "Discrete", "cannot be averaged"):
        metrics.Discrete().pool(["a"], 1)
