"""Experiment 7c: the bound beside the largest movement that an attack finds.

The attack climbs the distance between the certified answer and the mean output under noise, of
which it takes gradients. What it finds is then put before the smoothed model itself, with fresh
noise. A bound over the movement near 1 would be tight; below 1 it would be wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

import centersmooth as cs
from centersmooth.centers import Center
from centersmooth.metrics import Metric
from studies.records import write_lines
from studies.restoration import Restoration, metrics
from studies.scales import SEED, Scale
from studies.training import DATASETS

CENTERS: dict[str, tuple[Center, tuple[float, ...]]] = {
    "geometric median": (cs.GeometricMedian(), (0.5, 1.0, 2.0)),
    "clipped mean": (cs.ClippedMean(), (0.25, 0.5)),
}
"""Each center with the ratios eps / sigma that it is for."""
_SIGMA = 0.25
_STARTS, _STEPS, _COPIES = 2, 20, 16


@dataclass(frozen=True)
class Tightness:
    """The digits' autoencoder under the l2 distance."""

    name: str = "tightness"

    def run(self, scale: Scale) -> None:
        """Attack some certificates and write down how far the answers moved."""
        lines = list(self._lines(scale))
        write_lines(scale.results / "records" / f"{self.name}.jsonl", lines)

    def keep(self, scale: Scale) -> None:
        """Nothing is left to do: its run writes the records."""

    def _lines(self, scale: Scale) -> Iterator[dict[str, Any]]:
        part = Restoration("mnist", "autoencoder")
        model = part.smoothed(_SIGMA, scale).model
        clean, names = DATASETS["mnist"]().chosen(scale.tightness_inputs)
        metric = metrics(tuple(clean.shape[1:]))["l2"]
        for name, (center, ratios) in CENTERS.items():
            attacked = self._attacked(scale, model, metric, center, ratios, clean)
            yield from (
                {"part": self.name, "center": name, "name": names[int(line["index"])], **line}
                for line in attacked
            )

    def _attacked(
        self,
        scale: Scale,
        model: Callable[[Any], Any],
        metric: Metric,
        center: Center,
        ratios: Sequence[float],
        clean: Tensor,
    ) -> Iterator[dict[str, float]]:
        budget = scale.restoration
        options: Any = {"answer_samples": budget.answer_samples, "batch_size": 64}
        own = (model, cs.Gaussian(_SIGMA), metric, center)
        smoother = cs.Smoother(*own, **options, progress=False)
        # Its noise must be fresh: not that of the certificate, nor of the attack.
        queried = cs.Smoother(*own, **options, progress=False, seed=SEED + 1)
        for index, x in enumerate(clean):
            certificate = smoother.certify(x, budget.samples, seed=SEED)
            for eps in (ratio * _SIGMA for ratio in ratios):
                attacked = strongest(model, x, certificate.value, _SIGMA, eps)
                yield {
                    "index": index,
                    "sigma": _SIGMA,
                    "eps": eps,
                    "bound": certificate.bound(eps),
                    "moved": float(metric(certificate.value, queried(attacked))),
                    "length": float((attacked - x).norm()),
                }


def strongest(
    model: Callable[[Any], Any], x: Tensor, answer: Tensor, sigma: float, eps: float
) -> Tensor:
    """The best of some attacks within eps, each by steps along normalised gradients."""
    generator = torch.Generator().manual_seed(SEED)
    found = [_climb(model, x, answer, sigma, eps, generator) for _ in range(_STARTS)]
    return max(found, key=lambda pair: pair[0])[1]


def _climb(
    model: Callable[[Any], Any],
    x: Tensor,
    answer: Tensor,
    sigma: float,
    eps: float,
    generator: torch.Generator,
) -> tuple[float, Tensor]:
    """How far the mean output was moved, and by which input."""
    shift = _onto_sphere(torch.randn(x.shape, generator=generator), eps)
    for _ in range(_STEPS):
        shift = shift.detach().requires_grad_(True)
        far = _distance(model, x + shift, answer, sigma, generator)
        (slope,) = torch.autograd.grad(far, shift)
        step = _onto_sphere(slope, 0.4 * eps)
        shift = _onto_sphere(shift.detach() + step, eps)
    with torch.no_grad():
        return float(_distance(model, x + shift, answer, sigma, generator)), x + shift


def _distance(
    model: Callable[[Any], Any],
    x: Tensor,
    answer: Tensor,
    sigma: float,
    generator: torch.Generator,
) -> Tensor:
    noise = torch.randn((_COPIES, *x.shape), generator=generator)
    mean: Tensor = model(x + sigma * noise).mean(dim=0)
    distance: Tensor = (mean - answer).norm()
    return distance


def _onto_sphere(direction: Tensor, radius: float) -> Tensor:
    """A hair inside, so that rounding does not carry it out."""
    length = direction.norm()
    return direction * (radius * (1 - 1e-6) / length) if float(length) > 0 else direction


PARTS = (Tightness(),)
