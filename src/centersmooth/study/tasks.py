"""The pieces of work of a study, and the bench at which they are done.

An input with many samples is cut into spans of them; counts add up exactly and batches keep
their boundaries, so the pieces give the very certificate that one go gives.
"""

from __future__ import annotations

import dataclasses
import json
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from centersmooth import published
from centersmooth.answering import find_answers
from centersmooth.centers import Answer
from centersmooth.certificates import Certificate
from centersmooth.certifying import certify_together
from centersmooth.errors import (
    ArgumentError,
    BatchDependenceError,
    CenterError,
    InputError,
    ModelError,
    TrainingModeError,
    expected,
)
from centersmooth.metrics import Block
from centersmooth.models import Model
from centersmooth.outputs import Outputs, join, pick
from centersmooth.procedure import Counting, Party, Source, check_target
from centersmooth.progress import Unfinished
from centersmooth.sampling import CERTIFICATION, Address, Batching, fingerprint
from centersmooth.sketch import Sketch
from centersmooth.smoother import Smoother
from centersmooth.store import Entry, Record
from centersmooth.study import records
from centersmooth.study.setting import Setting
from centersmooth.study.study import Study


@dataclass(frozen=True)
class Job:
    """One input under the settings that share its draws."""

    index: int
    name: str
    draws: int
    x: Any
    targets: tuple[Any, ...]
    batching: Batching
    look: bool
    """Whether its outputs are kept to be looked at."""


@dataclass(frozen=True)
class Done:
    """The records of a job."""

    job: Job
    entries: tuple[Entry, ...]
    encoded: str | None
    counted_in_one_go: bool


@dataclass(frozen=True)
class Failed:
    """No record but why: this input under these settings has no certificate."""

    index: int
    name: str
    draws: int
    message: str
    seconds: float


@dataclass(frozen=True)
class Counted:
    """The distances of a span of a job's certification samples."""

    job: Job
    start: int
    stop: int
    sketches: tuple[Sketch, ...]
    seconds: float


@dataclass(frozen=True)
class Answered:
    """The smoothed model's answers for a job, one per setting."""

    job: Job
    answers: tuple[Answer, ...]
    digest: str
    seconds: float


class Bench:
    """All that a worker needs besides its task: shipped once, with the models."""

    def __init__(self, study: Study, seed: int) -> None:
        self.settings = tuple(
            # Targets come with each job.
            dataclasses.replace(setting, targets=None)
            for setting in study.settings
        )
        self.groups = study.groups()
        self.input_range, self.device, self.seed = study.input_range, study.device, seed
        self._smoothers: dict[tuple[int, Batching], tuple[Smoother, ...]] = {}

    def __call__(self, task: Task) -> Any:
        """The task's result; what only this input is to blame for becomes a failure."""
        started = time.perf_counter()
        try:
            return task.do(self)
        except (TrainingModeError, BatchDependenceError):
            raise
        except (ModelError, InputError, CenterError) as error:
            job, seconds = task.job, time.perf_counter() - started
            return Failed(job.index, job.name, job.draws, str(error), seconds)

    def places(self, job: Job) -> tuple[int, ...]:
        """The settings of the job."""
        return self.groups[job.draws]

    def leader(self, job: Job) -> Setting:
        """The setting whose model, noise and sizes all of the job's share."""
        return self.settings[self.places(job)[0]]

    def smoothers(self, job: Job) -> tuple[Smoother, ...]:
        """One per setting, kept so that contracts are checked once per worker and shape."""
        key = (job.draws, job.batching)
        if key not in self._smoothers:
            self._smoothers[key] = tuple(
                self.settings[place].smoother(self.input_range, job.batching, self.device)
                for place in self.places(job)
            )
        return self._smoothers[key]

    def source(self, job: Job) -> Source:
        """Where the job's outputs come from."""
        leader = self.leader(job)
        assert leader.model is not None, "given when the study was built"
        device = None if leader.published else self.device
        model = Model(leader.model, device)
        model.begin()
        x = model.place(leader.noise.check_input(job.x, self.input_range))
        address = Address(self.seed, fingerprint(x))
        on_invalid = "raise" if leader.published else leader.on_invalid
        return Source(model, leader.noise, x, address, job.batching, on_invalid)

    def blank(self, job: Job, place: int) -> Record:
        """The record of one of the job's settings, before anything is known."""
        encoded = records.encoded_input(job.x) if job.look else None
        setting = self.settings[place]
        return records.blank(setting, job.draws, job.index, job.name, self.seed, encoded)

    def check_reach(self, job: Job) -> None:
        """Refuse an eps beyond what the declared range allows, before anything is sampled."""
        if self.input_range is None:
            return
        leader = self.leader(job)
        most = leader.noise.largest_move(self.source(job).x, self.input_range)
        largest = max(self.settings[place].eps[-1] for place in self.places(job))
        if largest > most:
            fix = "Give eps in the units of the input: the declared range allows no larger move."
            raise ArgumentError(expected(f"eps <= {most:.4g}", f"{largest:g}", fix))


class Task(ABC):
    """A piece of work for a bench."""

    job: Job

    @abstractmethod
    def do(self, bench: Bench) -> Any:
        """The result, which says itself what it is."""


@dataclass(frozen=True)
class Whole(Task):
    """A job in one go."""

    job: Job

    def do(self, bench: Bench) -> Done:
        bench.check_reach(self.job)
        started = time.perf_counter()
        if bench.leader(self.job).published:
            return _published(bench, self.job, started)
        return _certified(bench, self.job, None, started, 0.0)


@dataclass(frozen=True)
class FindAnswers(Task):
    """The answers of a job that is cut into spans."""

    job: Job

    def do(self, bench: Bench) -> Answered:
        bench.check_reach(self.job)
        started = time.perf_counter()
        source, parties = bench.source(self.job), _parties(bench, self.job)
        samples = bench.leader(self.job).answer_samples
        found = find_answers(source, parties, samples, lambda count: None)
        values = [p.metric.to_json(a.value) for p, a in zip(parties, found, strict=True)]
        digest = fingerprint(json.dumps(values)).hex()
        return Answered(self.job, found, digest, time.perf_counter() - started)


@dataclass(frozen=True)
class CountSpan(Task):
    """A span of a job's certification samples; it starts where a batch does."""

    job: Job
    answers: tuple[Answer, ...]
    start: int
    stop: int

    def do(self, bench: Bench) -> Counted:
        started = time.perf_counter()
        source, parties = bench.source(self.job), _parties(bench, self.job)
        targets = _targets(source, parties, self.job)
        counting = Counting(source, parties, self.answers, targets, None)
        counting.done = self.start
        counting.run(self.stop, lambda count: None)
        seconds = time.perf_counter() - started
        return Counted(self.job, self.start, self.stop, counting.sketches, seconds)


@dataclass(frozen=True)
class Finish(Task):
    """The certificates of a job whose spans have all been counted."""

    job: Job
    answers: tuple[Answer, ...]
    sketches: tuple[Sketch, ...]
    seconds: float
    """Spent so far."""

    def do(self, bench: Bench) -> Done:
        started = time.perf_counter()
        source, parties = bench.source(self.job), _parties(bench, self.job)
        counted = Unfinished(
            seed=source.address.root,
            x=source.address.x,
            noise=source.noise,
            parties=tuple(parties),
            targets=tuple(_targets(source, parties, self.job)),
            answers=self.answers,
            sketches=self.sketches,
            done=bench.leader(self.job).samples,
        )
        return _certified(bench, self.job, counted, started, self.seconds)


def _parties(bench: Bench, job: Job) -> list[Party]:
    return [Party(smoother.metric, smoother.center) for smoother in bench.smoothers(job)]


def _targets(source: Source, parties: Sequence[Party], job: Job) -> list[Block | None]:
    return [
        None if target is None else check_target(source, party, target)
        for party, target in zip(parties, job.targets, strict=True)
    ]


def _certified(
    bench: Bench, job: Job, counted: Unfinished | None, started: float, before: float
) -> Done:
    leader = bench.leader(job)
    certificates = certify_together(
        bench.smoothers(job),
        job.x,
        leader.samples,
        leader.alpha,
        job.targets,
        bench.seed,
        leader.grid,
        resume=counted,
        goals=[bench.settings[place].goal for place in bench.places(job)],
        tolerances=[bench.settings[place].tolerance for place in bench.places(job)],
    )
    look = _Look(bench, job)
    seconds = before + time.perf_counter() - started
    entries = []
    for place, target, one in zip(bench.places(job), job.targets, certificates, strict=True):
        timed = _timed(one, seconds)
        record = records.of_certificate(bench.blank(job, place), timed, timed.evaluations)
        record = look.at(record, bench.settings[place], one.value, target, seconds)
        entries.append(Entry(place, record, timed.to_json()))
    return Done(job, tuple(entries), entries[0].record.input, counted is None)


def _timed(certificate: Certificate, seconds: float) -> Certificate:
    """With the time of all its pieces."""
    provenance = dataclasses.replace(certificate.provenance, seconds=seconds)
    return dataclasses.replace(certificate, provenance=provenance)


def _published(bench: Bench, job: Job, started: float) -> Done:
    leader = bench.leader(job)
    assert leader.model is not None, "given when the study was built"
    assert leader.published is not None, "this task is for those"
    settings = [bench.settings[place] for place in bench.places(job)]
    found = published.certify_together(
        leader.model,
        job.x,
        leader.noise,
        [setting.metric for setting in settings],
        list(leader.eps),
        **dataclasses.asdict(leader.published),
        seed=bench.seed,
        batch_size=job.batching,
        progress=False,
    )
    look = _Look(bench, job)
    seconds = time.perf_counter() - started
    entries = []
    for place, target, curve in zip(bench.places(job), job.targets, found, strict=True):
        record = records.of_published(bench.blank(job, place), curve)
        record = look.at(record, bench.settings[place], curve[0].value, target, seconds)
        entries.append(Entry(place, record, None))
    return Done(job, tuple(entries), entries[0].record.input, True)


class _Look:
    """The base model's answer and, for the gallery, some of its outputs under noise."""

    def __init__(self, bench: Bench, job: Job) -> None:
        source = bench.source(job)
        batch = source.x[None] if hasattr(source.x, "shape") else [source.x]
        self._base = pick(source.model(batch), [0])[0]
        self._outputs: Outputs | None = None
        self._cost = 1
        if job.look:
            span = (0, records.LOOKED_AT)
            self._outputs = join(list(source.outputs(CERTIFICATION, span)))
            self._cost += records.LOOKED_AT

    def at(
        self, record: Record, setting: Setting, value: Any, target: Any, seconds: float
    ) -> Record:
        """The record with all that is to be seen."""
        record = records.with_distances(record, setting.metric, self._base, value, target)
        if self._outputs is not None:
            outputs = self._outputs
            record = records.with_outputs(record, setting.metric, self._base, value, outputs)
        return dataclasses.replace(record, seconds=seconds, probes=record.probes + self._cost)
