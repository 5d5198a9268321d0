"""Records for other programs: CSV, JSON lines, the field's TSV, and rows for data frames."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from typing import Any, TextIO

from centersmooth.store.record import Record

_FLAT = (
    "index",
    "input_ref",
    "setting",
    "procedure",
    "metric",
    "noise",
    "eps",
    "bound",
    "error",
    "status",
    "message",
    "diameter",
    "confidence",
    "smoothing_error",
    "base_error",
    "smoothed_error",
    "evaluations",
    "probes",
    "seconds",
    "seed",
    "draws",
)
_FIELD = ("idx", "setting", "eps", "radius", "smoothing_error", "status", "time")


def flat(record: Record) -> Iterator[dict[str, Any]]:
    """One row per eps; a failed record has its rows too, without bounds."""
    shared = {name: getattr(record, name) for name in _FLAT if hasattr(record, name)}
    shared |= {"noise": _told(record.noise), "confidence": _told(record.confidence)}
    for place, eps in enumerate(record.eps):
        known = place < len(record.bounds)
        own = {
            "eps": eps,
            "bound": record.bounds[place] if known else None,
            "error": record.errors[place] if known and record.errors is not None else None,
            "status": record.statuses[place] if known else record.status,
        }
        row = {**shared, **own}
        yield {name: row[name] for name in _FLAT}


def write_csv(records: Iterable[Record], stream: TextIO) -> None:
    """A header, then one line per record and eps."""
    writer = csv.DictWriter(stream, _FLAT, lineterminator="\n")
    writer.writeheader()
    for record in records:
        writer.writerows(flat(record))


def write_tsv(records: Iterable[Record], stream: TextIO) -> None:
    """The columns this field's scripts read; `radius` is the certified eps_2 of the output."""
    writer = csv.writer(stream, dialect="excel-tab", lineterminator="\n")
    writer.writerow(_FIELD)
    for record in records:
        for row in flat(record):
            cells = (row["index"], row["setting"], row["eps"], row["bound"])
            writer.writerow((*cells, row["smoothing_error"], row["status"], row["seconds"]))


def write_jsonl(records: Iterable[Record], stream: TextIO) -> None:
    """One object per record, without the outputs kept for the gallery."""
    for record in records:
        stream.write(line(record) + "\n")


def line(record: Record) -> str:
    """A record as one line of JSON, which has no infinity: "infinity" stands for it."""
    values = {**record.values(), "seconds": record.seconds}
    for name in ("input", "base", "smoothed", "samples"):
        del values[name]
    return json.dumps({name: _plain(value) for name, value in values.items()}, allow_nan=False)


def _told(description: Any) -> str:
    return json.dumps(description, sort_keys=True)


def _plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return "infinity" if value == float("inf") else value
