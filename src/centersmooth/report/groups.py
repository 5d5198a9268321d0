"""Records of one run, gathered in columns: one group per setting."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from centersmooth import noise as noises
from centersmooth.errors import FormatError
from centersmooth.noise import Noise
from centersmooth.report.aggregates import FloatArray
from centersmooth.report.labels import readable
from centersmooth.specification import restore
from centersmooth.store.record import STATUSES, Record

_NORMS = {"l0": "ℓ0", "l1": "ℓ1", "l2": "ℓ2", "linf": "ℓ∞"}
CERTIFIED = STATUSES.index("certified")
FAILED = STATUSES.index("failed")


@dataclass(frozen=True)
class Key:
    """What the records of a group have in common."""

    setting: str
    procedure: str
    metric: str


@dataclass(frozen=True, eq=False)
class Group:
    """Columns of numbers, one row per record.

    A record that has no bound at some eps counts there with the diameter, the largest distance
    there is: nothing is dropped.
    """

    key: Key
    noise: Mapping[str, Any]
    confidence: Mapping[str, Any]
    diameter: float
    eps: tuple[float, ...]
    """Ascending; the columns of `bounds`, `statuses` and `errors`."""
    index: NDArray[np.int64]
    refs: tuple[str, ...]
    """The names of the inputs."""
    status: NDArray[np.int8]
    """Of the whole record, as a place in STATUSES."""
    statuses: NDArray[np.int8]
    bounds: FloatArray
    errors: FloatArray | None
    """About the target; NaN for an input without one. None where no input has one."""
    smoothing_error: FloatArray
    base_error: FloatArray
    smoothed_error: FloatArray
    evaluations: NDArray[np.int64]
    probes: NDArray[np.int64]
    seconds: FloatArray
    seeds: tuple[str, ...]
    """As text: they do not fit the numbers of a browser."""
    draws: int
    messages: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.index)

    @property
    def name(self) -> str:
        """How the group is called in figures and tables."""
        suffix = " (published)" if self.key.procedure == "published" else ""
        return readable(self.key.setting) + suffix

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many records have each status."""
        return {name: int((self.status == code).sum()) for code, name in enumerate(STATUSES)}

    @cached_property
    def telling(self) -> NDArray[np.bool_]:
        """Which bounds are certified and smaller than the largest distance there is."""
        certified: NDArray[np.bool_] = self.statuses == CERTIFIED
        return certified & (self.bounds < self.diameter)

    def within(self, column: int, tolerance: float) -> int:
        """How many inputs are certified to stay within the tolerance."""
        return int((self.telling[:, column] & (self.bounds[:, column] <= tolerance)).sum())

    def column(self, eps: float) -> int | None:
        """The column that covers attacks of size eps: the next eps certified, rounded up."""
        place = int(np.searchsorted(self.eps, eps))
        return place if place < len(self.eps) else None

    @property
    def norm(self) -> str | None:
        """In which norm attacks are measured; None for a noise that is not ours."""
        try:
            norm = str(restore(self.noise, noises, Noise).norm)
        except FormatError:
            return None
        return " ".join(_NORMS.get(word, word) for word in norm.split())


def gather(records: Iterable[Record]) -> list[Group]:
    """All groups, in the order in which they first appear; reads the records once."""
    found: dict[Key, _Gathering] = {}
    for record in records:
        key = Key(record.setting, record.procedure, record.metric)
        if key not in found:
            found[key] = _Gathering(key, record)
        found[key].add(record)
    return [gathering.group() for gathering in found.values()]


@dataclass
class _Gathering:
    key: Key
    first: Record
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    curves: list[tuple[NDArray[np.int8], FloatArray, FloatArray | None]] = field(
        default_factory=list
    )

    def add(self, record: Record) -> None:
        self.rows.append(
            (
                record.index,
                readable(record.input_ref),
                STATUSES.index(record.status),
                _number(record.smoothing_error),
                _number(record.base_error),
                _number(record.smoothed_error),
                record.evaluations,
                record.probes,
                record.seconds,
                str(record.seed),
                readable(record.message),
            )
        )
        errors = None if record.errors is None else self._row(record.errors)
        codes = [STATUSES.index(status) for status in record.statuses]
        statuses = self._row(codes, FAILED).astype(np.int8)
        self.curves.append((statuses, self._row(record.bounds), errors))

    def _row(self, values: Iterable[float], missing: float | None = None) -> FloatArray:
        """Values in ascending order of eps; a failed record has none and is farthest."""
        row = np.asarray(list(values), dtype=float)
        if not len(row):
            return np.full(len(self.first.eps), self.first.diameter if missing is None else missing)
        return row[np.argsort(self.first.eps, kind="stable")]

    def group(self) -> Group:
        columns = list(zip(*self.rows, strict=True))
        return Group(
            key=self.key,
            noise=self.first.noise,
            confidence=self.first.confidence,
            diameter=self.first.diameter,
            eps=tuple(sorted(self.first.eps)),
            index=np.asarray(columns[0], dtype=np.int64),
            refs=columns[1],
            status=np.asarray(columns[2], dtype=np.int8),
            statuses=np.stack([statuses for statuses, _, _ in self.curves]),
            bounds=np.stack([bounds for _, bounds, _ in self.curves]),
            errors=self._errors(),
            smoothing_error=np.asarray(columns[3], dtype=float),
            base_error=np.asarray(columns[4], dtype=float),
            smoothed_error=np.asarray(columns[5], dtype=float),
            evaluations=np.asarray(columns[6], dtype=np.int64),
            probes=np.asarray(columns[7], dtype=np.int64),
            seconds=np.asarray(columns[8], dtype=float),
            seeds=columns[9],
            draws=self.first.draws,
            messages=columns[10],
        )

    def _errors(self) -> FloatArray | None:
        """Certified errors. A failed record counts with the diameter where others have targets."""
        if all(errors is None for _, _, errors in self.curves):
            return None
        points = len(self.first.eps)
        absent = {True: np.full(points, self.first.diameter), False: np.full(points, math.nan)}
        failed = [row[2] == FAILED for row in self.rows]
        return np.stack(
            [
                absent[lost] if errors is None else errors
                for lost, (_, _, errors) in zip(failed, self.curves, strict=True)
            ]
        )


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)
