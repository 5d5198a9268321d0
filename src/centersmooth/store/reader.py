"""Reading a run: records in order, certificates, and what the run is."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from centersmooth.certificates import Certificate
from centersmooth.confidence import Joint, Split, confidence
from centersmooth.errors import ArgumentError, StoreError, expected
from centersmooth.metrics import Metric
from centersmooth.noise import Noise
from centersmooth.store import setting as settings
from centersmooth.store.database import open_to_read, path_of, told
from centersmooth.store.record import Record, from_row
from centersmooth.store.seal import damaged, opened, parsed

_PAGE = 500
_INPUT = 5  # columns of the table `inputs`


class Store:
    """The results of a run, read while it goes on or after.

    Everything read is checked: a store may come from somebody else. Pages are short reads, so
    a slow reader never holds up the run.
    """

    def __init__(self, run: str | Path) -> None:
        self.path = path_of(run)
        self._connection = open_to_read(self.path)
        self._settings = dict(self._read_settings())
        self._places = {found["name"]: place for place, found in self._settings.items()}

    def records(self) -> Iterator[Record]:
        """All records, by input and then in the order of the settings."""
        query = (
            "SELECT inputs.*, records.* FROM records JOIN inputs USING (idx) "
            f"WHERE (idx, place) > (?, ?) ORDER BY idx, place LIMIT {_PAGE}"
        )
        last = (-1, -1)
        while True:
            with told(self.path):
                page = self._connection.execute(query, last).fetchall()
            for row in page:
                yield self._record(row)
            if len(page) < _PAGE:
                return
            last = page[-1][_INPUT : _INPUT + 2]

    def __len__(self) -> int:
        with told(self.path):
            (count,) = self._connection.execute("SELECT count(*) FROM records").fetchone()
        return int(count)

    def run_info(self) -> dict[str, Any]:
        """Title, creation time, seed, versions, fingerprints, options, settings and counts."""
        with told(self.path):
            run = self._connection.execute("SELECT * FROM run").fetchall()
            sessions = self._connection.execute("SELECT * FROM sessions ORDER BY id").fetchall()
            counts = self._connection.execute("SELECT status, count(*) FROM records GROUP BY 1")
            statuses = dict(counts.fetchall())
        told_once = (opened("run", row, self.path) for row in run)
        visits = (opened("sessions", row, self.path) for row in sessions)
        return {
            **{key: parsed(value, self.path) for key, value in told_once},
            "settings": [dict(found) for _, found in sorted(self._settings.items())],
            "sessions": [parsed(text, self.path) for _, text in visits],
            "counts": statuses,
        }

    def certificate(
        self,
        index: int,
        setting: str,
        alpha: float | Joint | Split | None = None,
        metric: Metric | None = None,
        noise: Noise | None = None,
    ) -> Certificate:
        """The certificate behind a record: it answers any eps, and any alpha given here.

        Pass a metric or noise of your own; those of this library are known.
        """
        place = self._place(setting)
        query = "SELECT * FROM certificates WHERE idx = ? AND place = ?"
        with told(self.path):
            row = self._connection.execute(query, (index, place)).fetchone()
        if row is None:
            fix = "Only sharp certificates that did not fail are kept with their distances."
            raise ArgumentError(
                expected(f"a certificate of input {index} for {setting!r}", "none", fix)
            )
        _, _, text = opened("certificates", row, self.path)
        certificate = Certificate.from_json(text, metric=metric, noise=noise)
        if alpha is None:
            return certificate
        return dataclasses.replace(certificate, level=confidence(alpha), _known={})

    def frame(self) -> Any:
        """A pandas frame with a row per record and eps."""
        from centersmooth.store.export import flat

        try:
            import pandas
        except ImportError as error:
            fix = "pip install pandas"
            raise StoreError(expected("pandas to be installed", "none", fix)) from error
        return pandas.DataFrame([row for record in self.records() for row in flat(record)])

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self.close()

    # ---- checked pieces

    def _record(self, row: tuple[Any, ...]) -> Record:
        _, name, _, encoded = opened("inputs", row[:_INPUT], self.path)
        values = opened("records", row[_INPUT:], self.path)
        try:
            return from_row(values, self._settings[values[1]], name, encoded)
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            got = f"{error} (input {values[0]}, setting {values[1]})"
            raise damaged(self.path, got) from error

    def _read_settings(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        with told(self.path):
            found = self._connection.execute("SELECT * FROM settings").fetchall()
        for row in found:
            place, text = opened("settings", row, self.path)
            try:
                yield place, settings.read(text)
            except (ValueError, TypeError, RecursionError) as error:
                raise damaged(self.path, str(error)) from error

    def _place(self, setting: str) -> int:
        if setting not in self._places:
            got, names = repr(setting), ", ".join(map(repr, self._places))
            raise ArgumentError(expected("a setting of this run", got, f"It has {names}."))
        return self._places[setting]
