"""`make soak`: the same as some tests, for much longer and with new random numbers every time.

Not collected by `make test`. Every random number comes from SEED, which is printed; to repeat a
soak, `make soak ARGS="..."` with SOAK_SEED set to it.
"""

from __future__ import annotations

import os
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import ray
from hypothesis import HealthCheck, given, settings
from hypothesis import seed as from_seed
from hypothesis import strategies as st
from ray.cluster_utils import Cluster

from cli_files import image_folder, model_file
from killing import interrupted_study, killed_after, killed_at_statement, work, work_through_ray
from many_records import measured
from small_studies import values
from test_cli_certify import GOOD, OPTIONS, VALUES, ends_in_words
from test_cli_study import PIECES, a_study_or_a_mistake
from test_recovery import finished
from test_store_database import noticed_or_harmless, written

SEED = int(os.environ.get("SOAK_SEED") or random.SystemRandom().randrange(2**32))
KILLS = 20

LONG = settings(
    deadline=None,
    max_examples=int(os.environ.get("SOAK_EXAMPLES") or 3_000),
    suppress_health_check=list(HealthCheck),
    print_blob=True,
)


def draws(part: int) -> random.Random:
    print(f"SOAK_SEED={SEED}")
    return random.Random(f"{SEED}/{part}")


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, object]]:
    folder = tmp_path_factory.mktemp("uninterrupted")
    interrupted_study().run(folder)
    return values(folder)


# ------------------------------------------------------------------------------------ kills


def test_twenty_kills_at_random_moments(uninterrupted: object, tmp_path: Path) -> None:
    """Until twenty have struck a process at work; a run that ended meanwhile is followed by a
    fresh one, and each must end as the uninterrupted one did."""
    draw, struck, runs = draws(1), 0, 0
    while struck < KILLS:
        run = tmp_path / str(runs)
        struck += killed_after([draw.uniform(0.05, 0.7) for _ in range(5)], work, run)
        runs += 1
        assert values(finished(run)) == uninterrupted
        assert runs <= KILLS, "every run ended before its kill"
    print(f"{struck} kills, {runs} runs")


def test_twenty_kills_at_random_statements(uninterrupted: object, tmp_path: Path) -> None:
    draw, struck, runs = draws(2), 0, 0
    while struck < KILLS:
        run = tmp_path / str(runs)
        struck += sum(killed_at_statement(draw.randint(1, 90), run) for _ in range(5))
        runs += 1
        assert values(finished(run)) == uninterrupted
        assert runs <= KILLS, "every run ended before its kill"
    print(f"{struck} kills, {runs} runs")


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    two = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    two.add_node(num_cpus=1)
    yield two.address
    ray.shutdown()
    two.shutdown()


def test_kills_of_the_driver_of_a_cluster(
    uninterrupted: object, cluster: str, tmp_path: Path
) -> None:
    """The process that holds the run dies, its workers on the cluster outlive it for a moment."""
    draw = draws(3)
    moments = [draw.uniform(1.0, 6.0) for _ in range(5)]
    struck = killed_after(moments, work_through_ray, tmp_path, cluster)
    work_through_ray(tmp_path, cluster)
    assert values(finished(tmp_path)) == uninterrupted
    print(f"{struck} kills of the driver")


# ------------------------------------------------------------------------------------- fuzz


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model and images."""
    folder = tmp_path_factory.mktemp("desk")
    model_file(folder)
    image_folder(folder)
    return folder


@from_seed(SEED)
@LONG
@given(st.lists(st.tuples(OPTIONS, VALUES), min_size=1, max_size=5), st.booleans())
def test_whatever_is_typed_ends_in_words(
    desk: Path, monkeypatch: pytest.MonkeyPatch, typed: list[tuple[str, str]], usual: bool
) -> None:
    monkeypatch.chdir(desk)
    with tempfile.TemporaryDirectory() as out:
        ends_in_words({**(GOOD if usual else {}), **dict(typed)}, Path(out) / "run")


@from_seed(SEED)
@LONG
@given(st.lists(PIECES, max_size=12).map("\n".join).map(str.encode) | st.binary(max_size=300))
def test_any_file_is_a_study_or_a_mistake(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "fuzzed.py"
    path.write_bytes(content)
    assert a_study_or_a_mistake(path)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("whole"))


@from_seed(SEED)
@LONG
@given(flips=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 7)), min_size=1))
def test_flipped_bits_are_noticed_or_harmless(whole: Path, flips: list[tuple[float, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        noticed_or_harmless(whole, Path(folder), flips)


# ------------------------------------------------------------------------------------- size


def test_a_hundred_thousand_records(tmp_path: Path) -> None:
    """Seen: 25 MB to write, 4 to read or export, 290 to report."""
    found = measured(100_000, tmp_path)
    print(found)
    assert found["written"]["mb"] < 60, found
    assert found["read"]["mb"] < 20, found
    assert found["exported"]["mb"] < 20, found
    assert found["reported"]["mb"] < 450, found
