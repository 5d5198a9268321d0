from __future__ import annotations

import re

import pytest
import torch

import centersmooth as cs
from centersmooth.report.scenes import Scene, scene
from report_runs import record, setting

OF = setting("boxes", cs.metrics.BoxJaccard())
IMAGE = torch.rand(3, 60, 80, generator=torch.Generator().manual_seed(0))
ANSWER = torch.tensor([[20.0, 10.0, 40.0, 30.0]])
NONE = torch.zeros(0, 4)


def drawn(
    given: object = IMAGE,
    smoothed: torch.Tensor = ANSWER,
    bounds: tuple[float, ...] = (0.2, 0.6, 1.0),
    **values: object,
) -> Scene:
    found = scene(given, ANSWER + 1, smoothed, record(OF, 0, bounds, **values))
    assert found is not None
    return found


def numbers(path: str) -> list[float]:
    return [float(value) for value in re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", path)]


def test_boxes_lie_where_they_are() -> None:
    found = drawn()
    assert found.smoothed == "M 20 10 H 40 V 30 H 20 Z"
    assert found.base == "M 21 11 H 41 V 31 H 21 Z"
    assert found.text == (
        "Base answer: from (21, 11) to (41, 31). Smoothed answer: from (20, 10) to (40, 30)."
    )
    assert found.backdrop is not None
    assert (found.backdrop.width, found.backdrop.height) == (80, 60)


def test_regions_are_those_of_the_bounds() -> None:
    narrow, wide, vacuous = drawn().regions
    assert narrow.outline is not None
    assert min(numbers(narrow.outline)[::2]) == pytest.approx(20 - 20 * 0.2 / 0.8)
    assert numbers(narrow.core or "")[:2] == pytest.approx([24, 14])
    assert "covers the whole inner box" in narrow.text
    assert wide.outline is not None
    assert wide.core is None
    assert wide.text == "Every certified answer lies within the shaded outline."
    assert vacuous.outline is None
    assert "Nothing is excluded" in vacuous.text


def test_no_region_without_a_certificate() -> None:
    statuses = ("certified", "undecided", "abstained")
    first, *others = drawn(bounds=(0.2, 0.3, 0.4), statuses=statuses).regions
    assert first.outline is not None
    assert [other.outline for other in others] == [None, None]
    assert all("Nothing is excluded" in other.text for other in others)


def test_a_certified_no_box_stays_no_box() -> None:
    found = drawn(smoothed=NONE, statuses=("certified", "undecided", "certified"))
    assert found.smoothed is None
    assert 'is "no box" as well' in found.regions[0].text
    assert "Nothing is excluded" in found.regions[1].text  # its bound of 0.6 is not certified
    assert "Nothing is excluded" in found.regions[2].text
    assert "Smoothed answer: no box" in found.text


def test_boxes_given_as_shares_of_the_image() -> None:
    found = drawn(smoothed=torch.tensor([0.25, 0.5, 0.5, 1.0]))
    # The base answer's coordinates are beyond 1, so all are pixels.
    assert found.smoothed == "M 0.25 0.5 H 0.5 V 1 H 0.25 Z"
    both = torch.tensor([0.25, 0.5, 0.5, 1.0])
    shares = scene(IMAGE, both, both, record(OF, 0, (0.2, 0.3, 0.4)))
    assert shares is not None
    assert shares.smoothed == "M 20 30 H 40 V 60 H 20 Z"


def test_the_view_holds_the_image_and_the_smallest_region_up_to_a_quarter() -> None:
    x, y, width, height = numbers(drawn().view)
    assert (x, y, width, height) == (0, 0, 80, 60)
    aside = drawn(smoothed=torch.tensor([0.0, 0.0, 30.0, 30.0]), bounds=(0.2, 0.3, 0.4))
    assert numbers(aside.view)[:2] == pytest.approx([-7.5, -7.5])
    far = drawn(smoothed=torch.tensor([0.0, 0.0, 70.0, 50.0]), bounds=(0.9, 0.9, 0.9))
    assert numbers(far.view) == pytest.approx([-20, -15, 120, 90])


def test_without_an_image_the_boxes_stand_alone() -> None:
    found = drawn(given="a name")
    assert found.backdrop is None
    x, y, width, height = numbers(found.view)
    assert x < 15
    assert y < 5
    assert x + width > 45
    assert y + height > 35


def test_nothing_to_draw_without_an_answer() -> None:
    assert scene(IMAGE, ANSWER, None, record(OF, 0, (0.1, 0.2, 0.3))) is None
