"""Studies that certify in milliseconds, and what their runs hold."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import torch

import centersmooth as cs
from centersmooth.store import Store
from centersmooth.study import PublishedProcedure, Setting, Study

NOISE = cs.Gaussian(0.25)
EPS = (0.1, 0.2)
_WEIGHTS = torch.randn(4, 6, generator=torch.Generator().manual_seed(1))


def model(batch: torch.Tensor) -> torch.Tensor:
    """(N, 6) to (N, 4)."""
    return torch.tanh(batch @ _WEIGHTS.T)


def slow_model(batch: torch.Tensor) -> torch.Tensor:
    """The same, a quarter of a millisecond per row: long enough to be interrupted."""
    time.sleep(2.5e-4 * len(batch))
    return model(batch)


def inputs(count: int) -> torch.Tensor:
    return torch.randn(count, 6, generator=torch.Generator().manual_seed(2))


def setting(name: str = "l2", metric: Any = None, **options: Any) -> Setting:
    small = {"samples": 200, "answer_samples": 60, "alpha": 0.1, "eps": EPS, **options}
    return Setting(name=name, noise=NOISE, metric=metric or cs.metrics.L2(), **small)


def published(name: str = "published", **options: Any) -> Setting:
    numbers = PublishedProcedure(n=200, m=300, delta=0.2, alpha1=0.05, alpha2=0.05)
    return setting(name, published=numbers, **options)


def study(count: int = 3, settings: list[Setting] | None = None, **options: Any) -> Study:
    """Two metrics on shared draws and the published procedure, unless told otherwise."""
    usual = [setting(), setting("l1", cs.metrics.L1()), published()]
    small = {"model": model, "batch_size": 64, "seed": 5, "gallery": 1, **options}
    return Study(inputs(count), usual if settings is None else settings, **small)


def values(run: Path) -> list[dict[str, Any]]:
    """All that a run must reproduce: its records and certificates, without their times."""
    with Store(run) as store:
        return [{**record.values(), **_certificate(store, record)} for record in store.records()]


def _certificate(store: Store, record: Any) -> dict[str, Any]:
    if record.procedure == "published" or record.status == "failed":
        return {}
    told = json.loads(store.certificate(record.index, record.setting).to_json())
    del told["provenance"]["seconds"]
    return {"certificate": told}
