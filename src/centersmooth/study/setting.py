"""One column of a study: what is certified for every input, and with which budget."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from centersmooth import published
from centersmooth.centers import Center, default_center
from centersmooth.certifying import check_count
from centersmooth.confidence import Confidence, Joint, Split, confidence
from centersmooth.errors import ArgumentError, expected
from centersmooth.goals import Goal, GoalLike, Tolerance, question
from centersmooth.metrics import Metric
from centersmooth.noise import Noise
from centersmooth.planning import check_budget
from centersmooth.sampling import Batching
from centersmooth.smoother import Smoother
from centersmooth.specification import describe


@dataclass(frozen=True)
class PublishedProcedure:
    """The paper's own procedure in place of this project's: its n, m and levels."""

    n: int = 10_000
    m: int = 1_000_000
    delta: float = 0.05
    alpha1: float = 0.005
    alpha2: float = 0.005
    hd: bool = False


@dataclass(frozen=True)
class Setting:
    """What to certify for each input of a study.

    name: how tables and figures call it.
    eps: the attack sizes, known beforehand: too few samples for one of them are refused.
    samples, answer_samples, alpha, center, on_invalid: as for `Smoother` and `certify`.
    together: all eps hold together, each at its share of alpha, instead of each by itself.
    model, version: in place of the study's.
    targets: in place of the study's, one per input of the study.
    only: numbers of the inputs to certify; all when None.
    goal, tolerance: as for `certify`: sampling stops when they are settled; the tolerance speaks
        of every eps of the setting. `samples` is then the most that an input may cost.
    published: run the paper's procedure with these numbers instead (for comparison).

    Settings that differ in metric and center alone share their draws, and so their cost.
    """

    name: str
    noise: Noise
    metric: Metric
    eps: Sequence[float]
    center: Center | None = None
    samples: int = 4_000
    answer_samples: int = 999
    alpha: float | Joint | Split = 0.01
    together: bool = False
    on_invalid: str = "raise"
    model: Callable[[Any], Any] | None = None
    version: str | None = None
    targets: Sequence[Any] | None = None
    only: Sequence[int] | None = None
    published: PublishedProcedure | None = None
    goal: GoalLike = None
    tolerance: float | Tolerance | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            fix = 'Name the setting for tables and figures, e.g. name="l2, sigma 0.25".'
            raise ArgumentError(expected("a name", repr(self.name), fix))
        object.__setattr__(self, "eps", checked_eps(self.eps))
        check_count(self.samples, "samples", 1)
        self._fix_question()
        if self.only is not None:
            object.__setattr__(self, "only", tuple(self.only))

    def _fix_question(self) -> None:
        """Goal and tolerance in their full form, the tolerance about this setting's eps."""
        tolerance = self.tolerance
        if tolerance is not None and not isinstance(tolerance, Tolerance):
            tolerance = Tolerance(tolerance, tuple(self.eps))
        asked = question(self.goal, tolerance, None)
        if asked and self.published is not None:
            fix = "Its number of samples is fixed beforehand: leave goal and tolerance out."
            raise ArgumentError(expected("no goal for the published procedure", "one", fix))
        object.__setattr__(self, "goal", asked.goal)
        object.__setattr__(self, "tolerance", tolerance)

    @property
    def may_stop_early(self) -> bool:
        """Whether an input may cost less than `evaluations`."""
        return self.goal is not None or self.tolerance is not None

    @property
    def procedure(self) -> str:
        """ "published" or "sharp"."""
        return "published" if self.published else "sharp"

    @property
    def level(self) -> Confidence:
        """alpha, in its form."""
        return confidence(self.alpha)

    @property
    def grid(self) -> tuple[float, ...] | None:
        """The eps that must hold together, if they must."""
        return tuple(eps for eps in self.eps if eps > 0) or None if self.together else None

    @property
    def each_level(self) -> Confidence:
        """The level at which each eps is certified."""
        return self.level.over_grid(len(self.grid)) if self.grid else self.level

    def smoother(
        self,
        input_range: tuple[float, float] | None,
        batch_size: int | Batching | None,
        device: str | None,
    ) -> Smoother:
        """What a sharp setting certifies with."""
        assert self.model is not None, "given when the study was built"
        return Smoother(
            self.model,
            self.noise,
            self.metric,
            center=self.center,
            answer_samples=self.answer_samples,
            input_range=input_range,
            on_invalid=self.on_invalid,
            batch_size=batch_size,
            device=device,
            progress=False,
        )

    def check_budget(self, smoother: Smoother) -> None:
        """Refuse numbers of samples that cannot certify the largest eps, whatever the model."""
        if self.published is None:
            asked = (self.goal.eps,) if isinstance(self.goal, Goal) else ()
            check_budget(smoother, max((*self.eps, *asked)), self.samples, self.each_level)
        else:
            own = {k: v for k, v in asdict(self.published).items() if k != "hd"}
            published.check_budget(self.noise, self.eps, **own)

    def evaluations(self) -> int:
        """Forward passes for one input."""
        if self.published:
            own = self.published
            return 2 * own.n + own.m + (30 if own.hd else 0)
        center = self.center or default_center(self.metric)
        return center.draws + self.answer_samples + self.samples

    def shares_draws(self, other: Setting) -> bool:
        """Whether one set of draws serves both."""
        return (
            self.model is other.model
            and self.noise == other.noise
            and self.only == other.only
            and self.published == other.published
            and (
                self.eps == other.eps
                if self.published
                else (self.samples, self.answer_samples, self.on_invalid, self.level, self.grid)
                == (other.samples, other.answer_samples, other.on_invalid, other.level, other.grid)
            )
        )


def checked_eps(eps: Sequence[float]) -> tuple[float, ...]:
    """Attack sizes in increasing order, each once."""
    try:
        points = tuple(sorted({float(e) for e in eps}))
    except (TypeError, ValueError):
        points = ()
    if not points or not all(0 <= e < math.inf for e in points):
        fix = "Attack sizes are in the units of the input, e.g. eps=(0.1, 0.2)."
        raise ArgumentError(expected("one finite eps >= 0 at least", repr(eps), fix))
    return points


def group(settings: Sequence[Setting]) -> list[int]:
    """For each setting the number of its draws: equal numbers share them."""
    leaders: list[Setting] = []
    numbers = []
    for setting in settings:
        found = next((i for i, other in enumerate(leaders) if setting.shares_draws(other)), None)
        if found is None:
            found = len(leaders)
            leaders.append(setting)
        numbers.append(found)
    return numbers


def description(setting: Setting, draws: int, model: int) -> dict[str, Any]:
    """The setting as JSON: what the store keeps, and compares when a run goes on."""
    diameter = setting.metric.diameter
    center = setting.center or default_center(setting.metric)
    return {
        "name": setting.name,
        "procedure": setting.procedure,
        "noise": describe(setting.noise),
        "metric": describe(setting.metric),
        "metric_name": setting.metric.name,
        "unit": setting.metric.unit,
        "diameter": "infinity" if diameter == math.inf else float(diameter),
        "center": None if setting.published else describe(center),
        "eps": list(setting.eps),
        "together": setting.together,
        "samples": setting.published.m if setting.published else setting.samples,
        "answer_samples": setting.published.n if setting.published else setting.answer_samples,
        "confidence": _confidence(setting),
        "on_invalid": "raise" if setting.published else setting.on_invalid,
        "only": None if setting.only is None else list(setting.only),
        "draws": draws,
        "model": model,
        **_stopping(setting),
    }


def _stopping(setting: Setting) -> dict[str, Any]:
    """What sampling stops for; nothing where it does not, as in runs that knew no goals."""
    goal, tolerance = setting.goal, setting.tolerance
    told: dict[str, Any] = {}
    if isinstance(goal, Goal):
        told["goal"] = asdict(goal)
    if isinstance(tolerance, Tolerance):
        told["tolerance"] = {"share": tolerance.share, "eps": list(tolerance.eps)}
    return told


def _confidence(setting: Setting) -> dict[str, Any]:
    if setting.published:
        values = asdict(setting.published)
        return {"form": "Published", **{k: v for k, v in values.items() if k not in ("n", "m")}}
    return {"form": type(setting.level).__name__, **asdict(setting.level)}
