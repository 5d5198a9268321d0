"""One certificate of a run, as the store keeps it and the report reads it."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from centersmooth.errors import FormatError, expected
from centersmooth.outputs import decode

STATUSES = ("certified", "abstained", "undecided", "failed")
PROCEDURES = ("sharp", "published")
_LONGEST = 2**28  # characters of one encoded output


@dataclass(frozen=True)
class Sampled:
    """An output of the base model under noise, kept to be looked at."""

    distance: float
    """From the smoothed answer, in the metric's units."""
    output: str
    """Encoded: `decoded` reads it."""


@dataclass(frozen=True)
class Record:
    """What one setting gave for one input.

    Encoded outputs are JSON texts; `decoded` reads the usual ones, a metric of your own reads
    its own. They are kept for the first inputs of a run only (`Study(gallery=...)`).
    """

    index: int
    """Number of the input in the study."""
    setting: str
    """The setting's readable name."""
    procedure: str
    """ "sharp" (this project's theorems) or "published" (Algorithms 1-3 of the paper)."""
    noise: Mapping[str, Any]
    """``{"type": "Gaussian", "fields": {"sigma": 0.25}}``"""
    metric: str
    status: str
    """ "certified" if any eps is; else "abstained", "undecided" or "failed"."""
    message: str
    """Why it failed, in words; empty otherwise."""
    eps: tuple[float, ...]
    bounds: tuple[float, ...]
    """eps_2 at each eps; the metric's diameter where there is none. Empty when failed."""
    statuses: tuple[str, ...]
    """The status at each eps. Empty when failed."""
    errors: tuple[float, ...] | None
    """Certified distance to the target at each eps; None without a target."""
    diameter: float
    confidence: Mapping[str, Any]
    """``{"form": "Joint", "alpha": 0.01}``, "Split" or "Published" with their numbers."""
    smoothing_error: float | None
    """From the base model's answer to the smoothed model's."""
    base_error: float | None
    """From the base model's answer to the target."""
    smoothed_error: float | None
    """From the smoothed model's answer to the target."""
    evaluations: int
    """Forward passes for answer and certificate. Records of one `draws` share them."""
    probes: int
    """Forward passes for checks and looks; shared likewise."""
    seconds: float
    seed: int
    draws: int
    """Settings with the same number share one input's draws, hence its evaluations and time."""
    input_ref: str
    """A name for the input: its file, or its number."""
    input: str | None = None
    base: str | None = None
    smoothed: str | None = None
    samples: tuple[Sampled, ...] | None = None
    """The nearest and the farthest of the outputs looked at, by distance."""

    def values(self) -> dict[str, Any]:
        """All that a run reproduces: everything but the time it took."""
        values = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        del values["seconds"]
        return values


def decoded(text: str) -> Any:
    """The output (or input) that an encoded text of a record stands for."""
    if len(text) > _LONGEST:
        got = f"{len(text):,} characters"
        raise FormatError(expected("an encoded output", got, "The store is damaged."))
    try:
        return decode(json.loads(text))
    except (ValueError, TypeError, RecursionError) as error:
        if isinstance(error, FormatError):
            raise
        fix = "The store is damaged, or the metric has a format of its own."
        raise FormatError(expected("an encoded output", str(error), fix)) from error


def storable(text: str) -> str:
    """Text that any file can hold: names of files may not be valid Unicode."""
    return text.encode("utf-8", "backslashreplace").decode()


# ------------------------------------------------------------------ to and from the database

COLUMNS = (
    "idx",
    "place",
    "status",
    "message",
    "bounds",
    "statuses",
    "errors",
    "smoothing_error",
    "base_error",
    "smoothed_error",
    "evaluations",
    "probes",
    "seconds",
    "seed",
    "session",
    "base",
    "smoothed",
    "samples",
)
"""Of the table `records`, in order; what a setting determines is stored once."""

Row = tuple[Any, ...]


def to_row(record: Record, place: int, session: int) -> Row:
    """The values of COLUMNS."""
    samples = None
    if record.samples is not None:
        samples = json.dumps([[number(s.distance), s.output] for s in record.samples])
    return (
        record.index,
        place,
        record.status,
        record.message,
        numbers(record.bounds),
        json.dumps(list(record.statuses)),
        None if record.errors is None else numbers(record.errors),
        _real(record.smoothing_error),
        _real(record.base_error),
        _real(record.smoothed_error),
        int(record.evaluations),
        int(record.probes),
        _real(record.seconds),
        int(record.seed),
        session,
        record.base,
        record.smoothed,
        samples,
    )


def from_row(row: Row, setting: Mapping[str, Any], input_ref: str, encoded: str | None) -> Record:
    """A record, if nothing in the row contradicts its setting or common sense."""
    cell = dict(zip(COLUMNS, row, strict=True))
    samples = cell["samples"] and tuple(
        Sampled(_number(distance), _text(output)) for distance, output in _list(cell["samples"])
    )
    errors = cell["errors"]
    record = Record(
        index=_count(cell["idx"]),
        setting=setting["name"],
        procedure=setting["procedure"],
        noise=setting["noise"],
        metric=setting["metric_name"],
        status=_text(cell["status"]),
        message=_text(cell["message"]),
        eps=setting["eps"],
        bounds=_numbers(cell["bounds"]),
        statuses=tuple(_text(status) for status in _list(cell["statuses"])),
        errors=None if errors is None else _numbers(errors),
        diameter=setting["diameter"],
        confidence=setting["confidence"],
        smoothing_error=_optional(cell["smoothing_error"]),
        base_error=_optional(cell["base_error"]),
        smoothed_error=_optional(cell["smoothed_error"]),
        evaluations=_count(cell["evaluations"]),
        probes=_count(cell["probes"]),
        seconds=_number(cell["seconds"]),
        seed=_count(cell["seed"]),
        draws=setting["draws"],
        input_ref=input_ref,
        input=encoded,
        base=cell["base"],
        smoothed=cell["smoothed"],
        samples=samples,
    )
    _check_sense(record)
    return record


def _check_sense(record: Record) -> None:
    points = 0 if record.status == "failed" else len(record.eps)
    lengths = {len(record.bounds), len(record.statuses)}
    if record.errors is not None:
        lengths.add(len(record.errors))
    if lengths != {points} or record.status not in STATUSES:
        raise ValueError(f"a {record.status} record with bounds for {lengths} of {points} eps")
    if not set(record.statuses) <= set(STATUSES[:3]):
        raise ValueError(f"statuses {record.statuses}")
    if any(bound > record.diameter for bound in (*record.bounds, *(record.errors or ()))):
        raise ValueError("a bound above the metric's diameter")
    for text in (record.base, record.smoothed, record.input):
        if not (text is None or isinstance(text, str)):
            raise ValueError("an output that is no text")


def numbers(values: Sequence[float]) -> str:
    """Floats as JSON, which has no infinity; reading gives back the same bits."""
    return json.dumps([number(value) for value in values])


def number(value: float) -> float | str:
    """One float likewise."""
    return "infinity" if value == math.inf else float(value)


def _real(value: float | None) -> float | None:
    """As SQLite gives it back: a float, and no -0.0."""
    return None if value is None else float(value) + 0.0


def _numbers(text: Any) -> tuple[float, ...]:
    return tuple(_number(value) for value in _list(text))


def _number(value: Any) -> float:
    if value == "infinity":
        return math.inf
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0:
        return float(value)
    raise ValueError(f"{value!r} where a number >= 0 belongs")


def _optional(value: Any) -> float | None:
    return None if value is None else _number(value)


def _count(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63:
        return value
    raise ValueError(f"{value!r} where a count belongs")


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    raise ValueError(f"{value!r} where a text belongs")


def _list(text: Any) -> list[Any]:
    found = json.loads(_text(text))
    if isinstance(found, list):
        return found
    raise ValueError("no list where one belongs")
