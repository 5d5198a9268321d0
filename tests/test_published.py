from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import norm

import centersmooth as cs
from centersmooth import metrics, published
from centersmooth.errors import ArgumentError, BudgetError, OutputError
from centersmooth.sampling import (
    CANDIDATES,
    CERTIFICATION,
    SAMPLES,
    Address,
    Batching,
    fingerprint,
    noisy,
)
from refusals import refused
from tiny_models import NOISE, SIGMA, X, failing, linear

SMALL: dict[str, Any] = {"n": 120, "m": 600, "delta": 0.2, "batch_size": 64}
UP = 1 + 2.0**-9


def draws(seed: int, phase: str, count: int) -> np.ndarray:
    noise = noisy(NOISE, X, Address(seed, fingerprint(X)), phase, 0, count)
    return linear(noise).double().numpy()


def angle(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(a, axis=-1) * np.linalg.norm(b, axis=-1)
    return np.arccos(np.clip((a * b).sum(-1) / lengths, -1, 1))


FORMULAS: dict[Any, Any] = {
    metrics.L1(): lambda a, b: np.abs(a - b).sum(-1),
    metrics.L2(): lambda a, b: np.linalg.norm(a - b, axis=-1),
    metrics.SquaredL2(): lambda a, b: ((a - b) ** 2).sum(-1),
    metrics.Cosine(): lambda a, b: 1 - np.cos(angle(a, b)),
    metrics.TotalVariation(): lambda a, b: np.abs(np.diff(a - b, axis=-1)).sum(-1),
}


def naive(metric: Any, eps: float, seed: int, hd: bool = False) -> dict[str, Any]:
    """Algorithms 1 (or 3) and 2, line by line from the paper, for the sizes of SMALL."""
    n, m, delta, alpha1, alpha2, beta = 120, 600, 0.2, 0.005, 0.005, 2
    distance = FORMULAS[metric]
    samples = draws(seed, SAMPLES, n)
    centers = draws(seed, CANDIDATES, 30) if hd else samples
    # The ball about one of the centers that holds half of the samples and is the smallest.
    radii = [np.sort(distance(center, samples))[math.ceil(n / 2) - 1] for center in centers]
    z, radius = centers[int(np.argmin(radii))], min(radii)
    delta1 = math.sqrt(math.log(2 / alpha1) / (2 * n))
    share = np.mean(distance(z, draws(seed, "check", n)) <= radius) - delta1
    worst = max(delta1, 0.5 - share)
    distances = np.sort(distance(z, draws(seed, CERTIFICATION, m)))
    q = norm.cdf(norm.ppf(0.5 + delta) + eps / SIGMA) + math.sqrt(math.log(1 / alpha2) / (2 * m))
    ball = next(d for rank, d in enumerate(distances, start=1) if rank >= q * m)
    gamma = metric.published_gamma
    factor = gamma * (1 + 2 * gamma) if gamma > 1 else 1 + beta
    answer = {"delta": worst, "radius": ball, "answers": worst <= delta, "value": z}
    return {**answer, "bound": min(factor * ball, metric.diameter)}


@pytest.mark.parametrize("hd", [False, True])
@pytest.mark.parametrize(
    "metric",
    FORMULAS,
    ids=lambda m: m.name,
)
def test_the_algorithms_are_the_papers(metric: Any, hd: bool) -> None:
    answered = []
    for seed in range(4):
        found = published.certify(linear, X, NOISE, metric, 0.1, hd=hd, seed=seed, **SMALL)
        assert isinstance(found, published.PublishedCertificate)
        truth = naive(metric, 0.1, seed, hd)
        assert found.delta == pytest.approx(truth["delta"], abs=1e-9)
        assert truth["radius"] * (1 - 1e-6) <= found.radius <= truth["radius"] * UP**2
        assert found.seed == seed
        assert found.evaluations == 2 * 120 + 600 + (30 if hd else 0)
        answered.append(truth["answers"])
        if truth["answers"]:
            assert found.status == "certified"
            assert np.allclose(found.value, truth["value"])
            assert truth["bound"] * (1 - 1e-6) <= found.bound <= truth["bound"] * UP**2
        else:
            assert (found.status, found.value, found.bound) == ("abstained", None, metric.diameter)
    assert any(answered)


def test_the_procedure_abstains_when_no_ball_surely_holds_half() -> None:
    """Delta hardly above Delta_1: a fresh batch with a little less than half in it abstains."""
    tight = {**SMALL, "delta": 0.16}
    found = [
        published.certify(linear, X, NOISE, metrics.L2(), 0.05, seed=s, **tight) for s in range(12)
    ]
    states = {one.status for one in found if isinstance(one, published.PublishedCertificate)}
    assert states == {"certified", "abstained"}
    for one in found:
        assert isinstance(one, published.PublishedCertificate)
        assert (one.delta > 0.16) == (one.status == "abstained")
        assert (one.bound == math.inf) == (one.status == "abstained")
        words = "Abstained" if one.status == "abstained" else "It may abstain there instead"
        assert words in one.explain()
    assert states == {"certified", "abstained"}


def test_several_eps_come_from_the_same_samples() -> None:
    points = [0.0, 0.05, 0.1]
    for form in (points, tuple(points), np.array(points)):
        found = published.certify(linear, X, NOISE, metrics.L2(), form, seed=3, **SMALL)
        assert isinstance(found, list)
        for eps, one in zip(points, found, strict=True):
            alone = published.certify(linear, X, NOISE, metrics.L2(), eps, seed=3, **SMALL)
            assert isinstance(alone, published.PublishedCertificate)
            assert (one.eps, one.bound, one.radius) == (eps, alone.bound, alone.radius)


def test_several_metrics_share_the_draws() -> None:
    kinds = [metrics.L1(), metrics.Angular()]
    together = published.certify_together(linear, X, NOISE, kinds, [0.1], seed=3, **SMALL)
    for metric, (one,) in zip(kinds, together, strict=True):
        alone = published.certify(linear, X, NOISE, metric, 0.1, seed=3, **SMALL)
        assert isinstance(alone, published.PublishedCertificate)
        assert (one.bound, one.delta) == (alone.bound, alone.delta)
        assert torch.equal(one.value, alone.value)


def test_batches_and_seeds_are_treated_as_by_the_smoother() -> None:
    whole = published.certify(linear, X, NOISE, metrics.L1(), 0.1, seed=1, **SMALL)
    for size in (7, Batching(1000)):
        other = published.certify(
            linear, X, NOISE, metrics.L1(), 0.1, seed=1, **{**SMALL, "batch_size": size}
        )
        assert other.bound == pytest.approx(whole.bound, rel=2e-3)  # type: ignore[union-attr]
    seeds = {published.certify(linear, X, NOISE, metrics.L1(), 0.1, **SMALL).seed for _ in "ab"}  # type: ignore[union-attr]
    assert len(seeds) == 2


def test_a_bounded_metric_is_never_exceeded() -> None:
    spread = published.certify(
        lambda batch: batch * 1e4 % 1 - 0.5, X, NOISE, metrics.Angular(), 0.1, seed=1, **SMALL
    )
    assert spread.bound == 1.0  # type: ignore[union-attr]


def test_a_constant_model_does_not_move() -> None:
    found = published.certify(
        lambda batch: torch.ones(len(batch), 3), X, NOISE, metrics.L2(), 0.1, seed=1, **SMALL
    )
    assert (found.bound, found.radius) == (0.0, 0.0)  # type: ignore[union-attr]
    assert found.status == "certified"  # type: ignore[union-attr]


# ---- what is refused before samples are spent


def refuses(kind: Any, *words: str, model: Any = linear, **options: Any) -> None:
    given = {"x": X, "noise": NOISE, "metric": metrics.L2(), "eps": 0.1, **SMALL, **options}
    with refused(kind, *words):
        published.certify(model, **given)


def test_too_few_answer_samples_are_refused_with_the_least_number() -> None:
    least = math.ceil(math.log(2 / 0.005) / (2 * 0.05**2))
    refuses(BudgetError, f"n >= {least:,}", "always abstains", n=least - 1, delta=0.05)
    found = published.certify(
        linear, X, NOISE, metrics.L2(), 0.0, seed=1, **{**SMALL, "n": least, "delta": 0.05}
    )
    assert found.delta >= 0  # type: ignore[union-attr]


def test_too_few_certification_samples_are_refused_with_the_least_number() -> None:
    mass = NOISE.mass_needed(0.7, 0.2)
    least = math.ceil(math.log(1 / 0.005) / (2 * (1 - mass) ** 2))
    refuses(BudgetError, "eps = 0.2", f"m >= {least:,}", eps=0.2, m=least - 1)
    refuses(BudgetError, f"m >= {least:,}", eps=[0.0, 0.2], m=least - 1)
    published.certify(linear, X, NOISE, metrics.L2(), 0.2, seed=1, **{**SMALL, "m": least})
    refuses(BudgetError, "No number is enough", eps=100.0)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"alpha1": 0.0}, "alpha1"),
        ({"alpha2": 0.6}, "alpha2"),
        ({"delta": 0.0}, "delta <= 1/2"),
        ({"delta": 0.8}, "delta <= 1/2"),
        ({"n": 0}, "n, m >= 1"),
        ({"n": 1e4}, "whole numbers"),
        ({"m": 0}, "n, m >= 1"),
        ({"m": 1e6}, "whole numbers"),
        ({"eps": -0.1}, "finite eps >= 0"),
        ({"eps": math.nan}, "finite eps >= 0"),
        ({"eps": math.inf}, "finite eps >= 0"),
        ({"eps": []}, "finite eps >= 0"),
        ({"batch_size": 0}, "a batch size >= 1"),
        ({"seed": -1}, "a seed"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(options: dict[str, Any], word: str) -> None:
    refuses(ArgumentError, word, **options)


def test_a_failed_output_is_an_error() -> None:
    refuses(OutputError, "can measure", model=failing(0.1), seed=1)


def test_the_defaults_are_the_papers() -> None:
    defaults = dict(
        zip(
            published.certify.__code__.co_varnames[5:10],
            (published.certify.__defaults__ or ())[:5],
            strict=True,
        )
    )
    assert defaults == {
        "n": 10_000,
        "m": 1_000_000,
        "delta": 0.05,
        "alpha1": 0.005,
        "alpha2": 0.005,
    }
    assert cs.published is published
