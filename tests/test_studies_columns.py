from __future__ import annotations

import torch
from studies.columns import Smoothed, columns, many_candidates, sigmas
from studies.scales import FULL, SMALL, Budget

import centersmooth as cs
from centersmooth.centers import Center
from centersmooth.metrics import Metric
from centersmooth.study import Study
from studies_small import PUBLISHED

SMOOTHED = Smoothed(lambda batch: batch.flatten(1), "as it is")
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
    assert [setting.center for setting in found[2::3]] == [None, None]


def test_centers_are_chosen_for_the_largest_eps_of_a_sigma() -> None:
    """And each budget has its own: with more samples larger pools pay."""
    asked = []

    def choice(metric: Metric, noise: cs.Gaussian, eps: float, samples: int) -> Center:
        asked.append((metric.name, noise.sigma, eps, samples))
        return cs.Medoid()

    list(columns([(0.25, 0.025), (0.5, 0.05)], METRICS, lambda s: SMOOTHED, BUDGET, choice))
    assert asked == [(m, 0.1, 0.05, n) for m in ("L1", "L2") for n in (60, 609)]


def test_small_attacks_are_for_theorem_d_at_the_usual_sigma() -> None:
    pairs = [(0.5, 0.05), (0.5, 0.125)]
    budget = Budget(3, 60, 1_200, PUBLISHED, 2, 1)
    found = list(columns(pairs, METRICS, lambda s: SMOOTHED, budget, small=(0.0, 0.5)))
    clipped = [setting for setting in found if "clipped mean" in setting.name]
    assert {setting.center for setting in clipped} == {cs.ClippedMean()}
    assert [(s.metric.name, s.noise, s.eps) for s in clipped] == [
        ("L2", cs.Gaussian(0.25), (0.0, 0.125))
    ] * 2
    study = Study(inputs=list(torch.zeros(3, 4)), settings=found)
    draws = dict(zip((s.name for s in found), study.draws, strict=True))
    for setting in clipped:
        assert draws[setting.name] == draws[setting.name.replace(", clipped mean", "")]


def test_the_published_procedure_meets_other_inputs_at_every_sigma() -> None:
    budget = Budget(9, 60, 200, PUBLISHED, 2, 5)
    pairs = [(0.5, 0.05 * place) for place in range(1, 5)]
    found = columns(pairs, {"l2": cs.metrics.L2()}, lambda s: SMOOTHED, budget)
    chosen = [setting.only for setting in found if setting.published]
    assert chosen == [(0, 1), (2, 3), (0, 4), (1, 2)]


def test_nothing_is_published_where_no_input_is_meant_for_it() -> None:
    none = Budget(3, 60, 200, PUBLISHED, 0)
    found = columns([(0.5, 0.05)], METRICS, lambda s: Smoothed(model, "as it is"), none)
    assert [setting.procedure for setting in found] == ["sharp", "sharp"]


def test_the_full_scale_spends_what_it_should() -> None:
    smoothed = Smoothed(model, "as it is")
    found = list(columns(FULL.restoring, METRICS, lambda s: smoothed, FULL.restoration))
    assert {s.evaluations() for s in found if s.published} == {120_000}
    own = {s.evaluations() for s in found if not s.published and s.metric == METRICS["l1"]}
    assert max(own - {47_999}) == 5_999
    box = {"b": cs.metrics.BoxJaccard()}
    faces = columns(FULL.facing, box, lambda s: smoothed, FULL.faces, many_candidates)
    ours, published = list(faces)[:2]
    assert (ours.evaluations(), published.evaluations()) == (1_699, 20_000)
