"""Pieces of work give what one go gives, and blame the right one when they fail."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
import torch

import centersmooth as cs
from centersmooth.errors import ArgumentError, BatchDependenceError, TrainingModeError
from centersmooth.sampling import Batching
from centersmooth.study import Study
from centersmooth.study.tasks import Bench, CountSpan, Done, Failed, FindAnswers, Finish, Job, Whole
from small_studies import inputs, model, published, setting, study


def job(own: Study, index: int = 0, draws: int = 0, size: int = 64, **options: Any) -> Job:
    targets = tuple(own.target(place, index) for place in own.groups()[draws])
    usual = {"look": False, **options}
    return Job(index, str(index), draws, own.inputs[index], targets, Batching(size), **usual)


def certificates(done: Any) -> list[dict[str, Any]]:
    assert isinstance(done, Done), done
    told = [json.loads(entry.certificate or "") for entry in done.entries]
    for one in told:
        del one["provenance"]["seconds"]
    return told


def with_every_center() -> list[Any]:
    clipped = setting("clipped", center=cs.ClippedMean(9.0), eps=(0.01,))
    return [setting(), setting("l1", cs.metrics.L1()), clipped]


WEBER = [
    setting(f"pool {pool}", cs.metrics.L1(), center=cs.WeberPoint(pool), eps=(0.01, 0.02))
    for pool in (1, 2)
]


@pytest.mark.parametrize("settings", [with_every_center(), WEBER], ids=["usual", "pooled"])
@pytest.mark.parametrize("cuts", [(0, 64, 200), (0, 128, 192, 200), (0, 200)])
def test_spans_counted_apart_give_the_same_certificates(
    cuts: tuple[int, ...], settings: Any
) -> None:
    own = study(2, settings, targets=[None, torch.zeros(4)])
    bench = Bench(own, seed=5)
    for index in range(2):
        whole = bench(Whole(job(own, index)))
        answered = Bench(own, seed=5)(FindAnswers(job(own, index)))
        spans = list(itertools.pairwise(cuts))
        parts = [
            Bench(own, seed=5)(CountSpan(job(own, index), answered.answers, *span))
            for span in reversed(spans)
        ]
        merged = [sketch.empty() for sketch in parts[0].sketches]
        for part in parts:
            for mine, counted in zip(merged, part.sketches, strict=True):
                mine.merge(counted)
        finish = Finish(job(own, index), answered.answers, tuple(merged), seconds=100.0)
        pieces = Bench(own, seed=5)(finish)
        assert certificates(pieces) == certificates(whole)
        assert [e.record.values() for e in pieces.entries] == [
            e.record.values() for e in whole.entries
        ]
        assert pieces.entries[0].record.seconds > 100


def test_a_bench_gives_what_certify_gives() -> None:
    own = study(1)
    done = Bench(own, seed=5)(Whole(job(own)))
    for place, entry in enumerate(done.entries):
        smoother = own.settings[place].smoother(None, 64, None)
        alone = smoother.certify(own.inputs[0], samples=200, alpha=0.1, seed=5)
        for eps, bound in zip(entry.record.eps, entry.record.bounds, strict=True):
            assert bound == alone.bound(eps)


def test_the_published_procedure_gives_what_it_gives_alone() -> None:
    own = study(1, [published()])
    (entry,) = Bench(own, seed=5)(Whole(job(own))).entries
    alone = cs.published.certify(
        model, own.inputs[0], own.settings[0].noise, cs.metrics.L2(), [0.1, 0.2],
        n=200, m=300, delta=0.2, alpha1=0.05, alpha2=0.05, seed=5, batch_size=64,
    )  # fmt: skip
    assert isinstance(alone, list)
    assert entry.record.bounds == tuple(one.bound for one in alone)
    assert entry.certificate is None


def test_distances_between_base_smoothed_and_target() -> None:
    target = torch.full((4,), 0.5)
    own = study(1, targets=[target])
    (entry, _) = Bench(own, seed=5)(Whole(job(own, look=True))).entries
    record = entry.record
    base, metric = model(own.inputs[:1])[0], cs.metrics.L2()
    smoothed = own.settings[0].smoother(None, 64, None).certify(own.inputs[0], 200, 0.1, seed=5)
    assert record.base_error == metric(base, target)
    assert record.smoothed_error == metric(smoothed.value, target)
    assert record.smoothing_error == metric(base, smoothed.value)
    assert record.errors is not None
    assert record.smoothed_error <= record.errors[0]


def test_only_what_is_looked_at_is_kept_and_paid_for() -> None:
    own = study(1)
    (plain, _) = Bench(own, seed=5)(Whole(job(own))).entries
    done = Bench(own, seed=5)(Whole(job(own, look=True)))
    looked = done.entries[0].record
    assert plain.record.base is None
    assert plain.record.samples is None
    assert looked.base is not None
    assert looked.samples is not None
    assert len(looked.samples) == 6
    assert looked.probes == plain.record.probes + 64
    assert done.encoded == looked.input is not None


def failing(batch: torch.Tensor) -> torch.Tensor:
    return torch.full((len(batch), 4), torch.nan)


def raising(batch: torch.Tensor) -> torch.Tensor:
    raise MemoryError("out of memory")


@pytest.mark.parametrize(("bad", "word"), [(failing, "NaN"), (raising, "out of memory")])
@pytest.mark.parametrize("task", [Whole, FindAnswers])
def test_an_input_that_fails_is_a_result(bad: Any, word: str, task: Any) -> None:
    own = study(1, [setting()], model=bad)
    found = Bench(own, seed=5)(task(job(own)))
    assert isinstance(found, Failed)
    assert word in found.message
    assert (found.index, found.draws) == (0, 0)


def test_a_model_that_breaks_its_contract_ends_the_run() -> None:
    own = study(1, [setting()], model=torch.nn.BatchNorm1d(6))
    with pytest.raises(TrainingModeError):
        Bench(own, seed=5)(Whole(job(own)))

    def mixing(batch: torch.Tensor) -> torch.Tensor:
        return batch - batch.mean(dim=0)

    own = study(1, [setting()], model=mixing)
    with pytest.raises(BatchDependenceError):
        Bench(own, seed=5)(Whole(job(own)))


def test_an_attack_beyond_the_declared_range_ends_the_run_before_sampling() -> None:
    calls = []

    def counting(batch: torch.Tensor) -> torch.Tensor:
        calls.append(len(batch))
        return model(batch)

    tiny = inputs(1) * 1e-4
    own = Study(tiny, [setting()], model=counting, input_range=(-0.001, 0.001), batch_size=64)
    for task in (Whole, FindAnswers):
        with pytest.raises(ArgumentError, match="range"):
            Bench(own, seed=5)(task(job(own)))
    assert calls == []
