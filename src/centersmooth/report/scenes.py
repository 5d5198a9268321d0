"""Boxes drawn over their input: the answers, and where a certified answer may lie."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from centersmooth.report.pictures import Picture, image, picture, scale_of
from centersmooth.report.regions import Allowed, Box, allowed
from centersmooth.store.record import Record


@dataclass(frozen=True)
class Region:
    """What one bound allows, as SVG paths; `outline` is None where it allows anything."""

    eps: float
    outline: str | None
    core: str | None
    text: str


@dataclass(frozen=True)
class Scene:
    """One picture: viewBox, the input below, boxes and regions above."""

    view: str
    backdrop: Picture | None
    base: str | None
    smoothed: str | None
    regions: tuple[Region, ...]
    text: str


def scene(given: Any, base: Any, smoothed: Any, record: Record) -> Scene | None:
    """The scene of a record whose outputs are boxes; None if its answer was not kept."""
    backdrop = picture(given, scale_of([given])) if image(given) is not None else None
    answers = [_box(base), _box(smoothed)]
    if answers[1] is None and not _is_none(smoothed):
        return None
    first, answer = _to_pixels(answers, backdrop)
    # Without a certificate nothing is excluded, whatever number stands in the bound's place.
    bounds = [
        (eps, bound if status == "certified" else math.inf)
        for eps, bound, status in zip(record.eps, record.bounds, record.statuses, strict=False)
    ]
    found = [(eps, bound, allowed(answer, bound) if answer else None) for eps, bound in bounds]
    regions = tuple(_region(eps, bound, where, answer) for eps, bound, where in found)
    hulls = [where.hull for _, _, where in found if where is not None]
    view = _view(backdrop, [box for box in (first, answer) if box], hulls)
    return Scene(
        view=view,
        backdrop=backdrop,
        base=_path(first),
        smoothed=_path(answer),
        regions=regions,
        text=f"Base answer: {_told(first)}. Smoothed answer: {_told(answer)}.",
    )


def _region(eps: float, bound: float, where: Allowed | None, answer: Box | None) -> Region:
    if where is not None:
        core = where.core
        kept = "covers the whole inner box and " if core else ""
        text = f"Every certified answer {kept}lies within the shaded outline."
        corners = " L ".join(f"{x:.6g} {y:.6g}" for x, y in where.outline())
        return Region(eps, f"M {corners} Z", _path(core), text)
    if answer is None and bound < 1:
        return Region(eps, None, None, 'Every certified answer is "no box" as well.')
    return Region(eps, None, None, "Nothing is excluded: the answer could be any box, or none.")


def _box(output: Any) -> Box | None:
    if not isinstance(output, torch.Tensor) or output.numel() != 4:
        return None
    x0, y0, x1, y1 = (float(value) for value in output.flatten())
    box = Box(x0, y0, x1, y1)
    return box if box.width > 0 and box.height > 0 else None


def _is_none(output: Any) -> bool:
    """Whether the output is "no box": empty, or without area."""
    return isinstance(output, torch.Tensor) and _box(output) is None


def _to_pixels(boxes: Sequence[Box | None], backdrop: Picture | None) -> list[Box | None]:
    """Boxes in the pixels of the backdrop: coordinates of at most 1 are shares of the image."""
    found = [box for box in boxes if box]
    relative = all(max(box.x1, box.y1) <= 1 for box in found)
    if backdrop is None or not found or not relative:
        return list(boxes)
    w, h = backdrop.width, backdrop.height
    return [box and Box(box.x0 * w, box.y0 * h, box.x1 * w, box.y1 * h) for box in boxes]


def _view(backdrop: Picture | None, boxes: Sequence[Box], hulls: Sequence[Box]) -> str:
    """The image, and as much around it as the smallest region needs, up to a quarter."""
    shown = [*boxes, *hulls[:1]]
    if backdrop is not None:
        frame = Box(0.0, 0.0, float(backdrop.width), float(backdrop.height))
        aside, above = frame.width / 4, frame.height / 4
        limit = Box(-aside, -above, frame.width + aside, frame.height + above)
        around = _around([frame, *shown])
        seen = Box(
            max(around.x0, limit.x0),
            max(around.y0, limit.y0),
            min(around.x1, limit.x1),
            min(around.y1, limit.y1),
        )
    else:
        around = _around(shown or [Box(0.0, 0.0, 1.0, 1.0)])
        aside, above = around.width / 20, around.height / 20
        seen = Box(around.x0 - aside, around.y0 - above, around.x1 + aside, around.y1 + above)
    return f"{seen.x0:.4g} {seen.y0:.4g} {seen.width:.4g} {seen.height:.4g}"


def _around(boxes: Sequence[Box]) -> Box:
    return Box(
        min(box.x0 for box in boxes),
        min(box.y0 for box in boxes),
        max(box.x1 for box in boxes),
        max(box.y1 for box in boxes),
    )


def _path(box: Box | None) -> str | None:
    if box is None:
        return None
    x0, y0, x1, y1 = (f"{value:.6g}" for value in (box.x0, box.y0, box.x1, box.y1))
    return f"M {x0} {y0} H {x1} V {y1} H {x0} Z"


def _told(box: Box | None) -> str:
    if box is None:
        return "no box"
    return f"from ({box.x0:.4g}, {box.y0:.4g}) to ({box.x1:.4g}, {box.y1:.4g})"
