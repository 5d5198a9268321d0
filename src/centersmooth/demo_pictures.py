"""The demo's pictures (matplotlib, imported when used)."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from centersmooth.demo import Certified

_TITLES = ("L2 distance", "Jaccard distance of the ink")
# Blue and vermilion of Okabe and Ito: every kind of colour vision tells them apart.
_OURS, _THEIRS, _INK = "#0072B2", "#D55E00", "#333333"
_CELL, _LEFT, _RIGHT, _TOP, _BOTTOM = 1.1, 1.95, 0.15, 0.15, 0.65  # inches

Model = Callable[[torch.Tensor], torch.Tensor]


def upward(bound: float) -> str:
    """Three decimals, rounded up, as a bound must be."""
    return f"{math.ceil(bound * 1000) / 1000:.3f}" if math.isfinite(bound) else "none"


def save_strip(path: Path, model: Model, found: Sequence[Certified], eps: float) -> None:
    """One column per digit: input, noisy input, base output, smoothed output, the bounds."""
    noise = torch.Generator().manual_seed(found[0].certificates[0].seed % 2**32)
    columns = [_images(model, digit, noise) for digit in found]
    rows = len(columns[0])
    width = _LEFT + _CELL * len(found) + _RIGHT
    height = _TOP + _CELL * rows + _BOTTOM
    figure = _figure(width, height)
    margins = {
        "left": _LEFT / width,
        "right": 1 - _RIGHT / width,
        "top": 1 - _TOP / height,
        "bottom": _BOTTOM / height,
    }
    spacing: dict[str, Any] = {"wspace": 0.06, "hspace": 0.06, **margins}
    axes = figure.subplots(rows, len(found), squeeze=False, gridspec_kw=spacing)
    for i, images in enumerate(columns):
        for j, image in enumerate(images.values()):
            _show(axes[j, i], image)
        bounds = [upward(certificate.bound(eps)) for certificate in found[i].certificates]
        _beside(axes[-1, i], "\n".join(bounds), (0.5, -0.08), "center", "top")
    for j, name in enumerate(columns[0]):
        _beside(axes[j, 0], name, (-0.1, 0.5), "right", "center")
    limits = f"at ε = {eps:g}: L2 moves ≤\nJaccard moves ≤"
    _beside(axes[-1, 0], limits, (-0.1, -0.08), "right", "top")
    figure.savefig(path)


def _images(model: Model, digit: Certified, noise: torch.Generator) -> dict[str, torch.Tensor]:
    certificate = digit.certificates[0]
    with torch.no_grad():
        base = model(digit.image[None])[0]
    return {
        "input": digit.image,
        "input + noise": certificate.noise.sample(digit.image, noise, 1)[0],
        "base output": base,
        "smoothed output": certificate.value,
    }


def _show(ax: Axes, image: torch.Tensor) -> None:
    ax.imshow(image.squeeze().numpy(), cmap="gray", vmin=0, vmax=1)
    ax.set_axis_off()


def _beside(ax: Axes, text: str, place: tuple[float, float], ha: str, va: str) -> None:
    """Text at a place given in shares of the picture's width and height."""
    style: dict[str, Any] = {"ha": ha, "va": va, "color": _INK, "linespacing": 1.5}
    ax.text(*place, text, transform=ax.transAxes, multialignment=ha, **style)


def save_curves(path: Path, found: Sequence[Certified], grid: Sequence[float]) -> None:
    """From eps to the bound, one panel per metric: a line per digit, and the median."""
    figure = _figure(8.6, 3.7)
    figure.set_layout_engine("constrained")
    for place, ax in enumerate(figure.subplots(1, len(_TITLES))):
        ours = [digit.certificates[place].curve(grid) for digit in found]
        theirs = [[point.bound for point in digit.published[place]] for digit in found]
        _curves(ax, grid, theirs, _THEIRS, "published procedure")
        _curves(ax, grid, ours, _OURS, "centersmooth")
        _dress(ax, _TITLES[place])
        diameter = found[0].certificates[place].metric.diameter
        if math.isfinite(diameter):
            ax.set_ylim(0, 1.02 * diameter)
    handles, labels = ax.get_legend_handles_labels()
    evaluations = (found[0].published[0][0].evaluations, found[0].certificates[0].evaluations)
    labels = [f"{name}, {e:,} passes" for name, e in zip(labels, evaluations, strict=True)]
    handles += ax.plot([], [], color="0.6", lw=0.8)
    labels.append(f"each digit (bold: median of {len(found)})")
    figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False)
    figure.savefig(path)


def _curves(
    ax: Axes, grid: Sequence[float], curves: list[list[float]], color: str, name: str
) -> None:
    for curve in curves:
        ax.plot(grid, curve, color=color, lw=0.8, alpha=0.35)
    median = [statistics.median(column) for column in zip(*curves, strict=True)]
    ax.plot(grid, median, color=color, lw=2.4, label=name)


def _dress(ax: Axes, title: str) -> None:
    ax.set_title(title, fontsize=11, color=_INK)
    ax.set_xlabel("attack size ε (L2 length of the change)")
    ax.set_ylabel("the output moves at most")
    ax.set_xlim(left=0)
    ax.set_ylim(bottom=0)
    ax.grid(axis="y", color="0.92")
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)


def _figure(width: float, height: float) -> Figure:
    """A figure outside pyplot, so that the caller's own figures and backend stay as they are."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), dpi=160, facecolor="white")
