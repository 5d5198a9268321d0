"""Experiments 1 to 4: restored images under total variation, angular and l2 distance.

All three distances, the published procedure's too, are read off one set of draws.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from torch import nn

import centersmooth as cs
from centersmooth.metrics import Metric
from centersmooth.study import Study
from studies.columns import SMALL, Smoothed, columns, sigmas
from studies.data import as_floats
from studies.mean_smoothing import mean_answer, mean_bound
from studies.pictures import keep_examples
from studies.records import Row, rows_of, write_lines, write_rows
from studies.running import certify
from studies.scales import SEED, Budget, Scale
from studies.training import DATASETS, Recipe, reconstruction_error, trained

PLAIN = "plain"
BATCH = 64
"""Noisy inputs per forward pass: more of them do not fit the processor's cache."""
MEAN_SAMPLES = 5_000
_SHOWN = 6
_TESTED = 1_000
_AVERAGED = 5


@dataclass(frozen=True)
class Restoration:
    """One data set and task; with `noisy` models are trained under noise, else without any."""

    dataset: str
    task: str
    noisy: bool = True

    @property
    def name(self) -> str:
        """The name of the part."""
        return f"{self.dataset}-{self.task}" + ("" if self.noisy else f"-{PLAIN}")

    def budget(self, scale: Scale) -> Budget:
        """How much is spent."""
        return scale.restoration if self.noisy else scale.ablation

    def level(self, sigma: float, scale: Scale) -> float:
        """The noise in training nearest to sigma."""
        return min(scale.noise_levels, key=lambda own: abs(own - sigma)) if self.noisy else 0.0

    def recipe(self, sigma: float, scale: Scale) -> Recipe:
        """The model that is certified at sigma."""
        training = scale.training
        level = self.level(sigma, scale)
        return Recipe(self.dataset, self.task, level, training.epochs, training.images)

    def smoothed(self, sigma: float, scale: Scale) -> Smoothed:
        """The same, trained."""
        recipe = self.recipe(sigma, scale)
        return Smoothed(network(recipe), f"trained at noise {recipe.noise:g}")

    def folder(self, scale: Scale) -> Path:
        """Where its run is kept."""
        sizes = (self.budget(scale), scale.restoring, scale.training, scale.noise_levels)
        return scale.run_folder(self.name, *sizes)

    def run(self, scale: Scale) -> None:
        """Certify what is missing."""
        study, _ = self.study(scale)
        certify(study, self.folder(scale))

    def keep(self, scale: Scale) -> None:
        """Records and pictures of what the run holds."""
        study, clean = self.study(scale)
        rows = list(rows_of(self.name, self.folder(scale)))
        write_rows(scale.results / "records" / f"{self.name}.jsonl", rows)
        pictures = scale.results / "figures" / f"{self.name}-examples.png"
        keep_examples(self.folder(scale), clean, pictures)
        if self.noisy:
            means = self._means(scale, study.inputs, clean, rows)
            write_lines(scale.results / "records" / f"{self.name}-mean.jsonl", means)

    def study(self, scale: Scale) -> tuple[Study, torch.Tensor]:
        """Inputs times settings, and the clean images, which are also the targets."""
        clean, names = DATASETS[self.dataset]().chosen(self.budget(scale).inputs)
        first = self.smoothed(next(iter(sigmas(scale.restoring))), scale).model
        with torch.inference_mode():
            observed = first.observe(clean)  # type: ignore[attr-defined]
        settings = columns(
            scale.restoring,
            metrics(tuple(clean.shape[1:])),
            lambda sigma: self.smoothed(sigma, scale),
            self.budget(scale),
            small=SMALL if self.noisy else (),
        )
        study = Study(
            inputs=observed.clone(),
            settings=list(settings),
            targets=list(clean),
            names=names,
            title=f"Restoration, {self.name}, {scale.name}",
            seed=SEED,
            batch_size=BATCH,
            gallery=min(_SHOWN, len(clean)),
        )
        return study, clean

    def _means(
        self, scale: Scale, inputs: Any, clean: torch.Tensor, rows: list[Row]
    ) -> Iterator[dict[str, Any]]:
        """What an actual mean-smoothed model answers, beside the bound on how far it can move."""
        known = {(row.sigma, row.index) for row in rows}
        for sigma, points in sigmas(scale.restoring).items():
            smoothed = self.smoothed(sigma, scale)
            recipe = self.recipe(sigma, scale)
            for index, truth in enumerate(clean[:_AVERAGED]):
                if (sigma, index) not in known:
                    continue
                answer = mean_answer(smoothed.model, inputs[index], sigma, MEAN_SAMPLES, SEED)
                base = smoothed.model(inputs[index][None])[0]
                yield {
                    "part": self.name,
                    "sigma": sigma,
                    "index": index,
                    "eps": points,
                    "bounds": [mean_bound(eps / sigma, truth.numel()) for eps in points],
                    "error": float((answer - truth).norm()),
                    "smoothing_error": float((answer - base).norm()),
                    "samples": MEAN_SAMPLES,
                    "trained_at": recipe.noise,
                    "mse": _error(recipe, sigma),
                }


def metrics(shape: tuple[int, ...]) -> dict[str, Metric]:
    """The three distances between images with values in [0, 1], with their largest values."""
    return {
        "total variation": cs.metrics.TotalVariation(value_range=(0.0, 1.0), shape=shape),
        "angular": cs.metrics.Angular(),
        "l2": cs.metrics.L2(diameter=math.sqrt(math.prod(shape))),
    }


@lru_cache(maxsize=8)
def network(recipe: Recipe) -> nn.Module:
    """One object per recipe: settings that share it share their draws."""
    model: nn.Module = trained(recipe).narrowed()  # type: ignore[operator]
    return model


@lru_cache(maxsize=64)
def _error(recipe: Recipe, sigma: float) -> float:
    """The mean squared error on test images, from inputs with noise sigma."""
    test = as_floats(DATASETS[recipe.dataset]().test[:_TESTED])
    return reconstruction_error(network(recipe), test, sigma)


PARTS = tuple(
    Restoration(dataset, task, noisy)
    for noisy in (True, False)
    for dataset in ("mnist", "cifar10")
    for task in ("autoencoder", "reconstruction")
)
