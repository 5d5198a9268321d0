"""Small models and smoothers that certify in milliseconds."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import torch

import centersmooth as cs

SIGMA = 0.25
NOISE = cs.Gaussian(SIGMA)
X = torch.linspace(0.1, 0.9, 6)
_WEIGHTS = torch.randn(4, 6, generator=torch.Generator().manual_seed(1))


def linear(batch: torch.Tensor) -> torch.Tensor:
    """(N, 6) to (N, 4)."""
    return batch @ _WEIGHTS.T


TARGET = linear(X[None])[0] + 0.5
"""Near what the linear model answers for X."""


def boxes(batch: torch.Tensor) -> torch.Tensor:
    """(N, 6) to one xyxy box each."""
    corner = batch[:, :2]
    return torch.cat((corner, corner + 5.0 + batch[:, 2:4].abs()), dim=1)


def failing(share: float) -> Callable[[torch.Tensor], torch.Tensor]:
    """The linear model, NaN for about this share of noisy inputs."""
    limit = torch.distributions.Normal(float(X[0]), SIGMA).icdf(torch.tensor(share))

    def model(batch: torch.Tensor) -> torch.Tensor:
        return torch.where(batch[:, :1] < limit, torch.nan, linear(batch))

    return model


def smoother(model: Any = linear, metric: Any = None, **options: Any) -> cs.Smoother:
    """A seeded smoother with few answer samples and no tuning."""
    chosen = {"noise": NOISE, "answer_samples": 51, "batch_size": 64, "seed": 1, **options}
    return cs.Smoother(model, metric=cs.metrics.L2() if metric is None else metric, **chosen)


def certificate(model: Any = linear, metric: Any = None, **options: Any) -> cs.Certificate:
    """A certificate of X from 200 samples."""
    names = ("samples", "alpha", "target", "grid")
    call = {name: options.pop(name) for name in names if name in options}
    return smoother(model, metric, **options).certify(X, **{"samples": 200, **call})


@lru_cache
def one_of_each_kind() -> dict[str, cs.Certificate]:
    """A certificate of each kind."""
    split, metrics = cs.Split(0.01, 0.01), cs.metrics
    return {
        "median": certificate(target=TARGET),
        "split median": certificate(alpha=split),
        "angular": certificate(metric=metrics.Angular(), target=-TARGET),
        "medoid": certificate(metric=metrics.L1(), center=cs.Medoid(20), target=TARGET),
        "split medoid": certificate(center=cs.Medoid(30), samples=600, alpha=cs.Split(0.02, 0.02)),
        "Theorem A": certificate(center=cs.Medoid(20, outer=0), alpha=split),
        "pooled": certificate(center=cs.Medoid(20, pool=2)),
        "Weber point": certificate(metric=metrics.L1(), center=cs.WeberPoint(), target=TARGET),
        "pooled Weber point": certificate(
            metric=metrics.TotalVariation(),
            center=cs.WeberPoint(2),
            answer_samples=200,
            samples=600,
            target=TARGET,
            alpha=split,
        ),
        "boxes": certificate(boxes, metrics.BoxJaccard(), center=cs.Medoid(40)),
        "grid": certificate(grid=[0.05, 0.1, 0.2], target=TARGET),
        "range": certificate(input_range=(0, 1)),
        "clipped mean": certificate(
            center=cs.ClippedMean(), answer_samples=199, samples=600, target=TARGET
        ),
        "split clipped mean": certificate(
            center=cs.ClippedMean(9.0), metric=metrics.Angular(), alpha=split, target=-TARGET
        ),
    }
