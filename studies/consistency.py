"""Experiment 7b: training for certificates, with a term that shrinks the spread under noise."""

from __future__ import annotations

from dataclasses import dataclass

from centersmooth.executors import Serial
from centersmooth.study import Study
from studies.columns import Smoothed, columns
from studies.data import as_floats
from studies.records import rows_of, write_lines, write_rows
from studies.restoration import metrics
from studies.scales import Scale
from studies.training import DATASETS, Recipe, reconstruction_error, trained

SIGMA, RATIO = 0.25, 2.0
_SEED = 20_210_205
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

    def run(self, scale: Scale) -> None:
        """Train, certify on the same draws of noise, and measure the error on test images."""
        data = DATASETS[self.dataset]()
        clean, names = data.chosen(scale.restoration.inputs)
        models = {w: trained(self.recipe(w, scale)) for w in scale.consistency}
        settings = [
            setting
            for weight, model in models.items()
            for setting in columns(
                [(RATIO, RATIO * SIGMA)],
                {"l2": metrics(tuple(clean.shape[1:]))["l2"]},
                lambda sigma, model=model, weight=weight: Smoothed(model, told(weight)),  # type: ignore[misc]
                scale.restoration,
            )
            if setting.published is None
        ]
        study = Study(
            inputs=list(clean),
            settings=settings,
            targets=list(clean),
            names=names,
            title=f"Consistency, {self.dataset}, {scale.name}",
            seed=_SEED,
            gallery=0,
        )
        folder = scale.run_folder(self.name, scale.restoration, scale.training, scale.consistency)
        print(study.run(folder, on=Serial(threads=1)), flush=True)
        records = scale.results / "records"
        write_rows(records / f"{self.name}.jsonl", rows_of(self.name, folder))
        tested = as_floats(data.test[:_TESTED])
        errors = [
            {
                "part": self.name,
                "weight": weight,
                "trained": told(weight),
                "noisy": reconstruction_error(model, tested, SIGMA),
                "clean": reconstruction_error(model, tested, 0.0),
            }
            for weight, model in models.items()
        ]
        write_lines(records / f"{self.name}-errors.jsonl", errors)


def told(weight: float) -> str:
    """How a model was trained, in words."""
    return "noise alone" if weight == 0 else f"consistency {weight:g}"


PARTS = (Consistency("mnist"), Consistency("cifar10"))
