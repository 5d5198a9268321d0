"""Certificate: a proof, in a form that answers every eps."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

from centersmooth import centers, metrics, wording
from centersmooth import noise as noises
from centersmooth.centers import Center
from centersmooth.confidence import Confidence, Joint, Split
from centersmooth.errors import ArgumentError, FormatError, expected
from centersmooth.goals import OUTCOMES, Goal, Question, Tolerance
from centersmooth.looks import Looks
from centersmooth.metrics import Metric
from centersmooth.noise import Noise
from centersmooth.sketch import Ranked
from centersmooth.specification import describe, restore
from centersmooth.stopping import Stopped
from centersmooth.theorems import Sizes, Theorem, theorem_for

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SCHEMA = 2


@dataclass(frozen=True)
class Provenance:
    """All that reproduces a certificate, and what it cost."""

    seed: int
    evaluations: int
    probes: int
    batch_size: int
    channels_last: bool
    input_sha256: str
    input_range: tuple[float, float] | None
    largest_move: float | None
    seconds: float


@dataclass(frozen=True, eq=False)
class Certificate:
    """What the smoothed model answers for one input, and how far an attack can move it.

    Distances are counted once; every `bound` is read from the counts, so asking for another
    eps costs nothing. Each eps holds at its own confidence: choose it beforehand, or certify
    with a `grid` to choose it afterwards.
    """

    value: Any
    spread: float | None
    noise: Noise
    metric: Metric
    center: Center
    sizes: Sizes
    level: Confidence
    grid: tuple[float, ...] | None
    ranked: Ranked
    has_target: bool
    provenance: Provenance
    stopped: Stopped | None = None
    """Where sampling stopped and why, when it could stop early."""
    _known: dict[tuple[int, float], float] = field(default_factory=dict, repr=False)

    # ---- the numbers

    def bound(self, eps: float) -> float:
        """eps_2: no attack of size eps moves the answer further than this from `value`.

        The metric's diameter where the samples cannot tell: `status` says which.
        """
        return self._bound(0, eps)

    def error(self, eps: float) -> float:
        """The same about the target: a certified error, from the same samples, at its own alpha."""
        if not self.has_target:
            fix = "Certify with target=... to bound the distance to it."
            raise ArgumentError(expected("a certificate with a target", "one without", fix))
        return self._bound(1, eps)

    def bound_seen(self, eps: float, spread: float) -> float:
        """The bound for one prediction that has been seen, with its `Prediction.spread`.

        Uses the answer's own spread in place of the worst one; Medoid centers only.
        """
        if not (isinstance(spread, Real) and spread >= 0):
            fix = "Take it from a prediction: smoother.predict(x).spread."
            raise ArgumentError(expected("spread >= 0", repr(spread), fix))
        theorem = self.theorem
        seen = getattr(theorem, "bound_seen", None)
        if seen is None:
            fix = "Bounds of other centers need no spread: use bound(eps)."
            raise ArgumentError(expected("a certificate of a Medoid", self.center, fix))
        return float(seen(self.ranked, 0, self._point(eps), spread))

    def radius(self, tau: float) -> float:
        """The largest eps at which the answer cannot move further than tau, fixed beforehand.

        Proved in the split form (half of alpha for the certificate, half for each query), or
        on the declared grid; 0 if there is none.
        """
        if not (isinstance(tau, Real) and tau >= 0):
            fix = "tau is a distance between outputs."
            raise ArgumentError(expected("tau >= 0", repr(tau), fix))
        if tau >= self.metric.diameter:
            return math.inf
        if self.grid:
            return max((eps for eps in self.grid if self.bound(eps) <= tau), default=0.0)
        return self.theorem.radius(self.ranked, 0, tau)

    def curve(self, eps: Sequence[float]) -> list[float]:
        """`bound` at several eps, each at its own confidence."""
        return [self.bound(e) for e in eps]

    def status(self, eps: float) -> str:
        """ "certified", or "undecided" when these samples cannot tell."""
        return "certified" if self.theorem.decides(self._point(eps)) else "undecided"

    @property
    def theorem(self) -> Theorem:
        """The theorem behind the numbers."""
        level = self.level.over_grid(len(self.grid)) if self.grid else self.level
        share = self.stopped.share if self.stopped else 1.0
        return theorem_for(self.center, self.noise, self.metric, self.sizes, level, share)

    @property
    def outcome(self) -> str | None:
        """ "goal met", "goal missed", "tolerance reached" or "samples exhausted".

        None when the number of samples was fixed beforehand.
        """
        return self.stopped.outcome if self.stopped else None

    def _bound(self, row: int, eps: float) -> float:
        point = self._point(eps)
        if (row, point) not in self._known:
            self._known[row, point] = self.theorem.bound(self.ranked, row, point)
        return self._known[row, point]

    def _point(self, eps: float) -> float:
        """eps checked, and rounded up to the grid if one was declared."""
        if not (isinstance(eps, Real) and 0 <= eps < math.inf):
            fix = "eps is the size of the attack, in the units of the input."
            raise ArgumentError(expected("one finite eps >= 0", repr(eps), fix))
        most = self.provenance.largest_move
        if most is not None and eps > most:
            fix = "Give eps in the units of the input: the declared range allows no larger move."
            raise ArgumentError(expected(f"eps <= {most:.4g}", f"{eps:g}", fix))
        if not self.grid:
            return float(eps)
        if eps > self.grid[-1]:
            fix = "Declare a larger grid when certifying."
            raise ArgumentError(expected(f"eps <= {self.grid[-1]:g}", f"{eps:g}", fix))
        return next(point for point in self.grid if eps <= point)

    # ---- what it cost and where it comes from

    @property
    def evaluations(self) -> int:
        """Forward passes spent on the answer and the certificate."""
        return self.provenance.evaluations

    @property
    def probes(self) -> int:
        """Forward passes spent on checks and tuning, once per smoother."""
        return self.provenance.probes

    @property
    def seed(self) -> int:
        """The root seed: the same one gives the same certificate."""
        return self.provenance.seed

    @property
    def alpha(self) -> float:
        """The probability that the guarantee fails, for one query."""
        return self.level.total

    # ---- in words and pictures

    def guarantee(self, eps: float) -> str:
        """The guarantee at eps, word for word."""
        return wording.guarantee(self, eps)

    def explain(self, eps: float) -> str:
        """The guarantee at eps, or why these samples cannot tell and what would."""
        return wording.explain(self, eps)

    def __str__(self) -> str:
        return wording.summary(self)

    def __repr__(self) -> str:
        names = f"{self.metric.name}, {self.noise}, {type(self.center).__name__}"
        return f"<Certificate {names}, {self.evaluations:,} evaluations>"

    def _repr_html_(self) -> str:
        return wording.html(self)

    def plot(self, ax: Axes | None = None, eps: Sequence[float] | None = None) -> Axes:
        """The curve from eps to eps_2 (and to the certified error), on a matplotlib axis."""
        from centersmooth.plotting import plot_certificate

        return plot_certificate(self, ax, eps)

    # ---- to keep

    def to_json(self) -> str:
        """The whole certificate; `from_json` answers every eps from it."""
        form = {"form": type(self.level).__name__, **asdict(self.level)}
        return json.dumps(
            {
                "schema": SCHEMA,
                "noise": describe(self.noise),
                "metric": describe(self.metric),
                "center": describe(self.center),
                "sizes": asdict(self.sizes),
                "level": form,
                "grid": self.grid,
                "spread": None if self.spread is None else repr(self.spread),
                "has_target": self.has_target,
                "stopped": None if self.stopped is None else asdict(self.stopped),
                "provenance": asdict(self.provenance),
                "value": self.metric.to_json(self.value),
                "distances": self.ranked.to_json(),
            },
            allow_nan=False,
        )

    @classmethod
    def from_json(
        cls,
        text: str,
        metric: Metric | None = None,
        noise: Noise | None = None,
        center: Center | None = None,
    ) -> Certificate:
        """Read what `to_json` wrote. Pass a metric, noise or center only if it is your own."""
        try:
            data = json.loads(text)
            if not isinstance(data, dict) or data.get("schema") != SCHEMA:
                got = f"schema {data.get('schema') if isinstance(data, dict) else None}"
                fix = "It was written by another version of centersmooth, or is something else."
                raise FormatError(expected(f"a certificate of schema {SCHEMA}", got, fix))
            metric = metric or restore(data["metric"], metrics, Metric)
            return cls(
                value=metric.from_json(data["value"]),
                spread=None if data["spread"] is None else float(data["spread"]),
                noise=noise or restore(data["noise"], noises, Noise),
                metric=metric,
                center=center or restore(data["center"], centers, Center),
                sizes=_sizes(data["sizes"]),
                level=_level(data["level"]),
                grid=tuple(float(eps) for eps in data["grid"]) if data["grid"] else None,
                ranked=Ranked.from_json(data["distances"]),
                has_target=bool(data["has_target"]),
                provenance=_provenance(data["provenance"]),
                stopped=_stopped(data["stopped"]),
            )._checked()
        except FormatError:
            raise
        except (
            KeyError,
            TypeError,
            ValueError,
            AttributeError,
            OverflowError,
            RecursionError,
        ) as error:
            got = f"{type(error).__name__}: {error}"
            raise FormatError(expected("a certificate", got, "The file is damaged.")) from error

    def _checked(self) -> Certificate:
        """A file whose parts contradict each other could claim a bound nobody proved."""
        points = self.grid or ()
        if list(points) != sorted(set(points)) or not all(0 < eps < math.inf for eps in points):
            raise FormatError(expected("a rising grid", str(self.grid), "The file is damaged."))
        if self.stopped and self.stopped.looks.sizes[self.stopped.place] != self.sizes.m:
            got = f"a look at {self.stopped.looks.sizes[self.stopped.place]}"
            raise FormatError(expected(f"{self.sizes.m} samples", got, "The file is damaged."))
        rows = (1 + self.has_target + self.center.outer_points) * self.center.views
        groups = self.sizes.m // self.center.group
        if self.ranked.rows != rows or self.ranked.total != groups:
            got = f"{self.ranked.rows} rows of {self.ranked.total}"
            what = f"{rows} rows of {groups} distances"
            raise FormatError(expected(what, got, "The file is damaged."))
        moments = self.ranked.moments
        known = len(moments.away) if moments else 0
        if known != (1 + self.has_target) * self.center.has_moments:
            what = f"moments that belong to {self.center}"
            raise FormatError(expected(what, f"those of {known} points", "The file is damaged."))
        return self

    def save(self, path: str | Path) -> None:
        """Write the JSON to a file."""
        Path(path).write_text(self.to_json(), encoding="utf-8")

    @classmethod
    def load(
        cls,
        path: str | Path,
        metric: Metric | None = None,
        noise: Noise | None = None,
        center: Center | None = None,
    ) -> Certificate:
        """Read a file that `save` wrote."""
        try:
            text = Path(path).read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            fix = "Give a file that Certificate.save wrote."
            raise FormatError(expected("a certificate", str(error), fix)) from error
        return cls.from_json(text, metric, noise, center)


def _sizes(data: Any) -> Sizes:
    n, m = int(data["n"]), int(data["m"])
    if n < 1 or m < 1:
        raise ValueError(f"sample sizes {n} and {m}")
    return Sizes(n, m)


def _level(data: Any) -> Confidence:
    if data["form"] == "Joint":
        return Joint(float(data["alpha"]))
    if data["form"] == "Split":
        return Split(float(data["certificate"]), float(data["query"]))
    raise ValueError(f"form {data['form']!r}")


def _stopped(data: Any) -> Stopped | None:
    if data is None:
        return None
    sizes = tuple(int(size) for size in data["looks"]["sizes"])
    looks = Looks(sizes, tuple(float(share) for share in data["looks"]["shares"]))
    goal, tolerance = data["question"]["goal"], data["question"]["tolerance"]
    asked = Question(
        None if goal is None else Goal(goal["eps"], goal["bound"], bool(goal["of_target"])),
        None if tolerance is None else Tolerance(tolerance["share"], tuple(tolerance["eps"])),
    )
    place, outcome = int(data["place"]), data["outcome"]
    if not (asked and 0 <= place < len(sizes) and outcome in OUTCOMES):
        raise ValueError(f"stopped at look {place} of {len(sizes)}: {outcome!r}")
    return Stopped(looks, place, asked, outcome)


def _provenance(data: Any) -> Provenance:
    limits = data["input_range"]
    return Provenance(**{**data, "input_range": tuple(limits) if limits else None})
