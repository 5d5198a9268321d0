"""Experiment 5: boxes around faces under the Jaccard distance.

sigma and eps are in the units of the photo, whose values go from 0 to 1. "No face" is an answer:
the empty box, at distance 1 from every other.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon, Rectangle

import centersmooth as cs
from centersmooth.report import style
from centersmooth.report.regions import Allowed, Box
from centersmooth.store import Record, Store
from centersmooth.study import Study
from studies import mtcnn
from studies.columns import Smoothed, columns, many_candidates
from studies.data import celeba, people
from studies.figures import save
from studies.pictures import as_array
from studies.records import rows_of, write_rows
from studies.running import certify
from studies.scales import SEED, Scale

FACE, NO_FACE, ABSTAINED = "face", "no face", "abstained"
METRIC = "BoxJaccard"
_SHOWN = 4


@dataclass(frozen=True)
class Faces:
    """MTCNN on photos of one source."""

    name: str = "faces"
    photos: Callable[[int], tuple[torch.Tensor, list[str]]] = people
    shown: bool = True
    """Whether the first photo may be shown: it is free, or it stays on this machine."""

    def folder(self, scale: Scale) -> Path:
        """Where its run is kept."""
        return scale.run_folder(self.name, scale.faces, scale.facing)

    def run(self, scale: Scale) -> None:
        """Certify what is missing."""
        study, _ = self.study(scale)
        certify(study, self.folder(scale))

    def keep(self, scale: Scale) -> None:
        """Records and pictures of what the run holds."""
        folder, (photos, _) = self.folder(scale), self.photos(1)
        write_rows(
            scale.results / "records" / f"{self.name}.jsonl",
            rows_of(self.name, folder, kind_of_answer),
        )
        where = scale.results / "figures" if self.shown else folder
        save(allowed_regions(folder, photos[0]), where, f"{self.name}-examples")

    def study(self, scale: Scale) -> tuple[Study, torch.Tensor]:
        """The reference for certified errors is the box found in the photo without noise."""
        photos, names = self.photos(scale.faces.inputs)
        detector = _detector()
        settings = columns(
            scale.facing,
            {"Jaccard": cs.metrics.BoxJaccard()},
            lambda sigma: Smoothed(detector, "MTCNN"),
            scale.faces,
            many_candidates,
            curve=(),
        )
        study = Study(
            inputs=list(photos),
            settings=list(settings),
            targets=detector(photos),
            names=names,
            title=f"Faces, {scale.name}",
            seed=SEED,
            batch_size=16,
            gallery=len(photos),
        )
        return study, photos


@lru_cache(maxsize=1)
def _detector() -> mtcnn.MTCNN:
    return mtcnn.published()


def kind_of_answer(record: Record) -> str:
    """Whether the smoothed model sees a face, if it answers."""
    if record.status == "abstained":
        return ABSTAINED
    box = _box(record.smoothed)
    return NO_FACE if box is None else FACE


def _box(text: str | None) -> Box | None:
    """A kept output as a box; None for "no face" and for no answer at all."""
    if text is None:
        return None
    values = torch.as_tensor(cs.metrics.BoxJaccard().from_json(json.loads(text))).reshape(-1)
    return Box(*values.tolist()) if values.numel() else None


def allowed_regions(run: Path, photo: torch.Tensor) -> Figure:
    """The first photo with the base box, the smoothed box, and where all answers must lie."""
    with Store(run) as store:
        found = [r for r in store.records() if r.procedure == "sharp" and r.index == 0]
    # From the least noise to the most, whatever the bound says there.
    places = sorted({round(i * (len(found) - 1) / (_SHOWN - 1)) for i in range(_SHOWN)})
    chosen = [found[place] for place in places]
    with style.rules():
        figure = Figure(figsize=(2.3 * len(chosen), 2.6), layout="constrained")
        axes = figure.subplots(1, len(chosen), squeeze=False)[0]
        for ax, record in zip(axes, chosen, strict=True):
            sigma = record.noise["fields"]["sigma"]
            ax.imshow(as_array(photo))
            ax.set_axis_off()
            sees = "" if _box(record.smoothed) is not None else f", {NO_FACE}"
            told = f"σ = {sigma:g}, ε₁ = {record.eps[0]:g}: ε₂ = {record.bounds[0]:.2f}{sees}"
            ax.set_title(told, fontsize=8.5)
            _draw(ax, record)
        return figure


def _draw(ax: Axes, record: Record) -> None:
    base, smoothed, bound = _box(record.base), _box(record.smoothed), record.bounds[0]
    if base is not None:
        _outline(ax, base, style.PAPER, "--")
    if smoothed is None:
        return
    _outline(ax, smoothed, style.HUES[1], "-")
    if bound < 1:
        region = Allowed(smoothed, bound)
        looks: Any = {"color": style.HUES[0], "alpha": 0.25, "lw": 0}
        ax.add_patch(Polygon(region.outline(), **looks))
        if region.core is not None:
            _outline(ax, region.core, style.HUES[0], ":")


def _outline(ax: Axes, box: Box, colour: str, line: str) -> None:
    ax.add_patch(
        Rectangle((box.x0, box.y0), box.width, box.height, fill=False, ec=colour, ls=line, lw=1.6)
    )


PARTS = (Faces(),)
ON_REQUEST = (Faces("celeba", celeba, shown=False),)
"""Parts whose photos nothing can fetch."""
