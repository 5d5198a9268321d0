"""What bfloat16 changes: the same certificates of the same network in single precision.

Both are models in their own right, and each certificate is valid for its own. What is to be seen
is that figures drawn from the one speak of the other as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from torch import Tensor

import centersmooth as cs
from centersmooth.centers import Center
from centersmooth.metrics import Metric
from studies.columns import usual_sigma
from studies.records import write_lines
from studies.restoration import BATCH, Restoration, metrics
from studies.scales import SEED, Scale
from studies.training import DATASETS, trained

_RATIO = 2.0


@dataclass(frozen=True)
class Precision:
    """The digits' autoencoder, twice, on the same noise."""

    name: str = "precision"

    def run(self, scale: Scale) -> None:
        """Certify some inputs with both and write down the bounds."""
        write_lines(scale.results / "records" / f"{self.name}.jsonl", self._lines(scale))

    def keep(self, scale: Scale) -> None:
        """Nothing is left to do: its run writes the records."""

    def _lines(self, scale: Scale) -> Iterator[dict[str, Any]]:
        sigma = usual_sigma(scale.restoring)
        recipe = Restoration("mnist", "autoencoder").recipe(sigma, scale)
        models = {"bfloat16": trained(recipe).narrowed(), "single": trained(recipe)}  # type: ignore[operator]
        clean, names = DATASETS["mnist"]().chosen(scale.precision_inputs)
        measured, noise, eps = metrics(tuple(clean.shape[1:])), cs.Gaussian(sigma), _RATIO * sigma
        centers = {
            name: cs.best_center(metric, noise, eps, scale.restoration.answer_samples)
            for name, metric in measured.items()
        }
        for index, x in enumerate(clean):
            for name, metric in measured.items():
                bounds = {
                    precision: self._bound(scale, model, noise, metric, centers[name], x, eps)
                    for precision, model in models.items()
                }
                told = {"part": self.name, "index": index, "name": names[index], "metric": name}
                yield {**told, "sigma": sigma, "eps": eps, **bounds}

    def _bound(
        self,
        scale: Scale,
        model: Any,
        noise: cs.Gaussian,
        metric: Metric,
        center: Center,
        x: Tensor,
        eps: float,
    ) -> float:
        samples = scale.restoration.answer_samples
        options: Any = {"answer_samples": samples, "batch_size": BATCH, "progress": False}
        smoother = cs.Smoother(model, noise, metric, center, **options)
        return smoother.certify(x, scale.restoration.samples, seed=SEED).bound(eps)


PARTS = (Precision(),)
