"""Groups that can be compared: one panel per metric and attacker."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from centersmooth.report.aggregates import Median, Share, median, share
from centersmooth.report.groups import Group
from centersmooth.report.labels import readable

COLOURS = 6
"""How many hues there are; after them the markers change."""


@dataclass(frozen=True)
class Series:
    """A group and how it is drawn: a published group has the hue of its sharp partner."""

    group: Group
    number: int
    published: bool

    @property
    def hue(self) -> int:
        """Which of the palette's colours."""
        return self.number % COLOURS

    def bound(self, eps: float) -> Median | None:
        """The median bound for attacks of size eps."""
        column = self.group.column(eps)
        return None if column is None else median(self.group.bounds[:, column])

    def error(self, eps: float) -> Median | None:
        """The median certified error, over the inputs that have a target."""
        column, errors = self.group.column(eps), self.group.errors
        if column is None or errors is None:
            return None
        values = errors[:, column]
        return median(values[values == values])

    def share(self, eps: float, tolerance: float) -> Share | None:
        """The share of inputs certified to stay within the tolerance."""
        column = self.group.column(eps)
        if column is None:
            return None
        return share(self.group.within(column, tolerance), len(self.group))


@dataclass(frozen=True, eq=False)
class Panel:
    """All groups of one metric and one kind of attacker, in the order of the study."""

    metric: str
    norm: str | None
    groups: tuple[Group, ...]

    @cached_property
    def series(self) -> tuple[Series, ...]:
        """Each group with its looks."""
        sharp = [group for group in self.groups if group.key.procedure != "published"]
        numbers = {id(group): place for place, group in enumerate(sharp)}
        free = len(sharp)
        for group in self.groups:
            if id(group) not in numbers:
                partner = partner_of(group, sharp)
                numbers[id(group)] = numbers[id(partner)] if partner else free
                free += partner is None
        return tuple(
            Series(group, numbers[id(group)], group.key.procedure == "published")
            for group in self.groups
        )

    @cached_property
    def eps(self) -> tuple[float, ...]:
        """Every attack size that some group asked for."""
        return tuple(sorted({eps for group in self.groups for eps in group.eps}))

    @property
    def headline(self) -> float:
        """The attack size shown first: the middle of the grid, whatever the results are."""
        return self.eps[len(self.eps) // 2]

    @property
    def diameter(self) -> float:
        """The largest distance there is."""
        return max(group.diameter for group in self.groups)

    @property
    def tolerance(self) -> float:
        """Where a reader starts: the first median bound there is, rounded up to two digits."""
        for one in self.series:
            found = one.bound(self.headline)
            if found is not None and found.value < one.group.diameter:
                rounded = float(f"{found.value:.2g}")
                return rounded if rounded >= found.value else float(f"{found.value * 1.05:.2g}")
        return self.diameter / 2 if math.isfinite(self.diameter) else 1.0

    @property
    def pairs(self) -> list[tuple[Series, Series]]:
        """Sharp groups beside the published one under the same noise."""
        published = [s for s in self.series if s.published]
        return [
            (one, other)
            for other in published
            for one in self.series
            if not one.published and one.number == other.number
        ]


def partner_of(published: Group, sharp: Sequence[Group]) -> Group | None:
    """The first sharp group under the same noise."""
    return next((group for group in sharp if group.noise == published.noise), None)


def arrange(groups: Sequence[Group]) -> list[Panel]:
    """Panels in the order of the study; a group without any eps has nothing to compare."""
    kinds: dict[tuple[str, str | None], list[Group]] = {}
    for group in groups:
        if group.eps:
            kinds.setdefault((readable(group.key.metric), group.norm), []).append(group)
    return [Panel(metric, norm, tuple(found)) for (metric, norm), found in kinds.items()]
