"""Pictures of answers: what went in, what the base model and what the smoothed model say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from matplotlib.figure import Figure

from centersmooth.report import style
from centersmooth.store import Record, Store
from centersmooth.store.record import decoded
from studies.origins import write_atomically

Grid = Mapping[str, Sequence[torch.Tensor]]


def keep_examples(run: Path, clean: torch.Tensor, path: Path) -> Path:
    """The pictures a run kept, under its first l2 setting of ours."""
    found = _shown(run)
    rows: dict[str, list[torch.Tensor]] = {"clean": [], "base model": [], "smoothed model": []}
    for record in found:
        rows["clean"].append(clean[record.index])
        rows["base model"].append(_image(record.base))
        rows["smoothed model"].append(_image(record.smoothed))
    return write_atomically(path, style.as_png(contact_sheet(rows)))


def _shown(run: Path) -> list[Record]:
    with Store(run) as store:
        kept = [r for r in store.records() if r.smoothed is not None and r.procedure == "sharp"]
    names = [record.setting for record in kept if record.metric == "L2"]
    wanted = names[0] if names else kept[0].setting
    return [record for record in kept if record.setting == wanted]


def contact_sheet(rows: Grid) -> Figure:
    """Named rows of pictures."""
    with style.rules():
        count = max(len(pictures) for pictures in rows.values())
        figure = Figure(figsize=(1.1 * count + 1.2, 1.1 * len(rows)), layout="constrained")
        axes = figure.subplots(len(rows), count, squeeze=False)
        for row, (name, pictures) in zip(axes, rows.items(), strict=True):
            row[0].set_ylabel(name, rotation=0, ha="right", va="center")
            for ax in row:
                ax.set_xticks([])
                ax.set_yticks([])
                ax.grid(visible=False)
                for side in ax.spines.values():
                    side.set_visible(False)
            for ax, picture in zip(row, pictures, strict=False):
                ax.imshow(as_array(picture), cmap="gray", vmin=0, vmax=1, interpolation="nearest")
        return figure


def as_array(picture: torch.Tensor) -> Any:
    """(C, H, W) as matplotlib has it."""
    array = picture.detach().float().clamp(0, 1).numpy()
    return array[0] if array.shape[0] == 1 else np.moveaxis(array, 0, 2)


def _image(text: str | None) -> torch.Tensor:
    assert text is not None, "only records that kept their outputs are shown"
    return torch.as_tensor(decoded(text))
