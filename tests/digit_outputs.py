"""A real model on real digits, and what can be read off its images: one output per metric.

The model restores a noisy digit; masks, boxes, outlines, histograms, words and poses of the
restored images are the outputs of every kind that the metrics compare.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from scipy import ndimage

from centersmooth import metrics
from centersmooth.demo_model import autoencoder, digits
from centersmooth.metrics import Metric
from centersmooth.metrics.features import Features
from lpips_weights import small_weights

SIGMA = 0.5
Read = Callable[[torch.Tensor], Any]


@lru_cache(maxsize=1)
def restorer() -> torch.nn.Module:
    return autoencoder()


def digit() -> torch.Tensor:
    return digits(1)[0][0]


def model(read: Read) -> Callable[[torch.Tensor], Any]:
    """What is read off the restored images."""

    def answer(batch: torch.Tensor) -> Any:
        with torch.no_grad():
            return read(restorer()(batch))

    return answer


def noisy_outputs(read: Read, count: int) -> Any:
    noise = torch.randn(count, *digit().shape, generator=torch.Generator().manual_seed(0))
    return model(read)(digit() + SIGMA * noise)


# ------------------------------------------------------------------ readings of images (N, 1, H, W)


def images(restored: torch.Tensor) -> torch.Tensor:
    return restored


def grey(restored: torch.Tensor) -> torch.Tensor:
    return restored[:, 0]


def large(restored: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.interpolate(restored, 36)


def ink(restored: torch.Tensor) -> torch.Tensor:
    return restored[:, 0] > 0.5


def levels(restored: torch.Tensor) -> torch.Tensor:
    """0 for paper, 1 for the edge of a stroke, 2 for ink."""
    return (restored[:, 0] * 2.999).long()


def features(restored: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.avg_pool2d(restored, 4).flatten(1) + 0.01


def class_names(restored: torch.Tensor) -> list[str]:
    return ["thick" if float(image.mean()) > 0.185 else "thin" for image in restored]


def box(restored: torch.Tensor) -> list[torch.Tensor]:
    """The box around the ink, if there is any."""
    return [part[:1] if len(part) else part for part in map(_around, ink(restored))]


def _around(mask: torch.Tensor) -> torch.Tensor:
    places = mask.nonzero().double()
    if not len(places):
        return torch.zeros((0, 4), dtype=torch.float64)
    low, high = places.min(0).values, places.max(0).values + 1
    return torch.stack((low[1], low[0], high[1], high[0]))[None]


def strokes(restored: torch.Tensor) -> list[torch.Tensor]:
    """A box per connected piece of each band of seven rows."""
    return [found["boxes"] for found in detections(restored)]


def detections(restored: torch.Tensor) -> list[dict[str, torch.Tensor]]:
    """The same with the band as label and the mean ink as score."""
    return [_pieces(image.numpy()) for image in restored[:, 0]]


def _pieces(image: np.ndarray) -> dict[str, torch.Tensor]:
    boxes, bands, scores = [], [], []
    for band in range(4):
        rows = slice(7 * band, 7 * band + 7)
        for y, x in ndimage.find_objects(ndimage.label(image[rows] > 0.5)[0]):
            boxes.append([x.start, y.start + 7 * band, x.stop, y.stop + 7 * band])
            bands.append(band)
            scores.append(float(image[rows][y, x].mean()))
    table = torch.tensor(boxes, dtype=torch.float64).reshape(-1, 4)
    return {"boxes": table, "labels": torch.tensor(bands), "scores": torch.tensor(scores)}


def profile(restored: torch.Tensor) -> torch.Tensor:
    """The share of the ink in each column: a histogram over a line."""
    columns = restored.sum(dim=(1, 2)).double() + 1e-6
    return columns / columns.sum(dim=1, keepdim=True)


def cells(restored: torch.Tensor) -> torch.Tensor:
    """The share of the ink in each of 4 x 4 cells."""
    shares = torch.nn.functional.avg_pool2d(restored, 7).flatten(1).double() + 1e-6
    return shares / shares.sum(dim=1, keepdim=True)


def line(restored: torch.Tensor) -> list[str]:
    """A row of characters, as dark as the columns."""
    darkness = restored.mean(dim=(1, 2)).mul(20).long().clamp(0, 5)
    return ["".join(" .:oO#"[k] for k in row).strip() for row in darkness.tolist()]


def words(restored: torch.Tensor) -> list[str]:
    """A word per band of rows."""
    darkness = restored.mean(dim=(1, 3)).reshape(len(restored), 7, 4).mean(dim=2).mul(9).long()
    names = ("blank", "faint", "light", "dark", "black")
    return [" ".join(names[min(k, 4)] for k in row) for row in darkness.tolist()]


def dark_cells(restored: torch.Tensor) -> list[frozenset[tuple[int, int]]]:
    pooled = torch.nn.functional.max_pool2d(restored, 4)[:, 0] > 0.5
    return [frozenset((y, x) for y, x in mask.nonzero().tolist()) for mask in pooled]


def tagged(restored: torch.Tensor) -> list[dict[str, float]]:
    pooled = torch.nn.functional.avg_pool2d(restored, 7)[:, 0]
    return [
        {f"{y}{x}": float(mean[y, x]) for y, x in (mean > 0.05).nonzero().tolist()}
        for mean in pooled
    ]


def points(restored: torch.Tensor) -> list[torch.Tensor]:
    pooled = torch.nn.functional.max_pool2d(restored, 2)[:, 0] > 0.5
    return [mask.nonzero().double() for mask in pooled]


def darkness(restored: torch.Tensor) -> torch.Tensor:
    """A score for each band of rows: a ranking of the bands."""
    return restored.mean(dim=(1, 3)).reshape(len(restored), 7, 4).mean(dim=2)


def joints(restored: torch.Tensor) -> torch.Tensor:
    """Left, right, upper and lower end of the ink with whether it is there, and the center."""
    found = []
    for mask in ink(restored):
        at = mask.nonzero().flip(1).double()
        if not len(at):
            found.append(torch.zeros((5, 3), dtype=torch.float64))
            continue
        ends = [at[at[:, k].argmin()] for k in (0, 1)] + [at[at[:, k].argmax()] for k in (0, 1)]
        pose = torch.stack([*ends, at.mean(dim=0)])
        found.append(torch.cat((pose, torch.ones((5, 1), dtype=torch.float64)), dim=1))
    return torch.stack(found)


def slant(restored: torch.Tensor) -> torch.Tensor:
    """The rotation that the main axis of the ink has, as a quaternion about the z axis."""
    grid = torch.stack(torch.meshgrid(torch.arange(28.0), torch.arange(28.0), indexing="ij"))
    weight = restored[:, 0].flatten(1).clamp(min=0) + 1e-6
    weight = weight / weight.sum(dim=1, keepdim=True)
    y, x = (weight[:, None] * grid.flatten(1)).sum(dim=2).T[:, :, None]
    dy, dx = grid[0].flatten() - y, grid[1].flatten() - x
    angle = 0.5 * torch.atan2(
        2 * (weight * dx * dy).sum(1), (weight * dx * dx).sum(1) - (weight * dy * dy).sum(1)
    )
    zero = torch.zeros_like(angle)
    return torch.stack(((angle / 2).cos(), zero, zero, (angle / 2).sin()), dim=1)


def described(restored: torch.Tensor) -> list[dict[str, Any]]:
    parts = zip(box(restored), class_names(restored), strict=True)
    return [{"box": found, "name": name} for found, name in parts]


def vectors(restored: torch.Tensor) -> list[dict[str, torch.Tensor]]:
    pairs = zip(features(restored), profile(restored), strict=True)
    return [{"features": one, "profile": other} for one, other in pairs]


# -------------------------------------------------------------------------------------- all of them


def grid_costs() -> tuple[tuple[float, ...], ...]:
    places = [(k // 4, k % 4) for k in range(16)]
    return tuple(tuple(math.dist(one, other) for other in places) for one in places)


def same_length(a: str, b: str) -> float:
    return abs(len(a) - len(b))


def lag(a: torch.Tensor, b: torch.Tensor) -> float:
    """Not symmetric: only what b has more."""
    return float((b - a).clamp(min=0).sum())


def outputs_by_metric() -> dict[str, tuple[Metric, Read]]:
    """For each name of docs/metrics.md a metric and outputs of a real model that it compares."""
    m = metrics
    lpips = m.LPIPS(network=Features("alex", small_weights("alex")))
    parts = {"features": m.L2(), "profile": m.Hellinger()}
    return {
        "L1": (m.L1(), images),
        "L2": (m.L2(), images),
        "SquaredL2": (m.SquaredL2(), images),
        "Angular": (m.Angular(), features),
        "Cosine": (m.Cosine(), features),
        "Discrete": (m.Discrete(), class_names),
        "TotalVariation": (m.TotalVariation(), images),
        "SSIM": (m.SSIM(), images),
        "LPIPS": (lpips, large),
        "BoxJaccard": (m.BoxJaccard(), box),
        "UnionJaccard": (m.UnionJaccard(), strokes),
        "OSPA": (m.OSPA(score_weight=0.1), detections),
        "MaskJaccard": (m.MaskJaccard(), ink),
        "LabelJaccard": (m.LabelJaccard((0, 1, 2)), levels),
        "Dice": (m.Dice(), ink),
        "Hamming": (m.Hamming(share=True), levels),
        "BoundaryHausdorff": (m.BoundaryHausdorff(cutoff=28.0), ink),
        "VariationDistance": (m.VariationDistance(), profile),
        "Hellinger": (m.Hellinger(), profile),
        "JensenShannon": (m.JensenShannon(), profile),
        "Wasserstein1": (m.Wasserstein1(tuple(range(28))), profile),
        "EarthMover": (m.EarthMover(grid_costs()), cells),
        "Levenshtein": (m.Levenshtein(), line),
        "NormalizedLevenshtein": (m.NormalizedLevenshtein(words=True), words),
        "SetJaccard": (m.SetJaccard(), dark_cells),
        "WeightedJaccard": (m.WeightedJaccard(), tagged),
        "Hausdorff": (m.Hausdorff(cutoff=20.0), points),
        "KendallTau": (m.KendallTau(items=7), darkness),
        "SpearmanFootrule": (m.SpearmanFootrule(items=7), darkness),
        "Rotation": (m.Rotation(), slant),
        "Keypoints": (m.Keypoints(cutoff=28.0), joints),
        "Custom": (m.Custom(same_length, diameter=28.0), line),
        "weighted_sum": (
            m.weighted_sum({"box": m.BoxJaccard(), "name": m.Discrete()}, {"box": 1, "name": 0.5}),
            described,
        ),
        "euclidean_sum": (m.euclidean_sum(parts), vectors),
        "maximum": (m.maximum(parts), vectors),
        "through": (m.through(features, m.L2()), images),
        "symmetrised": (m.symmetrised(lag, how="max"), darkness),
        "power": (m.power(m.L1(), 0.5), features),
        "clipped": (m.clipped(m.L2(), 4.0), images),
    }
