"""What is added is there, all or nothing, whatever happens to the process or the disk."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from centersmooth.errors import BusyError, ChangedError, StoreError
from centersmooth.sketch import Sketch
from centersmooth.store import Part, Store, Writer
from refusals import refused
from store_runs import INPUTS, SETTING, begun, entry


@settings(derandomize=True, deadline=None, max_examples=15)
@given(
    order=st.permutations(range(8)),
    stops=st.sets(st.integers(0, 7)),
    pairs=st.lists(st.booleans(), min_size=8, max_size=8),
)
def test_records_come_back_in_order_whenever_they_were_added(
    tmp_path_factory: pytest.TempPathFactory, order: list[int], stops: set[int], pairs: list[bool]
) -> None:
    folder = tmp_path_factory.mktemp("run")
    writer = begun(folder)
    for step, index in enumerate(order):
        writer.add([entry(index, place) for place in range(1 + pairs[index])])
        if step in stops:  # another process goes on
            writer.close()
            writer = begun(folder)
    done = writer.done()
    writer.close()
    with Store(folder) as store:
        found = list(store.records())
    wanted = [(i, place) for i in range(8) for place in range(1 + pairs[i])]
    assert [(r.index, ("l2", "l1").index(r.setting)) for r in found] == wanted
    assert done == set(wanted)
    assert found == [entry(i, place).record for i, place in wanted]


def test_one_bad_record_keeps_out_all_of_its_transaction(tmp_path: Path) -> None:
    with begun(tmp_path) as writer:
        writer.add([entry(1)])
        with pytest.raises(StoreError):
            writer.add([entry(2), entry(1)])
        assert writer.done() == {(1, 0)}
        writer.add([entry(2)])
        assert writer.counts() == {"certified": 2}


def test_failed_records_can_be_forgotten(tmp_path: Path) -> None:
    bad = entry(2, status="failed", bounds=(), statuses=())
    with begun(tmp_path) as writer:
        writer.add([entry(1)])
        writer.add([replace(bad, certificate=None)])
        writer.forget_failed()
        assert writer.done() == {(1, 0)}


# -------------------------------------------------------------------------- parts and notes


def sketch(*distances: float) -> Sketch:
    counted = Sketch(2)
    counted.add(np.array([distances, distances]))
    return counted


def test_parts_come_back_exactly_and_end_with_their_records(tmp_path: Path) -> None:
    one, other = sketch(0.0, 1.5, 1e-30, np.inf), sketch(3.0)
    with begun(tmp_path) as writer:
        writer.add_part(0, 3, (0, 4), "answers", Part((one, other), 1.25))
        writer.add_part(0, 3, (4, 8), "other answers", Part((one,), 1.0))
    with begun(tmp_path) as writer:
        found = writer.parts(0, 3, "answers")
        assert list(found) == [(0, 4)]
        assert found[0, 4].seconds == 1.25
        for mine, kept in zip((one, other), found[0, 4].sketches, strict=True):
            assert kept.ranked() == mine.ranked()
            kept.merge(mine)
            assert kept.total == 2 * mine.total
        writer.add([entry(0)])
        assert writer.parts(0, 3, "answers") == {}


def test_tunings_and_notes_come_back(tmp_path: Path) -> None:
    with begun(tmp_path) as writer:
        assert writer.tuning("key") is None
        writer.add_tuning("key", 96, True, 1234.5)
        assert not writer.noted("answers")
        writer.note("answers", [None, [1, "x"]])
    with begun(tmp_path) as writer:
        assert writer.tuning("key") == (96, True, 1234.5)
        assert writer.first("answers") == [None, [1, "x"]]
        assert writer.first("seed") == 1


def test_an_input_is_kept_with_its_first_record(tmp_path: Path) -> None:
    with begun(tmp_path) as writer:
        writer.add([entry(0)], encoded="[1]")
    with Store(tmp_path) as store:
        assert next(store.records()).input == "[1]"
    with begun(tmp_path) as writer:  # the same study still
        assert writer.done() == {(0, 0)}


# --------------------------------------------------------------------------- other studies


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"settings": [SETTING]}, ["1 settings instead of 2"]),
        ({"settings": [SETTING, {**SETTING, "name": "l1", "eps": [0.3]}]}, ["'l1'", "eps", "0.3"]),
        ({"inputs": [("0", "0" * 64)]}, ["1 inputs instead of 40"]),
        (
            {"inputs": [(str(i), f"{i + (i == 7):064x}") for i in range(INPUTS)]},
            ["another input or target at number 7"],
        ),
        ({"options": {"seed": 3}}, ["seed", "3", "null"]),
    ],
)
def test_another_study_is_refused(tmp_path: Path, change: dict[str, Any], words: list[str]) -> None:
    begun(tmp_path).close()
    with refused(ChangedError, *words):
        begun(tmp_path, **change)
    begun(tmp_path).close()  # and the run is as it was


# ----------------------------------------------------------------------- the world outside

WRITE_UNTIL_FULL = """
import resource, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from store_runs import begun, entry
from centersmooth.errors import StoreError

writer = begun(Path(sys.argv[1]))
resource.setrlimit(resource.RLIMIT_FSIZE, (120_000, 120_000))
for index in range(40):
    try:
        writer.add([entry(index, base="x" * 10_000)])
    except StoreError as error:
        print(index, error)
        sys.exit(7)
"""


def test_a_full_disk_is_told_and_keeps_what_is_finished(tmp_path: Path) -> None:
    arguments = [sys.executable, "-c", WRITE_UNTIL_FULL, str(tmp_path), str(Path(__file__).parent)]
    ended = subprocess.run(arguments, capture_output=True, text=True)
    assert ended.returncode == 7, ended.stderr
    kept, message = ended.stdout.split(maxsplit=1)
    assert 2 < int(kept) < 20
    assert "expected room to write" in message
    assert "Finished records are safe" in message
    with Store(tmp_path) as store:
        assert [record.index for record in store.records()] == list(range(int(kept)))
    with begun(tmp_path) as writer:  # with room again, it goes on
        writer.add([entry(int(kept), base="x" * 10_000)])


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with refused(StoreError, "a folder", "Choose a folder you can write to"):
        Writer(tmp_path / "file" / "run")


def test_two_writers_one_works_and_the_other_is_told(tmp_path: Path) -> None:
    with begun(tmp_path) as writer:
        writer.add([entry(0)])
        with refused(BusyError, "another process"):
            Writer(tmp_path)
        writer.add([entry(1)])
    begun(tmp_path).close()


def test_a_slow_reader_does_not_hold_up_the_writer(tmp_path: Path) -> None:
    with begun(tmp_path) as writer:
        writer.add([entry(0), entry(0, 1)])
        with Store(tmp_path) as store:
            records = store.records()
            next(records)
            writer.add([entry(1)])
            assert [r.setting for r in records] == ["l1"]
            assert len(list(store.records())) == 3
