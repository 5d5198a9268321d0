"""The paper's own procedure: Algorithms 1, 2 and 3 of Kumar and Goldstein (NeurIPS 2021).

Kept as printed, to compare with. What it promises: the probability that the smoothed model
answers at x' *and* is further than eps_2 from the certified answer is small. It does not bound
the probability of being far given an answer, and is silent where the model abstains at x'.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from centersmooth.centers import Answer, Medoid
from centersmooth.confidence import check_level
from centersmooth.errors import ArgumentError, BudgetError, expected
from centersmooth.metrics import Block, Metric
from centersmooth.models import Model
from centersmooth.noise import Noise
from centersmooth.outputs import Outputs, join, pick
from centersmooth.procedure import Counting, Party, Source, prepare
from centersmooth.progress import Advance, ProgressOption, progress_bar
from centersmooth.sampling import (
    CANDIDATES,
    SAMPLES,
    Address,
    Batching,
    fingerprint,
    root_seed,
)
from centersmooth.sketch import Ranked

BETA = 2.0
"""Algorithm 1 finds a ball at most twice as large as the least one."""
HD_CANDIDATES = 30
_CHECK = "check"


@dataclass(frozen=True)
class PublishedCertificate:
    """What Algorithm 2 returns for one eps."""

    eps: float
    bound: float
    """eps_2; the metric's diameter when the smoothed model abstains."""
    status: str
    """"certified" or "abstained"."""
    value: Any
    """The center; None when the smoothed model abstains."""
    radius: float
    """R, in the metric's units."""
    delta: float
    """max(Delta_1, Delta_2) as found."""
    evaluations: int
    seed: int

    def explain(self) -> str:
        """The guarantee as the paper has it, or why there is none."""
        if self.status == "abstained":
            return (
                f"Abstained: the sampled ball does not surely hold half of the outputs "
                f"(Delta = {self.delta:.3g}). More answer samples (n) or a larger delta may help."
            )
        return (
            f"But for a small probability, the smoothed model at any x' within {self.eps:g} "
            f"does not answer further than {self.bound:.4g} away. It may abstain there instead."
        )


@dataclass(frozen=True)
class _Settings:
    n: int
    m: int
    delta: float
    alpha1: float
    alpha2: float

    @property
    def delta1(self) -> float:
        """Hoeffding, for n samples."""
        return math.sqrt(math.log(2 / self.alpha1) / (2 * self.n))

    def quantile(self, noise: Noise, eps: float) -> float | None:
        """The mass to show, with the margin of Dvoretzky, Kiefer and Wolfowitz."""
        mass = noise.mass_needed(0.5 + self.delta, eps)
        if mass is None:
            return None
        q = mass + math.sqrt(math.log(1 / self.alpha2) / (2 * self.m))
        return q if q <= 1 else None


def certify(
    model: Callable[[Any], Any],
    x: Any,
    noise: Noise,
    metric: Metric,
    eps: float | Sequence[float],
    n: int = 10_000,
    m: int = 1_000_000,
    delta: float = 0.05,
    alpha1: float = 0.005,
    alpha2: float = 0.005,
    hd: bool = False,
    seed: int | None = None,
    batch_size: int | Batching | None = None,
    progress: ProgressOption = None,
) -> PublishedCertificate | list[PublishedCertificate]:
    """Algorithm 2 (Certify) on top of Algorithm 1 (Smooth), or 3 (Smooth-HD) with ``hd=True``.

    A list of eps is certified from the same samples, each at its own confidence.
    """
    found = certify_together(
        model, x, noise, [metric], eps, n, m, delta, alpha1, alpha2, hd, seed, batch_size, progress
    )[0]
    return found if np.ndim(eps) else found[0]


def certify_together(
    model: Callable[[Any], Any],
    x: Any,
    noise: Noise,
    metrics: Sequence[Metric],
    eps: float | Sequence[float],
    n: int = 10_000,
    m: int = 1_000_000,
    delta: float = 0.05,
    alpha1: float = 0.005,
    alpha2: float = 0.005,
    hd: bool = False,
    seed: int | None = None,
    batch_size: int | Batching | None = None,
    progress: ProgressOption = None,
) -> list[list[PublishedCertificate]]:
    """The same for several metrics on the same draws: one list per metric, one entry per eps."""
    points = [float(e) for e in np.atleast_1d(eps)]
    settings = _checked(_Settings(n, m, delta, alpha1, alpha2), noise, points)
    wrapped = Model(model, None)
    wrapped.begin()
    x = wrapped.place(noise.check_input(x, None))
    address = Address(root_seed(seed), fingerprint(x))
    parties = [Party(metric, Medoid(candidates=1)) for metric in metrics]
    tuning = prepare(wrapped, noise, x, address, parties[0], batch_size)
    source = Source(wrapped, noise, x, address, tuning.batching, "raise")
    total = 2 * n + m + (HD_CANDIDATES if hd else 0)
    with progress_bar(progress, "published", total) as advance:
        smooth = _smooth_hd if hd else _smooth
        balls = smooth(source, parties, n, advance)
        deltas = _delta(source, parties, balls, settings, advance)
        counting = Counting(source, parties, balls, [None] * len(parties), None)
        counting.run(m, advance)
    results = []
    for party, ball, found, sketch in zip(parties, balls, deltas, counting.sketches, strict=True):
        ranked = sketch.ranked()
        results.append(
            [
                _certify(party.metric, noise, settings, ball, found, ranked, e, address.root, total)
                for e in points
            ]
        )
    return results


def _certify(
    metric: Metric,
    noise: Noise,
    settings: _Settings,
    ball: Answer,
    delta: float,
    ranked: Ranked,
    eps: float,
    seed: int,
    total: int,
) -> PublishedCertificate:
    """Algorithm 2: (1 + beta) R, or gamma (1 + 2 gamma) R under a relaxed triangle inequality."""
    q = settings.quantile(noise, eps)
    assert q is not None, "checked before sampling"
    # The empirical q-quantile: the least sample with at least a share q at or below it.
    rank = max(1, math.ceil(q * settings.m - 1e-9))
    radius = float(metric.value(ranked.smallest(0, rank)))
    gamma = metric.published_gamma
    bound = min(
        (1 + BETA) * radius if gamma == 1 else gamma * (1 + 2 * gamma) * radius, metric.diameter
    )
    if delta > settings.delta:
        return PublishedCertificate(
            eps, metric.diameter, "abstained", None, radius, delta, total, seed
        )
    return PublishedCertificate(eps, bound, "certified", ball.value, radius, delta, total, seed)


def _smooth(source: Source, parties: Sequence[Party], n: int, advance: Advance) -> list[Answer]:
    """Algorithm 1: the sample whose ball with half of all samples is the smallest."""
    batches: list[Outputs] = []
    for outputs in source.outputs(SAMPLES, (0, n)):
        batches.append(outputs)
        advance(len(outputs))
    samples = join(batches)
    return [_smallest_ball(source, party, samples, samples) for party in parties]


def _smooth_hd(source: Source, parties: Sequence[Party], n: int, advance: Advance) -> list[Answer]:
    """Algorithm 3: 30 candidates stand in for all samples as centers, samples pass in batches."""
    candidates = join(list(source.outputs(CANDIDATES, (0, HD_CANDIDATES))))
    advance(HD_CANDIDATES)
    blocks = [source.collate(party, candidates, CANDIDATES, 0) for party in parties]
    lengths: list[list[torch.Tensor]] = [[] for _ in parties]
    for outputs in source.outputs(SAMPLES, (0, n)):
        for party, block, found in zip(parties, blocks, lengths, strict=True):
            found.append(party.measure(block, source.collate(party, outputs, SAMPLES, 0)))
        advance(len(outputs))
    return [
        _best(block, candidates, _half_radii(torch.cat(found, dim=1)))
        for block, found in zip(blocks, lengths, strict=True)
    ]


def _smallest_ball(source: Source, party: Party, centers: Outputs, samples: Outputs) -> Answer:
    block = source.collate(party, samples, SAMPLES, 0)
    radii = [
        _half_radii(party.measure(part, block))
        for part in _slices(block, max(1, 2**24 // len(block)))
    ]
    return _best(block, centers, torch.cat(radii))


def _slices(block: Block, size: int) -> Iterator[Block]:
    return (block.take(start, start + size) for start in range(0, len(block), size))


def _half_radii(lengths: torch.Tensor) -> torch.Tensor:
    """For each center, the least radius whose ball holds at least half of the samples."""
    return lengths.kthvalue(math.ceil(lengths.shape[1] / 2), dim=1).values.cpu()


def _best(block: Block, centers: Outputs, radii: torch.Tensor) -> Answer:
    best = int(radii.argmin())
    reference = block.take(best, best + 1)
    return Answer(pick(centers, [best])[0], reference, None, float(radii[best]))


def _delta(
    source: Source,
    parties: Sequence[Party],
    balls: Sequence[Answer],
    settings: _Settings,
    advance: Advance,
) -> list[float]:
    """max(Delta_1, Delta_2) on a fresh batch of n samples."""
    inside = [0] * len(parties)
    for outputs in source.outputs(_CHECK, (0, settings.n)):
        for place, (party, ball) in enumerate(zip(parties, balls, strict=True)):
            block = source.collate(party, outputs, _CHECK, 0)
            lengths = party.measure(ball.reference, block)
            inside[place] += int((lengths <= (ball.spread or 0.0)).sum())
        advance(len(outputs))
    delta1 = settings.delta1
    return [max(delta1, 0.5 - (count / settings.n - delta1)) for count in inside]


def check_budget(
    noise: Noise,
    eps: Sequence[float],
    n: int = 10_000,
    m: int = 1_000_000,
    delta: float = 0.05,
    alpha1: float = 0.005,
    alpha2: float = 0.005,
) -> None:
    """Refuse options with which `certify` could only abstain or give no bound."""
    _checked(_Settings(n, m, delta, alpha1, alpha2), noise, [float(e) for e in eps])


def _checked(settings: _Settings, noise: Noise, points: Sequence[float]) -> _Settings:
    check_level(settings.alpha1, "alpha1")
    check_level(settings.alpha2, "alpha2")
    if not 0 < settings.delta <= 0.5:
        fix = "The paper uses 0.05."
        raise ArgumentError(expected("0 < delta <= 1/2", settings.delta, fix))
    whole = all(isinstance(count, int) and count >= 1 for count in (settings.n, settings.m))
    if not whole or not points or not all(0 <= eps < math.inf for eps in points):
        got = f"n={settings.n}, m={settings.m}, eps={list(points)}"
        what = "whole numbers n, m >= 1 and finite eps >= 0"
        raise ArgumentError(expected(what, got, "The paper has 10_000 and 1_000_000."))
    if settings.delta1 > settings.delta:
        least = math.ceil(math.log(2 / settings.alpha1) / (2 * settings.delta**2))
        fix = f"With fewer than {least:,} samples the procedure always abstains."
        raise BudgetError(
            expected(f"n >= {least:,} for delta = {settings.delta:g}", settings.n, fix)
        )
    for eps in points:
        if settings.quantile(noise, eps) is None:
            raise BudgetError(_too_few(settings, noise, eps))
    return settings


def _too_few(settings: _Settings, noise: Noise, eps: float) -> str:
    mass = noise.mass_needed(0.5 + settings.delta, eps)
    what = f"enough certification samples for eps = {eps:g} under {noise}"
    if mass is None or mass >= 1:
        return expected(what, f"{settings.m:,}", "No number is enough: use more noise.")
    least = math.ceil(math.log(1 / settings.alpha2) / (2 * (1 - mass) ** 2))
    return expected(what, f"{settings.m:,}", f"The procedure needs m >= {least:,} there.")


__all__ = ["PublishedCertificate", "certify", "certify_together", "check_budget"]
