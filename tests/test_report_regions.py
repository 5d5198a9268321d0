"""The region a certified box must stay in: it holds every allowed box, and is no larger."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from centersmooth.metrics import BoxJaccard
from centersmooth.report.regions import Allowed, Box, allowed

LAW = settings(derandomize=True, deadline=None, max_examples=200)
DISTANCE = BoxJaccard()
SLACK = 1e-9
corners = st.floats(-3, 3)


def jaccard(a: Box, b: Box) -> float:
    tensors = (torch.tensor([c.x0, c.y0, c.x1, c.y1], dtype=torch.float64) for c in (a, b))
    return DISTANCE(*tensors)


def box(x0: float, y0: float, x1: float, y1: float) -> Box:
    return Box(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))


boxes = st.builds(box, corners, corners, corners, corners)


def widened(region: Allowed) -> Allowed:
    return Allowed(region.box, region.bound + SLACK)


@LAW
@given(boxes, boxes)
def test_every_allowed_box_stays_inside_and_covers_the_core(a: Box, b: Box) -> None:
    assume(min(a.width, a.height, b.width, b.height) > 1e-3)
    bound = jaccard(a, b)
    assume(bound < 0.999)
    region = widened(Allowed(a, bound))
    for x in (b.x0, b.x1):
        for y in (b.y0, b.y1):
            assert region.holds(x, y)
    hull, core = region.hull, region.core
    assert hull.x0 <= b.x0
    assert hull.y0 <= b.y0
    assert hull.x1 >= b.x1
    assert hull.y1 >= b.y1
    if core is not None:
        assert b.x0 <= core.x0
        assert b.y0 <= core.y0
        assert b.x1 >= core.x1
        assert b.y1 >= core.y1


@LAW
@given(st.floats(0.01, 0.9), st.floats(0, 1))
def test_every_point_of_the_border_is_reached_by_an_allowed_box(bound: float, turn: float) -> None:
    a = Box(0.0, 0.0, 2.0, 1.0)
    # (1 + u/a) (1 + v/b) = 1 / (1 - bound): from straight left over the corner to straight up.
    across = (1 / (1 - bound)) ** turn
    u, v = 2.0 * (across - 1), 1 / (1 - bound) / across - 1
    reaching = Box(-u, -v, 2.0, 1.0)
    assert jaccard(a, reaching) <= bound + SLACK
    assert Allowed(a, bound + SLACK).holds(-u, -v)
    assert not Allowed(a, bound).holds(-1.001 * u - 1e-6, -1.001 * v - 1e-6)


@pytest.mark.parametrize("bound", [0.05, 0.3, 0.5])
def test_the_core_is_no_smaller_than_what_all_allowed_boxes_share(bound: float) -> None:
    a = Box(0.0, 0.0, 2.0, 1.0)
    core = Allowed(a, bound).core
    assert core is not None
    # Cutting one side off as far as the bound allows reaches each side of the core.
    for cut in (
        Box(core.x0, 0.0, 2.0, 1.0),
        Box(0.0, core.y0, 2.0, 1.0),
        Box(0.0, 0.0, core.x1, 1.0),
        Box(0.0, 0.0, 2.0, core.y1),
    ):
        assert jaccard(a, cut) == pytest.approx(bound)


def test_beyond_one_half_two_allowed_boxes_can_be_disjoint() -> None:
    a = Box(0.0, 0.0, 2.0, 1.0)
    assert Allowed(a, 0.51).core is None
    left, right = Box(0.0, 0.0, 0.99, 1.0), Box(1.01, 0.0, 2.0, 1.0)
    assert max(jaccard(a, left), jaccard(a, right)) <= 0.51
    assert jaccard(left, right) == 1.0


@pytest.mark.parametrize("bound", [0.0, 0.1, 0.6, 0.95])
def test_the_outline_holds_the_region_and_touches_it(bound: float) -> None:
    region = Allowed(Box(1.0, 2.0, 3.0, 3.0), bound)
    corners = region.outline()
    assert all(widened(region).holds(x, y) for x, y in corners)
    hull = region.hull
    assert min(x for x, _ in corners) == pytest.approx(hull.x0)
    assert max(y for _, y in corners) == pytest.approx(hull.y1)
    for (x, y), (other_x, other_y) in zip(corners, [*corners[1:], corners[0]], strict=True):
        # Halfway between two points the straight line must not cut into the region.
        halfway = (x + other_x) / 2, (y + other_y) / 2
        inside = Allowed(region.box, max(0.0, bound - 1e-3)).holds(*halfway)
        straight = math.isclose(x, other_x) or math.isclose(y, other_y)
        assert straight or not inside


def test_nothing_to_draw_without_a_box_or_without_a_bound() -> None:
    assert allowed(Box(0.0, 0.0, 0.0, 1.0), 0.2) is None
    assert allowed(Box(0.0, 0.0, 1.0, 1.0), 1.0) is None
    assert allowed(Box(0.0, 0.0, 1.0, 1.0), math.inf) is None
    assert allowed(Box(0.0, 0.0, 1.0, 1.0), 0.0) == Allowed(Box(0.0, 0.0, 1.0, 1.0), 0.0)
