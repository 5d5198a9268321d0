"""Where a box must lie whose Jaccard distance from the certified box is at most eps_2.

Statement. Let A be a box of width a and height b, 0 <= eps_2 < 1 and theta = 1 - eps_2. Over all
boxes B with IoU(A, B) >= theta:

* their union is the set of points (x, y) with (1 + u/a) (1 + v/b) <= 1/theta, where u and v are
  how far x and y lie outside A's sides (0 inside);
* the points that all of them hold are those at least eps_2 a from A's left and right side and
  eps_2 b from its upper and lower one (none for eps_2 > 1/2).

Proof. Union: let B hold a point that lies u left of A and v above it, the other cases being
mirror images, and let B reach s to the right of A's left side and t below its upper one. Beyond
A's far sides B gains area but no overlap, so let s <= a and t <= b. IoU = st / (ab + uv + ut + vs),
which rises in s and in t, hence is at most its value at s = a, t = b:
ab / ((a + u) (b + v)), attained. Core: a box without the point p lies, in one coordinate, entirely
on one side of p; if p is s right of A's left side, the best box on that side is the part of A
left of p with IoU s/a. So one is allowed if s/a > theta; if s/a <= theta none is, for a closed box
without p ends strictly before it.

The corners of the union are therefore hyperbolas: a box cannot move two sides out at once as far
as either alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_CORNER_POINTS = 12


@dataclass(frozen=True)
class Box:
    """x0 <= x1, y0 <= y1."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def width(self) -> float:
        """x1 - x0."""
        return self.x1 - self.x0

    @property
    def height(self) -> float:
        """y1 - y0."""
        return self.y1 - self.y0

    @property
    def area(self) -> float:
        """0 for a box that equals "no box"."""
        return self.width * self.height


@dataclass(frozen=True)
class Allowed:
    """What a bound eps_2 < 1 on the Jaccard distance from `box` allows."""

    box: Box
    bound: float

    @property
    def hull(self) -> Box:
        """The least box around the union: how far each side alone may move out."""
        stretch = self.bound / (1 - self.bound)
        return _grown(self.box, self.box.width * stretch, self.box.height * stretch)

    @property
    def core(self) -> Box | None:
        """What every allowed box covers; None if some two of them share nothing."""
        if self.bound > 0.5:
            return None
        return _grown(self.box, -self.box.width * self.bound, -self.box.height * self.bound)

    def holds(self, x: float, y: float) -> bool:
        """Whether some allowed box reaches this point."""
        box = self.box
        u = max(box.x0 - x, x - box.x1, 0.0)
        v = max(box.y0 - y, y - box.y1, 0.0)
        return (1 + u / box.width) * (1 + v / box.height) <= 1 / (1 - self.bound)

    def outline(self) -> list[tuple[float, float]]:
        """The border of the union, clockwise on a screen, starting at the upper left corner.

        Between the points on a hyperbola the straight line lies outside the union, which is
        hollow there: the drawn region holds the true one.
        """
        limit = 1 / (1 - self.bound)
        across = np.geomspace(1.0, limit, _CORNER_POINTS)
        corner = [(p - 1, limit / p - 1) for p in across]
        quarter = [(u * self.box.width, v * self.box.height) for u, v in corner]
        box, back = self.box, quarter[::-1]
        return [
            *((box.x0 - u, box.y0 - v) for u, v in back),
            *((box.x1 + u, box.y0 - v) for u, v in quarter),
            *((box.x1 + u, box.y1 + v) for u, v in back),
            *((box.x0 - u, box.y1 + v) for u, v in quarter),
        ]


def allowed(box: Box, bound: float) -> Allowed | None:
    """The region, or None where the bound says nothing or the certified answer is "no box"."""
    return Allowed(box, bound) if box.area > 0 and 0 <= bound < 1 else None


def _grown(box: Box, across: float, down: float) -> Box:
    return Box(box.x0 - across, box.y0 - down, box.x1 + across, box.y1 + down)
