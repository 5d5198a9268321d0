from __future__ import annotations

import torch
from studies.columns import Smoothed, columns, sigmas
from studies.scales import FULL, SMALL, Budget

import centersmooth as cs
from centersmooth.study import Study
from studies_small import PUBLISHED

METRICS = {"l1": cs.metrics.L1(), "l2": cs.metrics.L2()}
BUDGET = Budget(3, 60, 200, PUBLISHED, 2, 1)


def model(batch: torch.Tensor) -> torch.Tensor:
    return batch.flatten(1)


def test_pairs_with_the_same_sigma_are_certified_together() -> None:
    assert sigmas([(1.5, 0.6), (2.0, 0.8), (2.0, 0.4)]) == {0.2: (0.4,), 0.4: (0.6, 0.8)}
    assert sigmas(SMALL.restoring) == {0.25: (0.375, 0.5)}
    assert len(sigmas(FULL.restoring)) == 9


def test_ours_thorough_and_published_for_every_metric_on_shared_draws() -> None:
    pairs = [(0.25, 0.025), (0.5, 0.05)]
    found = list(columns(pairs, METRICS, lambda s: Smoothed(model, "as it is"), BUDGET))
    study = Study(inputs=list(torch.zeros(3, 4)), settings=found)
    assert [setting.procedure for setting in found] == ["sharp", "sharp", "published"] * 2
    assert study.draws == (0, 1, 2, 0, 1, 2)
    ours, thorough, published = found[:3]
    assert ours.eps == (0.01, 0.025, 0.05)
    assert published.eps == (0.025, 0.05)
    assert ours.only is None
    assert (thorough.only, published.only) == ((0,), (0, 1))
    assert (thorough.samples, thorough.answer_samples) == (2_000, 609)


def test_nothing_is_published_where_no_input_is_meant_for_it() -> None:
    none = Budget(3, 60, 200, PUBLISHED, 0)
    found = columns([(0.5, 0.05)], METRICS, lambda s: Smoothed(model, "as it is"), none)
    assert [setting.procedure for setting in found] == ["sharp", "sharp"]


def test_the_full_scale_spends_what_it_should() -> None:
    smoothed = Smoothed(model, "as it is")
    found = list(columns(FULL.restoring, METRICS, lambda s: smoothed, FULL.restoration))
    assert {s.evaluations() for s in found if s.published} == {120_000}
    own = {s.evaluations() for s in found if not s.published and s.metric == METRICS["l1"]}
    assert own == {5_099, 50_099}
    faces = columns(FULL.facing, {"b": cs.metrics.BoxJaccard()}, lambda s: smoothed, FULL.faces)
    ours, _, published = list(faces)[:3]
    assert (ours.evaluations(), published.evaluations()) == (1_699, 20_000)
