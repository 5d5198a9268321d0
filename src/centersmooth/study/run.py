"""A study goes through a run folder: what is there is kept, what is missing is certified."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from centersmooth.errors import ArgumentError, ChangedError, InputError, expected
from centersmooth.executors import Executor, Lost, Map
from centersmooth.sampling import root_seed
from centersmooth.sketch import Sketch
from centersmooth.store import Entry, Identity, Part, Record, Writer
from centersmooth.store.changes import UNREADABLE
from centersmooth.study import records
from centersmooth.study.batching import Batchings, spans
from centersmooth.study.identity import (
    answers,
    check_answers,
    digest_of,
    identify,
    looked_at,
)
from centersmooth.study.progress import Watch
from centersmooth.study.session import now, session, versions
from centersmooth.study.study import Study
from centersmooth.study.tasks import (
    Answered,
    Bench,
    Counted,
    CountSpan,
    Done,
    Failed,
    FindAnswers,
    Finish,
    Job,
    Whole,
)

Watcher: TypeAlias = Callable[[int], AbstractContextManager[Watch]]


@dataclass(frozen=True)
class Summary:
    """What a call of `Study.run` did, and what the run holds now."""

    out: Path
    expected: int
    """Records of the finished run."""
    added: int
    """Records that this call added."""
    counts: dict[str, int]
    """Records by status."""
    seconds: float

    @property
    def failed(self) -> int:
        """Records without a certificate; each says why."""
        return self.counts.get("failed", 0)

    def __str__(self) -> str:
        parts = ", ".join(f"{count:,} {status}" for status, count in sorted(self.counts.items()))
        return (
            f"{sum(self.counts.values()):,} of {self.expected:,} records in {self.out} ({parts}); "
            f"{self.added:,} new in {self.seconds:.1f} s."
        )


def run(
    study: Study,
    out: Path,
    executor: Executor,
    watcher: Watcher,
    *,
    retry_failed: bool = False,
    on_record: Callable[[Record], None] | None = None,
) -> Summary:
    """See `Study.run`; `watcher` shows progress over so many forward passes."""
    if not isinstance(executor, Executor):
        fix = "Pass on=cs.executors.Serial() or cs.executors.Ray()."
        raise ArgumentError(expected("an executor", repr(executor), fix))
    started = time.perf_counter()
    with Writer(out) as writer:
        identity = identify(study)
        seed, threads = _begin(study, identity, executor, writer)
        if retry_failed:
            writer.forget_failed()
        done = writer.done()
        missing = [(i, d) for i, d in study.jobs() if (i, study.groups()[d][0]) not in done]
        total = sum(_evaluations(study, draws) for _, draws in missing)
        added = 0
        if missing:
            with watcher(total) as watch, executor.hire(Bench(study, seed), threads) as map_:
                loop = _Loop(study, identity, writer, seed, watch, on_record)
                loop.go(missing, map_, executor.width)
                added = loop.added
        seconds = time.perf_counter() - started
        return Summary(out, _expected(study), added, writer.counts(), seconds)


def _expected(study: Study) -> int:
    sizes = {number: len(places) for number, places in study.groups().items()}
    return sum(sizes[draws] for _, draws in study.jobs())


def _evaluations(study: Study, draws: int) -> int:
    return max(study.settings[place].evaluations() for place in study.groups()[draws])


# ------------------------------------------------------------------------------------ begin


def _begin(study: Study, identity: Identity, executor: Executor, writer: Writer) -> tuple[int, int]:
    """The run's seed and threads, drawn now or long ago; refused if this is another study."""
    threads = executor.threads or executor.usual_threads()
    first = {
        "title": study.title,
        "created": now(),
        "seed": root_seed(study.seed),
        "threads": threads,
        "versions": versions(),
        "expected": _expected(study),
    }
    goes_on = writer.begin(identity, first, session(executor.describe(), threads))
    seed, threads = int(writer.first("seed")), int(writer.first("threads"))
    if goes_on:
        _check_machine(executor, threads, writer.first("versions"))
    if not writer.noted("looked_at"):
        writer.note("looked_at", looked_at(study))
    said = answers(study, seed, writer.first("looked_at"))
    if not writer.noted("answers"):
        writer.note("answers", said)
    elif changed := check_answers(study, writer.first("answers"), said):
        fix = "Restore the model as it was, or name another folder for a new run."
        raise ChangedError(expected("the model that started this run", changed, fix))
    return seed, threads


def _check_machine(executor: Executor, threads: int, kept: Any) -> None:
    if executor.threads not in (None, threads):
        fix = "Results differ in their last bits between thread counts: keep it, or start anew."
        what = f"{threads} threads per worker, as this run was started with"
        raise ArgumentError(expected(what, executor.threads, fix))
    other = [
        f"{k} {v}" for k, v in versions().items() if isinstance(kept, dict) and kept.get(k) != v
    ]
    if other:
        warnings.warn(
            f"the run was started with other versions (now {', '.join(other)}): new records may "
            "differ in their last bits from what an uninterrupted run would hold.",
            stacklevel=2,
        )


# ------------------------------------------------------------------------------------- loop


class _Loop:
    """Hands out tasks and keeps their results, one transaction per input."""

    def __init__(
        self,
        study: Study,
        identity: Identity,
        writer: Writer,
        seed: int,
        watch: Watch,
        on_record: Callable[[Record], None] | None,
    ) -> None:
        self._study, self._writer, self._seed = study, writer, seed
        self._watch, self._on_record = watch, on_record
        self._digests = [digest for _, digest in identity.inputs]
        self._batchings = Batchings(study, writer, seed)
        self._groups = study.groups()
        self.added = 0

    def go(self, missing: Sequence[tuple[int, int]], map_: Map, width: int) -> None:
        """Short certifications first, each in one go; then the long ones in spans."""
        long: list[tuple[int, int]] = []
        for result in map_(self._short(missing, long)):
            self._keep(result)
        for start in range(0, len(long), width):
            self._in_spans(long[start : start + width], map_)

    # ---- making tasks

    def _short(
        self, missing: Iterable[tuple[int, int]], long: list[tuple[int, int]]
    ) -> Iterator[Whole]:
        for index, draws in missing:
            job, rate = self._job(index, draws)
            if job is None:
                continue
            if len(self._cuts(job, rate)) > 1:
                long.append((index, draws))
            else:
                yield Whole(job)

    def _job(self, index: int, draws: int) -> tuple[Job | None, float]:
        """A job and its passes per second; None for an input that cannot be read."""
        study, places = self._study, self._groups[draws]
        name, look = study.name(index), index < study.gallery
        try:
            x = study.inputs[index]
        except InputError as error:
            self._keep(Failed(index, name, draws, str(error), 0.0))
            return None, 0.0
        self._check_same(index, x)
        batching, rate = self._batchings.of(draws, study.settings[places[0]], x)
        targets = tuple(study.target(place, index) for place in places)
        return Job(index, name, draws, x, targets, batching, look), rate

    def _check_same(self, index: int, x: Any) -> None:
        """An input that was exchanged since this session began is another data set."""
        kept = self._digests[index]
        if kept != UNREADABLE and kept != digest_of(self._study, index, x):
            got = f"another input or target at number {index} ({self._study.name(index)})"
            fix = "Restore it as it was, or name another folder for a new run."
            raise ChangedError(expected("the data that started this run", got, fix))

    def _cuts(self, job: Job, rate: float) -> list[tuple[int, int]]:
        settings = [self._study.settings[place] for place in self._groups[job.draws]]
        leader = settings[0]
        if leader.published:
            return [(0, leader.published.m)]
        if any(setting.may_stop_early for setting in settings):
            return [(0, leader.samples)]  # where it stops is known only on the way
        return spans(leader.samples, job.batching.size, rate, self._study.save_every)

    # ---- long certifications

    def _in_spans(self, wave: Sequence[tuple[int, int]], map_: Map) -> None:
        """A few inputs at a time: their answers, their spans, their certificates."""
        jobs = [self._job(index, draws) for index, draws in wave]
        cuts = {_key(job): self._cuts(job, rate) for job, rate in jobs if job}
        under_way: dict[tuple[int, int], _Long] = {}
        for result in map_([FindAnswers(job) for job, _ in jobs if job]):
            if isinstance(result, Answered):
                under_way[_key(result.job)] = self._taken_up(result, cuts[_key(result.job)])
            else:
                self._keep(result)
        for result in map_([task for one in under_way.values() for task in one.tasks]):
            self._count(result, under_way)
        for result in map_([one.finish() for one in under_way.values()]):
            self._keep(result)

    def _taken_up(self, answered: Answered, cuts: Sequence[tuple[int, int]]) -> _Long:
        """A long certification with what an earlier session has counted of it."""
        job, samples = answered.job, cuts[-1][1]
        self._watch.advance(_evaluations(self._study, job.draws) - samples)
        kept = self._writer.parts(job.index, job.draws, answered.digest)
        missing = [span for span in cuts if span not in kept]
        tasks = [CountSpan(job, answered.answers, *span) for span in missing]
        one = _Long(answered, tasks, answered.seconds)
        for (start, stop), part in kept.items():
            if (start, stop) in cuts:
                one.add(part.sketches, part.seconds)
                self._watch.advance(stop - start)
        return one

    def _count(self, result: Any, under_way: dict[tuple[int, int], _Long]) -> None:
        """A span that was counted; or the end of its job if it could not be."""
        if not isinstance(result, Counted):
            failed = _as_failure(result)
            if under_way.pop((failed.index, failed.draws), None):
                self._keep(failed)
            return
        one = under_way.get(_key(result.job))
        if one is not None:
            part = Part(result.sketches, result.seconds)
            key, span = _key(result.job), (result.start, result.stop)
            self._writer.add_part(*key, span, one.answered.digest, part)
            one.add(result.sketches, result.seconds)
            self._watch.advance(result.stop - result.start)

    # ---- keeping results

    def _keep(self, result: Any) -> None:
        """Into the store, then to whoever looks on."""
        if isinstance(result, Done):
            entries, encoded = result.entries, result.encoded
            if result.counted_in_one_go:
                self._watch.advance(_evaluations(self._study, result.job.draws))
        else:
            failed = _as_failure(result)
            entries, encoded = self._failures(failed), None
            self._watch.advance(_evaluations(self._study, failed.draws))
        self._writer.add(entries, encoded)
        for entry in entries:
            self.added += 1
            self._watch.record(entry.record)
            if self._on_record is not None:
                self._on_record(entry.record)

    def _failures(self, failed: Failed) -> tuple[Entry, ...]:
        about = (failed.draws, failed.index, failed.name, self._seed)
        return tuple(
            Entry(place, records.failed(blank, failed.message, failed.seconds), None)
            for place in self._groups[failed.draws]
            for blank in [records.blank(self._study.settings[place], *about)]
        )


@dataclass
class _Long:
    """A long certification under way."""

    answered: Answered
    tasks: list[CountSpan]
    seconds: float
    sketches: tuple[Sketch, ...] = ()

    def add(self, sketches: Sequence[Sketch], seconds: float) -> None:
        """A span more."""
        if not self.sketches:
            self.sketches = tuple(sketch.empty() for sketch in sketches)
        for mine, new in zip(self.sketches, sketches, strict=True):
            mine.merge(new)
        self.seconds += seconds

    def finish(self) -> Finish:
        """What is left to do once every span is in."""
        return Finish(self.answered.job, self.answered.answers, self.sketches, self.seconds)


def _key(job: Job) -> tuple[int, int]:
    return job.index, job.draws


def _as_failure(result: Any) -> Failed:
    if isinstance(result, Lost):
        job = result.task.job
        return Failed(job.index, job.name, job.draws, result.message, 0.0)
    assert isinstance(result, Failed), "tasks have no other results"
    return result
