"""Exact laws on small spaces, the Neyman-Pearson lemma on them, and what every psi must obey.

Written without a look at the noises: laws are enumerated, and the least mass that any set can
have at any x' of a ball is found by filling outcomes in the order of their likelihood ratio.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import numpy as np
import torch
from scipy.stats import chisquare

import centersmooth as cs
from coverage_models import refuted

Law = dict[Hashable, float]
GRID = np.unique(np.concatenate([np.linspace(0, 1, 201), 1 - np.logspace(-8, -2, 20)]))
NOWHERE = 1e-9
"""psi may be below the exact least mass by rounding only, and never above it."""


# ---------------------------------------------------------------------- Neyman and Pearson


def least_mass(here: Law, there: Law, p: np.ndarray = GRID) -> np.ndarray:
    """The least mass at x' over all tests of mass p at x, outcome by outcome."""
    outcomes = here.keys() | there.keys()
    pairs = [(here.get(o, 0.0), there.get(o, 0.0)) for o in outcomes]
    pairs.sort(key=lambda pair: pair[1] / pair[0] if pair[0] else np.inf)
    knots = np.cumsum([0.0, *(pair[0] for pair in pairs)])
    values = np.cumsum([0.0, *(pair[1] for pair in pairs)])
    held = np.array([0.0, *(pair[0] for pair in pairs)]) > 0
    held[0] = True
    return np.interp(p, knots[held], values[held])


def least_of_ball(
    law: Callable[[Any], Law], x: Any, ball: Iterable[Any], p: np.ndarray = GRID
) -> np.ndarray:
    """The least over all x' of the ball."""
    here = law(x)
    return np.minimum.reduce([least_mass(here, law(other), p) for other in ball])


def several(law: Law, fold: int) -> Law:
    """The law of several independent draws."""
    joint: Law = {(): 1.0}
    for _ in range(fold):
        joint = {(*o, new): p * q for o, p in joint.items() for new, q in law.items()}
    return joint


def repeated(law: Callable[[Any], Law], fold: int) -> Callable[[Any], Law]:
    """The law of several independent draws, at every x."""
    return lambda x: several(law(x), fold)


def assert_valid(psi: np.ndarray, exact: np.ndarray) -> None:
    assert (psi <= exact + 1e-14).all(), np.max(psi - exact)


def assert_exact(psi: np.ndarray, exact: np.ndarray) -> None:
    assert_valid(psi, exact)
    assert (psi >= exact - NOWHERE).all(), np.max(exact - psi)


def promises_too_much(psi: np.ndarray, exact: np.ndarray) -> bool:
    """What a wrong psi does, clearly: the extremal set has less mass than it says."""
    return bool((psi > exact + 1e-3).any())


# ------------------------------------------------------------------------------------ laws


def gathered(pairs: Iterable[tuple[Hashable, float]]) -> Law:
    law: dict[Hashable, float] = defaultdict(float)
    for outcome, probability in pairs:
        law[outcome] += probability
    return dict(law)


def independent(choices: Sequence[Law]) -> Law:
    """The law of a tuple whose entries are independent."""
    product = itertools.product(*(choice.items() for choice in choices))
    return gathered(
        (tuple(o for o, _ in row), float(np.prod([p for _, p in row]))) for row in product
    )


def changed_in(x: tuple, count: int, alphabet: Iterable[Any]) -> list[tuple]:
    """All x' that differ from x in at most so many places."""
    every = itertools.product(list(alphabet), repeat=len(x))
    return [y for y in every if sum(a != b for a, b in zip(x, y, strict=True)) <= count]


# --------------------------------------------------------------------------------- samplers


def assert_samples_follow(law: Law, outcomes: Sequence[Hashable]) -> None:
    """Chi-square at a level that a right sampler misses once in a million."""
    counts = Counter(outcomes)
    assert counts.keys() <= law.keys(), counts.keys() - law.keys()
    names = [o for o in law if law[o] * len(outcomes) >= 5]
    rest = len(outcomes) - sum(counts[o] for o in names)
    seen = np.array([*(counts[o] for o in names), rest], dtype=float)
    wanted = np.array([*(law[o] for o in names), 1 - sum(law[o] for o in names)])
    if wanted[-1] * len(outcomes) < 5:
        seen, wanted = seen[:-1], wanted[:-1]
    wanted = wanted / wanted.sum() * seen.sum()
    assert chisquare(seen, wanted).pvalue > 1e-6


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


# ------------------------------------------------------------------------------- end to end

QUERY = cs.Split(certificate=0.01, query=0.1)


def two_valued_smoother(noise: cs.noise.Noise, inside: Callable[[Any], Any]) -> cs.Smoother:
    """0 where a noisy input is inside the set, 1 outside; `inside` is asked for a whole batch."""

    def model(batch: Any) -> torch.Tensor:
        return 1.0 - torch.as_tensor(inside(batch)).float()[:, None]

    center = cs.Medoid(candidates=20, outer=0)
    options = {"answer_samples": 101, "batch_size": 4096, "progress": False}
    return cs.Smoother(model, noise, cs.metrics.L1(), center, **options)


def claims_and_is_refuted(
    smoother: cs.Smoother, x: Any, worst: Any, eps: float, samples: int = 6_000, rounds: int = 250
) -> tuple[bool, bool]:
    """Whether a certificate claims that answer 0 cannot move, and whether queries refute it."""
    certificate = smoother.certify(x, samples, QUERY, seed=1, target=torch.zeros(1))
    claims = certificate.error(eps) < 1
    answers = [float(smoother.predict(worst, seed=1000 + i).value) for i in range(rounds)]
    wrong = sum(answer > certificate.error(eps) for answer in answers)
    return claims, refuted(wrong, rounds, QUERY.query)
