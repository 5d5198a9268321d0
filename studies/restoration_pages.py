"""Pages of experiments 1 to 4."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from studies import figures, precision
from studies.columns import THOROUGH, sigmas, usual_sigma
from studies.comparison import Point, middle, points
from studies.mean_smoothing import mean_bound
from studies.page import Page, headline, parts_of, rows_of_parts
from studies.records import Row, read_lines
from studies.restoration import PARTS, PLAIN
from studies.scales import Scale
from studies.tables import amount, bounds_table, note, spent, table, verdict

METRICS = {"TotalVariation": "total variation", "Angular": "angular", "L2": "l2"}
AIMS = {"TotalVariation": 0.6, "Angular": 0.45, "L2": 0.45}
PIXELS = {"mnist": 28 * 28, "cifar10": 3 * 32 * 32}

_SETUP = """\
Two tasks on two data sets. *autoencoder*: the attacker changes the image, which then goes through a
code of 256 numbers. *reconstruction*: the attacker changes 256 Gaussian measurements of the image
(entries of A are N(0, 1/256)), from which the pseudo-inverse and the network restore it. The
networks are those of the paper; all are in evaluation mode, in bfloat16 for both procedures.
{precision}σ = ε₁ / h throughout. Training: {epochs} epochs of up to {images:,} images.
"""
_NOISY = """\
Models were trained under noise, at the level nearest to σ: {levels}. Published: Algorithms 1 and 2
as printed, on the same models and inputs.
"""

_CURVES = (
    ("geometric median", False, "sharp"),
    ("clipped mean", True, "sharp"),
    ("clipped mean, thorough", True, THOROUGH),
)
"""Of small attacks: name, whether Theorem D's, procedure."""

_RIVAL = """\
The rival is the mean of the outputs under noise. Nothing but the range of the outputs is used, so
its bound is √D · erf(h / √8) whatever the model and the input: at h = 2 {mnist:.2f} for MNIST and
{cifar:.2f} for CIFAR-10 (the paper prints 19.04 and 37.69, having rounded erf(1/√2) to 0.68). It
speaks of the exact mean; an actual one, of a finite number of outputs, is further off by its
sampling error.

"""


def pages(scale: Scale) -> list[Page]:
    """The pages there are records for."""
    noisy = rows_of_parts(scale, [part.name for part in PARTS if part.noisy])
    plain = rows_of_parts(scale, [part.name for part in PARTS if not part.noisy])
    made = [
        _distance_page(scale, noisy, 1, "TotalVariation"),
        _distance_page(scale, noisy, 2, "Angular"),
        _mean_page(scale, noisy),
        _ablation_page(scale, noisy, plain) if noisy and plain else None,
    ]
    return [page for page in made if page is not None]


def _distance_page(scale: Scale, rows: Sequence[Row], number: int, metric: str) -> Page | None:
    found = points(rows, metric, scale.restoring)
    if not found:
        return None
    name = METRICS[metric]
    figure = figures.bounds(found, f"median ε₂ ({name})", note(found, scale.restoration.published))
    caption = (
        f"Median bound on the {name} distance by the size of the attack. Kinks are where the model "
        "of another training noise serves. " + spent(found, scale.restoration.published)
    )
    more = {f"{number}-bounds": (figure, caption)}
    if metric == "Angular":
        more |= _vanishing(scale, rows, metric, number)
    return Page(
        f"{number}-{name.replace(' ', '-')}",
        f"Experiment {number}: restored images, {name} distance",
        _setup(scale)
        + _levels(scale)
        + "\n"
        + verdict(found, AIMS[metric])
        + "\n\n"
        + bounds_table(found),
        more,
        _examples(rows) if number == 1 else {},
        headline(name, AIMS[metric], found),
        parts_of(rows),
    )


def _mean_page(scale: Scale, rows: Sequence[Row]) -> Page | None:
    found = points(rows, "L2", scale.restoring)
    if not found:
        return None
    means = _means(scale)
    rivals = {
        part: {"mean-smoothed model, h = 2": _rival(scale, part)}
        for part in dict.fromkeys(point.part for point in found)
    }
    text = (
        _setup(scale)
        + _levels(scale)
        + "\n"
        + verdict(found, AIMS["L2"])
        + "\n\n"
        + bounds_table(found)
        + "\n"
        + _rivals()
        + _means_table(found, means, rows)
    )
    caption = (
        "Median bound on the l2 distance by the size of the attack; dotted: the bound of the "
        "mean-smoothed model. " + spent(found, scale.restoration.published)
    )
    figure = figures.bounds(
        found, "median ε₂ (l2)", note(found, scale.restoration.published), rivals
    )
    more = {"3-bounds": (figure, caption), **_vanishing(scale, rows, "L2", 3)}
    title = "Experiment 3: restored images, l2 distance, beside the mean-smoothed model"
    mine = headline("l2", AIMS["L2"], found)
    return Page("3-l2", title, text, more, {}, mine, parts_of(rows), _said_of_small(scale, rows))


def _said_of_small(scale: Scale, rows: Sequence[Row]) -> str:
    """How much smaller Theorem D's bound is than Theorem C's, on the same draws."""
    sigma = usual_sigma(scale.restoring)
    mine = [row for row in rows if row.metric == "L2" and _equal(row.sigma, sigma)]
    told = []
    for share, name in ((0.1, "σ/10"), (0.5, "σ/2")):
        found = _clipped_share([r for r in mine if r.procedure == "sharp"], share * sigma)
        more = _clipped_share([r for r in mine if r.procedure == THOROUGH], share * sigma)
        if found is not None:
            also = "" if more is None else f" ({more:.2f} when thorough)"
            told.append(f"{found:.2f} at ε₁ = {name}{also}")
    if not told:
        return ""
    return "the clipped mean's bound over the geometric median's is " + ", ".join(told) + "."


def _clipped_share(rows: Sequence[Row], eps: float) -> float | None:
    """Median of Theorem D's bound over Theorem C's."""
    usual = {(row.part, row.index): row.at(eps) for row in rows if not row.clipped}
    return middle(
        bound / other
        for row in rows
        if row.clipped
        and (bound := row.at(eps)) is not None
        and (other := usual.get((row.part, row.index)))
    )


def _rivals() -> str:
    """What the mean-smoothed model promises."""
    mnist, cifar = (mean_bound(2, PIXELS[name]) for name in ("mnist", "cifar10"))
    return _RIVAL.format(mnist=mnist, cifar=cifar)


def _rival(scale: Scale, part: str) -> list[tuple[float, float]]:
    pixels = PIXELS[part.split("-")[0]]
    eps = sorted({eps for h, eps in scale.restoring if h == 2})
    return [(e, mean_bound(2, pixels)) for e in eps]


def _means(scale: Scale) -> list[dict[str, Any]]:
    folder = scale.results / "records"
    names = [f"{part.name}-mean.jsonl" for part in PARTS if part.noisy]
    return [line for name in names for line in read_lines(folder / name)]


def _means_table(
    found: Sequence[Point], means: Sequence[Mapping[str, Any]], rows: Sequence[Row]
) -> str:
    """Errors of an actual mean-smoothed model beside ours, on the same inputs."""
    lines = []
    for point in found:
        sigma = point.eps / point.h
        own = [m for m in means if m["part"] == point.part and _equal(m["sigma"], sigma)]
        if not own:
            continue
        there = {mean["index"] for mean in own}
        ours = [
            row
            for row in rows
            if (row.part, row.metric, row.procedure) == (point.part, "L2", "sharp")
            and (row.index in there and not row.clipped and _equal(row.sigma, sigma))
        ]
        bound = mean_bound(point.h, PIXELS[point.part.split("-")[0]])
        lines.append(
            (
                point.part,
                f"{point.h:g}",
                f"{point.eps:g}",
                len(own),
                amount(middle(row.at(point.eps) for row in ours)),
                amount(bound),
                amount(middle(row.smoothing_error for row in ours)),
                amount(middle(mean["smoothing_error"] for mean in own)),
                amount(middle(row.smoothed_error for row in ours)),
                amount(middle(mean["error"] for mean in own)),
                f"{own[0]['mse']:.4f}",
            )
        )
    header = (
        *("part", "h", "ε₁", "inputs", "our bound", "bound of the mean"),
        *("ours to base model", "mean to base model", "ours to clean image"),
        *("mean to clean image", "model's error per pixel"),
    )
    return table(header, lines)


def _equal(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-4)


def _ablation_page(scale: Scale, noisy: Sequence[Row], plain: Sequence[Row]) -> Page | None:
    """Models trained without noise beside those with it, on the inputs that both were run on."""
    trained, without = _common(noisy, plain)
    if not trained:
        return None
    blocks, panels, worse = [], {}, []
    for metric, name in METRICS.items():
        with_noise = points(trained, metric, scale.restoring)
        pairs = _pairs(with_noise, points(without, metric, scale.restoring))
        blocks.append(f"## {name}\n\n{_ablation_table(pairs)}")
        if metric == "L2":
            panels = _ablation_panels(pairs)
            worse = [b.ours / a.ours for a, b in pairs if a.ours and b.ours is not None]
    figure = figures.curves(panels, "size of the attack ε₁", "median ε₂ (l2)")
    text = (
        _setup(scale)
        + "\nHere the same models are trained without any noise and certified likewise; the table "
        "has medians over the inputs on which both were. The published procedure was not run on "
        "them.\n\n" + "\n".join(blocks)
    )
    caption = "Median bound of ours (l2), for models trained with noise and without, same inputs."
    title = "Experiment 4: models trained without noise"
    share = middle(worse)
    said = "" if share is None else f"their l2 bounds are {share:.2f} times as large (median)."
    made = {"4-ablation": (figure, caption)}
    return Page("4-training-noise", title, text, made, parts=parts_of(without), said=said)


def _common(noisy: Sequence[Row], plain: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """Those of our records whose input the other training was certified on as well."""
    found = ([r for r in rows if r.procedure == "sharp" and r.bounds] for rows in (noisy, plain))
    trained, without = ({_place(row): row for row in rows} for rows in found)
    both = trained.keys() & without.keys()
    return [trained[p] for p in trained if p in both], [without[p] for p in without if p in both]


def _place(row: Row) -> tuple[str, str, float, int, bool]:
    return (row.part.removesuffix(f"-{PLAIN}"), row.metric, row.sigma, row.index, row.clipped)


def _pairs(trained: Sequence[Point], without: Sequence[Point]) -> list[tuple[Point, Point]]:
    others = {(p.part.removesuffix(f"-{PLAIN}"), p.h, p.eps): p for p in without}
    return [(p, others[p.part, p.h, p.eps]) for p in trained if (p.part, p.h, p.eps) in others]


def _ablation_panels(pairs: Sequence[tuple[Point, Point]]) -> dict[str, Any]:
    panels: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for place, name in enumerate(("trained with noise", "without")):
        for pair in pairs:
            point, part = pair[place], pair[0].part
            curve = panels.setdefault(part, {}).setdefault(f"{name}, ε₁ = {point.h:g} σ", [])
            if point.ours is not None:
                curve.append((point.eps, point.ours))
    return panels


def _ablation_table(pairs: Sequence[tuple[Point, Point]]) -> str:
    rows = [
        (
            point.part,
            f"{point.h:g}",
            f"{point.eps:g}",
            point.inputs,
            amount(point.ours),
            amount(other.ours),
            amount(other.ours / point.ours),
        )
        for point, other in pairs
        if point.ours and other.ours is not None
    ]
    return table(("part", "h", "ε₁", "inputs", "with noise", "without", "ratio"), rows)


def _vanishing(scale: Scale, rows: Sequence[Row], metric: str, number: int) -> dict[str, Any]:
    """ε₂ against ε₁ at one sigma, down to ε₁ = 0: Theorem C's floor and Theorem D below it."""
    sigma = usual_sigma(scale.restoring)
    mine = [row for row in rows if row.metric == metric and _equal(row.sigma, sigma)]
    largest = max((eps for row in mine if row.clipped for eps in row.eps), default=sigma)
    panels: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for part in parts_of(mine):
        for name, own in _curves([row for row in mine if row.part == part]).items():
            asked = sorted({eps for row in own for eps in row.eps if eps <= largest})
            found = ((eps, middle(row.at(eps) for row in own)) for eps in asked)
            panels.setdefault(part, {})[name] = [(e, b) for e, b in found if b is not None]
    figure = figures.curves(panels, "size of the attack ε₁", f"median ε₂ ({METRICS[metric]})")
    caption = (
        f"Small attacks, σ = {sigma:g}, medians over the inputs of all curves. The bound about the "
        "geometric median (Theorem C) has a floor, the spread of the outputs under the noise. That "
        "about the clipped mean (Theorem D) falls with ε₁ to the sampling error of the mean, which "
        "more passes reduce. Curves with as many passes are certified on the same draws."
    )
    return {f"{number}-small-attacks": (figure, caption)}


def _curves(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """The records of each curve, on the inputs that all of them have."""
    found = {
        name: [r for r in rows if (r.clipped, r.procedure) == (clipped, procedure) and r.bounds]
        for name, clipped, procedure in _CURVES
    }
    known = {name: own for name, own in found.items() if own}
    shared = set.intersection(*({r.index for r in own} for own in known.values())) if known else ()
    return {name: [r for r in own if r.index in shared] for name, own in known.items()}


def _examples(rows: Sequence[Row]) -> dict[str, str]:
    return {
        f"{part}-examples.png": f"{part}: clean images, the base model's answers, the smoothed "
        "model's answers (center for l2, the smallest σ)."
        for part in parts_of(rows)
    }


def _setup(scale: Scale) -> str:
    training = scale.training
    return _SETUP.format(
        epochs=training.epochs, images=training.images, precision=_precision(scale)
    )


def _levels(scale: Scale) -> str:
    """Which model serves which sigma."""
    part, served = PARTS[0], dict[float, list[str]]()
    for sigma in sigmas(scale.restoring):
        served.setdefault(part.level(sigma, scale), []).append(f"{sigma:.3g}")
    levels = "; ".join(f"{level:g} for σ = {', '.join(own)}" for level, own in served.items())
    return _NOISY.format(levels=levels)


def _precision(scale: Scale) -> str:
    """How far bounds of the same network in single precision differ."""
    found = read_lines(scale.results / "records" / f"{precision.PARTS[0].name}.jsonl")
    if not found:
        return ""
    most = max(abs(line["bfloat16"] / line["single"] - 1) for line in found)
    return (
        f"(On the digits' autoencoder, σ = {found[0]['sigma']:.3g}, {len(found)} bounds in single "
        f"precision differ by at most {100 * most:.2g} %.) "
    )
