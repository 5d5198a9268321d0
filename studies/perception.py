"""Experiment 6: pictures of a generator under LPIPS, attacked in its latent space."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn

import centersmooth as cs
from centersmooth.metrics import Metric
from centersmooth.report import style
from centersmooth.store import Store
from centersmooth.store.record import decoded
from centersmooth.study import Study
from studies import biggan
from studies.columns import THOROUGH, Smoothed, columns, many_candidates
from studies.generator import LATENT, Generating, latents
from studies.origins import write_atomically
from studies.pictures import contact_sheet
from studies.records import rows_of, write_rows
from studies.running import certify
from studies.scales import SEED, Scale
from studies.training import trained

_SHOWN = 6
_RETRIEVER = 207


@dataclass(frozen=True)
class Pictured:
    """A generator and what its latent inputs look like."""

    model: nn.Module
    version: str
    latent: int


def trained_here(scale: Scale) -> Pictured:
    """The decoder trained on CIFAR-10."""
    training = scale.generating
    recipe = Generating(epochs=training.epochs, images=training.images)
    return Pictured(trained(recipe), f"trained {training.epochs} epochs", LATENT)


def big_gan(scale: Scale) -> Pictured:
    """BigGAN-deep-128, golden retrievers, from a file put in place by hand."""
    return Pictured(biggan.published(_RETRIEVER), "BigGAN-deep-128", biggan.Shape().latent)


@dataclass(frozen=True)
class Perception:
    """One generator under LPIPS."""

    name: str
    generator: Callable[[Scale], Pictured]

    def folder(self, scale: Scale) -> Path:
        """Where its run is kept."""
        sizes = (scale.perception, scale.perceiving, scale.generating)
        return scale.run_folder(self.name, *sizes)

    def run(self, scale: Scale) -> None:
        """Certify what is missing."""
        study = self.study(scale, self.generator(scale), cs.metrics.LPIPS())
        certify(study, self.folder(scale))

    def keep(self, scale: Scale) -> None:
        """Records and pictures of what the run holds."""
        folder = self.folder(scale)
        write_rows(scale.results / "records" / f"{self.name}.jsonl", rows_of(self.name, folder))
        keep_pictures(folder, scale.results / "figures" / f"{self.name}-examples.png")

    def study(self, scale: Scale, pictured: Pictured, metric: Metric) -> Study:
        """Latent inputs times settings; there is no truth to compare with."""
        settings = columns(
            scale.perceiving,
            {"LPIPS": metric},
            lambda sigma: Smoothed(pictured.model, pictured.version),
            scale.perception,
            many_candidates,
            curve=(),
        )
        count = scale.perception.inputs
        return Study(
            inputs=list(latents(count, pictured.latent)),
            settings=list(settings),
            names=[f"latent {number}" for number in range(count)],
            title=f"Pictures, {self.name}, {scale.name}",
            seed=SEED,
            gallery=min(_SHOWN, count),
        )


def keep_pictures(run: Path, path: Path) -> Path:
    """What the generator and its smoothed version make of the same latents, at the largest σ."""
    with Store(run) as store:
        kept = [r for r in store.records() if r.base is not None and r.smoothed is not None]
    kept = [r for r in kept if r.procedure == "sharp" and not r.setting.endswith(THOROUGH)]
    largest = max(float(record.noise["fields"]["sigma"]) for record in kept)
    chosen = [r for r in kept if float(r.noise["fields"]["sigma"]) == largest][:_SHOWN]
    rows = {
        "base": [torch.as_tensor(decoded(r.base or "")) for r in chosen],
        "smoothed": [torch.as_tensor(decoded(r.smoothed or "")) for r in chosen],
    }
    return write_atomically(path, style.as_png(contact_sheet(rows)))


PARTS = (Perception("generator", trained_here),)
ON_REQUEST = (Perception("biggan", big_gan),)
"""Parts whose weights nothing can fetch."""
