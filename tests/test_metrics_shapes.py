from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation as Reference

from centersmooth.errors import ArgumentError, OutputError
from centersmooth.metrics import Keypoints, Rotation
from metric_laws import check_laws, generator
from refusals import refused

LAW = settings(derandomize=True, deadline=None, max_examples=50)
METRIC = Rotation()


def rotations(count: int, seed: int = 0) -> Reference:
    """Random ones, and turns by 0, almost 0, a half and almost a half."""
    turns = [[0, 0, 0], [0, 0, 1e-9], [math.pi, 0, 0], [0, math.pi - 1e-9, 0]]
    special = Reference.from_rotvec(turns)
    return Reference.concatenate((special, Reference.random(count - 4, random_state=seed)))


def as_matrices(some: Reference) -> torch.Tensor:
    return torch.from_numpy(some.as_matrix())


def as_quaternions(some: Reference) -> torch.Tensor:
    return torch.from_numpy(some.as_quat()[:, [3, 0, 1, 2]])


# ------------------------------------------------------------------------------- rotations


def test_the_distance_is_the_angle_between_rotations() -> None:
    some = rotations(20)
    wanted = np.array([[(a.inv() * b).magnitude() for b in some] for a in some])
    for block in (as_matrices(some), as_quaternions(some), -3 * as_quaternions(some)):
        np.testing.assert_allclose(METRIC.pairwise(block, block), wanted, atol=3e-8)
    both = METRIC.pairwise(as_matrices(some), as_quaternions(some))
    np.testing.assert_allclose(both, wanted, atol=3e-8)
    check_laws(METRIC, as_matrices(some))
    check_laws(METRIC, as_quaternions(some).float())


def test_tiny_and_half_turns_are_measured_well() -> None:
    still, tiny, half, _ = as_matrices(rotations(4))
    assert METRIC(still, still) == 0
    assert METRIC(still, tiny) == pytest.approx(1e-9, rel=1e-6)
    assert METRIC(still, half) == pytest.approx(math.pi) == METRIC.diameter


def test_every_matrix_within_delta_is_decoded_to_a_rotation_within_the_bound() -> None:
    space = METRIC.hilbert
    assert space is not None
    some = as_matrices(rotations(10))
    for k in range(1_500):
        row = METRIC.collate(some[k % 10][None]).rows[0]
        step = torch.randn(9, generator=generator(k), dtype=torch.float64)
        delta = 0.02 + 0.95 * (k % 60) / 60
        decoded = space.decode(row + step / step.norm() * delta, some)
        torch.testing.assert_close(decoded.T @ decoded, torch.eye(3).double(), atol=1e-9, rtol=0)
        assert METRIC(decoded, some[k % 10]) <= space.bound(delta)


@pytest.mark.parametrize("angle", [1e-3, 0.1, 0.7, 1.5])
def test_the_bound_is_attained(angle: float) -> None:
    """The symmetric part of a turn by `angle` is as close to it as a matrix decoded to I can be."""
    space = METRIC.hilbert
    assert space is not None
    turn = as_matrices(Reference.from_rotvec([[0, 0, angle]]))
    row = METRIC.collate(turn).rows[0].reshape(3, 3)
    point = (row + row.T) / 2
    decoded = space.decode(point.flatten(), turn)
    torch.testing.assert_close(decoded, torch.eye(3).double(), atol=1e-9, rtol=0)
    delta = float((point - row).norm())
    assert METRIC(decoded, turn[0]) == pytest.approx(math.asin(delta))
    assert 0 <= space.bound(delta) - angle < 1e-6


def test_decoding_keeps_the_form_of_the_outputs() -> None:
    space = METRIC.hilbert
    assert space is not None
    some = rotations(8, seed=3)
    for block in (as_matrices(some), as_matrices(some).float(), as_quaternions(some).float()):
        rows = METRIC.collate(block).rows
        for output, row in zip(block, rows, strict=True):
            decoded = space.decode(row, block)
            assert decoded.dtype == block.dtype
            assert decoded.shape == output.shape
            assert METRIC(decoded, output) < 1e-6
    assert space.bound(0.0) < 1e-6
    assert space.bound(1.0) == math.pi


def test_what_is_no_rotation_is_refused_or_invalid() -> None:
    with refused(OutputError, "(3, 3) or (4,)", "(2, 2)"):
        METRIC.collate(torch.eye(2)[None])
    with refused(OutputError, "rotation matrices", "at 1", "SVD"):
        METRIC.collate(torch.stack((torch.eye(3), 1.1 * torch.eye(3))))
    with refused(OutputError, "rotation matrices"):
        METRIC.collate(-torch.eye(3)[None])  # a reflection
    bad = torch.tensor([[0.0, 0, 0, 0], [math.nan, 0, 0, 1], [0, 0, 0, 2]])
    assert METRIC.collate(bad).valid.tolist() == [False, False, True]
    broken = torch.stack((torch.full((3, 3), math.nan), torch.eye(3)))
    assert METRIC.collate(broken).valid.tolist() == [False, True]


# ------------------------------------------------------------------------------- keypoints

joints = st.lists(
    st.tuples(st.integers(-5, 5), st.integers(-5, 5), st.booleans()), min_size=3, max_size=3
).map(lambda j: torch.tensor(j).double())


def naive(a: torch.Tensor, b: torch.Tensor, cutoff: float, how: str) -> float:
    errors = []
    for p, q in zip(a.tolist(), b.tolist(), strict=True):
        if p[2] != q[2]:
            errors.append(cutoff)
        else:
            errors.append(min(cutoff, math.dist(p[:2], q[:2])) if p[2] else 0.0)
    return max(errors) if how == "max" else sum(errors) / len(errors)


@pytest.mark.parametrize("how", ["mean", "max"])
@LAW
@given(st.lists(joints, min_size=3, max_size=5))
def test_joint_errors_have_their_formula_and_obey_their_laws(how: str, some: list[Any]) -> None:
    metric = Keypoints(how=how, cutoff=4.0)
    block = torch.stack(some)
    found = metric.pairwise(block, block)
    for i, j in np.ndindex(found.shape):
        assert float(found[i, j]) == pytest.approx(naive(some[i], some[j], 4.0, how))
    check_laws(metric, block)


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_without_absent_joints_no_cutoff_is_needed(dims: int) -> None:
    some = torch.randn(6, 17, dims, generator=generator(dims))
    errors = (some[:, None] - some[None]).double().norm(dim=-1)
    for how, wanted in (("mean", errors.mean(-1)), ("max", errors.amax(-1))):
        metric = Keypoints(how=how, dims=dims)
        torch.testing.assert_close(metric.pairwise(some, some), wanted, atol=1e-6, rtol=0)
        assert metric.diameter == math.inf
        check_laws(metric, some)
    visible = torch.cat((some, torch.ones(6, 17, 1)), dim=2)
    metric = Keypoints(dims=dims)
    assert torch.equal(metric.pairwise(visible, some), metric.pairwise(some, some))


def test_absent_joints_agree_with_each_other_only() -> None:
    metric = Keypoints(cutoff=10.0)
    none, one = torch.zeros(4, 3), torch.ones(4, 3)
    somewhere = none + torch.tensor([5.0, math.nan, 0.0])  # where an absent joint is says nothing
    assert metric(none, somewhere) == 0
    assert metric(none, one) == 10 == metric.diameter
    assert metric.collate([somewhere]).valid.tolist() == [True]


def test_joints_that_make_no_sense_are_refused_or_invalid() -> None:
    with refused(OutputError, "(K, 2) joints", "(17, 4)", "dims is 2"):
        Keypoints().collate(torch.zeros(1, 17, 4))
    with refused(OutputError, "(K, 2) joints"):
        Keypoints().collate(torch.zeros(1, 0, 2))
    with refused(OutputError, "cutoff", "absent"):
        Keypoints().collate(torch.zeros(1, 17, 3))
    with refused(OutputError, "one size"):
        Keypoints().pairwise(torch.zeros(1, 17, 2), torch.zeros(1, 16, 2))
    bad = torch.zeros(2, 3, 2)
    bad[0, 1, 1] = math.nan
    assert Keypoints().collate(bad).valid.tolist() == [False, True]
    for options, word in (({"how": "sum"}, "how="), ({"cutoff": 0}, "> 0"), ({"dims": 4}, "dims")):
        with refused(ArgumentError, word):
            Keypoints(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize("angle", [1e-14, 1e-12, 1e-9, 1e-5, 1.0, 3.0, math.pi - 1e-9])
def test_angles_are_never_too_small(angle: float) -> None:
    """Rounding of the rows counts for tiny angles, the slope of the arcsine near half a turn."""
    axis = torch.tensor([2.0, -1.0, 2.0], dtype=torch.float64) / 3
    first = torch.tensor([0.5, 0.5, -0.5, 0.5], dtype=torch.float64)
    w, v = math.cos(angle / 2), math.sin(angle / 2) * axis
    turned = torch.cat(
        (
            first[:1] * w - first[1:] @ v[:, None],
            first[0] * v + w * first[1:] + torch.linalg.cross(first[1:], v),
        )
    )
    metric = Rotation()
    found = metric(first, turned)
    assert angle <= found * (1 + metric.rounding / 2)
    assert found <= angle * (1 + 1e-6) + 1e-12
    assert metric(first, -first) == 0
