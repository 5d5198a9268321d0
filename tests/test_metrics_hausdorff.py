from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import directed_hausdorff

from centersmooth.errors import ArgumentError, OutputError
from centersmooth.metrics import L1, L2, Angular, BoxJaccard, Hausdorff, Keypoints, SquaredL2
from centersmooth.metrics import Levenshtein as Edits
from metric_laws import check_laws
from refusals import refused

LAW = settings(derandomize=True, deadline=None, max_examples=50)
METRIC = Hausdorff()
points = st.tuples(st.integers(-4, 4), st.integers(-4, 4))
clouds = st.lists(points, max_size=4).map(lambda p: torch.tensor(p).double().reshape(-1, 2))


def naive(a: torch.Tensor, b: torch.Tensor) -> float:
    if not len(a) or not len(b):
        return 0.0 if len(a) == len(b) else math.inf
    return max(directed_hausdorff(a, b)[0], directed_hausdorff(b, a)[0])


@LAW
@given(st.lists(clouds, min_size=1, max_size=4))
def test_points_and_a_ground_metric_give_what_scipy_does(some: list[Any]) -> None:
    found = METRIC.pairwise(some, some)
    ground = Hausdorff(L2()).pairwise(some, some)
    for i, j in np.ndindex(found.shape):
        wanted = naive(some[i], some[j])
        assert float(found[i, j]) == pytest.approx(wanted, rel=1e-12)
        assert float(ground[i, j]) == pytest.approx(wanted, rel=1e-12)


@LAW
@given(st.lists(clouds, min_size=3, max_size=5))
def test_the_laws_of_a_distance_hold(some: list[Any]) -> None:
    full = [cloud for cloud in some if len(cloud)]
    for metric in (METRIC, Hausdorff(L1()), Hausdorff(SquaredL2())):
        check_laws(metric, [*full, torch.zeros(1, 2).double()])


@LAW
@given(st.lists(clouds, min_size=3, max_size=5))
def test_with_a_cutoff_the_empty_set_has_its_place(some: list[Any]) -> None:
    for metric in (Hausdorff(cutoff=3.0), Hausdorff(L1(), cutoff=3.0)):
        found = metric.pairwise(some, some).numpy()
        around = found[:, :, None] + found[None, :, :]
        assert (found[:, None, :] <= around + 1e-9).all()
        assert found.max() <= 3 == metric.diameter


def test_the_empty_set_is_at_the_cutoff_from_all_others() -> None:
    none, one = torch.zeros(0, 3), torch.ones(1, 3)
    assert METRIC(none, none) == Hausdorff(cutoff=2)(none, none) == 0
    assert METRIC(none, one) == math.inf == METRIC.diameter
    assert Hausdorff(cutoff=2)(one, none) == 2
    assert Hausdorff(Angular())([], [torch.ones(3)]) == 1 == Hausdorff(Angular()).diameter
    assert Hausdorff(Angular())([], []) == 0


def test_the_ground_metric_decides_what_is_compared() -> None:
    words = Hausdorff(Edits())
    assert words({"cat", "dog"}, {"cut", "dog"}) == 1
    assert words(["cat"], ["cat", "caterpillar"]) == 8
    boxes = Hausdorff(BoxJaccard())
    one = torch.tensor([[0.0, 0, 2, 2], [5, 5, 6, 6]])
    assert boxes(one, one[:1]) == 1
    assert boxes(one, one + torch.tensor([0.0, 0, 0, 1])) == pytest.approx(1 / 2)


def test_relaxed_ground_metrics_pass_their_gamma_on() -> None:
    metric = Hausdorff(SquaredL2())
    assert (metric.gamma, metric.published_gamma) == (1, 2)
    assert metric(torch.zeros(1, 2), torch.tensor([[3.0, 4.0]])) == pytest.approx(25)
    assert METRIC.gamma == METRIC.published_gamma == 1


def test_what_is_no_point_cloud_is_refused_or_invalid() -> None:
    with refused(OutputError, "points of shape (n, D)", "(3,)"):
        METRIC.collate([torch.ones(3)])
    with refused(OutputError, "a point cloud", "str"):
        METRIC.collate(["cloud"])
    with refused(OutputError, "points of one dimension", "2 and 3"):
        METRIC.pairwise([torch.ones(4, 2)], [torch.ones(4, 3)])
    with refused(OutputError, "a list of items", "int"):
        Hausdorff(L2()).collate([3])
    with refused(ArgumentError, "diameter > 0"):
        Hausdorff(cutoff=-1)
    bad = [torch.tensor([[math.nan, 0.0]]), torch.zeros(0, 2), torch.ones(2, 2)]
    assert METRIC.collate(bad).valid.tolist() == [False, True, True]
    assert Hausdorff(L2()).collate(bad).valid.tolist() == [False, True, True]
    far = Hausdorff(L2()).pairwise(bad[1:], bad[1:])
    assert torch.equal(far, METRIC.pairwise(bad[1:], bad[1:]))


def test_nobody_and_somebody_can_be_compared_by_their_joints() -> None:
    """A list of poses, an empty one included, with metrics that insist on shapes."""
    pose = torch.tensor([[0.0, 0.0], [0.0, 2.0]])
    metric = Hausdorff(ground=Keypoints(), cutoff=9.0)
    found = metric.pairwise([[pose, pose + 3], [pose], []], [[pose], [], torch.zeros(0, 2, 2)])
    far = math.sqrt(18)
    np.testing.assert_allclose(found, [[far, 9, 9], [0, 9, 9], [9, 0, 0]], rtol=1e-5)
