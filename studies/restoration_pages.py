"""Pages of experiments 1 to 4."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from studies import figures, precision
from studies.columns import THOROUGH, usual_sigma
from studies.comparison import Point, middle, points
from studies.mean_smoothing import mean_bound
from studies.page import Page, headline, rows_of_parts
from studies.records import Row, read_lines
from studies.restoration import PARTS, PLAIN
from studies.scales import Scale
from studies.tables import amount, bounds_table, centers, spent, table, verdict

METRICS = {"TotalVariation": "total variation", "Angular": "angular", "L2": "l2"}
AIMS = {"TotalVariation": 0.6, "Angular": 0.45, "L2": 0.45}
PIXELS = {"mnist": 28 * 28, "cifar10": 3 * 32 * 32}

_SETUP = """\
Two tasks on two data sets. *autoencoder*: the attacker changes the image, which then goes through a
code of 256 numbers. *reconstruction*: the attacker changes 256 Gaussian measurements of the image
(entries of A are N(0, 1/256)), from which the pseudo-inverse and the network restore it. The
networks are those of the paper; all are in evaluation mode. σ = ε₁ / h throughout. Models were
trained at noise {levels} (epochs: {epochs}, images: {images:,}); the nearest serves each σ. They
are run in bfloat16, by both procedures alike. {precision}Published: Algorithms 1 and 2 as printed,
on the same models and inputs.
"""

_CURVES = (
    ("geometric median", False, "sharp"),
    ("clipped mean", True, "sharp"),
    ("clipped mean, ten times the passes", True, THOROUGH),
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
    figure = figures.bounds(found, f"median ε₂ ({name})")
    caption = f"Median bound on the {name} distance by the size of the attack. " + spent(
        found, scale.restoration.published.m
    )
    more = {f"{number}-bounds": (figure, caption)}
    if metric == "Angular":
        more |= _vanishing(scale, rows, metric, number)
    return Page(
        f"{number}-{name.replace(' ', '-')}",
        f"Experiment {number}: restored images, {name} distance",
        _setup(scale)
        + "\n"
        + verdict(found, AIMS[metric])
        + "\n\n"
        + bounds_table(found)
        + centers(found),
        more,
        _examples(rows) if number == 1 else {},
        headline(name, AIMS[metric], found),
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
        + "\n"
        + verdict(found, AIMS["L2"])
        + "\n\n"
        + bounds_table(found)
        + "\n"
        + _rivals()
        + _means_table(found, means)
    )
    caption = (
        "Median bound on the l2 distance by the size of the attack; dotted: the bound of the "
        "mean-smoothed model. " + spent(found, scale.restoration.published.m)
    )
    figure = figures.bounds(found, "median ε₂ (l2)", rivals)
    more = {"3-bounds": (figure, caption), **_vanishing(scale, rows, "L2", 3)}
    title = "Experiment 3: restored images, l2 distance, beside the mean-smoothed model"
    mine = headline("l2", AIMS["L2"], found)
    return Page("3-l2", title, text, more, {}, mine, _said_of_small(scale, rows))


def _said_of_small(scale: Scale, rows: Sequence[Row]) -> str:
    """How much smaller Theorem D's bound is than Theorem C's, on the same draws."""
    sigma = usual_sigma(scale.restoring)
    mine = [row for row in rows if row.metric == "L2" and math.isclose(row.sigma, sigma)]
    told = []
    for share, name in ((0.1, "σ/10"), (0.5, "σ/2")):
        found = _clipped_share([r for r in mine if r.procedure == "sharp"], share * sigma)
        more = _clipped_share([r for r in mine if r.procedure == THOROUGH], share * sigma)
        if found is not None:
            also = "" if more is None else f" ({more:.2f} with ten times the passes)"
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


def _means_table(found: Sequence[Point], means: Sequence[Mapping[str, Any]]) -> str:
    """Errors of an actual mean-smoothed model beside ours."""
    rows = []
    for point in found:
        own = [
            mean
            for mean in means
            if mean["part"] == point.part
            and math.isclose(mean["sigma"], point.eps / point.h, rel_tol=1e-4)
        ]
        if own:
            bound = mean_bound(point.h, PIXELS[point.part.split("-")[0]])
            rows.append(
                (
                    point.part,
                    f"{point.h:g}",
                    f"{point.eps:g}",
                    amount(point.ours),
                    amount(bound),
                    amount(middle(mean["smoothing_error"] for mean in own)),
                    amount(middle(mean["error"] for mean in own)),
                    f"{own[0]['mse']:.4f}",
                )
            )
    header = (
        *("part", "h", "ε₁", "ours", "bound of the mean", "mean to base model"),
        *("mean to clean image", "model's error per pixel"),
    )
    return table(header, rows)


def _ablation_page(scale: Scale, noisy: Sequence[Row], plain: Sequence[Row]) -> Page:
    panels, blocks = {}, []
    for metric, name in METRICS.items():
        trained = points(noisy, metric, scale.restoring)
        without = points(plain, metric, scale.restoring)
        blocks.append(f"## {name}\n\n{_ablation_table(trained, without)}")
        if metric == "L2":
            panels = _ablation_panels(trained, without)
    figure = figures.curves(panels, "size of the attack ε₁", "median ε₂ (l2)")
    text = (
        _setup(scale)
        + "\nHere the same four models are trained without any noise and certified likewise. The "
        "ratio is the median bound without noise in training over that with it.\n\n"
        + "\n".join(blocks)
    )
    caption = "Median bound of ours (l2), for models trained with noise and without."
    title = "Experiment 4: models trained without noise"
    worse = middle(
        _worse(points(noisy, "L2", scale.restoring), points(plain, "L2", scale.restoring))
    )
    said = (
        "" if worse is None else f"their l2 bounds are {worse:.2f} times those with noise (median)."
    )
    return Page("4-training-noise", title, text, {"4-ablation": (figure, caption)}, said=said)


def _worse(trained: Sequence[Point], without: Sequence[Point]) -> list[float]:
    """For each part and (h, eps) the bound without noise in training over that with it."""
    others = {(p.part.removesuffix(f"-{PLAIN}"), p.h, p.eps): p.ours for p in without}
    found = ((point.ours, others.get((point.part, point.h, point.eps))) for point in trained)
    return [other / own for own, other in found if own and other is not None]


def _ablation_panels(trained: Sequence[Point], without: Sequence[Point]) -> dict[str, Any]:
    panels: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for name, own in (("trained with noise", trained), ("without", without)):
        for point in own:
            part = point.part.removesuffix(f"-{PLAIN}")
            curve = panels.setdefault(part, {}).setdefault(f"{name}, ε₁ = {point.h:g} σ", [])
            if point.ours is not None:
                curve.append((point.eps, point.ours))
    return panels


def _ablation_table(trained: Sequence[Point], without: Sequence[Point]) -> str:
    others = {(p.part.removesuffix(f"-{PLAIN}"), p.h, p.eps): p for p in without}
    rows = []
    for point in trained:
        other = others.get((point.part, point.h, point.eps))
        if other is None or not point.ours or other.ours is None:
            continue
        rows.append(
            (
                point.part,
                f"{point.h:g}",
                f"{point.eps:g}",
                amount(point.ours),
                amount(other.ours),
                amount(other.ours / point.ours),
                amount(other.published),
            )
        )
    header = ("part", "h", "ε₁", "with noise", "without", "ratio", "published, without")
    return table(header, rows)


def _vanishing(scale: Scale, rows: Sequence[Row], metric: str, number: int) -> dict[str, Any]:
    """ε₂ against ε₁ at one sigma, down to ε₁ = 0: Theorem C's floor and Theorem D below it."""
    sigma = usual_sigma(scale.restoring)
    mine = [row for row in rows if row.metric == metric and math.isclose(row.sigma, sigma)]
    largest = max((eps for row in mine if row.clipped for eps in row.eps), default=sigma)
    panels: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for name, clipped, procedure in _CURVES:
        for part in dict.fromkeys(row.part for row in mine):
            own = [
                r for r in mine if (r.part, r.procedure, r.clipped) == (part, procedure, clipped)
            ]
            points_of = sorted({eps for row in own for eps in row.eps if eps <= largest})
            curve = [
                (e, b) for e in points_of if (b := middle(row.at(e) for row in own)) is not None
            ]
            if curve:
                panels.setdefault(part, {})[name] = curve
    figure = figures.curves(panels, "size of the attack ε₁", f"median ε₂ ({METRICS[metric]})")
    caption = (
        f"Small attacks, σ = {sigma:g}. The bound about the geometric median (Theorem C) has a "
        "floor, the spread of the outputs under the noise. That about the clipped mean (Theorem D) "
        "goes to 0 with ε₁, up to the sampling error of the mean, which more passes reduce. They "
        "are two smoothed models, certified on the same draws."
    )
    return {f"{number}-small-attacks": (figure, caption)}


def _examples(rows: Sequence[Row]) -> dict[str, str]:
    return {
        f"{part}-examples.png": f"{part}: clean images, the base model's answers, the smoothed "
        "model's answers (center for l2, the smallest σ)."
        for part in dict.fromkeys(row.part for row in rows)
    }


def _setup(scale: Scale) -> str:
    levels = ", ".join(f"{level:g}" for level in scale.noise_levels)
    training = scale.training
    return _SETUP.format(
        levels=levels,
        epochs=training.epochs,
        images=training.images,
        precision=_precision(scale),
    )


def _precision(scale: Scale) -> str:
    """How far bounds of the same network in single precision differ."""
    found = read_lines(scale.results / "records" / f"{precision.PARTS[0].name}.jsonl")
    if not found:
        return ""
    most = max(abs(line["bfloat16"] / line["single"] - 1) for line in found)
    return f"(In single precision {len(found)} bounds differ by at most {100 * most:.2g} %.) "
