"""Outputs like those of real models, the metric for them, and its formula for a single pair."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch

from centersmooth import metrics
from centersmooth.demo_model import autoencoder, digits
from centersmooth.metrics import Metric
from centersmooth.metrics.features import Features

CLASSES = 100
BINS = 16
PIXELS = 64
ALPHABET = "abcdefghijklmnopqrstuvwxyz "
SENTENCE = "the cat sat on a mat and saw that rain in may was warm as tea"


@dataclass(frozen=True)
class Case:
    """A metric, its outputs, and how a single pair is measured without any care for speed."""

    metric: Metric
    outputs: Callable[[int], Any]
    formula: Callable[[Any, Any], float]


def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


# ---------------------------------------------------------------------------------- outputs


@lru_cache(maxsize=1)
def restored(most: int = 2000) -> torch.Tensor:
    """What the demonstration's autoencoder makes of one noisy digit."""
    x = digits(1)[0][0]
    noise = torch.randn(most, *x.shape, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        return autoencoder()(x + 0.5 * noise)


def images(count: int) -> torch.Tensor:
    return restored()[:count]


def grey(count: int) -> torch.Tensor:
    return restored()[:count].squeeze(1)


def masks(count: int) -> torch.Tensor:
    return grey(count) > 0.5


def label_maps(count: int) -> torch.Tensor:
    return (grey(count) * 2.999).long()


def embeddings(count: int) -> torch.Tensor:
    return torch.randn(count, 384, generator=torch.Generator().manual_seed(1))


def labels(count: int) -> list[str]:
    return [SENTENCE.split()[k] for k in rng(2).integers(0, 16, count)]


def boxes(count: int) -> torch.Tensor:
    corners = rng(3).uniform(20, 40, (count, 2))
    return torch.from_numpy(np.hstack((corners, corners + rng(4).uniform(30, 60, (count, 2)))))


def detections(count: int) -> list[dict[str, torch.Tensor]]:
    """Up to twelve boxes per image, that jitter about twelve places."""
    source, places = rng(5), rng(6).uniform(0, 400, (12, 2))
    found = []
    for _ in range(count):
        seen = np.flatnonzero(source.random(12) < 0.8)
        corner = places[seen] + source.normal(0, 5, (len(seen), 2))
        size = 60 + source.normal(0, 4, (len(seen), 2))
        found.append(
            {
                "boxes": torch.from_numpy(np.hstack((corner, corner + size))),
                "labels": torch.from_numpy(seen % 3),
                "scores": torch.from_numpy(source.uniform(0.5, 1, len(seen))),
            }
        )
    return found


def box_sets(count: int) -> list[torch.Tensor]:
    return [found["boxes"] for found in detections(count)]


def probabilities(count: int) -> torch.Tensor:
    return torch.from_numpy(rng(7).dirichlet(np.full(CLASSES, 0.3), count))


def histograms(count: int) -> torch.Tensor:
    return torch.from_numpy(rng(8).dirichlet(np.full(BINS, 0.5), count))


def sentences(count: int) -> list[str]:
    """One sentence of 60 letters, a tenth of them misread."""
    source, true = rng(9), SENTENCE[:60]
    flips = source.random((count, len(true))) < 0.1
    letters = source.integers(0, len(ALPHABET), (count, len(true)))
    return [
        "".join(ALPHABET[k] if flip else c for c, flip, k in zip(true, f, row, strict=True))
        for f, row in zip(flips, letters, strict=True)
    ]


def tags(count: int) -> list[frozenset[int]]:
    return [frozenset(row.nonzero()[0].tolist()) for row in rng(10).random((count, 200)) < 0.1]


def weights(count: int) -> torch.Tensor:
    source = rng(11)
    return torch.from_numpy(source.random((count, 200)) * (source.random((count, 200)) < 0.2))


def scores(count: int) -> torch.Tensor:
    return torch.from_numpy(rng(12).normal(size=(count, 50)).round(1))


def clouds(count: int) -> list[torch.Tensor]:
    return list(torch.from_numpy(rng(13).normal(size=(count, 64, 3))))


def rotations(count: int) -> torch.Tensor:
    quaternions = torch.from_numpy(rng(14).normal(size=(count, 4)))
    return quaternions / quaternions.norm(dim=1, keepdim=True)


def joints(count: int) -> torch.Tensor:
    return torch.from_numpy(rng(15).normal(100, 10, (count, 17, 2)))


def tagged_boxes(count: int) -> list[dict[str, Any]]:
    return [{"box": b, "label": c} for b, c in zip(boxes(count), labels(count), strict=True)]


def photographs(count: int) -> torch.Tensor:
    """Smooth colour images: how fast a network is depends on their size only."""
    coarse = torch.rand(count, 3, 8, 8, generator=torch.Generator().manual_seed(16))
    return torch.nn.functional.interpolate(coarse, PIXELS, mode="bilinear")


@lru_cache(maxsize=1)
def lpips_metric() -> Metric:
    """LPIPS by an AlexNet of the published sizes, its weights drawn at random."""
    widths, sizes = (64, 192, 384, 256, 256), (11, 5, 3, 3, 3)
    source, trunk, inputs = rng(17), {}, 3
    for place, (width, size) in enumerate(zip(widths, sizes, strict=True)):
        spread = (2 / (size * size * inputs)) ** 0.5
        kernel = source.normal(0, spread, (size, size, inputs, width)).astype(np.float32)
        trunk[f"Conv_{place}"] = {"kernel": kernel, "bias": np.zeros(width, np.float32)}
        inputs = width
    heads = {
        f"NetLinLayer_{k}": {
            "Conv_0": {"kernel": source.random((1, 1, width, 1)).astype(np.float32)}
        }
        for k, width in enumerate(widths)
    }
    return metrics.LPIPS(network=Features("alex", {"AlexNet_0": trunk, **heads}))


# --------------------------------------------------------------------- formulas, pair by pair


def l1(a: Any, b: Any) -> float:
    return float((a.double() - b.double()).abs().sum())


def l2(a: Any, b: Any) -> float:
    return float((a.double() - b.double()).norm())


def cosine(a: Any, b: Any) -> float:
    return float(1 - a.double() @ b.double() / (a.double().norm() * b.double().norm()))


def angular(a: Any, b: Any) -> float:
    return math.acos(max(-1.0, min(1.0, 1 - cosine(a, b)))) / math.pi


def total_variation(a: Any, b: Any) -> float:
    e = a.double() - b.double()
    return float(e.diff(dim=-1).abs().sum() + e.diff(dim=-2).abs().sum())


def ssim(a: Any, b: Any) -> float:
    def mean(values: Any) -> Any:
        return torch.nn.functional.avg_pool2d(values.double()[None], 7, 1)

    m, n, unbiased = mean(a), mean(b), 49 / 48
    s, t = (mean(a.double() ** 2) - m * m) * unbiased, (mean(b.double() ** 2) - n * n) * unbiased
    st = (mean(a.double() * b.double()) - m * n) * unbiased
    top, bottom = (2 * m * n + 1e-4) * (2 * st + 9e-4), (m * m + n * n + 1e-4) * (s + t + 9e-4)
    return math.sqrt(max(0.0, 1 - float((top / bottom).mean())))


def lpips(a: Any, b: Any) -> float:
    """As every other implementation has it: both images through the network, for each pair."""
    network = lpips_metric().network  # type: ignore[attr-defined]
    rows = network(torch.stack((a, b)) * 2 - 1).double()
    return float((rows[0] - rows[1]).square().sum())


def jaccard(a: Any, b: Any) -> float:
    union = int((a | b).sum())
    return 1 - int((a & b).sum()) / union if union else 0.0


def dice(a: Any, b: Any) -> float:
    total = int(a.sum()) + int(b.sum())
    return 1 - 2 * int((a & b).sum()) / total if total else 0.0


def mean_jaccard(a: Any, b: Any) -> float:
    shown = [k for k in range(3) if bool(((a == k) | (b == k)).any())]
    return sum(jaccard(a == k, b == k) for k in shown) / max(1, len(shown))


def outline(mask: Any) -> Any:
    m = torch.nn.functional.pad(mask, (1, 1, 1, 1))
    inside = m[1:-1, :-2] & m[1:-1, 2:] & m[:-2, 1:-1] & m[2:, 1:-1]
    return (mask & ~inside).nonzero().double()


def outlines(a: Any, b: Any) -> float:
    return clouds_apart(outline(a), outline(b))


def clouds_apart(a: Any, b: Any) -> float:
    table = torch.cdist(a, b, compute_mode="donot_use_mm_for_euclid_dist")
    return float(max(table.min(0).values.max(), table.min(1).values.max()))


def box_jaccard(a: Any, b: Any) -> float:
    sides = [max(0.0, float(min(a[k + 2], b[k + 2]) - max(a[k], b[k]))) for k in (0, 1)]
    shared = sides[0] * sides[1]
    areas = sum(float((box[2] - box[0]) * (box[3] - box[1])) for box in (a, b))
    return 1 - shared / (areas - shared)


def union_jaccard(a: Any, b: Any) -> float:
    """Cell by cell of the grid that all edges make."""
    edges = [np.unique(np.concatenate([a[:, k::2].ravel(), b[:, k::2].ravel()])) for k in (0, 1)]
    x, y = ((e[1:] + e[:-1]) / 2 for e in edges)
    area = np.outer(np.diff(edges[0]), np.diff(edges[1]))

    def covers(boxes: Any) -> Any:
        inside = [
            (boxes[:, k, None].numpy() < c) & (c < boxes[:, k + 2, None].numpy())
            for k, c in ((0, x), (1, y))
        ]
        return np.einsum("nx,ny->xy", *inside) > 0

    one, other = covers(a), covers(b)
    return 1 - float(area[one & other].sum() / area[one | other].sum())


def ospa(a: Any, b: Any) -> float:
    from scipy.optimize import linear_sum_assignment

    pairs = [
        [detections_apart(a, i, b, j) for j in range(len(b["boxes"]))]
        for i in range(len(a["boxes"]))
    ]
    n, m = len(a["boxes"]), len(b["boxes"])
    table = np.array(pairs).reshape(n, m)
    best = table[linear_sum_assignment(table)].sum()
    return float(best + abs(n - m)) / max(n, m) if max(n, m) else 0.0


def detections_apart(a: Any, i: int, b: Any, j: int) -> float:
    same = int(a["labels"][i]) == int(b["labels"][j])
    return box_jaccard(a["boxes"][i], b["boxes"][j]) if same else 1.0


def hellinger(a: Any, b: Any) -> float:
    return l2(a.sqrt(), b.sqrt()) / math.sqrt(2)


def jensen_shannon(a: Any, b: Any) -> float:
    m = (a + b) / 2
    return math.sqrt(float(torch.xlogy(a, a / m).sum() + torch.xlogy(b, b / m).sum()) / 2)


def wasserstein(a: Any, b: Any) -> float:
    return float((a.cumsum(0) - b.cumsum(0)).abs()[:-1].sum())


def grid_cost() -> tuple[tuple[float, ...], ...]:
    """Distances between the cells of a 4 x 4 grid."""
    cells = [(k // 4, k % 4) for k in range(BINS)]
    return tuple(tuple(math.dist(one, other) for other in cells) for one in cells)


def transport(a: Any, b: Any) -> float:
    from scipy.optimize import linprog

    margins = [np.kron(np.eye(BINS), np.ones(BINS)), np.kron(np.ones(BINS), np.eye(BINS))]
    wanted = np.concatenate((a.numpy(), b.numpy()))
    solved = linprog(np.ravel(grid_cost()), A_eq=np.vstack(margins)[:-1], b_eq=wanted[:-1])
    return float(solved.fun)


def edits(a: Any, b: Any) -> float:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a):
        above, row[0] = row[0], i + 1
        for j, y in enumerate(b):
            above, row[j + 1] = row[j + 1], min(above + (x != y), row[j] + 1, row[j + 1] + 1)
    return float(row[-1])


def normalised_edits(a: Any, b: Any) -> float:
    found = edits(a, b)
    return 2 * found / (len(a) + len(b) + found)


def weighted_jaccard(a: Any, b: Any) -> float:
    return 1 - float(torch.minimum(a, b).sum() / torch.maximum(a, b).sum())


def kendall(a: Any, b: Any) -> float:
    one, other = ((s[:, None] < s[None, :]) for s in (a, b))
    return float((one != other).sum()) / 2


def footrule(a: Any, b: Any) -> float:
    from scipy.stats import rankdata

    return float(np.abs(rankdata(a) - rankdata(b)).sum())


def angle(a: Any, b: Any) -> float:
    return 2 * math.acos(min(1.0, abs(float(a @ b))))


def mean_joint(a: Any, b: Any) -> float:
    return float((a - b).norm(dim=1).mean())


def box_and_label(a: Any, b: Any) -> float:
    return box_jaccard(a["box"], b["box"]) + 0.5 * (a["label"] != b["label"])


def cases() -> dict[str, Case]:
    """One case per metric, in the order of docs/metrics.md."""
    m = metrics
    both = m.weighted_sum({"box": m.BoxJaccard(), "label": m.Discrete()}, {"box": 1, "label": 0.5})
    return {
        "L1": Case(m.L1(), images, l1),
        "L2": Case(m.L2(), images, l2),
        "SquaredL2": Case(m.SquaredL2(), images, lambda a, b: l2(a, b) ** 2),
        "Angular": Case(m.Angular(), embeddings, angular),
        "Cosine": Case(m.Cosine(), embeddings, cosine),
        "Discrete": Case(m.Discrete(), labels, lambda a, b: float(a != b)),
        "TotalVariation": Case(m.TotalVariation(), images, total_variation),
        "SSIM": Case(m.SSIM(), grey, ssim),
        "LPIPS": Case(lpips_metric(), photographs, lpips),
        "BoxJaccard": Case(m.BoxJaccard(), boxes, box_jaccard),
        "UnionJaccard": Case(m.UnionJaccard(), box_sets, union_jaccard),
        "OSPA": Case(m.OSPA(), detections, ospa),
        "MaskJaccard": Case(m.MaskJaccard(), masks, jaccard),
        "LabelJaccard": Case(m.LabelJaccard((0, 1, 2)), label_maps, mean_jaccard),
        "Dice": Case(m.Dice(), masks, dice),
        "Hamming": Case(m.Hamming(), label_maps, lambda a, b: float((a != b).sum())),
        "BoundaryHausdorff": Case(m.BoundaryHausdorff(), masks, outlines),
        "VariationDistance": Case(m.VariationDistance(), probabilities, lambda a, b: l1(a, b) / 2),
        "Hellinger": Case(m.Hellinger(), probabilities, hellinger),
        "JensenShannon": Case(m.JensenShannon(), probabilities, jensen_shannon),
        "Wasserstein1": Case(m.Wasserstein1(), probabilities, wasserstein),
        "EarthMover": Case(m.EarthMover(grid_cost()), histograms, transport),
        "Levenshtein": Case(m.Levenshtein(), sentences, edits),
        "NormalizedLevenshtein": Case(m.NormalizedLevenshtein(), sentences, normalised_edits),
        "SetJaccard": Case(m.SetJaccard(), tags, lambda a, b: 1 - len(a & b) / len(a | b)),
        "WeightedJaccard": Case(m.WeightedJaccard(), weights, weighted_jaccard),
        "Hausdorff": Case(m.Hausdorff(), clouds, clouds_apart),
        "KendallTau": Case(m.KendallTau(), scores, kendall),
        "SpearmanFootrule": Case(m.SpearmanFootrule(), scores, footrule),
        "Rotation": Case(m.Rotation(), rotations, angle),
        "Keypoints": Case(m.Keypoints(), joints, mean_joint),
        "weighted_sum": Case(both, tagged_boxes, box_and_label),
    }
