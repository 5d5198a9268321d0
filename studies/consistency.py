"""Experiment 7b: training for certificates, with a term that shrinks the spread under noise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from torch import nn

from centersmooth.study import Study
from studies.columns import Smoothed, columns
from studies.data import as_floats
from studies.records import rows_of, write_lines, write_rows
from studies.restoration import BATCH, metrics, network
from studies.running import certify
from studies.scales import SEED, Scale
from studies.training import DATASETS, Recipe, reconstruction_error

SIGMA, RATIO = 0.25, 2.0
_TESTED = 2_000


@dataclass(frozen=True)
class Consistency:
    """One data set's autoencoder, trained with several weights of the term; 0 is noise alone."""

    dataset: str

    @property
    def name(self) -> str:
        """The name of the part."""
        return f"consistency-{self.dataset}"

    def recipe(self, weight: float, scale: Scale) -> Recipe:
        """The training with this weight."""
        training = scale.training
        options = (training.epochs, training.images, weight)
        return Recipe(self.dataset, "autoencoder", SIGMA, *options)

    def models(self, scale: Scale) -> dict[float, nn.Module]:
        """By the weight of the term."""
        return {weight: network(self.recipe(weight, scale)) for weight in scale.consistency}

    def folder(self, scale: Scale) -> Path:
        """Where its run is kept."""
        sizes = (scale.ablation, scale.training, scale.consistency)
        return scale.run_folder(self.name, *sizes)

    def run(self, scale: Scale) -> None:
        """Train, and certify on the same draws of noise."""
        study = self.study(scale, self.models(scale))
        certify(study, self.folder(scale))

    def keep(self, scale: Scale) -> None:
        """Records of what the run holds, and the errors on test images."""
        records = scale.results / "records"
        write_rows(records / f"{self.name}.jsonl", rows_of(self.name, self.folder(scale)))
        write_lines(records / f"{self.name}-errors.jsonl", self._errors(self.models(scale)))

    def study(self, scale: Scale, models: Mapping[float, nn.Module]) -> Study:
        """The same inputs for every model."""
        clean, names = DATASETS[self.dataset]().chosen(scale.ablation.inputs)
        metric = {"l2": metrics(tuple(clean.shape[1:]))["l2"]}
        settings = [
            setting
            for weight, model in models.items()
            for setting in columns(
                [(RATIO, RATIO * SIGMA)],
                metric,
                _always(Smoothed(model, told(weight))),
                replace(scale.ablation, published_inputs=0),
            )
        ]
        return Study(
            inputs=list(clean),
            settings=settings,
            targets=list(clean),
            names=names,
            title=f"Consistency, {self.dataset}, {scale.name}",
            seed=SEED,
            batch_size=BATCH,
            gallery=0,
        )

    def _errors(self, models: Mapping[float, nn.Module]) -> Iterator[dict[str, Any]]:
        """Squared errors per pixel to clean test images, from noisy and from clean inputs."""
        tested = as_floats(DATASETS[self.dataset]().test[:_TESTED])
        for weight, model in models.items():
            yield {
                "part": self.name,
                "weight": weight,
                "trained": told(weight),
                "noisy": reconstruction_error(model, tested, SIGMA),
                "clean": reconstruction_error(model, tested, 0.0),
            }


def told(weight: float) -> str:
    """How a model was trained, in words."""
    return "noise alone" if weight == 0 else f"consistency {weight:g}"


def _always(smoothed: Smoothed) -> Callable[[float], Smoothed]:
    """The same model at every sigma."""
    return lambda sigma: smoothed


PARTS = (Consistency("mnist"), Consistency("cifar10"))
