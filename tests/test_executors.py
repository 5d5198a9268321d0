"""The same results wherever the work is done, whoever dies meanwhile."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba
import pytest
import ray
import torch
from ray.cluster_utils import Cluster

import centersmooth as cs
from centersmooth.errors import ArgumentError, ExecutorError
from centersmooth.executors import Ray, Serial
from centersmooth.store import Store
from centersmooth.study import Study
from ray_work import KillsItsWorkers, Parcel
from refusals import refused
from small_studies import setting, study


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """Two machines of one core each, one with a GPU, as far as Ray can tell; its address."""
    two = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    two.add_node(num_cpus=1, num_gpus=1)
    yield two.address
    ray.shutdown()
    two.shutdown()


# --------------------------------------------------------------------------------- serial


def test_serial_is_a_map_with_its_own_number_of_threads() -> None:
    before = torch.get_num_threads(), numba.get_num_threads()
    with Serial().hire(lambda task: (task, torch.get_num_threads()), threads=3) as map_:
        assert list(map_(iter([2, 1]))) == [(2, 3), (1, 3)]
    assert (torch.get_num_threads(), numba.get_num_threads()) == before
    assert Serial().usual_threads() == before[0]
    assert Serial(threads=4).threads == 4


def test_serial_takes_a_task_only_when_it_is_free() -> None:
    taken = []

    def tasks() -> Iterator[int]:
        for number in range(3):
            taken.append(number)
            yield number

    with Serial().hire(abs, threads=1) as map_:
        results = map_(tasks())
        next(results)
        assert taken == [0]


def test_serial_puts_threads_back_after_an_error() -> None:
    before = torch.get_num_threads()
    with pytest.raises(ZeroDivisionError), Serial().hire(abs, threads=before + 1):
        raise ZeroDivisionError
    assert torch.get_num_threads() == before


@pytest.mark.parametrize(
    "options",
    [{"threads": 0}, {"workers": -1}, {"workers": 1.5}, {"gpus": 1.5}, {"gpus": -1}, {"gpus": "1"}],
)
def test_numbers_without_sense_are_refused(options: dict[str, Any]) -> None:
    with refused(ArgumentError, next(iter(options))):
        Ray(**options)


# ------------------------------------------------------------------------------------ Ray


@pytest.mark.parametrize(
    "address", ["127.0.0.1:1", "ray://127.0.0.1:1", "[::1]:1", "127.0.0.1:http", "127.0.0.1:99999"]
)
def test_an_address_where_nobody_answers_is_told_at_once(address: str) -> None:
    """Ray itself would go on trying for many minutes."""
    with refused(ExecutorError, address, "ray start"), Ray(address).hire(abs, threads=1):
        raise AssertionError("there is a cluster after all")


def test_a_study_on_two_machines_survives_killed_workers_and_equals_serial(
    cluster: str, tmp_path: Path
) -> None:
    """Short certifications by input, long ones by spans. One worker is killed once, and every
    one that takes the third input, which is given up in the end."""

    def own() -> Study:
        settings = [
            setting("l2", samples=64),
            setting("own", cs.metrics.Custom(lambda a, b: float((a - b).norm())), samples=64),
            setting("long", samples=300, only=(1, 3)),
            setting("long l1", cs.metrics.L1(), samples=300, only=(1, 3)),
        ]
        return study(4, settings, model=KillsItsWorkers(tmp_path), save_every=1e-9)

    own().run(tmp_path / "serial", on=Serial(threads=1))
    assert not (tmp_path / "killed").exists()
    summary = own().run(tmp_path / "ray", on=Ray(cluster, workers=2))
    assert (tmp_path / "killed").exists()
    assert summary.counts == {"certified": 10, "failed": 2}
    there, here = told(tmp_path / "ray"), told(tmp_path / "serial")
    lost = [there.pop(key) for key in ((2, "l2"), (2, "own"))]
    assert all("died 3 times" in record["message"] for record in lost)
    assert there == {key: here[key] for key in there}
    with Store(tmp_path / "ray") as store:
        assert store.run_info()["sessions"][0]["executor"] == f"Ray, {cluster}"


def told(run: Path) -> dict[tuple[int, str], dict[str, Any]]:
    """Records without their times, and the distances behind them where they can be read."""
    with Store(run) as store:
        records = {(record.index, record.setting): record.values() for record in store.records()}
        for index, name in records:
            if name in ("l2", "long") and records[index, name]["status"] == "certified":
                certificate = store.certificate(index, name)
                records[index, name]["distances"] = certificate.ranked.to_json()
    return records


def seen_gpus(_: int) -> tuple[int, str]:
    return os.getpid(), os.environ.get("CUDA_VISIBLE_DEVICES", "")


def test_workers_see_the_gpus_they_asked_for(cluster: str) -> None:
    """One worker, although there are two cores: there is one GPU."""
    with Ray(cluster, gpus=1).hire(seen_gpus, threads=1) as map_:
        found = set(map_(range(6)))
    assert [devices for _, devices in found] == ["0"]
    with Ray(cluster).hire(seen_gpus, threads=1) as map_:
        assert {devices for _, devices in map_(range(4))} <= {"", "-1"}


def test_work_is_shipped_once_per_worker_and_its_errors_come_back(
    tmp_path: Path,
) -> None:
    """On a cluster of our own, started and ended by the way."""
    with Ray(workers=2).hire(Parcel(tmp_path), threads=1) as map_:
        results = [*map_(range(10)), *map_(range(10, 20))]
        with pytest.raises(ValueError, match="no root of -1"):
            list(map_([3, -1]))
        assert [square for square, *_ in map_([5])] == [25]
    assert not ray.is_initialized()
    assert sorted(square for square, *_ in results) == [n * n for n in range(20)]
    workers = {worker for _, worker, _ in results}
    assert len(workers) == 2
    assert {threads for *_, threads in results} == {1}
    deliveries = (tmp_path / "delivered").iterdir()
    assert sorted(int(mark.name.split("-")[0]) for mark in deliveries) == sorted(workers)
