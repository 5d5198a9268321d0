"""The same distances by libraries that offer them, each used as its authors would use it.

Every function takes two blocks of outputs, as `pairwise` does, and returns the table.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from metric_cases import ALPHABET, grid_cost, outline

Table = Any
Measure = Callable[[Any, Any], Table]


def flat(outputs: torch.Tensor) -> np.ndarray:
    return outputs.reshape(len(outputs), -1).numpy()


def cdist(name: str, of: Callable[[Any], np.ndarray] = flat) -> Measure:
    """scipy's compiled distances."""

    def measure(a: Any, b: Any) -> Table:
        from scipy.spatial.distance import cdist as distances

        return distances(of(a), of(b), name)

    return measure


def each(pair: Callable[[Any, Any], float], of: Callable[[Any], Any] = lambda x: x) -> Measure:
    """A library's function of two outputs, in a loop; outputs prepared once."""

    def measure(a: Any, b: Any) -> Table:
        one, other = [of(x) for x in a], [of(y) for y in b]
        return np.array([[pair(x, y) for y in other] for x in one])

    return measure


def rows(batch: Callable[[Any, Any], Any]) -> Measure:
    """A library's function of two batches, one output against all of the others at a time."""

    def measure(a: Any, b: Any) -> Table:
        return np.stack([np.asarray(batch(x, b)) for x in a])

    return measure


def edges(images: torch.Tensor) -> np.ndarray:
    return np.hstack([flat(images.diff(dim=-1)), flat(images.diff(dim=-2))])


def torchmetrics_pairs(name: str) -> Measure:
    def measure(a: Any, b: Any) -> Table:
        from torchmetrics import functional

        one, other = (x.reshape(len(x), -1).double() for x in (a, b))
        return getattr(functional, f"pairwise_{name}")(one, other).numpy()

    return measure


def then(measure: Measure, change: Callable[[Table], Table]) -> Measure:
    return lambda a, b: change(measure(a, b))


def equal_labels(a: Any, b: Any) -> Table:
    return (np.asarray(a)[:, None] != np.asarray(b)[None, :]).astype(np.float64)


def skimage_ssim(a: Any, b: Any) -> float:
    from skimage.metrics import structural_similarity

    return float(max(0.0, 1 - structural_similarity(a, b, data_range=1.0)) ** 0.5)


def skimage_outlines(a: Any, b: Any) -> float:
    from skimage.metrics import hausdorff_distance

    return float(hausdorff_distance(a, b))


def scipy_clouds(a: Any, b: Any) -> float:
    from scipy.spatial.distance import directed_hausdorff

    return max(directed_hausdorff(a, b)[0], directed_hausdorff(b, a)[0])


def drawn_outline(mask: Any) -> np.ndarray:
    drawn = np.zeros(mask.shape, dtype=bool)
    drawn[tuple(outline(mask).long().T.numpy())] = True
    return drawn


def shapely_boxes(a: Any, b: Any) -> Table:
    import shapely

    one, other = (shapely.box(*x.numpy().T) for x in (a, b))
    return shapely_table(one, other)


def shapely_regions(a: Any, b: Any) -> Table:
    import shapely

    one, other = ([shapely.union_all(shapely.box(*x.numpy().T)) for x in r] for r in (a, b))
    return shapely_table(np.array(one), np.array(other))


def shapely_table(one: Any, other: Any) -> Table:
    import shapely

    shared = shapely.area(shapely.intersection(one[:, None], other[None, :]))
    union = shapely.area(one)[:, None] + shapely.area(other)[None, :] - shared
    return 1 - shared / union


def scipy_ospa(a: Any, b: Any) -> float:
    """Overlaps by numpy, the assignment by scipy."""
    from scipy.optimize import linear_sum_assignment

    one, other = a["boxes"].numpy(), b["boxes"].numpy()
    low = np.maximum(one[:, None, :2], other[None, :, :2])
    high = np.minimum(one[:, None, 2:], other[None, :, 2:])
    shared = (high - low).clip(min=0).prod(axis=2)
    areas = [(x[:, 2:] - x[:, :2]).prod(axis=1) for x in (one, other)]
    costs = 1 - shared / (areas[0][:, None] + areas[1][None, :] - shared)
    costs[a["labels"].numpy()[:, None] != b["labels"].numpy()[None, :]] = 1.0
    best = costs[linear_sum_assignment(costs)].sum()
    return float((best + abs(len(one) - len(other))) / max(1, len(one), len(other)))


def mean_iou(a: Any, b: Any) -> Any:
    from torchmetrics.functional.segmentation import mean_iou as measure

    return 1 - measure(a.expand(b.shape), b, num_classes=3, input_format="index")


def pot_line(a: Any, b: Any) -> Any:
    import ot

    weights = b.numpy().T
    bins = np.repeat(np.arange(len(a), dtype=float)[:, None], weights.shape[1], axis=1)
    return ot.wasserstein_1d(
        bins, bins, np.repeat(a.numpy()[:, None], weights.shape[1], 1), weights
    )


def scipy_line(a: Any, b: Any) -> float:
    from scipy.stats import wasserstein_distance

    bins = np.arange(len(a))
    return float(wasserstein_distance(bins, bins, a, b))


def pot_plan(a: Any, b: Any) -> float:
    import ot

    return float(ot.emd2(a, b, COST))


COST = np.array(grid_cost())


def rapidfuzz_edits(a: Any, b: Any) -> Table:
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cdist as distances

    return distances(a, b, scorer=Levenshtein.distance, workers=1)


def normalised(a: Any, b: Any) -> Table:
    edits = rapidfuzz_edits(a, b).astype(float)
    sizes = [np.array([len(x) for x in block]) for block in (a, b)]
    return 2 * edits / (sizes[0][:, None] + sizes[1][None, :] + edits)


def incidence(sets: Any) -> np.ndarray:
    table = np.zeros((len(sets), 200), dtype=bool)
    for place, items in enumerate(sets):
        table[place, list(items)] = True
    return table


def scipy_kendall(a: Any, b: Any) -> float:
    """tau-b, a function of the same counts."""
    from scipy.stats import kendalltau

    return float(kendalltau(a, b).statistic)


def ranked(scores: Any) -> np.ndarray:
    from scipy.stats import rankdata

    return rankdata(scores.numpy(), axis=1)


def scipy_angles(a: Any, b: Any) -> Table:
    from scipy.spatial.transform import Rotation

    one, other = (Rotation.from_quat(q.numpy(), scalar_first=True) for q in (a, b))
    return np.stack([(x.inv() * other).magnitude() for x in one])


def numpy_joints(a: Any, b: Any) -> Table:
    one, other = a.numpy(), b.numpy()
    return np.stack([np.linalg.norm(other - x, axis=2).mean(axis=1) for x in one])


def codes(strings: Any) -> np.ndarray:
    return np.array([[ALPHABET.index(c) for c in text] for text in strings])


LIBRARIES: dict[str, dict[str, Measure]] = {
    "L1": {"scipy": cdist("cityblock"), "torchmetrics": torchmetrics_pairs("manhattan_distance")},
    "L2": {"scipy": cdist("euclidean"), "torchmetrics": torchmetrics_pairs("euclidean_distance")},
    "SquaredL2": {"scipy": cdist("sqeuclidean")},
    "Angular": {
        "torchmetrics": then(
            torchmetrics_pairs("cosine_similarity"), lambda t: np.arccos(t.clip(-1, 1)) / np.pi
        )
    },
    "Cosine": {
        "scipy": cdist("cosine"),
        "torchmetrics": then(torchmetrics_pairs("cosine_similarity"), lambda t: 1 - t),
    },
    "Discrete": {"numpy": equal_labels},
    "TotalVariation": {"scipy": cdist("cityblock", edges)},
    "SSIM": {"skimage": each(skimage_ssim, lambda x: x.numpy())},
    "LPIPS": {},
    "BoxJaccard": {"shapely": shapely_boxes},
    "UnionJaccard": {"shapely": shapely_regions},
    "OSPA": {"scipy": each(scipy_ospa)},
    "MaskJaccard": {"scipy": cdist("jaccard")},
    "LabelJaccard": {"torchmetrics": rows(mean_iou)},
    "Dice": {"scipy": cdist("dice")},
    "Hamming": {"scipy": then(cdist("hamming"), lambda t: t * 784)},
    "BoundaryHausdorff": {
        "scipy": each(scipy_clouds, lambda x: outline(x).numpy()),
        "skimage": each(skimage_outlines, drawn_outline),
    },
    "VariationDistance": {"scipy": then(cdist("cityblock"), lambda t: t / 2)},
    "Hellinger": {"scipy": cdist("euclidean", lambda x: flat((x / 2).sqrt()))},
    "JensenShannon": {"scipy": cdist("jensenshannon")},
    "Wasserstein1": {"POT": rows(pot_line), "scipy": each(scipy_line, lambda x: x.numpy())},
    "EarthMover": {"POT": each(pot_plan, lambda x: x.numpy())},
    "Levenshtein": {"rapidfuzz": rapidfuzz_edits},
    "NormalizedLevenshtein": {"rapidfuzz": normalised},
    "SetJaccard": {"scipy": cdist("jaccard", incidence)},
    "WeightedJaccard": {"scipy": then(cdist("braycurtis"), lambda t: 2 * t / (1 + t))},
    "Hausdorff": {"scipy": each(scipy_clouds, lambda x: x.numpy())},
    "KendallTau": {"scipy": each(scipy_kendall, lambda x: x.numpy())},
    "SpearmanFootrule": {"scipy": cdist("cityblock", ranked)},
    "Rotation": {"scipy": scipy_angles},
    "Keypoints": {"numpy": numpy_joints},
    "weighted_sum": {},
}
OTHER_FORMULA = {("KendallTau", "scipy")}
"""A correlation rather than a distance: compared in speed only."""

_PACKAGES = {"POT": "ot"}


def available(name: str) -> dict[str, Measure]:
    """The libraries for a metric that are installed."""
    here = importlib.util.find_spec
    return {k: m for k, m in LIBRARIES[name].items() if here(_PACKAGES.get(k, k)) is not None}
