"""A run is founded, goes on, and refuses to become another."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import torch

import centersmooth as cs
from centersmooth.errors import ArgumentError, ChangedError, InputError
from centersmooth.executors import Serial
from centersmooth.store import Store
from centersmooth.store.seal import digest
from centersmooth.study import Study
from refusals import refused
from small_studies import inputs, model, setting, slow_model, study, values


def rows(run: Path, sql: str, *values: Any) -> list[Any]:
    """What SQL of a user's own says to the file."""
    with closing(sqlite3.connect(run / "run.sqlite")) as connection, connection:
        return connection.execute(sql, values).fetchall()


class Stopped(Exception):
    """In place of whatever stops a run."""


def stop_after(count: int) -> Any:
    seen: list[Any] = []

    def on_record(record: Any) -> None:
        seen.append(record)
        if len(seen) == count:
            raise Stopped

    return on_record


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    study().run(folder)
    return folder


def test_one_record_per_input_and_setting(whole: Path) -> None:
    with Store(whole) as store:
        found = [(record.index, record.setting, record.status) for record in store.records()]
    names = ("l2", "l1", "published")
    assert [(i, name) for i, name, _ in found] == [(i, name) for i in range(3) for name in names]
    assert {status for *_, status in found} == {"certified"}


@pytest.mark.parametrize("stop", [1, 2, 4])
def test_a_stopped_run_goes_on_and_holds_the_same(whole: Path, tmp_path: Path, stop: int) -> None:
    with pytest.raises(Stopped):
        study().run(tmp_path, on_record=stop_after(stop))
    kept = values(tmp_path)
    assert 0 < len(kept) < 9
    summary = study().run(tmp_path)
    assert summary.added == 9 - len(kept)
    assert values(tmp_path) == values(whole)
    with Store(tmp_path) as store:
        assert len(store.run_info()["sessions"]) == 2


def test_a_finished_run_is_left_alone(whole: Path) -> None:
    before = values(whole)
    summary = study().run(whole)
    assert (summary.added, summary.expected, summary.counts) == (0, 9, {"certified": 9})
    assert "9 of 9 records" in str(summary)
    assert values(whole) == before


def test_without_a_seed_one_is_drawn_once(tmp_path: Path) -> None:
    for part in ("one", "other"):
        with pytest.raises(Stopped):
            study(seed=None).run(tmp_path / part, on_record=stop_after(1))
        study(seed=None).run(tmp_path / part)
    one, other = values(tmp_path / "one"), values(tmp_path / "other")
    assert len({record["seed"] for record in one}) == 1
    assert one[0]["seed"] != other[0]["seed"]
    assert one[0]["bounds"] != other[0]["bounds"]


def test_progress_counts_every_forward_pass(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    study().run(tmp_path, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (seen[-1][1], 3 * (360 + 700))


# ------------------------------------------------------------------- long certifications


def long_study(**options: Any) -> Study:
    """400 samples at a quarter of a millisecond each, cut every 20 ms: several spans."""
    settings = [setting("long", samples=400), setting("l1", cs.metrics.L1(), samples=400)]
    return study(2, settings, model=slow_model, save_every=0.02, **options)


def test_spans_give_what_one_go_gives(tmp_path: Path) -> None:
    summary = long_study().run(tmp_path / "spans")
    long_study_in_one_go = study(
        2,
        list(long_study().settings),
        model=slow_model,
    )
    long_study_in_one_go.run(tmp_path / "one go")
    assert values(tmp_path / "spans") == values(tmp_path / "one go")
    assert summary.counts == {"certified": 4}


def test_spans_that_were_counted_are_not_counted_again(tmp_path: Path) -> None:
    counted: list[int] = []

    def stopping(batch: torch.Tensor) -> torch.Tensor:
        counted.append(len(batch))
        if stopping.on and sum(counted) > 600:  # type: ignore[attr-defined]
            raise Stopped
        return slow_model(batch)

    stopping.on = True  # type: ignore[attr-defined]
    settings = [setting("long", samples=1_000)]

    def own() -> Study:
        return study(1, settings, model=Interruptible(stopping), save_every=0.02)

    with pytest.raises(KeyboardInterrupt):
        own().run(tmp_path)
    kept = rows(tmp_path, "SELECT start, stop FROM spans")
    assert kept
    counted.clear()
    stopping.on = False  # type: ignore[attr-defined]
    own().run(tmp_path)
    rest = 1_000 - sum(stop - start for start, stop in kept)
    assert rest < 1_000
    # Fingerprints, contract checks, base answer, answer samples, and what was left to count.
    assert sum(counted) < 60 + rest + 150
    reference = study(1, settings, model=slow_model)
    reference.run(tmp_path / "reference")
    assert values(tmp_path) == values(tmp_path / "reference")


class Interruptible:
    """Turns the exception into Ctrl-C, which nothing may swallow."""

    def __init__(self, function: Any) -> None:
        self._function = function

    def __call__(self, batch: torch.Tensor) -> torch.Tensor:
        try:
            found: torch.Tensor = self._function(batch)
        except Stopped:
            raise KeyboardInterrupt from None
        return found


# ------------------------------------------------------------------------------- failures


class Unreadable(list[Any]):
    """The second input cannot be read."""

    def __getitem__(self, index: Any) -> Any:
        if index == 1:
            raise InputError("expected an image, got rubbish. Repair it.")
        return inputs(3)[index]


def test_failures_are_records_and_can_be_tried_again(tmp_path: Path) -> None:
    usual = study()
    options = {"model": model, "batch_size": 64, "seed": 5, "gallery": 1}
    broken = Study(Unreadable([0, 1, 2]), usual.settings, **options)
    summary = broken.run(tmp_path)
    assert summary.counts == {"certified": 6, "failed": 3}
    assert summary.failed == 3
    with Store(tmp_path) as store:
        failed = [record for record in store.records() if record.status == "failed"]
    assert {record.index for record in failed} == {1}
    assert {record.message for record in failed} == {"expected an image, got rubbish. Repair it."}
    assert broken.run(tmp_path).added == 0
    again = broken.run(tmp_path, retry_failed=True)
    assert (again.added, again.failed) == (3, 3)


def test_a_repaired_input_is_taken_up_and_an_exchanged_one_is_not(tmp_path: Path) -> None:
    """The repaired one is the first, at which black boxes are looked at if it can be read."""

    class Folder(list[Any]):
        broken = True

        def __getitem__(self, index: Any) -> Any:
            if index == 0 and self.broken:
                raise InputError("expected an image, got rubbish. Repair it.")
            return inputs(3)[index]

    folder = Folder([0, 1, 2])
    own = Study(folder, [setting()], model=model, batch_size=64, seed=5, gallery=1)
    assert own.run(tmp_path).counts == {"certified": 2, "failed": 1}
    folder.broken = False
    assert own.run(tmp_path).counts == {"certified": 2, "failed": 1}
    assert own.run(tmp_path, retry_failed=True).counts == {"certified": 3}
    study(3, [setting()]).run(tmp_path / "whole")
    assert values(tmp_path) == values(tmp_path / "whole")
    with Store(tmp_path) as store, Store(tmp_path / "whole") as whole:
        assert store.run_info()["counts"] == whole.run_info()["counts"]
    digests = "SELECT sha256 FROM inputs ORDER BY idx"
    assert rows(tmp_path, digests) == rows(tmp_path / "whole", digests)
    folder.broken = True
    with refused(ChangedError, "number 0"):
        own.run(tmp_path)


def test_an_input_exchanged_while_the_run_goes_on_is_noticed(tmp_path: Path) -> None:
    class Changing(list[Any]):
        shift = 0.0

        def __getitem__(self, index: Any) -> Any:
            return inputs(3)[index] + (self.shift if index == 2 else 0.0)

    data = Changing([0, 1, 2])
    own = Study(data, [setting()], model=model, batch_size=64, seed=5)

    def exchange(_: Any) -> None:
        data.shift = 1.0

    with refused(ChangedError, "number 2"):
        own.run(tmp_path, on_record=exchange)
    with Store(tmp_path) as store:
        assert [record.index for record in store.records()] == [0, 1]
    data.shift = 0.0
    assert own.run(tmp_path).counts == {"certified": 3}


def test_a_model_that_fails_on_one_input_fails_there_alone(tmp_path: Path) -> None:
    def picky(batch: torch.Tensor) -> torch.Tensor:
        bad = (batch.mean(dim=0) - inputs(3)[2]).norm() < 0.5
        return torch.full((len(batch), 4), torch.nan) if bad else model(batch)

    for name, save_every in (("short", 30.0), ("long", 1e-5)):
        own = study(model=picky, save_every=save_every)
        summary = own.run(tmp_path / name)
        assert summary.counts == {"certified": 6, "failed": 3}
    assert values(tmp_path / "short")[:6] == values(tmp_path / "long")[:6]


# ----------------------------------------------------------------------------- not the same


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"settings": [setting(samples=300)]}, ["samples 300 instead of 200"]),
        ({"settings": [setting(eps=(0.1,))]}, ["eps"]),
        ({"count": 2}, ["2 inputs instead of 1"]),
        ({"targets": [torch.zeros(4)]}, ["number 0"]),
        ({"seed": 6}, ["seed 6 instead of 5"]),
        ({"batch_size": 32}, ["batch_size"]),
        ({"input_range": (-9, 9)}, ["input_range"]),
        ({"version": "2"}, ["version"]),
        ({"model": lambda batch: 2 * model(batch)}, ["the model <lambda>"]),
    ],
)
def test_a_changed_study_is_refused(
    tmp_path: Path, changed: dict[str, Any], words: list[str]
) -> None:
    usual: dict[str, Any] = {"count": 1, "settings": [setting()]}
    study(**usual).run(tmp_path)
    before = values(tmp_path)
    with refused(ChangedError, *words):
        study(**{**usual, **changed}).run(tmp_path)
    assert values(tmp_path) == before
    study(**usual).run(tmp_path)


def test_a_black_box_that_answers_otherwise_is_refused(tmp_path: Path) -> None:
    class Box:
        factor = 1.0

        def __call__(self, batch: torch.Tensor) -> torch.Tensor:
            return self.factor * model(batch)

    box = Box()
    study(1, [setting()], model=box).run(tmp_path)
    box.factor = 1.1
    with refused(ChangedError, "answers otherwise", "'l2'"):
        study(1, [setting()], model=box).run(tmp_path)


def test_a_run_keeps_its_threads(tmp_path: Path) -> None:
    before = torch.get_num_threads()
    study(1).run(tmp_path, on=Serial(threads=2))
    assert torch.get_num_threads() == before
    study(1).run(tmp_path)
    study(1).run(tmp_path, on=Serial(threads=2))
    with refused(ArgumentError, "2 threads", "got 1"):
        study(1).run(tmp_path, on=Serial(threads=1))


def test_other_versions_are_warned_of(tmp_path: Path) -> None:
    study(1).run(tmp_path)
    value = '{"torch": "1.0"}'
    sealed = (value, digest("run", ("versions", value)))
    rows(tmp_path, "UPDATE run SET value = ?, digest = ? WHERE key = 'versions'", *sealed)
    with pytest.warns(UserWarning, match="other versions .*torch"):
        study(1).run(tmp_path)


def test_settings_with_goals_stop_early_and_are_kept_so(tmp_path: Path) -> None:
    """In spans or in one go, and beside a setting that waits for all samples."""
    with_goals = [
        setting("met", samples=1_500, goal=(0.1, 5.0)),
        setting("close", cs.metrics.L1(), samples=1_500, tolerance=0.2),
        setting("all", samples=1_500),
    ]
    made = study(2, with_goals, save_every=1e-4)
    made.run(tmp_path)
    with Store(tmp_path) as store:
        kept = {own.name: store.certificate(1, own.name) for own in with_goals}
        spent = [record.evaluations for record in store.records()]
    assert kept["met"].outcome == "goal met"
    assert kept["close"].outcome == "tolerance reached"
    assert kept["all"].outcome is None
    assert kept["met"].sizes.m < kept["all"].sizes.m == 1_500
    assert spent == [100 + 60 + 1_500] * 6
    before = values(tmp_path)
    made.run(tmp_path)
    assert values(tmp_path) == before
    moved = [setting("met", samples=1_500, goal=(0.1, 4.0)), *with_goals[1:]]
    with refused(ChangedError, "goal"):
        study(2, moved, save_every=1e-4).run(tmp_path)
