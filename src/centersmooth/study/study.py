"""Inputs times settings: one record per certificate."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from centersmooth.certifying import check_count
from centersmooth.errors import ArgumentError, expected
from centersmooth.executors import Executor, Serial
from centersmooth.progress import ProgressOption
from centersmooth.sampling import root_seed
from centersmooth.store import Record, storable
from centersmooth.study.setting import Setting, group

if TYPE_CHECKING:
    from centersmooth.study.run import Summary


@dataclass(frozen=True, eq=False)
class Study:
    """Inputs times settings, certified into a run folder that survives any crash.

    inputs: anything with a length and items, e.g. a tensor whose first axis counts inputs.
    settings: what to certify for each of them.
    model: what is smoothed (settings may bring their own); `version` names a black box's state.
    targets: what the model should answer, one per input; then errors are certified as well.
    names: how the report calls the inputs; their numbers when None.
    input_range: the least and largest value an input can have.
    seed: fixes all noise; drawn once and kept in the run when None.
    batch_size: noisy inputs per forward pass; measured once and kept in the run when None.
    gallery: for how many inputs the input, the answers and some sampled outputs are kept.
    save_every: seconds that a killed run may lose of one long certification.
    """

    inputs: Sequence[Any]
    settings: Sequence[Setting]
    model: Callable[[Any], Any] | None = None
    version: str | None = None
    targets: Sequence[Any] | None = None
    names: Sequence[str] | None = None
    title: str = "Certified robustness"
    input_range: tuple[float, float] | None = None
    seed: int | None = None
    batch_size: int | None = None
    device: str | None = None
    gallery: int = 20
    save_every: float = 30.0
    draws: tuple[int, ...] = field(init=False)
    """For each setting the number of the draws it shares with others."""

    def __post_init__(self) -> None:
        own = tuple(self._with_model(setting) for setting in self.settings)
        object.__setattr__(self, "settings", own)
        _check_names(own)
        _check_lengths(self)
        if self.batch_size is not None:
            check_count(self.batch_size, "batch_size", 1)
        if self.seed is not None:
            root_seed(self.seed)
        if not (isinstance(self.save_every, (int, float)) and self.save_every > 0):
            fix = "30 loses half a minute of work at most."
            raise ArgumentError(expected("save_every > 0", repr(self.save_every), fix))
        object.__setattr__(self, "draws", tuple(group(own)))
        for setting in own:
            smoother = setting.smoother(self.input_range, self.batch_size, self.device)
            setting.check_budget(smoother)

    def run(
        self,
        out: str | Path,
        on: Executor | None = None,
        retry_failed: bool = False,
        progress: ProgressOption = None,
        on_record: Callable[[Record], None] | None = None,
    ) -> Summary:
        """Certify what the run in folder `out` does not hold yet.

        on: where the work is done, e.g. ``cs.executors.Ray()``; this process when None.
        retry_failed: forget the run's failed records and try their inputs again.
        progress: a live bar on a terminal (None), always (True), never (False), or a function
        of (evaluations done, evaluations in all).
        on_record: called with each new record once it is safe in the store.
        """
        from centersmooth.study.progress import watch
        from centersmooth.study.run import run

        return run(
            self,
            Path(out),
            on if on is not None else Serial(),
            lambda total: watch(progress, total),
            retry_failed=retry_failed,
            on_record=on_record,
        )

    def groups(self) -> dict[int, tuple[int, ...]]:
        """For each number of draws the places of its settings."""
        return {
            number: tuple(place for place, own in enumerate(self.draws) if own == number)
            for number in sorted(set(self.draws))
        }

    def jobs(self) -> Iterator[tuple[int, int]]:
        """Every (input, draws) there is: all settings of the first input, then the second."""
        leaders = {number: self.settings[places[0]] for number, places in self.groups().items()}
        for index in range(len(self.inputs)):
            for number, leader in leaders.items():
                if leader.only is None or index in leader.only:
                    yield index, number

    def target(self, place: int, index: int) -> Any:
        """What the model should answer for an input under a setting, or None."""
        own = self.settings[place].targets
        targets = self.targets if own is None else own
        return None if targets is None else targets[index]

    def name(self, index: int) -> str:
        """How the input is called."""
        return str(index) if self.names is None else storable(str(self.names[index]))

    def _with_model(self, setting: Any) -> Setting:
        if not isinstance(setting, Setting):
            fix = "Pass settings=[cs.Setting(name=..., noise=..., metric=..., eps=...)]."
            raise ArgumentError(expected("a cs.Setting", type(setting).__name__, fix))
        if setting.model is not None:
            return setting
        if self.model is None:
            fix = "Give Study(model=...), or a model to every setting."
            raise ArgumentError(expected(f"a model for setting {setting.name!r}", "none", fix))
        return replace(setting, model=self.model, version=self.version)


def _check_names(settings: Sequence[Setting]) -> None:
    names = [setting.name for setting in settings]
    if not names:
        fix = "Pass settings=[cs.Setting(name=..., noise=..., metric=..., eps=...)]."
        raise ArgumentError(expected("one setting at least", "none", fix))
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        fix = "Records are told apart by the names of their settings."
        raise ArgumentError(expected("a name of its own for every setting", twice, fix))


def _check_lengths(study: Study) -> None:
    try:
        count = len(study.inputs)
    except TypeError as error:
        fix = "Pass a list, a tensor, or anything with a length and items."
        got = type(study.inputs).__name__
        raise ArgumentError(expected("inputs with a length", got, fix)) from error
    if count == 0:
        raise ArgumentError(expected("one input at least", "none", "There is nothing to certify."))
    wanted = [("targets", study.targets), ("names", study.names)]
    wanted += [(f"targets of {own.name!r}", own.targets) for own in study.settings]
    for noun, values in wanted:
        if values is not None and len(values) != count:
            fix = "Give one per input, None where there is none."
            raise ArgumentError(expected(f"{count} {noun}", len(values), fix))
    for own in study.settings:
        beyond = [i for i in own.only or () if not 0 <= i < count]
        if beyond:
            what = f"numbers from 0 to {count - 1} in `only` of {own.name!r}"
            raise ArgumentError(expected(what, beyond[0], "They are numbers of inputs."))
