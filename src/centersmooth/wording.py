"""What a certificate says, in words."""

from __future__ import annotations

import html as escaping
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from centersmooth.confidence import Split
from centersmooth.goals import GOAL_MET, GOAL_MISSED, TOLERANCE_REACHED
from centersmooth.planning import remedy

if TYPE_CHECKING:
    from centersmooth.certificates import Certificate

_WIDTH = 79


def percent(probability: float) -> str:
    """99 %, 99.9 %, as short as it can be said, but never rounded up to certainty."""
    text = f"{100 * probability:.6g}"
    for digits in (12, 17):
        if float(text) >= 100 > 100 * probability:
            text = f"{100 * probability:.{digits}g}"
    return f"{text} %"


def number(value: float) -> str:
    """A bound, rounded up to four digits."""
    text = f"{value:.4g}"
    if not float(text) < value:
        return text
    exponent = int(f"{value:.3e}".partition("e")[2])
    return f"{float(text) + 10.0 ** (exponent - 3):.4g}"


def ball(certificate: Certificate, eps: float) -> str:
    """The attacker, in words."""
    return f"every x' within {certificate.noise.norm} distance {eps:g} of this input"


def guarantee(certificate: Certificate, eps: float) -> str:
    """The guarantee at eps, word for word (docs/theory/guarantee.md)."""
    bound = number(certificate.bound(eps))
    answer = f"within {bound} ({certificate.metric.name}) of the certified answer"
    level = certificate.level
    points = len(certificate.grid or ()) or 1
    if isinstance(level, Split):
        text = (
            f"With probability at least {percent(1 - level.certificate)} over the certification "
            f"samples: for {ball(certificate, eps)}, an answer of the smoothed model at x' with "
            f"fresh noise is {answer}, except with probability {percent(level.query)} per query."
        )
    else:
        text = (
            "Over the certification and the query samples together: for "
            f"{ball(certificate, eps)}, chosen without the query's noise, the smoothed model's "
            f"answer is {answer} with probability at least {percent(1 - level.alpha)}."
        )
    if points > 1:
        text += f" All {points} values of the declared grid hold together."
    if certificate.stopped:
        count = len(certificate.stopped.looks.sizes)
        text += (
            f" It holds although sampling could stop early: {count} looks at the samples, fixed "
            "beforehand, share the failure probability."
        )
    return text


def ending(certificate: Certificate) -> str:
    """Where sampling stopped and what that settles; empty for a fixed number of samples."""
    stopped = certificate.stopped
    if stopped is None:
        return ""
    looks, goal, tolerance = stopped.looks, stopped.question.goal, stopped.question.tolerance
    where = (
        f"{stopped.outcome.capitalize()} at {certificate.sizes.m:,} of at most {looks.last:,} "
        f"samples (look {stopped.place + 1} of {len(looks.sizes)})"
    )
    if stopped.outcome == TOLERANCE_REACHED and tolerance:
        return f"{where}: all of them could hardly shrink the bound by {percent(tolerance.share)}."
    if goal is None:
        return f"{where}: more could still shrink the bound."
    noun = "error" if goal.of_target else "bound"
    asked = f"the {noun} at eps = {goal.eps:g} is to be at most {goal.bound:.6g}"
    now = certificate.error(goal.eps) if goal.of_target else certificate.bound(goal.eps)
    ends = {
        GOAL_MET: f"it is proved to be at most {number(now)}.",
        GOAL_MISSED: f"it is {number(now)} now, and all of them could hardly bring it there.",
    }
    rest = ends.get(stopped.outcome, f"it is {number(now)} now; more might bring it there.")
    return f"{where}: {asked}; {rest}"


def explain(certificate: Certificate, eps: float) -> str:
    """The guarantee, or why these samples cannot tell and what would."""
    if certificate.status(eps) == "certified":
        text = guarantee(certificate, eps)
        if certificate.bound(eps) >= certificate.metric.diameter:
            text += (
                f" That is the largest distance {certificate.metric.name} has: the outputs "
                "spread too far under noise. Try a smaller eps, a model trained with noise, or "
                "another sigma."
            )
        if certificate.has_target:
            text += f" About the target, likewise: within {number(certificate.error(eps))} of it."
        return text
    theorem = certificate.theorem
    return (
        f"Undecided at eps = {eps:g}: {certificate.sizes.m:,} samples cannot tell, whatever the "
        f"model does, so the bound is the largest distance there is "
        f"({certificate.metric.diameter:g}). {remedy(theorem, eps)}"
    )


def typical_eps(certificate: Certificate) -> list[float]:
    """A few eps worth showing: the declared grid, or multiples of the noise's scale."""
    if certificate.grid:
        return list(certificate.grid)
    most = certificate.provenance.largest_move
    scale = certificate.noise.scale
    values = [scale * h for h in (0.25, 0.5, 1.0, 1.5, 2.0)]
    return [eps for eps in values if most is None or eps <= most] or [float(most or 0.0)]


def rows(certificate: Certificate) -> list[tuple[str, ...]]:
    """The table of `summary` and `html`: a header, then one line per eps."""
    header = ["attack eps", "answer moves at most"]
    if certificate.has_target:
        header.append("error against target")
    table = [tuple(header)]
    for eps in typical_eps(certificate):
        if certificate.status(eps) == "undecided":
            cells = ["undecided"] * (len(header) - 1)
        else:
            cells = [number(certificate.bound(eps))]
            if certificate.has_target:
                cells.append(number(certificate.error(eps)))
        table.append((f"{eps:g}", *cells))
    return table


def title(certificate: Certificate) -> str:
    """One line: what was certified."""
    unit = f" in {certificate.metric.unit}" if certificate.metric.unit else ""
    return (
        f"Certificate for one input: {certificate.metric.name} distance{unit}, "
        f"{certificate.noise}, {certificate.noise.norm} attacker"
    )


def example(certificate: Certificate) -> str:
    """The guarantee at a telling eps: the largest shown one whose bound says something."""
    shown = typical_eps(certificate)
    telling = [eps for eps in shown if certificate.bound(eps) < certificate.metric.diameter]
    return explain(certificate, telling[-1] if telling else shown[0])


def cost(certificate: Certificate) -> str:
    """What it cost, and how to get it again."""
    sizes, provenance = certificate.sizes, certificate.provenance
    return (
        f"Cost: {certificate.evaluations:,} forward passes ({sizes.m:,} of them certify) and "
        f"{certificate.probes:,} for checks and tuning, in {provenance.seconds:.1f} s. "
        f"Center: {type(certificate.center).__name__}. Seed: {certificate.seed}."
    )


def promises_not(certificate: Certificate) -> str:
    """What the certificate does not say."""
    parts = [
        "It speaks of the smoothed model (smoother(x)), not of the base model, and of this input."
    ]
    if not certificate.has_target:
        parts.append("It says nothing about whether the answer is right: certify with target=.")
    if not certificate.grid:
        parts.append("Each eps holds by itself: choose it beforehand, or declare a grid.")
    parts.append("An attacker who knows the noise of the query (its seed) is outside.")
    return "Not promised: " + " ".join(parts)


def _paragraphs(certificate: Certificate) -> list[str]:
    """What is said below the table."""
    told = (example, ending, cost, promises_not)
    return [text for say in told if (text := say(certificate))]


def summary(certificate: Certificate) -> str:
    """What print shows."""
    table = rows(certificate)
    widths = [max(len(line[i]) for line in table) for i in range(len(table[0]))]
    lines = ["  " + "   ".join(c.rjust(w) for c, w in zip(r, widths, strict=True)) for r in table]
    wrapped = [textwrap.fill(text, _WIDTH) for text in _paragraphs(certificate)]
    head = textwrap.fill(title(certificate), _WIDTH)
    return "\n".join([head, "", *lines, "", *wrapped])


def html(certificate: Certificate) -> str:
    """What a notebook shows."""
    table = rows(certificate)
    head = _cells("th", table[0])
    body = "".join(f"<tr>{_cells('td', line)}</tr>" for line in table[1:])
    notes = "".join(f"<p>{escaping.escape(text)}</p>" for text in _paragraphs(certificate))
    caption = escaping.escape(title(certificate))
    return (
        f"<div style='max-width:44em'><table><caption>{caption}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}</div>"
    )


def _cells(tag: str, line: Sequence[str]) -> str:
    scope = " scope='col'" if tag == "th" else ""
    return "".join(f"<{tag}{scope}>{escaping.escape(cell)}</{tag}>" for cell in line)
