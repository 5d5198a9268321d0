"""Where the work of a study is done: in this process, or on many through Ray."""

from __future__ import annotations

import math
import os
import socket
import sys
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

import numba
import torch

from centersmooth.errors import ArgumentError, ExecutorError, expected

__all__ = ["Executor", "Lost", "Ray", "Serial"]

Work: TypeAlias = Callable[[Any], Any]
Map: TypeAlias = Callable[[Iterable[Any]], Iterator[Any]]

_TRIES = 3  # deaths of a worker before its task is given up, and starts before we give up
_WIDTH = 8
_PATIENCE = 120.0  # seconds without any worker or sign of one
_KNOCK = 5.0  # seconds for a cluster to answer at its address


@dataclass(frozen=True)
class Lost:
    """In place of a result: the task killed every worker that tried it."""

    task: Any
    message: str


class Executor(ABC):
    """Maps one function over tasks.

    `threads` is how many each worker computes with. Results differ in their last bits between
    thread counts, so a run keeps the count it was started with.
    """

    threads: int | None

    @property
    @abstractmethod
    def width(self) -> int:
        """About how many tasks are under way at once."""

    @abstractmethod
    def usual_threads(self) -> int:
        """The threads per worker of a new run when none were asked for."""

    @abstractmethod
    def hire(self, work: Work, threads: int) -> AbstractContextManager[Map]:
        """A map over workers that hold `work`, until the end of the `with` block.

        Results come as they are finished; tasks are taken from their iterable as workers
        become free.
        """

    @abstractmethod
    def describe(self) -> str:
        """Where it runs, for the record."""


class Serial(Executor):
    """One task after another in this process.

    threads: how many torch computes with; as it is set when None.
    """

    def __init__(self, threads: int | None = None) -> None:
        self.threads = _checked(threads, "threads")

    @property
    def width(self) -> int:
        return 1

    def usual_threads(self) -> int:
        return torch.get_num_threads()

    @contextmanager
    def hire(self, work: Work, threads: int) -> Iterator[Map]:
        before = torch.get_num_threads(), numba.get_num_threads()
        _compute_with(threads)
        try:
            yield lambda tasks: map(work, tasks)
        finally:
            torch.set_num_threads(before[0])
            numba.set_num_threads(before[1])

    def describe(self) -> str:
        return "this process"


class Ray(Executor):
    """Many processes, here or on a cluster, through Ray (``pip install "centersmooth[ray]"``).

    address: of a running cluster, e.g. "auto"; a local one is started and ended when None.
    workers: how many processes; as many as the cluster has room for when None.
    threads: per worker; one when None, so that they do not fight for cores.
    gpus: that each worker sees; a share of one lets several have it in common.

    A worker that dies is replaced and its task done again. The model is shipped once to each.
    """

    def __init__(
        self,
        address: str | None = None,
        workers: int | None = None,
        threads: int | None = None,
        gpus: float = 0,
    ) -> None:
        self.address = address
        self.gpus = _checked_gpus(gpus)
        self.workers = _checked(workers, "workers")
        self.threads = _checked(threads, "threads")

    @property
    def width(self) -> int:
        return self.workers or _WIDTH

    def usual_threads(self) -> int:
        return 1

    @contextmanager
    def hire(self, work: Work, threads: int) -> Iterator[Map]:
        ray = _import_ray()
        with _cluster(ray, self.address, (self.workers or 1) * threads):
            share = {"num_cpus": threads, "num_gpus": self.gpus}
            crew = _Crew(ray, ray.put(work), share, self.workers or _room(ray, share))
            try:
                yield crew.map
            finally:
                crew.dismiss()

    def describe(self) -> str:
        return f"Ray, {self.address or 'a local cluster'}"


class _Worker:
    """What runs in a process of its own."""

    def __init__(self, parcel: list[Any], path: list[str], threads: int) -> None:
        # Only now, for what the work is made of may be found on this path alone.
        sys.path += [place for place in path if place not in sys.path]
        _compute_with(threads)
        self._work: Work = _import_ray().get(parcel[0])

    def ready(self) -> None:
        """Answered once the process stands and holds the model."""

    def do(self, task: Any) -> Any:
        """One task."""
        return self._work(task)


class _Crew:
    """Ray actors with one task each at a time; the dead are replaced."""

    def __init__(self, ray: Any, work: Any, share: Mapping[str, Any], size: int) -> None:
        """share: the CPUs and GPUs of each."""
        self._ray, self._work, self._share = ray, work, share
        self._kind = ray.remote(**share, max_restarts=0)(_Worker)
        self._all: list[Any] = []
        self._starting: dict[Any, Any] = {}
        self._idle: list[Any] = []
        self._failed_starts = 0
        for _ in range(size):
            self._start()

    def map(self, tasks: Iterable[Any]) -> Iterator[Any]:
        """Results as they are finished."""
        fresh, again = iter(tasks), deque[tuple[Any, int]]()
        busy: dict[Any, tuple[Any, Any, int]] = {}
        while True:
            while self._idle and (following := _next(again, fresh)):
                worker = self._idle.pop()
                busy[worker.do.remote(following[0])] = (worker, *following)
            if not busy and self._idle:
                return
            for reference in self._finished(busy):
                if reference in self._starting:
                    self._welcome(reference)
                    continue
                worker, task, deaths = busy.pop(reference)
                result = self._result(reference, worker)
                if result is not _DIED:
                    yield result
                elif deaths + 1 < _TRIES:
                    again.append((task, deaths + 1))
                else:
                    yield Lost(task, f"the worker died {_TRIES} times over it (out of memory?)")

    def dismiss(self) -> None:
        """End every process."""
        for worker in self._all:
            self._ray.kill(worker)

    def _start(self) -> None:
        # Within a list, the work is not opened before the path is set.
        worker = self._kind.remote([self._work], sys.path, self._share["num_cpus"])
        self._all.append(worker)
        self._starting[worker.ready.remote()] = worker

    def _finished(self, busy: dict[Any, Any]) -> list[Any]:
        waiting = [*busy, *self._starting]
        timeout = None if busy else _PATIENCE
        ready, _ = self._ray.wait(waiting, num_returns=1, timeout=timeout)
        if not ready:
            got = f"none within {_PATIENCE:g} seconds"
            cpus, gpus = self._share["num_cpus"], self._share["num_gpus"]
            fix = f"Is the cluster up, with {cpus} free CPUs and {gpus:g} GPUs for a worker?"
            raise ExecutorError(expected("a worker to start", got, fix))
        return list(ready)

    def _welcome(self, reference: Any) -> None:
        worker = self._starting.pop(reference)
        try:
            self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            self._failed_starts += 1
            if self._failed_starts >= _TRIES:
                fix = "The machines need the same packages and files as this one."
                last = str(error).strip().splitlines()[-1]
                raise ExecutorError(expected("workers that start", last, fix)) from error
            self._start()
        else:
            self._failed_starts = 0
            self._idle.append(worker)

    def _result(self, reference: Any, worker: Any) -> Any:
        """The result, or that the worker died; what the work itself raised is raised here."""
        exceptions = self._ray.exceptions
        try:
            result = self._ray.get(reference)
        except exceptions.RayTaskError as error:
            self._idle.append(worker)
            raise (error.cause or error) from error
        except exceptions.RayError:
            self._ray.kill(worker)
            self._all.remove(worker)
            self._start()
            return _DIED
        self._idle.append(worker)
        return result


_DIED = object()


def _room(ray: Any, share: Mapping[str, Any]) -> int:
    """For how many workers the cluster has room, by what is scarcest."""
    free = ray.cluster_resources()
    cpus = int(free.get("CPU", 0) / share["num_cpus"])
    gpus = int(free.get("GPU", 0) / share["num_gpus"]) if share["num_gpus"] else cpus
    return max(1, min(cpus, gpus))


def _next(again: deque[tuple[Any, int]], fresh: Iterator[Any]) -> tuple[Any, int] | None:
    """A task with the deaths it has caused: one to repeat first, then a fresh one."""
    if again:
        return again.popleft()
    for task in fresh:
        return task, 0
    return None


@contextmanager
def _cluster(ray: Any, address: str | None, cpus: int) -> Iterator[None]:
    """The cluster that is connected already, the one at the address, or one of our own."""
    if ray.is_initialized():
        yield
        return
    _check_reachable(address)
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    options: dict[str, Any] = {"address": address, "log_to_driver": False, "logging_level": "ERROR"}
    if address is None:
        cores = max(os.cpu_count() or 1, cpus)
        options |= {"address": "local", "num_cpus": cores, "include_dashboard": False}
    try:
        ray.init(**options)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise _no_cluster(error) from error
    try:
        yield
    finally:
        ray.shutdown()


def _check_reachable(address: str | None) -> None:
    """Knock first: Ray itself goes on trying for many minutes where nobody answers."""
    host, colon, port = (address or "").removeprefix("ray://").rpartition(":")
    if not colon:
        return  # a local cluster, or "auto": Ray finds it by its own files
    try:
        socket.create_connection((host.strip("[]"), int(port)), _KNOCK).close()
    except (OSError, OverflowError, ValueError) as error:
        raise _no_cluster(f"nobody at {address} ({error})") from error


def _no_cluster(got: object) -> ExecutorError:
    fix = "Start one with `ray start --head`, or leave the address out for a local one."
    return ExecutorError(expected("a Ray cluster to work on", got, fix))


def _compute_with(threads: int) -> None:
    torch.set_num_threads(threads)
    most: int = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    numba.set_num_threads(min(threads, most))


def _import_ray() -> Any:
    try:
        import ray
        import ray.exceptions
    except ImportError as error:
        fix = 'pip install "centersmooth[ray]"'
        raise ExecutorError(expected("Ray to be installed", str(error), fix)) from error
    return ray


def _checked(value: int | None, name: str) -> int | None:
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
        fix = f"Leave {name} out for the usual number."
        raise ArgumentError(expected(f"{name} >= 1", repr(value), fix))
    return value


def _checked_gpus(value: float) -> float:
    """Whole GPUs, or a share of one: Ray knows nothing in between."""
    known = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not known or not 0 <= value < math.inf or (value > 1 and value != int(value)):
        fix = "0.5 lets two workers share one; leave it out for none."
        raise ArgumentError(expected("gpus as 0, a share of 1, or a whole number", value, fix))
    return value
