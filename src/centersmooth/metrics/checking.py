"""Whether a distance is what it says: the laws of a metric, tried on real outputs."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from centersmooth.errors import ArgumentError, OutputError, expected
from centersmooth.metrics.base import Block, Metric
from centersmooth.metrics.custom import Custom
from centersmooth.outputs import Outputs, pick

Table: TypeAlias = NDArray[np.float64]

_MOST = 200
_SECONDS = 5.0
_ROUNDING = 1e-4  # relative: kernels round lengths up, by up to 2e-5
_NOT_GIVEN = object()


@dataclass(frozen=True)
class Triple:
    """Three outputs, by their places, of which b is a detour from a to c."""

    a: int
    b: int
    c: int
    direct: float
    """The length from a to c."""
    detour: float
    """The length from a to b plus that from b to c."""

    @property
    def gamma(self) -> float:
        """The least gamma with ``direct <= gamma * detour``."""
        return self.direct / self.detour if self.detour > 0 else math.inf

    def __str__(self) -> str:
        return f"{self.direct:.4g} from {self.a} to {self.c}, {self.detour:.4g} by way of {self.b}"


@dataclass(frozen=True)
class MetricReport:
    """What `check` found; ``print(report)`` shows it. Lengths are rho, distances d."""

    metric: str
    outputs: int
    """How many were used."""
    invalid: int
    """How many of them the metric cannot measure (NaN); left out of the laws."""
    not_numbers: int
    """Lengths that are NaN or negative."""
    asymmetry: float
    """The largest difference between the lengths of (a, b) and (b, a), as a share of them."""
    itself: float
    """The largest distance of an output to itself."""
    alone: float
    """The largest difference between a length in a block and in a block of one, as a share."""
    largest: float
    """The largest distance."""
    diameter: float
    gamma: float
    """What the metric declares for its lengths."""
    worst: Triple | None
    """The triple that needs the largest gamma."""
    empty: str
    """How far the empty output is from the others."""
    pairs_per_second: float
    problems: tuple[str, ...]
    """What is wrong, in words; empty if no law was broken."""

    @property
    def ok(self) -> bool:
        """Whether no law was broken."""
        return not self.problems

    @property
    def needed_gamma(self) -> float:
        """The least gamma with which these outputs obey the triangle inequality."""
        return max(1.0, self.worst.gamma) if self.worst else 1.0

    def __str__(self) -> str:
        worst = "fewer than three outputs" if self.worst is None else f"worst: {self.worst}"
        lines = (
            ("outputs", f"{self.outputs}, of which {self.invalid} cannot be measured"),
            ("numbers", f"{self.not_numbers} lengths are NaN or negative"),
            ("symmetry", f"off by {self.asymmetry:.2g} at most"),
            ("identity", f"at most {self.itself:.2g} from an output to itself"),
            ("blocks", f"off by {self.alone:.2g} at most from single pairs"),
            ("triangle", f"gamma {self.needed_gamma:.4g} needed, {self.gamma:.4g} given; {worst}"),
            ("range", f"up to {self.largest:.4g} of {self.diameter:.4g}"),
            ("empty output", self.empty),
            ("speed", f"{self.pairs_per_second:,.0f} pairs per second"),
        )
        found = "\n".join(f"  {name:<12}  {text}" for name, text in lines)
        verdict = "no law broken" if self.ok else "\n  ! ".join(("broken laws", *self.problems))
        return f"{self.metric}: {verdict}\n{found}"


def check(
    metric: Metric | Callable[[Any, Any], float], outputs: Outputs, empty: Any = _NOT_GIVEN
) -> MetricReport:
    """Try a metric, or a function of two outputs, on what a model returned.

    At most 200 outputs are used, fewer of a slow metric. `empty` is the output for "nothing
    found", if the model has one. No finite number of outputs proves a metric; outputs that are
    nearly equal, and ones as different as can be, try it hardest.
    """
    metric = metric if isinstance(metric, Metric) else Custom(metric)
    if len(outputs) < 2:
        fix = "Pass what the model returned for a batch of noisy inputs."
        raise ArgumentError(expected("two outputs or more", len(outputs), fix))
    chosen = _affordable(metric, outputs)
    fine = metric.collate(chosen).valid.nonzero()[:, 0].tolist()
    measured = pick(chosen, fine)
    block = metric.collate(measured)
    lengths, seconds = _timed(metric, block, block)
    around, described = _with_empty(metric, lengths, block, empty)
    distances = np.asarray(metric.value(np.nan_to_num(around, posinf=math.inf)))
    report = MetricReport(
        metric=metric.name,
        outputs=len(chosen),
        invalid=len(chosen) - len(fine),
        not_numbers=int((np.isnan(around) | (around < 0)).sum()),
        asymmetry=_difference(around, around.T),
        itself=float(np.diagonal(distances).max(initial=0.0)),
        alone=_difference(*_single_pairs(metric, measured, lengths)),
        largest=float(distances.max(initial=0.0)),
        diameter=metric.diameter,
        gamma=metric.gamma,
        worst=_worst_triple(around),
        empty=described,
        pairs_per_second=len(block) ** 2 / seconds,
        problems=(),
    )
    return _judged(report, _falls(metric, around))


def _affordable(metric: Metric, outputs: Outputs) -> Outputs:
    """Outputs spread over all of them, as many as can be compared in a few seconds."""
    block = metric.collate(pick(outputs, range(min(20, len(outputs)))))
    if not bool(block.valid.any()):
        fix = "Look at what the model returns."
        raise OutputError(expected("outputs that the metric can measure", "none", fix))
    few = metric.collate(pick(outputs, block.valid.nonzero()[:4, 0].tolist()))
    _timed(metric, few, few)  # compiles
    _, seconds = _timed(metric, few, few)
    most = min(_MOST, len(outputs), max(10, int(len(few) * math.sqrt(_SECONDS / seconds))))
    return pick(outputs, np.linspace(0, len(outputs) - 1, most).astype(int).tolist())


def _timed(metric: Metric, a: Block, b: Block) -> tuple[Table, float]:
    started = time.perf_counter()
    lengths = _lengths(metric, a, b)
    return lengths, max(time.perf_counter() - started, 1e-9)


def _lengths(metric: Metric, a: Block, b: Block) -> Table:
    """The lengths as they come, also where `Custom` would refuse them."""
    if isinstance(metric, Custom):
        rows = [[float(metric.distance(x, y)) for y in b.rows] for x in a.rows]
        return np.array(rows, dtype=np.float64).reshape(len(a), len(b))
    return np.array(metric.lengths(a.rows, b.rows).cpu().numpy(), dtype=np.float64)


def _with_empty(metric: Metric, known: Table, block: Block, empty: Any) -> tuple[Table, str]:
    """The table with the empty output as one more, and how far it is from the others."""
    if empty is _NOT_GIVEN:
        return known, "not tried: pass empty=..."
    try:
        one = metric.collate(metric.single(empty))
        if not bool(one.valid.all()):
            return known, "cannot be measured: it counts as invalid"
        here, away = _lengths(metric, one, one), _lengths(metric, one, block)
    except OutputError as error:
        return known, f"refused: {error}"
    distances = np.asarray(metric.value(away))
    spread = f"{distances.min(initial=math.inf):.4g} to {distances.max(initial=0.0):.4g}"
    return np.block([[known, away.T], [away, here]]), f"{spread} away from the others"


def _difference(one: Table, other: Table) -> float:
    """The largest difference as a share of the largest number on either side."""
    with np.errstate(invalid="ignore"):
        apart = np.where(one == other, 0.0, np.abs(one - other))
    scale = np.maximum(np.abs(one), np.abs(other))
    shares = np.divide(apart, scale, out=np.zeros_like(apart), where=(scale > 0) & ~np.isnan(apart))
    return float(np.where(np.isinf(apart), 1.0, shares).max(initial=0.0))


def _single_pairs(metric: Metric, outputs: Outputs, known: Table) -> tuple[Table, Table]:
    """Some lengths measured in blocks of one, and the same from the table."""
    places = np.arange(len(outputs) - 1)[:10]
    alone = np.zeros(len(places))
    for place in places.tolist():
        one, other = (metric.collate(metric.single(outputs[k])) for k in (place, place + 1))
        alone[place] = _lengths(metric, one, other)[0, 0]
    return alone, known[places, places + 1]


def _worst_triple(lengths: Table) -> Triple | None:
    """The triple whose direct way is the longest in comparison with its detour."""
    if len(lengths) < 3:
        return None
    worst, gamma = Triple(0, 0, 0, 0.0, 0.0), -1.0
    finite = np.nan_to_num(lengths, posinf=math.inf)
    for b in range(len(lengths)):
        detours = finite[:, b, None] + finite[None, b, :]
        with np.errstate(invalid="ignore", divide="ignore"):
            ratios = np.where(finite > 0, finite / detours, 0.0)
        ratios = np.nan_to_num(ratios, nan=0.0, posinf=math.inf)
        ratios[b, :] = ratios[:, b] = 0.0
        a, c = np.unravel_index(int(ratios.argmax()), ratios.shape)
        if ratios[a, c] > gamma:
            gamma = float(ratios[a, c])
            worst = Triple(int(a), b, int(c), float(finite[a, c]), float(detours[a, c]))
    return worst


def _falls(metric: Metric, lengths: Table) -> bool:
    """Whether a longer length ever has a smaller distance."""
    ordered = np.sort(lengths[np.isfinite(lengths) & (lengths >= 0)])
    values = np.asarray(metric.value(ordered))
    return bool((np.diff(values) < -_ROUNDING * np.abs(values[1:])).any())


def _judged(report: MetricReport, falls: bool) -> MetricReport:
    laws = (
        (report.not_numbers > 0, "some lengths are NaN or negative"),
        (report.asymmetry > _ROUNDING, "d(a, b) is not d(b, a): see symmetrised()"),
        (report.itself > _ROUNDING * report.largest, "d(a, a) is not 0"),
        (report.alone > _ROUNDING, "a pair alone has another length than in a block"),
        (report.needed_gamma > report.gamma * (1 + _ROUNDING), _too_long(report)),
        (report.largest > report.diameter * (1 + _ROUNDING), "some distance exceeds the diameter"),
        (report.empty.startswith(("cannot", "refused")), f"the empty output: {report.empty}"),
        (falls, "value(rho) falls where rho grows"),
    )
    return replace(report, problems=tuple(text for broken, text in laws if broken))


def _too_long(report: MetricReport) -> str:
    return (
        f"the triangle inequality fails: relaxation={report.needed_gamma:.4g} is the least that "
        f"these outputs allow ({report.worst})"
    )
