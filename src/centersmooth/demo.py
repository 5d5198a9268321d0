"""The demo: a trained model on real digits, our certificates beside the published ones."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from centersmooth import demo_pictures, published
from centersmooth.certificates import Certificate
from centersmooth.certifying import certify_together
from centersmooth.demo_model import Autoencoder, autoencoder
from centersmooth.demo_model import digits as packaged_digits
from centersmooth.demo_pictures import upward
from centersmooth.metrics import L2, Block, MaskJaccard, Metric
from centersmooth.noise import Gaussian
from centersmooth.outputs import Outputs
from centersmooth.progress import Advance, progress_bar
from centersmooth.published import PublishedCertificate
from centersmooth.smoother import Smoother
from centersmooth.wording import percent

SIGMA, ALPHA = 0.25, 0.01
GRID = tuple(step / 40 for step in range(21))
"""The eps of the curves."""
SHOWN = (0.25, 0.5)
"""The eps of the table: once and twice sigma."""
_BATCH = 256  # fixed, so that every run on a machine prints the same digits


@dataclass(frozen=True)
class InkJaccard(MaskJaccard):
    """``1 - |a and b| / |a or b|`` of the pixels above one half. Range [0, 1]. Theorem B.

    Images with the same ink are at distance 0, so this is a pseudometric.
    """

    def collate(self, outputs: Outputs) -> Block:
        images = torch.as_tensor(outputs)
        finite = torch.isfinite(images).flatten(1).all(dim=1).cpu()
        return Block(super().collate(images > 0.5).rows, finite)


METRICS: tuple[Metric, ...] = (L2(), InkJaccard())


@dataclass(frozen=True)
class Budget:
    """How many samples certify (ours), and the n and m of the published procedure."""

    samples: int
    published_n: int
    published_m: int


USUAL = Budget(4_000, 5_000, 20_000)
QUICK = Budget(1_500, 3_000, 10_000)


@dataclass(frozen=True)
class Certified:
    """One digit with what was certified about it, one entry per metric."""

    label: int
    image: torch.Tensor
    certificates: tuple[Certificate, ...]
    published: tuple[tuple[PublishedCertificate, ...], ...]
    """Per metric, one for each eps of `GRID`."""


def run(out: Path, count: int, seed: int, budget: Budget) -> None:
    """Certify, print the tables and how to read them, write the pictures."""
    out.mkdir(parents=True, exist_ok=True)
    console = Console(highlight=False)
    console.print(
        f"Certifying {count} digit{'s' * (count > 1)} at sigma = {SIGMA:g}, here and by the "
        "published procedure: a minute or so.\n"
    )
    model = autoencoder()
    found = certify_all(model, count, seed, budget)
    for place in range(len(METRICS)):
        console.print(table(found, place))
    console.print(reading(found[0], budget))
    console.print(Text("\nprint(certificate) of the first digit says:\n", style="bold"))
    console.print(str(found[0].certificates[0]), markup=False, soft_wrap=True)
    demo_pictures.save_strip(out / "digits.png", model, found, SHOWN[0])
    demo_pictures.save_curves(out / "curves.png", found, GRID)
    found[0].certificates[0].save(out / "certificate.json")
    console.print(Text("\nWritten:", style="bold"))
    for name, meaning in _FILES.items():
        console.print(f"  {out / name}  {meaning}", markup=False, soft_wrap=True)


_FILES = {
    "digits.png": "input, noisy input, base and smoothed output of each digit",
    "curves.png": "how far the output can move, by the size of the attack",
    "certificate.json": "that certificate; cs.Certificate.load reads it back",
}


# -------------------------------------------------------------------------------- certify


def certify_all(model: Autoencoder, count: int, seed: int, budget: Budget) -> list[Certified]:
    """Every digit, with both procedures; the clean digit itself is the target."""
    images, labels = packaged_digits(count)
    smoothers = [
        Smoother(model, Gaussian(SIGMA), metric, batch_size=_BATCH, progress=False)
        for metric in METRICS
    ]
    found = []
    with progress_bar(None, "certifying digits", 2 * count) as advance:
        for image, label in zip(images, labels.tolist(), strict=True):
            found.append(_certify(smoothers, image, label, seed, budget, advance))
    return found


def _certify(
    smoothers: Sequence[Smoother],
    image: torch.Tensor,
    label: int,
    seed: int,
    budget: Budget,
    advance: Advance,
) -> Certified:
    targets = [image] * len(smoothers)
    ours = certify_together(smoothers, image, budget.samples, ALPHA, targets, seed)
    advance(1)
    theirs = published.certify_together(
        smoothers[0].model.function,
        image,
        Gaussian(SIGMA),
        METRICS,
        GRID,
        n=budget.published_n,
        m=budget.published_m,
        seed=seed,
        batch_size=_BATCH,
        progress=False,
    )
    advance(1)
    return Certified(label, image, tuple(ours), tuple(tuple(curve) for curve in theirs))


# ---------------------------------------------------------------------------------- print


def table(found: Sequence[Certified], place: int) -> Table:
    """One metric: a line per digit and eps, then the medians."""
    ours, theirs = found[0].certificates[place], found[0].published[place][0]
    grid = Table(title=_TITLES[place], title_justify="left", title_style="bold", box=box.SIMPLE)
    for name, style in (
        ("digit", ""),
        ("attack\neps", ""),
        (f"bound, ours\n{ours.evaluations:,} passes", "bold"),
        (f"bound, published\n{theirs.evaluations:,} passes", ""),
        ("ratio", ""),
        ("error against\nclean digit", ""),
    ):
        grid.add_column(name, justify="right", style=style, no_wrap=True)
    for eps in SHOWN:
        for cells in _lines(found, place, eps):
            grid.add_row(*cells)
        grid.add_section()
    return grid


_TITLES = (
    "How far the restored image can move (L2 distance)",
    "How much of its ink can change (Jaccard distance of the pixels above 1/2)",
)


def _lines(found: Sequence[Certified], place: int, eps: float) -> Iterator[tuple[str, ...]]:
    for digit in found:
        ours, theirs = digit.certificates[place], _published(digit, place, eps)
        answered = theirs.status == "certified"
        yield (
            str(digit.label),
            f"{eps:g}",
            upward(ours.bound(eps)),
            upward(theirs.bound) if answered else theirs.status,
            _ratio(ours.bound(eps), theirs.bound) if answered else "-",
            upward(ours.error(eps)),
        )
    if len(found) > 1:
        yield _medians(found, place, eps)


def _medians(found: Sequence[Certified], place: int, eps: float) -> tuple[str, ...]:
    ours = statistics.median(digit.certificates[place].bound(eps) for digit in found)
    # An abstention counts as the largest distance there is: dropping it would flatter.
    theirs = statistics.median(_published(digit, place, eps).bound for digit in found)
    error = statistics.median(digit.certificates[place].error(eps) for digit in found)
    return ("median", f"{eps:g}", upward(ours), upward(theirs), _ratio(ours, theirs), upward(error))


def _published(digit: Certified, place: int, eps: float) -> PublishedCertificate:
    return digit.published[place][GRID.index(eps)]


def _ratio(ours: float, theirs: float) -> str:
    return f"{ours / theirs:.2f}" if 0 < theirs < math.inf else "-"


def reading(digit: Certified, budget: Budget) -> str:
    """What one line of the tables means, and what it does not promise."""
    eps, certificate = SHOWN[0], digit.certificates[0]
    other = _published(digit, 0, eps)
    theirs = f"no bound ({other.status})" if other.status != "certified" else upward(other.bound)
    return (
        f"[bold]The first line[/bold] says: change the image of the {digit.label} in any way, by a "
        f"Euclidean length of at most {eps:g}. The smoothed model's answer then stays within "
        f"{upward(certificate.bound(eps))} of its answer to the clean image, and within "
        f"{upward(certificate.error(eps))} of the true digit, with probability at least "
        f"{percent(1 - ALPHA)}. For scale: the digit itself has length "
        f"{float(digit.image.norm()):.3g}. The published procedure promises {theirs} for the same "
        f"model, after {other.evaluations / certificate.evaluations:.1f} times the forward passes "
        f"(n = {budget.published_n:,} and m = {budget.published_m:,}; the paper takes 10,000 and "
        "1,000,000).\n\n"
        "[bold]It does not say[/bold] anything about the autoencoder without smoothing, about "
        "other images, or about all lines at once: each holds by itself. An attacker who knows "
        "the noise beforehand is outside, so draw a fresh seed in earnest (the default of the "
        "library; this demo fixes one to repeat itself)."
    )
