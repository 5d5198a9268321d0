"""An audit catches certificates that are wrong, and leaves those alone that are right."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

import pytest
import torch

import centersmooth as cs
from centersmooth.attacks import audit
from centersmooth.errors import ArgumentError, OutputError
from coverage_models import ORIGIN, increasing, refuted, threshold_with_mass, two_valued
from refusals import refused
from tiny_models import NOISE, TARGET, X, linear, smoother

EPS = 0.5
QUICK: dict[str, Any] = {"trials": 20, "search_samples": 20}


def slope(batch: torch.Tensor) -> torch.Tensor:
    """One number, which moves by exactly as much as the input does along (1, ..., 1)."""
    return batch.sum(dim=1, keepdim=True) / 6**0.5


class Halved(cs.Certificate):
    """A certificate whose every bound is half of what was proved."""

    def bound(self, eps: float) -> float:
        return super().bound(eps) / 2

    def error(self, eps: float) -> float:
        return super().error(eps) / 2


def halved(certificate: cs.Certificate) -> Halved:
    names = [f.name for f in fields(certificate) if f.init and f.name != "_known"]
    return Halved(**{name: getattr(certificate, name) for name in names})


class Weak(cs.Gaussian):
    """A sampler a third as wide as the noise says it is."""

    def sample(self, x: torch.Tensor, generator: torch.Generator, count: int) -> torch.Tensor:
        return cs.Gaussian(self.sigma / 3).sample(x, generator, count)


@pytest.mark.parametrize("level", [cs.Joint(0.01), cs.Split(0.005, 0.005)])
def test_a_halved_bound_is_caught_and_the_true_one_is_not(level: Any) -> None:
    made = smoother(slope, answer_samples=499, batch_size=1_000)
    certificate = made.certify(X, 20_000, level)
    true = audit(made, certificate, X, EPS, **QUICK, seed=1)
    assert not true.broken
    assert true.violations == 0
    there = (true.worst - X).double()[None]
    assert abs(float(slope(there))) == pytest.approx(EPS, rel=0.03)  # the worst case, found
    assert true.typical == pytest.approx(EPS, rel=0.2)
    assert 1 < true.tightness < 1.8
    wrong = audit(made, halved(certificate), X, EPS, 40, search_samples=20, seed=1)
    assert wrong.broken
    assert wrong.violations >= 35
    assert "BROKEN" in str(wrong)
    assert json.loads(wrong.to_json())["broken"] is True


def test_noise_that_is_weaker_than_it_says_is_caught() -> None:
    made = smoother(slope, noise=Weak(0.25), answer_samples=199)
    certificate = made.certify(X, 2_000, 0.01)
    assert audit(made, certificate, X, EPS, **QUICK, seed=1).broken
    assert not audit(made, certificate, X, EPS / 4, **QUICK, seed=1).broken


@pytest.mark.parametrize("center", [cs.GeometricMedian(), cs.Medoid(20), cs.Medoid(20, outer=0)])
def test_true_certificates_are_not_called_broken(center: Any) -> None:
    """Over many seeds, on a model whose bounds are nearly attained."""
    made = cs.Smoother(
        increasing, cs.Gaussian(1.0), cs.metrics.L2(), center, 51, batch_size=4096, progress=False
    )
    target = torch.zeros(1, dtype=torch.float64)
    for seed in range(8):
        certificate = made.certify(ORIGIN, 300, 0.1, target=target, seed=seed)
        options = {"target": target if seed % 2 else None, "seed": 1000 + seed, **QUICK}
        assert not audit(made, certificate, ORIGIN, 0.8, **options).broken


def test_what_is_called_broken_is_an_unlucky_certificate() -> None:
    """At the critical mass alpha_x of all certificates are wrong, and no more are called so."""
    eps, level, rounds = 0.7, cs.Split(0.1, 0.05), 24
    noise = cs.Gaussian(1.0)
    mass = float(noise.mass_needed(0.63, eps))  # just below what 51 samples at 0.05 need
    made = cs.Smoother(
        two_valued(threshold_with_mass(mass)),
        noise,
        cs.metrics.L1(),
        cs.Medoid(5, outer=0),
        51,
        batch_size=4096,
        progress=False,
    )
    target, broken = torch.zeros(1, dtype=torch.float64), 0
    for seed in range(rounds):
        certificate = made.certify(ORIGIN, 300, level, target=target, seed=seed)
        options = {"target": target, "candidates": [ORIGIN + eps], "trials": 5}
        broken += audit(made, certificate, ORIGIN, eps, seed=seed, **options).broken  # type: ignore[arg-type]
    assert not refuted(broken, rounds, level.certificate)


def test_an_audit_repeats_under_its_seed_and_is_fresh_without() -> None:
    made = smoother()
    certificate = made.certify(X, 200)
    one, two = (audit(made, certificate, X, 0.1, **QUICK, seed=4) for _ in range(2))
    assert one.to_json() == two.to_json()
    assert audit(made, certificate, X, 0.1, **QUICK).seed != one.seed


def test_answers_that_are_counted_share_no_noise_with_anything() -> None:
    batches: list[torch.Tensor] = []

    def watched(batch: torch.Tensor) -> torch.Tensor:
        batches.append(batch)
        return linear(batch)

    made = smoother(watched, seed=4)
    certificate = made.certify(X, 200)
    outcome = audit(made, certificate, X, 0.0, trials=5, search_samples=20, seed=4)
    assert outcome.movement > 0  # other noise, so another answer, at the very same input
    answers = torch.cat(batches)[-5 * 51 :]
    assert len(answers.unique(dim=0)) == len(answers)
    earlier = {tuple(row) for row in torch.cat(batches)[: -5 * 51].tolist()}
    assert not earlier & {tuple(row) for row in answers.tolist()}


def test_the_certified_error_is_audited_about_the_target() -> None:
    made = smoother()
    certificate = made.certify(X, 200, target=TARGET)
    outcome = audit(made, certificate, X, 0.1, target=TARGET, **QUICK, seed=1)
    assert outcome.bound == certificate.error(0.1)
    assert outcome.about == "the target"
    assert not outcome.broken
    with refused(ArgumentError, "a certificate with a target"):
        audit(made, made.certify(X, 200), X, 0.1, target=TARGET)
    with refused(OutputError, "a target like the model's output"):
        audit(made, certificate, X, 0.1, target=torch.zeros(3))


def test_inputs_of_any_kind_are_audited() -> None:
    def longest(batch: list[list[str]]) -> list[str]:
        return [max(words, key=len, default="") for words in batch]

    noise = cs.noise.TokenDeletion(0.8)
    made = smoother(longest, cs.metrics.Discrete(), noise=noise, center=cs.Medoid(20))
    words = ["dddd"] * 30 + ["a", "bb"]
    outcome = audit(made, made.certify(words, 300, 0.1), words, 1, **QUICK, seed=1)
    assert not outcome.broken
    assert len(outcome.worst) in (31, 32, 33)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"noise": cs.Gaussian(0.5)}, ("noise = Gaussian(sigma=0.25)", "the smoother that made")),
        ({"metric": cs.metrics.SquaredL2()}, ("metric = L2", "got SquaredL2")),
        ({"center": cs.Medoid(20)}, ("center = GeometricMedian",)),
        ({"answer_samples": 99}, ("answer_samples = 51", "99")),
    ],
)
def test_another_smoother_is_refused(change: dict[str, Any], words: tuple[str, ...]) -> None:
    certificate = smoother().certify(X, 200)
    with refused(ArgumentError, *words):
        audit(smoother(**change), certificate, X, 0.1)


def test_what_makes_no_sense_is_refused() -> None:
    made = smoother()
    certificate = made.certify(X, 200)
    with refused(ArgumentError, "a smoother and its certificate", "In this order"):
        audit(certificate, made, X, 0.1)  # type: ignore[arg-type]
    with refused(ArgumentError, "the certified input", "in the same precision"):
        audit(made, certificate, X + 1, 0.1)
    with refused(ArgumentError, "one finite eps >= 0"):
        audit(made, certificate, X, -1.0)
    with refused(ArgumentError, "trials >= 1"):
        audit(made, certificate, X, 0.1, trials=0)
    with refused(ArgumentError, "candidates within eps", "0.1 at most"):
        audit(made, certificate, X, 0.1, candidates=[X + 1])
    with refused(ArgumentError, "candidates of shape (6,)", "(1, 6)"):
        audit(made, certificate, X, 0.1, candidates=[X[None]])


def test_a_noise_that_lists_no_attacks_needs_candidates() -> None:
    class Own(cs.Gaussian):
        def ball(self, x: torch.Tensor) -> None:  # type: ignore[override]
            return None

    made = smoother(noise=Own(0.25))
    certificate = made.certify(X, 200)
    with refused(ArgumentError, "inputs to try", "candidates=[...]"):
        audit(made, certificate, X, 0.1)
    assert audit(made, certificate, X, 0.1, candidates=[X + 0.01], **QUICK).trials == 20


def test_the_audit_keeps_to_the_declared_range() -> None:
    made = smoother(slope, input_range=(0, 1))
    outcome = audit(made, made.certify(X, 200), X, 0.4, **QUICK, seed=1)
    assert 0 <= float(outcome.worst.min()) <= float(outcome.worst.max()) <= 1
    assert float((outcome.worst.double() - X.double()).norm()) <= 0.4
    assert NOISE.norm == outcome.norm
