"""Writing a run: one process, one transaction per input, nothing half-written."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from centersmooth.errors import ChangedError, StoreError, expected
from centersmooth.sketch import Sketch
from centersmooth.store.changes import UNREADABLE, changes
from centersmooth.store.database import FILE, open_to_write, told, transaction
from centersmooth.store.lock import RunLock
from centersmooth.store.record import Record, to_row
from centersmooth.store.seal import damaged, opened, parsed, put


@dataclass(frozen=True)
class Identity:
    """What makes a run this run: nothing of it may change between its sessions."""

    settings: Sequence[Mapping[str, Any]]
    inputs: Sequence[tuple[str, str]]
    """Name and SHA-256 of each input (its target included)."""
    models: Sequence[Mapping[str, Any]]
    """Fingerprints of the models, by number."""
    options: Mapping[str, Any]
    """Whatever else of the study shapes its records."""


@dataclass(frozen=True)
class Entry:
    """A record with its place among the settings, and its certificate where there is one."""

    place: int
    record: Record
    certificate: str | None


@dataclass(frozen=True)
class Part:
    """What was counted for a span of one input's certification samples."""

    sketches: tuple[Sketch, ...]
    seconds: float


class Writer:
    """Holds a run for this process and adds to it: `begin` first, then the rest."""

    def __init__(self, folder: Path) -> None:
        self._lock = RunLock(_made(folder))
        self.path = folder / FILE
        self._session = 0
        try:
            self._connection = open_to_write(self.path)
        except BaseException:
            self._lock.release()
            raise

    def begin(
        self, identity: Identity, first: Mapping[str, Any], session: Mapping[str, Any]
    ) -> bool:
        """Found the run, or go on with it (True) if it is the same study.

        first: what is written down once, when the run is made (seed, title, creation time, …).
        session: what is written down each time (versions, machine, threads).
        """
        with transaction(self._connection, self.path):
            goes_on = self._compare(identity)
            if goes_on:
                self._take_repaired(identity)
            else:
                self._found(identity, first)
            self._session = self._visit(session)
        return goes_on

    # ---- what the run holds

    def first(self, key: str) -> Any:
        """What was written down when the run was made, or noted since."""
        row = self._one("SELECT * FROM run WHERE key = ?", key)
        if row is None:
            raise damaged(self.path, f"no {key}")
        return parsed(opened("run", row, self.path)[1], self.path)

    def note(self, key: str, value: Any) -> None:
        """Write down something found out later; a second time is an error."""
        with transaction(self._connection, self.path):
            put(self._connection, "run", (key, json.dumps(value)))

    def noted(self, key: str) -> bool:
        """Whether `first` would find it."""
        return self._one("SELECT 1 FROM run WHERE key = ?", key) is not None

    def done(self) -> set[tuple[int, int]]:
        """(input, place of the setting) of all records."""
        return set(self._all("SELECT idx, place FROM records"))

    def counts(self) -> dict[str, int]:
        """How many records there are of each status."""
        return dict(self._all("SELECT status, count(*) FROM records GROUP BY status"))

    def tuning(self, key: str) -> tuple[int, bool, float] | None:
        """Batch size, channels_last and passes per second, as once measured."""
        row = self._one("SELECT * FROM tunings WHERE key = ?", key)
        if row is None:
            return None
        _, size, channels_last, rate = opened("tunings", row, self.path)
        return int(size), bool(channels_last), float(rate)

    def parts(self, index: int, draws: int, answers: str) -> dict[tuple[int, int], Part]:
        """The counted spans of an unfinished certification, if they belong to these answers."""
        found = {}
        for row in self._all("SELECT * FROM spans WHERE idx = ? AND draws = ?", index, draws):
            _, _, start, stop, owner, packed, seconds = opened("spans", row, self.path)
            if owner == answers:
                found[start, stop] = Part(self._sketches(packed), float(seconds))
        return found

    # ---- adding to it

    def add(self, entries: Sequence[Entry], encoded: str | None = None) -> None:
        """All records of one input's draws at once, and an end to their spans."""
        with transaction(self._connection, self.path):
            for entry in entries:
                record, place = entry.record, entry.place
                put(self._connection, "records", to_row(record, place, self._session))
                if entry.certificate is not None:
                    row = (record.index, place, entry.certificate)
                    put(self._connection, "certificates", row)
                key = (record.index, record.draws)
                self._connection.execute("DELETE FROM spans WHERE idx = ? AND draws = ?", key)
            if encoded is not None:
                self._keep_input(entries[0].record.index, encoded)

    def add_tuning(self, key: str, size: int, channels_last: bool, rate: float) -> None:
        """How a model's batches were found to run best."""
        with transaction(self._connection, self.path):
            put(self._connection, "tunings", (key, size, int(channels_last), float(rate)))

    def add_part(
        self, index: int, draws: int, span: tuple[int, int], answers: str, part: Part
    ) -> None:
        """What was counted for a span of one input's certification samples."""
        packed = ",".join(sketch.to_bytes().hex() for sketch in part.sketches)
        row = (index, draws, *span, answers, packed, float(part.seconds))
        with transaction(self._connection, self.path):
            put(self._connection, "spans", row, "INSERT OR REPLACE")

    def forget_failed(self) -> None:
        """Make room for another try at what failed."""
        with transaction(self._connection, self.path):
            self._connection.execute("DELETE FROM records WHERE status = 'failed'")

    def close(self) -> None:
        """Let the next process work on the run."""
        self._connection.close()
        self._lock.release()

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self.close()

    # ---- founding and returning

    def _found(self, identity: Identity, first: Mapping[str, Any]) -> None:
        run = {**first, "options": identity.options, "models": identity.models}
        for key, value in run.items():
            put(self._connection, "run", (key, json.dumps(value)))
        for place, setting in enumerate(identity.settings):
            put(self._connection, "settings", (place, json.dumps(setting)))
        for index, (name, sha256) in enumerate(identity.inputs):
            put(self._connection, "inputs", (index, name, sha256, None))

    def _compare(self, identity: Identity) -> bool:
        """False if the run is new; an error if it was started by another study."""
        if not self.noted("options"):
            return False
        try:
            found = changes(self._identity(), identity)
        except (AttributeError, TypeError) as error:
            raise damaged(self.path, str(error)) from error
        if found:
            fix = "Restore the study as it was, or name another folder for a new run."
            raise ChangedError(expected("the study that started this run", found, fix))
        return True

    def _identity(self) -> Identity:
        settings = (
            opened("settings", row, self.path)[1]
            for row in self._all("SELECT * FROM settings ORDER BY place")
        )
        inputs = (
            opened("inputs", row, self.path)
            for row in self._all("SELECT * FROM inputs ORDER BY idx")
        )
        return Identity(
            settings=[parsed(text, self.path) for text in settings],
            inputs=[(name, sha256) for _, name, sha256, _ in inputs],
            models=self.first("models"),
            options=self.first("options"),
        )

    def _take_repaired(self, identity: Identity) -> None:
        """Inputs that could not be read when the run was begun, and can be now."""
        query = "SELECT idx FROM inputs WHERE sha256 = ?"
        for (index,) in self._all(query, UNREADABLE):
            name, sha256 = identity.inputs[index]
            put(self._connection, "inputs", (index, name, sha256, None), verb="INSERT OR REPLACE")

    def _visit(self, session: Mapping[str, Any]) -> int:
        (last,) = self._one("SELECT coalesce(max(id), 0) FROM sessions") or (0,)
        return put(self._connection, "sessions", (last + 1, json.dumps(session)))

    # ---- rows

    def _keep_input(self, index: int, encoded: str) -> None:
        row = self._one("SELECT * FROM inputs WHERE idx = ?", index)
        if row is None:
            raise damaged(self.path, f"no input {index}")
        _, name, sha256, _ = opened("inputs", row, self.path)
        put(self._connection, "inputs", (index, name, sha256, encoded), "INSERT OR REPLACE")

    def _all(self, query: str, *values: Any) -> list[Any]:
        with told(self.path):
            return self._connection.execute(query, values).fetchall()

    def _one(self, query: str, *values: Any) -> Any:
        with told(self.path):
            return self._connection.execute(query, values).fetchone()

    def _sketches(self, text: Any) -> tuple[Sketch, ...]:
        try:
            return tuple(Sketch.from_bytes(bytes.fromhex(part)) for part in text.split(","))
        except (AttributeError, ValueError) as error:
            raise damaged(self.path, str(error)) from error


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        fix = "Choose a folder you can write to."
        raise StoreError(expected(f"a folder {folder} for the run", str(error), fix)) from error
    return folder


__all__ = ["Entry", "Identity", "Part", "Writer"]
