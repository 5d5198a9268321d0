"""Records of the experiments: JSON lines, one per certificate, small enough to be committed."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from centersmooth.errors import FormatError, expected
from centersmooth.store import Record, Store
from studies.columns import THOROUGH
from studies.origins import write_atomically


@dataclass(frozen=True)
class Row:
    """One input under one setting."""

    part: str
    setting: str
    procedure: str
    """ "sharp", "thorough" (ours with ten times the passes) or "published"."""
    metric: str
    sigma: float
    index: int
    name: str
    status: str
    eps: tuple[float, ...]
    bounds: tuple[float, ...]
    statuses: tuple[str, ...]
    errors: tuple[float, ...] | None
    """Certified distance to the truth at each eps."""
    diameter: float
    smoothing_error: float | None
    base_error: float | None
    smoothed_error: float | None
    evaluations: int
    samples: int
    seed: int
    answer: str = ""
    """What kind of answer it is, where that matters: "face", "no face" or "abstained"."""
    center: str = ""
    """How ours makes its answer, e.g. "WeberPoint, pool 2"."""

    @property
    def clipped(self) -> bool:
        """Whether it is Theorem D's: for small attacks, and in figures of its own."""
        return self.center == "ClippedMean"

    def at(self, eps: float) -> float | None:
        """The bound at an eps; the diameter where there is none, None where it was not asked."""
        place = self._place(eps)
        return None if place is None else self.bounds[place]

    def error_at(self, eps: float) -> float | None:
        """The certified error likewise."""
        place = self._place(eps)
        return None if place is None or self.errors is None else self.errors[place]

    def _place(self, eps: float) -> int | None:
        """The nearest eps that was asked: a little smaller one would flatter the bound."""
        place = min(range(len(self.eps)), key=lambda i: abs(self.eps[i] - eps))
        close = math.isclose(self.eps[place], eps, rel_tol=1e-4, abs_tol=1e-12)
        return place if close and self.bounds else None


def rows_of(
    part: str, run: Path, kind: Callable[[Record], str] = lambda record: ""
) -> Iterator[Row]:
    """The rows of a run; `kind` says what kind of answer a record holds."""
    with Store(run) as store:
        told = {setting["name"]: setting for setting in store.run_info()["settings"]}
        for record in store.records():
            yield _row(part, record, told[record.setting], kind(record))


def _row(part: str, record: Record, setting: Any, kind: str) -> Row:
    thorough = record.setting.endswith(THOROUGH)
    return Row(
        part=part,
        setting=record.setting,
        procedure=THOROUGH if thorough else record.procedure,
        metric=record.metric,
        sigma=float(record.noise["fields"]["sigma"]),
        index=record.index,
        name=record.input_ref,
        status=record.status,
        eps=record.eps,
        bounds=record.bounds,
        statuses=record.statuses,
        errors=record.errors,
        diameter=record.diameter,
        smoothing_error=record.smoothing_error,
        base_error=record.base_error,
        smoothed_error=record.smoothed_error,
        evaluations=record.evaluations,
        samples=int(setting["samples"]),
        seed=record.seed,
        answer=kind,
        center=_center(setting["center"]),
    )


def _center(told: Any) -> str:
    """A center's class, with the numbers that readers care about."""
    if told is None:
        return ""
    fields = told["fields"] or {}
    parts = [f"{key} {fields[key]}" for key in ("candidates", "pool") if key in fields]
    return ", ".join([told["type"], *parts])


def write_lines(path: Path, values: Iterable[dict[str, Any]]) -> Path:
    """One JSON object per line, the whole file or nothing; "infinity" stands for infinity."""
    lines = [
        json.dumps({k: _plain(v) for k, v in value.items()}, allow_nan=False) for value in values
    ]
    return write_atomically(path, "".join(line + "\n" for line in lines).encode())


def write_rows(path: Path, rows: Iterable[Row]) -> Path:
    """Rows as JSON lines."""
    return write_lines(path, (asdict(row) for row in rows))


def read_lines(path: Path) -> list[dict[str, Any]]:
    """What `write_lines` wrote; nothing if it never did."""
    if not path.exists():
        return []
    try:
        found = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    except ValueError as error:
        fix = "Restore the file, or run the part again."
        raise FormatError(expected(f"JSON lines in {path}", error, fix)) from error
    return [{key: _read(value) for key, value in line.items()} for line in found]


def read_rows(path: Path) -> list[Row]:
    """Rows as `write_rows` wrote them."""
    try:
        return [Row(**line) for line in read_lines(path)]
    except TypeError as error:
        fix = "Run the part again: it was written by another version."
        raise FormatError(expected(f"rows in {path}", error, fix)) from error


def _plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return "infinity" if value == math.inf else value


def _read(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_read(item) for item in value)
    return math.inf if value == "infinity" else value
