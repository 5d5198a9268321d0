"""Pages of experiment 7: certified error, training for certificates, tightness."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from studies import consistency, figures, restoration, tightness
from studies.comparison import Point, middle, points
from studies.page import Page, parts_of, rows_of_parts
from studies.records import Row, read_lines
from studies.scales import Scale
from studies.tables import amount, table

MOST_BOUND, MOST_ERROR = 0.7, 1.05
_ERROR_TEXT = """\
How far can an answer under attack be from the *clean image*? The same samples tell: the center of
the ball may be any point that does not depend on the query's noise, the truth included, and no
triangle step is paid (Theorem C, l2 distance). The measured column is the distance of the smoothed
model's answer without an attack. For faces see the page of experiment 5.

"""
_TRAINING_TEXT = """\
The loss is the squared error to the clean image plus a weight times half the squared distance
between the outputs of two draws of the noise; with such a weight the error is the mean over both
draws, so those trainings see twice as many noisy images as noise alone. σ = {sigma:g} in training
and in the certificates, h = {ratio:g}, l2 distance, {inputs} inputs; errors are mean squares per
pixel on test images. The aim: a median bound of at most {bound:g} of that of noise alone, at an
error under noise of at most {error:g} times its own.

What to expect: the mean squared error under noise is bias² + spread², and noise alone already
minimises that sum. A smaller spread is paid in bias, little at first and then with the square of
what is gained.

"""
_ATTACK_TEXT = """\
An attack follows gradients of the distance between the certified answer and the mean output under
noise; what it finds is put before the smoothed model with fresh noise. The truth lies between the
two curves: the attack is not optimal, the bound not exact. A ratio below 1 would refute the
certificate.

"""


def pages(scale: Scale) -> list[Page]:
    """The pages there are records for."""
    made = (_error_page(scale), _consistency_page(scale), _tightness_page(scale))
    return [page for page in made if page is not None]


# --------------------------------------------------------------------------- certified error


def _error_page(scale: Scale) -> Page | None:
    rows = rows_of_parts(scale, [part.name for part in restoration.PARTS if part.noisy])
    found = points(rows, "L2", scale.restoring)
    if not found:
        return None
    lines = [
        (
            point.part,
            f"{point.h:g}",
            f"{point.eps:g}",
            amount(_measured(rows, point)),
            amount(point.ours),
            amount(point.error),
        )
        for point in found
    ]
    header = (
        *("part", "h", "ε₁", "measured, unattacked", "bound about the answer"),
        "certified error",
    )
    text = _ERROR_TEXT + table(header, lines)
    panels: dict[str, Any] = {}
    for point in found:
        name = f"certified error, ε₁ = {point.h:g} σ"
        panels.setdefault(point.part, {}).setdefault(name, []).append((point.eps, point.error))
    figure = figures.curves(panels, "size of the attack ε₁", "distance to the clean image (l2)")
    caption = "Median certified l2 distance from the clean image to any answer under attack."
    title = "Experiment 7a: certified error"
    shares = [
        point.error / measured
        for point in found
        if point.error is not None and (measured := _measured(rows, point))
    ]
    share = middle(shares)
    said = (
        ""
        if share is None
        else f"the certified l2 error is {share:.2f} times the error that was measured without an "
        "attack (median over the grid)."
    )
    made = {"7a-errors": (figure, caption)}
    return Page("7a-certified-error", title, text, made, parts=parts_of(rows), said=said)


def _measured(rows: Sequence[Row], point: Point) -> float | None:
    sigma = point.eps / point.h
    return middle(
        row.smoothed_error
        for row in rows
        if (row.part, row.metric, row.procedure) == (point.part, "L2", "sharp")
        and not row.clipped
        and abs(row.sigma - sigma) < 1e-4 * sigma
    )


# ------------------------------------------------------------------ training for certificates


def _consistency_page(scale: Scale) -> Page | None:
    found = {part: _trainings(scale, part) for part in consistency.PARTS}
    known = {part: trainings for part, trainings in found.items() if trainings}
    if not known:
        return None
    blocks = [f"## {part.dataset}\n\n{_consistency_table(own)}" for part, own in known.items()]
    said = "; ".join(_said_of_training(part.dataset, own) for part, own in known.items())
    text = _TRAINING_TEXT.format(
        sigma=consistency.SIGMA,
        ratio=consistency.RATIO,
        inputs=scale.ablation.inputs,
        bound=MOST_BOUND,
        error=MOST_ERROR,
    )
    names = [part.name for part in known]
    title = "Experiment 7b: training for certificates"
    return Page("7b-training", title, text + "\n".join(blocks), {}, parts=names, said=f"{said}.")


def _said_of_training(dataset: str, trainings: Sequence[_Training]) -> str:
    """The smallest bound that the aim's error allows, and whether it is small enough."""
    allowed = [line for line in trainings[1:] if line.worse <= MOST_ERROR]
    if not allowed:
        return f"no weight stays within {MOST_ERROR:g} of the error ({dataset})"
    best = min(allowed, key=lambda line: line.share)
    return (
        f"at most {MOST_ERROR:g} of the error of noise alone allows {best.share:.2f} of its bound "
        f"({best.trained}, {dataset}; the aim of {MOST_BOUND:g} is {'' if best.met else 'not '}met)"
    )


@dataclass(frozen=True)
class _Training:
    """One way to train, beside noise alone."""

    trained: str
    bound: float
    share: float
    error: float
    worse: float
    clean: float

    @property
    def met(self) -> bool:
        """Whether it is what was aimed at."""
        return self.share <= MOST_BOUND and self.worse <= MOST_ERROR


def _trainings(scale: Scale, part: consistency.Consistency) -> list[_Training]:
    """Noise alone first."""
    rows = rows_of_parts(scale, [part.name])
    errors = read_lines(scale.results / "records" / f"{part.name}-errors.jsonl")
    eps = consistency.SIGMA * consistency.RATIO
    medians = {
        line["trained"]: middle(row.at(eps) for row in rows if _trained(row) == line["trained"])
        for line in errors
    }
    ordered = sorted(errors, key=lambda line: float(line["weight"]))
    reference = medians[ordered[0]["trained"]] if ordered else None
    return [
        _Training(
            line["trained"],
            bound,
            bound / reference,
            line["noisy"],
            line["noisy"] / ordered[0]["noisy"],
            line["clean"],
        )
        for line in ordered
        if reference and (bound := medians[line["trained"]]) is not None
    ]


def _consistency_table(trainings: Sequence[_Training]) -> str:
    lines = [
        (
            line.trained,
            amount(line.bound),
            f"{line.share:.2f}",
            f"{line.error:.5f}",
            f"{line.worse:.2f}",
            f"{line.clean:.5f}",
            "–" if place == 0 else "yes" if line.met else "no",
        )
        for place, line in enumerate(trainings)
    ]
    header = ("training", "median ε₂", "of noise alone", "error under noise", "of noise alone")
    return table((*header, "error without noise", "aim met"), lines)


def _trained(row: Row) -> str:
    return row.setting.rpartition(", ")[2]


# ---------------------------------------------------------------------------------- tightness


def _tightness_page(scale: Scale) -> Page | None:
    name = tightness.PARTS[0].name
    found = read_lines(scale.results / "records" / f"{name}.jsonl")
    if not found:
        return None
    groups: dict[tuple[str, float], list[dict[str, Any]]] = {}
    for line in found:
        groups.setdefault((line["center"], line["eps"]), []).append(line)
    header = (
        *("center", "ε₁", "inputs", "median ε₂", "median movement found"),
        *("median ratio", "least ratio"),
    )
    curves: dict[str, list[tuple[float, float]]] = {}
    for (center, eps), own in groups.items():
        for label, key in (("certified", "bound"), ("found by attack", "moved")):
            if (value := middle(line[key] for line in own)) is not None:
                curves.setdefault(f"{center}, {label}", []).append((eps, value))
    panels = {"mnist-autoencoder": curves}
    figure = figures.curves(panels, "size of the attack ε₁", "movement of the answer (l2)")
    text = _ATTACK_TEXT + table(header, [_attacked(*place, own) for place, own in groups.items()])
    caption = "The certified bound and the largest movement an attack found, medians over inputs."
    title = "Experiment 7c: how tight the bounds are"
    told = (
        f"{ratio:.1f} at ε₁ = {eps:g} ({center})"
        for (center, eps), own in groups.items()
        if (ratio := middle(_ratios(own))) is not None
    )
    said = f"the bound over the largest movement found (medians): {', '.join(told)}."
    made = {"7c-tightness": (figure, caption)}
    return Page("7c-tightness", title, text, made, parts=[name], said=said)


def _ratios(own: Sequence[dict[str, Any]]) -> list[float]:
    """Bound over movement for each input."""
    return [line["bound"] / line["moved"] for line in own if line["moved"]]


def _attacked(center: str, eps: float, own: Sequence[dict[str, Any]]) -> tuple[object, ...]:
    """Cells for one center and size of attack."""
    ratios = _ratios(own)
    return (
        center,
        f"{eps:g}",
        len(own),
        amount(middle(line["bound"] for line in own)),
        amount(middle(line["moved"] for line in own)),
        amount(middle(ratios)),
        amount(min(ratios, default=None)),
    )
