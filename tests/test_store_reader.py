"""A store answers what its records, certificates and settings say."""

from __future__ import annotations

from pathlib import Path

import pytest

import centersmooth as cs
from centersmooth.errors import ArgumentError, FormatError
from centersmooth.store import Store
from refusals import refused
from small_studies import EPS, study
from store_runs import begun, entry


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    study(2).run(folder)
    return folder


def test_records_come_page_by_page(tmp_path: Path) -> None:
    with begun(tmp_path, inputs=[(str(i), "0" * 64) for i in range(600)]) as writer:
        writer.add([entry(index, place) for index in range(600) for place in (0, 1)])
    with Store(tmp_path) as store:
        found = [(record.index, record.setting) for record in store.records()]
        assert len(store) == len(found) == 1200
    assert found == [(i, name) for i in range(600) for name in ("l2", "l1")]


def test_a_certificate_says_what_its_record_says(run: Path) -> None:
    with Store(run) as store:
        for record in store.records():
            if record.procedure == "sharp":
                certificate = store.certificate(record.index, record.setting)
                assert tuple(certificate.bound(eps) for eps in EPS) == record.bounds


def test_a_certificate_answers_other_eps_and_alpha_as_a_new_one_would(run: Path) -> None:
    own = study(2)
    with Store(run) as store:
        kept = store.certificate(1, "l2", alpha=cs.Split(0.1, 0.05))
        seed = store.run_info()["seed"]
    smoother = own.settings[0].smoother(None, 64, None)
    fresh = smoother.certify(own.inputs[1], samples=200, alpha=cs.Split(0.1, 0.05), seed=seed)
    for eps in (0.0, 0.05, 0.15):
        assert kept.bound(eps) == fresh.bound(eps)


def test_a_metric_of_ones_own_is_passed_to_read_a_certificate(tmp_path: Path) -> None:
    from small_studies import setting

    metric = cs.metrics.Custom(lambda a, b: float((a - b).abs().max()))
    study(1, [setting("own", metric)]).run(tmp_path)
    with Store(tmp_path) as store:
        record = next(store.records())
        with pytest.raises(FormatError, match="metric"):
            store.certificate(0, "own")
        assert store.certificate(0, "own", metric=metric).bound(0.1) == record.bounds[0]


def test_what_is_not_there_is_told(run: Path) -> None:
    with Store(run) as store:
        with refused(ArgumentError, "'l2', 'l1', 'published'"):
            store.certificate(0, "l3")
        with refused(ArgumentError, "input 0", "published"):
            store.certificate(0, "published")
        with refused(ArgumentError, "input 99"):
            store.certificate(99, "l2")


def test_run_info_tells_how_to_do_it_again(run: Path) -> None:
    with Store(run) as store:
        info = store.run_info()
    assert info["seed"] == 5
    assert info["expected"] == 6
    assert sum(info["counts"].values()) == 6
    assert info["versions"]["centersmooth"] == cs.__version__
    assert [setting["name"] for setting in info["settings"]] == ["l2", "l1", "published"]
    assert info["settings"][0]["noise"] == {"type": "Gaussian", "fields": {"sigma": 0.25}}
    assert info["models"][0]["name"] == "model"
    assert len(info["sessions"]) == 1
    assert info["sessions"][0]["threads"] == info["threads"]


def test_frame_has_a_row_per_record_and_eps(run: Path) -> None:
    with Store(run) as store:
        frame = store.frame()
        bounds = [bound for record in store.records() for bound in record.bounds]
    assert list(frame["bound"]) == bounds
    assert set(frame["setting"]) == {"l2", "l1", "published"}
