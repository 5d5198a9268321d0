"""What a center must know: how to gather samples, name an answer and measure from it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import torch

from centersmooth.metrics import Block, Metric
from centersmooth.moments import Moments, Region
from centersmooth.outputs import Outputs


@dataclass(frozen=True)
class Answer:
    """What the smoothed model says for one input."""

    value: Any
    """The output itself."""
    reference: Block
    """The same, prepared: the w of the theorems."""
    outer: Block | None
    """Further points whose balls are measured (Theorem B)."""
    spread: float | None
    """r': the radius that holds a majority of the samples around the answer."""
    region: Region | None = None
    """Where moments are taken (Theorem D)."""
    scale: float = 1.0
    """The reference is this multiple of the answer's own row, where only directions count."""
    directional: bool = False
    """Whether only directions count."""


class Gathering(ABC):
    """Collects the draws of one answer, block by block, then names the center."""

    @abstractmethod
    def add_candidates(self, outputs: Outputs) -> None:
        """Outputs that may become the answer; all of them come before any sample."""

    @abstractmethod
    def add_samples(self, block: Block, outputs: Outputs) -> None:
        """Outputs that choose the answer."""

    @abstractmethod
    def answer(self) -> Answer:
        """The center."""


class Center(ABC):
    """How an answer is made from samples. It never depends on eps."""

    draws: int = 0
    """Outputs drawn besides the samples."""
    outer_points: int = 0
    """Points whose balls are measured besides the answer's."""
    has_moments: bool = False
    """Whether moments are counted besides distances."""
    group: int = 1
    """How many outputs are averaged into one sample."""
    views: int = 1
    """In how many ways distances to a group of outputs are counted."""

    @abstractmethod
    def check(self, metric: Metric) -> None:
        """Refuse a metric this center cannot work with."""

    @abstractmethod
    def gather(self, metric: Metric, samples: int) -> Gathering:
        """Start an answer from this many samples."""

    def view(self, metric: Metric, outputs: Outputs) -> list[Outputs]:
        """What is counted of a batch of outputs: `views` blocks, one entry per group each."""
        return [outputs]

    @abstractmethod
    def measure(self, metric: Metric, a: Block, b: Block) -> torch.Tensor:
        """The lengths in which this center's theorem is stated."""

    def moments(self, answer: Answer, target: Block | None) -> Moments | None:
        """What its theorem needs counted besides these lengths, before the first sample."""
        return None


def majority(samples: int) -> int:
    """k = floor(n / 2) + 1: two sets of so many samples always share one."""
    return samples // 2 + 1
