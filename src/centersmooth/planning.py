"""What a budget can and cannot certify, before it is spent."""

from __future__ import annotations

import math
import textwrap
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from centersmooth.centers import Center, Medoid, WeberPoint, default_center
from centersmooth.confidence import Confidence, Joint, Split, confidence
from centersmooth.design import Proposal, Wish, proposals
from centersmooth.errors import ArgumentError, BudgetError, expected
from centersmooth.metrics import Metric
from centersmooth.models import Model
from centersmooth.noise import Noise
from centersmooth.sampling import PROBES, Address, Batching, fingerprint, noisy, root_seed
from centersmooth.theorems import MedianTheorem, MedoidTheorem, Sizes, Theorem, theorem_for
from centersmooth.tuning import tune

_WIDTH = 80


class Plannable(Protocol):
    """What planning needs to know of a smoother."""

    noise: Noise
    metric: Metric
    center: Center
    answer_samples: int


class Measurable(Plannable, Protocol):
    """What the time of a certificate depends on besides."""

    model: Model
    batch_size: int | Batching | None
    input_range: tuple[float, float] | None


def theorem_of(smoother: Plannable, samples: int, level: Confidence) -> Theorem:
    """The theorem a certificate of this size will use."""
    sizes = Sizes(smoother.answer_samples, samples)
    return theorem_for(smoother.center, smoother.noise, smoother.metric, sizes, level)


def check_budget(smoother: Plannable, eps: float, samples: int, level: Confidence) -> None:
    """Refuse to spend samples that cannot certify eps, whatever the model does."""
    theorem = theorem_of(smoother, samples, level)
    if not theorem.decides(eps):
        what = f"enough samples for eps = {eps:g} under {smoother.noise}"
        raise BudgetError(expected(what, f"{samples:,}", remedy(theorem, eps)))


def remedy(theorem: Theorem, eps: float) -> str:
    """What would decide eps, in words."""
    least = theorem.least_samples(eps)
    reach = theorem.largest_eps()
    if least is None:
        more = (
            "No number of certification samples is enough: use more noise, or more answer_samples"
        )
    else:
        more = f"At least {least:,} certification samples are needed (more give better bounds)"
    return f"{more}; {theorem.sizes.m:,} reach eps = {reach:.3g} at most."


# ------------------------------------------------------------------------------------- plans


@dataclass(frozen=True)
class PlannedPoint:
    """What a budget can do at one eps, whatever the model."""

    eps: float
    decided: bool
    """Whether these samples give a bound at all."""
    least_samples: int | None
    """The fewest certification samples that do; None if none are enough."""
    pays_for: float | None
    """The statistical slack, as an attack: unlimited samples would pay the same price (the same
    share of outputs to be covered) for an attack of this size. None where that has no meaning."""
    proposals: tuple[Proposal, ...]
    """All centers that would do, the sharpest first: a guide, whatever the smoother's own is."""
    usual: Proposal
    """The one that the metric gets by default."""


@dataclass(frozen=True)
class Plan:
    """What a budget can and cannot certify; prints as a table."""

    noise: Noise
    metric: Metric
    sizes: Sizes
    level: Confidence
    points: tuple[PlannedPoint, ...]
    largest_eps: float
    """The largest attack these samples can decide."""
    evaluations: int
    """Forward passes for one input."""
    passes_per_second: float | None
    """As measured on this machine; None without an input to measure on."""

    @property
    def seconds_per_input(self) -> float | None:
        """Time for one certificate on this machine."""
        rate = self.passes_per_second
        return None if rate is None else self.evaluations / rate

    def __str__(self) -> str:
        form = "split" if isinstance(self.level, Split) else "joint"
        head = (
            f"{self.metric.name} distance under {self.noise}, {self.noise.norm} attacker\n"
            f"{self.sizes.n:,} answer samples, {self.sizes.m:,} certification samples, "
            f"alpha {self.level.total:g} ({form})"
        )
        tables = [_table(self.points, self.noise.scale), self._notes(), _centers(self.points)]
        return "\n\n".join([head, *tables, _ABOUT_CENTERS])

    def _notes(self) -> str:
        reach, scale = self.largest_eps, self.noise.scale
        notes = [
            "pays for: unlimited samples would pay the same price for an attack of that size.",
            f"These samples reach eps = {reach:.4g} ({reach / scale:.3g} times {scale:g}) at most.",
            f"Cost: {self.evaluations:,} forward passes per input.",
        ]
        if self.seconds_per_input is not None:
            notes[-1] += (
                f" That is about {self.seconds_per_input:.2g} s here, at "
                f"{self.passes_per_second:,.0f} passes per second."
            )
        return "\n".join(textwrap.fill(note, _WIDTH) for note in notes)


def plan(
    smoother: Measurable,
    eps: float | Sequence[float],
    samples: int = 4_000,
    alpha: float | Joint | Split = 0.01,
    x: Any = None,
) -> Plan:
    """What `smoother.certify(samples=..., alpha=...)` could say at each eps.

    With an input `x` the model's speed is measured (about half a second); nothing is certified.
    """
    level = confidence(alpha)
    theorem = theorem_of(smoother, samples, level)
    return Plan(
        noise=smoother.noise,
        metric=smoother.metric,
        sizes=theorem.sizes,
        level=level,
        points=tuple(_point(theorem, e) for e in _points(eps)),
        largest_eps=theorem.largest_eps(),
        evaluations=smoother.center.draws + smoother.answer_samples + samples,
        passes_per_second=None if x is None else _speed(smoother, x),
    )


def _points(eps: float | Sequence[float]) -> list[float]:
    try:
        points = sorted({float(e) for e in (eps if isinstance(eps, Sequence) else [eps])})
    except (TypeError, ValueError):
        points = []
    if not points or not all(0 <= e < math.inf for e in points):
        fix = "Attack sizes are in the units of the input, e.g. eps=[0.1, 0.2]."
        raise ArgumentError(expected("finite eps >= 0", repr(eps), fix))
    return points


def _point(theorem: Theorem, eps: float) -> PlannedPoint:
    least = theorem.least_samples(eps)
    wish = Wish(theorem.metric, theorem.noise, eps, theorem.sizes, theorem.level)
    pays_for, offered = _pays_for(theorem, eps), tuple(proposals(wish))
    default = default_center(theorem.metric)
    usual = next(proposal for proposal in offered if proposal.center == default)
    return PlannedPoint(eps, theorem.decides(eps), least, pays_for, offered, usual)


def _pays_for(theorem: Theorem, eps: float) -> float | None:
    """The eps at which the share of distances that R covers would be just enough."""
    rank: int | None
    if isinstance(theorem, MedianTheorem):
        level = theorem.price(eps)
        if level is None:
            return None
        rank, share = level.rank, level.k / theorem.sizes.n
    elif isinstance(theorem, MedoidTheorem):
        rank, share = theorem.radius_rank(eps), 0.5
    else:
        return None
    return None if rank is None else theorem.noise.reach(share, rank / theorem.sizes.m)


def _table(points: Sequence[PlannedPoint], scale: float) -> str:
    rows = [("attack eps", f"eps / {scale:g}", "certifiable", "pays for", "least samples")]
    for point in points:
        pays = "-" if point.pays_for is None else f"{point.pays_for:.3g}"
        least = "none" if point.least_samples is None else f"{point.least_samples:,}"
        ratio = f"{point.eps / scale:.3g}"
        rows.append((f"{point.eps:g}", ratio, "yes" if point.decided else "no", pays, least))
    return _aligned(rows)


_ABOUT_CENTERS = textwrap.fill(
    "best center: what design_eps= would choose, its draws besides the answer samples, and its "
    "bound as a share of the usual center's, as expected of a cloud of outputs. The center is "
    "part of the smoothed model: choose one before certifying.",
    _WIDTH,
)


def _centers(points: Sequence[PlannedPoint]) -> str:
    """The sharpest center for each eps."""
    rows = [("attack eps", "best center", "draws", "of the usual bound")]
    for point in points:
        best, usual = point.proposals[0], point.usual
        share = f"{best.predicted / usual.predicted:.2f}" if usual.decided else "-"
        name = _named(best.center) if best.decided else "none"
        rows.append((f"{point.eps:g}", name, f"{best.center.draws:,}", share))
    return _aligned(rows)


def _named(center: Center) -> str:
    if isinstance(center, Medoid):
        pool = f", pool={center.pool}" if center.pool > 1 else ""
        return f"Medoid({center.candidates}{pool})"
    if isinstance(center, WeberPoint):
        return f"WeberPoint({center.pool})"
    return type(center).__name__


def _aligned(rows: Sequence[tuple[str, ...]]) -> str:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(
        "  " + "   ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    )


# -------------------------------------------------------------------------------------- time


def measured(
    model: Model, noise: Noise, x: Any, address: Address, batch_size: int | None
) -> tuple[Batching, float]:
    """The batching that suits the model (or the one asked for), and its passes per second."""
    if batch_size is None:
        found = tune(model, noise, x, address)
        return found.batching, max(rate for *_, rate in found.rates)
    batch = noisy(noise, x, address, PROBES, 0, batch_size)
    model(batch)
    started = time.perf_counter()
    model(batch)
    return Batching(batch_size), batch_size / max(time.perf_counter() - started, 1e-9)


def _speed(smoother: Measurable, x: Any) -> float:
    smoother.model.begin()
    x = smoother.model.place(smoother.noise.check_input(x, smoother.input_range))
    address = Address(root_seed(None), fingerprint(x))
    size = smoother.batch_size
    fixed = size.size if isinstance(size, Batching) else size
    return measured(smoother.model, smoother.noise, x, address, fixed)[1]
