"""A scale of a few seconds and data that look like MNIST, for tests of the studies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from studies import scales, training
from studies.data import Images
from studies.records import Row
from studies.scales import Budget, Scale, Training

from centersmooth.study import PublishedProcedure

PUBLISHED = PublishedProcedure(n=500, m=150, delta=0.2, alpha1=0.05, alpha2=0.05)
SCALE = Scale(
    name="tiny",
    restoration=Budget(2, 60, 1_200, PUBLISHED, 1, 1),
    ablation=Budget(2, 60, 400, PUBLISHED, 1),
    restoring=((0.25, 0.0625), (0.5, 0.125)),
    training=Training(epochs=1, images=48),
    noise_levels=(0.0, 0.25),
    faces=Budget(2, 60, 200, PUBLISHED, 1),
    facing=((0.5, 0.05),),
    perception=Budget(2, 60, 200, PUBLISHED, 1),
    perceiving=((0.5, 0.02),),
    generating=Training(epochs=1, images=48),
    tightness_inputs=1,
    precision_inputs=1,
    consistency=(0.0, 4.0),
)


def blobs(channels: int = 1, size: int = 8, count: int = 64) -> Images:
    """Bright squares in the dark, a class per corner."""
    generator = torch.Generator().manual_seed(0)
    labels = torch.arange(count) % 4
    pictures = torch.randint(0, 40, (count, channels, size, size), generator=generator)
    half = size // 2
    for place, label in enumerate(labels.tolist()):
        top, left = half * (label // 2), half * (label % 2)
        pictures[place, :, top + 1 : top + half - 1, left + 1 : left + half - 1] = 230
    pictures, labels = pictures.to(torch.uint8), labels.to(torch.uint8)
    return Images(pictures, labels, pictures[:20].clone(), labels[:20].clone())


def in_place_of_real_data(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Blobs for data sets, a cache and results of its own."""
    patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    patch.setattr(scales, "RESULTS", folder / "results")
    patch.setitem(training.DATASETS, "mnist", blobs)
    patch.setitem(training.DATASETS, "cifar10", lambda: blobs(3))
    patch.setattr(training, "_SHAPES", {"mnist": (1, 8), "cifar10": (3, 8)})


def row(**values: Any) -> Row:
    """A certified record of ours, but for what `values` say."""
    usual: dict[str, Any] = {
        "part": "mnist-autoencoder",
        "setting": "l2, sigma 0.25, trained at noise 0.25",
        "procedure": "sharp",
        "metric": "L2",
        "sigma": 0.25,
        "index": 0,
        "name": "test 3",
        "status": "certified",
        "eps": (0.375, 0.5),
        "bounds": (1.0, 2.0),
        "statuses": ("certified", "certified"),
        "errors": (1.5, 2.5),
        "diameter": 28.0,
        "smoothing_error": 0.5,
        "base_error": 0.25,
        "smoothed_error": 0.75,
        "evaluations": 5_099,
        "samples": 4_000,
        "seed": 1,
    }
    return Row(**{**usual, **values})
