"""What the sharper forms of Theorems B and C save, on the same draws as the plainer ones.

Every record holds bounds from one set of samples: with several levels and with one, with the
point along the ray and from w itself, with t calibrated jointly and in two parts.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from bounds import ALPHA, METRICS, SIGMA, SIZES
from tables import table

import centersmooth as cs
from centersmooth import binomial
from centersmooth.centers.base import majority
from centersmooth.demo_model import autoencoder, digits
from centersmooth.theorems import MedianTheorem, MedoidTheorem, ball_rank

TITLE = "Several levels, the point along the ray, the joint t"
IMAGES, THOROUGH = 6, 2  # how many digits, and how many of them at the largest budget
SHIFTS = (0.5, 1.0, 1.5, 2.0)
SINGLE = (0.775, 0.75, 0.725, 0.7, 0.675, 0.65, 0.6, 0.55)
OTHER_SETS = {
    "8": (0.2, 0.42, 0.59, 0.68, 0.72, 0.76, 0.83, 0.9),
    "12": (0.15, 0.28, 0.4, 0.5, 0.58, 0.64, 0.685, 0.72, 0.75, 0.78, 0.82, 0.87),
    "low": tuple(0.74 * (i / 16) ** 0.6 for i in range(1, 17)),
    "high": tuple(0.85 * (i / 16) ** 0.6 for i in range(1, 17)),
}
WIDE = {"27 degrees": 4.0, "45 degrees": 2.0, "63 degrees": 1.0}  # the length of the input


def levels_of(c: cs.Certificate, eps: float, shares: Sequence[float], part: float) -> Any:
    """The shares that the samples show, each at this part of alpha, and their radii."""
    n, found = c.sizes.n, []
    for k in (math.ceil(p * n - 1e-9) for p in shares):
        rank = ball_rank(c.noise, eps, c.sizes, k, c.level.part(part))
        if rank is not None:
            found.append((k / n, c.ranked.smallest(0, rank)))
    return [p for p, _ in found], [r for _, r in found]


def bound_of(c: cs.Certificate, delta: float) -> float:
    """As the theorem decodes it."""
    assert c.metric.hilbert is not None
    return c.metric.diameter if math.isinf(delta) else c.metric.hilbert.bound(delta)


def one_level(c: cs.Certificate, eps: float) -> float:
    """p = 0.775, stepping down where only two or three distances would be left above R."""
    center, (n, m) = c.center, (c.sizes.n, c.sizes.m)
    assert isinstance(center, cs.GeometricMedian)
    for p in SINGLE:
        mass = binomial.needed_mass(n, math.ceil(p * n - 1e-9), ALPHA / 2)
        needed = c.noise.mass_needed(mass, eps)
        if p == SINGLE[-1] or (needed is not None and needed <= 1 + 1.2 * math.log(ALPHA / 2) / m):
            break
    return center.furthest(*levels_of(c, eps, [p], 1.0))


def median_forms(c: cs.Certificate, eps: float) -> dict[str, float]:
    """Theorem C with several levels, beside what one level could do."""
    center, theorem = c.center, c.theorem
    assert isinstance(center, cs.GeometricMedian)
    assert isinstance(theorem, MedianTheorem)
    best = min(center.furthest(*levels_of(c, eps, [p], 1.0)) for p in SINGLE)
    measure = center.widest if c.metric.spherical else center.furthest
    others = [measure(*levels_of(c, eps, s, 1.0 / len(s))) for s in OTHER_SETS.values()]
    levels = theorem.levels(eps)
    radii = [c.ranked.smallest(0, level.rank) for level in levels]
    from_w = center.furthest([level.k / c.sizes.n for level in levels], radii)
    return {
        "new": c.bound(eps),
        "one level": bound_of(c, one_level(c, eps)),
        "best p afterwards": bound_of(c, best),
        "best set afterwards": min(c.bound(eps), *(bound_of(c, x) for x in others)),
        "from w": bound_of(c, from_w),
    }


class TwoParts(MedoidTheorem):
    """Theorem B with delta_1, b, delta_2 and c fixed one by one."""

    def outer_ranks(self, eps: float) -> tuple[int, int] | None:
        """The certificate's parts and the query's, each at its own level."""
        points, pool = self.center.outer_points, self.center.pool
        mass = binomial.needed_mass(self.sizes.n, majority(self.sizes.n), 0.1 * ALPHA)
        share = 1.0 - (0.25 * ALPHA) ** (1.0 / self.center.candidates)
        around = self.noise.mass_needed(mass, eps)
        among = self.noise.mass_needed(share, eps, fold=pool)
        tau = binomial.upper_rank(self.sizes.m, around, 0.1 * ALPHA / points)
        t = binomial.upper_rank(points, among, 0.25 * ALPHA)
        return (tau, t) if tau and t else None


def medoid_forms(c: cs.Certificate, eps: float) -> dict[str, float]:
    """Theorem B with the joint t, beside the one of two parts."""
    assert isinstance(c.center, cs.Medoid)
    plain = TwoParts(c.center, c.noise, c.metric, c.sizes, c.level)
    return {"new": c.bound(eps), "two parts": plain.bound(c.ranked, 0, eps)}


def digit(index: int) -> dict[str, Any]:
    """All forms on one digit, for every metric, budget and eps."""
    model, noise, x = autoencoder(), cs.Gaussian(SIGMA), digits(index + 1)[0][index]
    record: dict[str, Any] = {"image": index}
    for budget, (n, m) in SIZES.items():
        if m > 10_000 and index >= THOROUGH:
            continue
        smoothers = [
            cs.Smoother(model, noise, metric, answer_samples=n) for metric in METRICS.values()
        ]
        for name, c in zip(
            METRICS, cs.certify_together(smoothers, x, m, ALPHA, seed=1_000 + index), strict=True
        ):
            forms = median_forms if isinstance(c.center, cs.GeometricMedian) else medoid_forms
            record.setdefault(name, {})[budget] = [forms(c, SIGMA * h) for h in SHIFTS]
    print(f"image {index}: done", flush=True)
    return record


def wide(length: float) -> list[dict[str, float]]:
    """Directions that spread: the identity in 64 dimensions, noise of length 2 around x."""
    x = torch.full((64,), length / 8.0)
    smoother = cs.Smoother(lambda batch: batch, cs.Gaussian(SIGMA), cs.metrics.Angular())
    c = smoother.certify(x, 4_000, ALPHA, seed=0)
    return [median_forms(c, SIGMA * h) for h in SHIFTS]


def run(folder: Path, quick: bool) -> dict[str, Any]:
    """Digits, then directions of known spread."""
    return {
        "digits": [digit(index) for index in range(2 if quick else IMAGES)],
        "wide": {name: wide(length) for name, length in WIDE.items()},
    }


def tabulated(result: dict[str, Any]) -> str:
    """Median over images of the new form / a plainer one, from the same samples."""
    shifts = [f"h = {h:g}" for h in SHIFTS]
    rows = []
    for metric in METRICS:
        for form in list(result["digits"][0][metric]["default"][0])[1:]:
            for budget in SIZES:
                found = [r[metric][budget] for r in result["digits"] if budget in r[metric]]
                rows.append([metric, budget, form, *ratios_to(found, form)])
    wide = [
        [name, "default", form, *ratios_to([found], form)]
        for name, found in result["wide"].items()
        for form in list(found[0])[1:]
    ]
    note = (
        f"Medians over {len(result['digits'])} MNIST test images ({THOROUGH} at the "
        "largest budget) of (bound) / (the plainer form's "
        f"bound on the same samples), sigma = {SIGMA}, eps = h sigma, alpha = "
        f"{ALPHA}. 'Afterwards': the least of several forms, chosen on the distances "
        "themselves, which is not valid: no choice made beforehand can be better. 'From w': "
        "without the point along the ray. The last rows are directions (angular distance, the "
        "identity in 64 dimensions) at that typical angle from the certified one; 1.000 where "
        "both forms say nothing.\n\n"
    )
    return note + table(["metric", "budget", "against", *shifts], [*rows, *wide])


def ratios_to(found: list[list[dict[str, float]]], form: str) -> list[str]:
    """For each eps, the median of new / form."""
    places = range(len(SHIFTS))
    ratios = ([one[i]["new"] / one[i][form] for one in found] for i in places)
    return [f"{statistics.median(several):.3f}" for several in ratios]
