"""Distances between label maps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from centersmooth import kernels
from centersmooth.errors import ArgumentError, OutputError, expected
from centersmooth.metrics import bits
from centersmooth.metrics.base import Block, Metric, as_tensor, flat_rows
from centersmooth.outputs import Outputs


@dataclass(frozen=True)
class LabelJaccard(Metric):
    """``d(a, b) = 1 - IoU`` of a class, averaged over classes (1 - mIoU) or the worst. Theorem B.

    Range [0, 1]; ``how="max"`` takes the worst class. One output is a map of class labels, of
    any shape; `classes` are the labels that count, a single one for the distance of that class.
    The mean is over classes that a or b shows; d = 0 if they show none.

    A metric: each class is a Jaccard distance of masks, so sums S and maxima are metrics. For
    means, S_ac / n_ac <= S'_ab / n_ac + S'_bc / n_ac where S' leaves out the classes of b alone.
    Those that remain in S'_ab are at most n_ac many, so dividing by their number instead makes
    it larger, and the classes of b alone add 1 to numerator and denominator: larger again.
    """

    classes: tuple[int, ...]
    how: str = "mean"
    diameter: float = field(default=1.0, init=False)

    def __post_init__(self) -> None:
        whole = isinstance(self.classes, (tuple, list, range)) and all(
            isinstance(label, (int, np.integer)) for label in self.classes
        )
        if not whole or not self.classes or len(set(self.classes)) < len(self.classes):
            fix = "Give the labels that count, e.g. classes=range(21) or (3,)."
            raise ArgumentError(expected("different whole numbers", repr(self.classes), fix))
        if self.how not in ("mean", "max"):
            fix = "The mean is one minus the mIoU; the maximum is the worst class."
            raise ArgumentError(expected("how='mean' or 'max'", repr(self.how), fix))
        object.__setattr__(self, "classes", tuple(int(label) for label in self.classes))

    def collate(self, outputs: Outputs) -> Block:
        """One row of bits per class."""
        labels, valid = flat_rows(as_tensor(outputs, self).cpu(), self)
        if not bool((labels == labels.round()).all()):
            fix = "Return scores.argmax(dim=1), not the scores."
            got = f"fractions from {float(labels.min()):g} to {float(labels.max()):g}"
            raise OutputError(expected("maps of whole class labels", got, fix))
        masks = [bits.packed(labels == label) for label in self.classes]
        return Block(torch.stack(masks, dim=1), valid)

    def lengths(self, a: Any, b: Any) -> torch.Tensor:
        kernels.check_widths(a, b)
        total = torch.zeros((len(a), len(b)), dtype=torch.float64)
        worst, shown = total.clone(), total.clone()
        for k in range(len(self.classes)):
            one, other = a[:, k], b[:, k]
            shared = bits.shared(one, other)
            union = bits.counts(one)[:, None] + bits.counts(other)[None, :] - shared
            distance = (union - shared) / union.clamp(min=1)
            total += distance
            shown += union > 0
            worst = torch.maximum(worst, distance)
        if self.how == "max":
            return worst
        return total.div_(shown.clamp_(min=1)).clamp_(max=1.0)
