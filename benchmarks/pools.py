"""Theorem B with pooled candidates: what the center designed for an eps gains, and elsewhere."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

import torch
from tables import table

import centersmooth as cs
from centersmooth.demo_model import autoencoder, digits
from centersmooth.design import Wish, proposals
from centersmooth.theorems import Sizes

TITLE = "Pooled candidates"
SIGMA, ALPHA = 0.25, 0.01
SHIFTS = (0.5, 1.0, 1.5, 2.0, 2.5)
_MODEL = autoencoder()


def image(batch: torch.Tensor) -> torch.Tensor:
    """The restored digit."""
    return _MODEL(batch)


def ink_mask(batch: torch.Tensor) -> torch.Tensor:
    """Where the restored digit has ink."""
    return image(batch) > 0.5


def ink_box(batch: torch.Tensor) -> list[torch.Tensor]:
    """Two standard deviations of the ink around its middle, none where there is too little."""
    return [_box(picture) for picture in image(batch)[:, 0].double()]


def _box(ink: torch.Tensor) -> torch.Tensor:
    if float(ink.sum()) < 10:
        return torch.zeros((0, 4))
    places = torch.arange(ink.shape[0]).double()
    ends = []
    for weights in (ink.sum(dim=0), ink.sum(dim=1)):
        middle = (weights * places).sum() / weights.sum()
        spread = ((weights * (places - middle) ** 2).sum() / weights.sum()).sqrt()
        ends.append((middle - 2 * spread, middle + 2 * spread))
    (left, right), (top, bottom) = ends
    return torch.stack((left, top, right, bottom))[None]


CASES = {
    "tv": (image, cs.metrics.TotalVariation()),
    "mask jaccard": (ink_mask, cs.metrics.MaskJaccard()),
    "box jaccard": (ink_box, cs.metrics.BoxJaccard()),
}


def designed(case: str) -> dict[float, cs.Medoid]:
    """What `design_eps` chooses at each shift, among medoids."""
    noise, (_, metric) = cs.Gaussian(SIGMA), CASES[case]
    found = {}
    for h in SHIFTS:
        wish = Wish(metric, noise, h * SIGMA, Sizes(999, 10**6), cs.Joint(ALPHA))
        decided = [one.center for one in proposals(wish) if one.decided]
        found[h] = next(center for center in decided if isinstance(center, cs.Medoid))
    return found


def name(center: cs.Medoid) -> str:
    """How tables call a center."""
    return f"{center.candidates} of {center.pool}"


def of_image(index: int, samples: int) -> dict[str, Any]:
    """All cases and centers on one image; one case's centers share their draws."""
    x, bounds = digits(index + 1)[0][index], {}
    for case, (model, metric) in CASES.items():
        wide = [cs.Medoid(), cs.Medoid(400), *designed(case).values()]
        centers = list(dict.fromkeys(wide))
        smoothers = [
            cs.Smoother(model, cs.Gaussian(SIGMA), metric, center, batch_size=256)
            for center in centers
        ]
        found = cs.certify_together(smoothers, x, samples, ALPHA, seed=3_000 + index)
        bounds[case] = {
            name(center): c.curve([shift * SIGMA for shift in SHIFTS])
            for center, c in zip(centers, found, strict=True)
        }
    return {"image": index, "bounds": bounds}


def run(folder: Path, quick: bool) -> list[dict[str, Any]]:
    """Ten images, or one with fewer samples."""
    records = []
    for index in range(1 if quick else 10):
        records.append(of_image(index, 1_000 if quick else 4_000))
        print(f"image {index}: pools done", flush=True)
    return records


def tabulated(result: list[dict[str, Any]]) -> str:
    """Median over images of the bound of a center over that of the usual one."""
    rows = []
    for case in CASES:
        chosen = {h: name(center) for h, center in designed(case).items()}
        for center in result[0]["bounds"][case]:
            cells = []
            for place, shift in enumerate(SHIFTS):
                text = cell(result, case, center, place)
                cells.append(f"**{text}**" if chosen[shift] == center else text)
            rows.append([case, center, *cells])
    note = (
        f"Medians over {len(result)} images of the bound over that of the usual medoid (100 of "
        "1), n = 999, m = 4,000. 'N of l': N candidates, each pooled from l outputs, on the same "
        "draws. Bold: the center that design_eps chooses for that eps.\n\n"
    )
    return note + table(["metric", "center", *(f"h = {h:g}" for h in SHIFTS)], rows)


def cell(result: list[dict[str, Any]], case: str, center: str, place: int) -> str:
    """One ratio, unless most bounds are as large as distances get."""
    here = [image["bounds"][case][center][place] for image in result]
    usual = [image["bounds"][case]["100 of 1"][place] for image in result]
    if statistics.median(here) >= CASES[case][1].diameter:
        return "undecided"
    return f"{statistics.median(a / b for a, b in zip(here, usual, strict=True)):.3f}"
