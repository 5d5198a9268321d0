"""Which batch size and memory layout suit a model: measured on the model itself."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import torch

from centersmooth.models import Model
from centersmooth.noise import Noise
from centersmooth.sampling import PROBES, Address, Batching, noisy

_SECONDS = 0.4
_LARGEST = 4096
_BYTES = 2**27


@dataclass(frozen=True)
class Tuning:
    """The batching that was found, and what finding it cost."""

    batching: Batching
    probes: int
    rates: tuple[tuple[int, bool, float], ...] = ()
    """(batch size, channels_last, passes per second) as measured."""


def tune(model: Model, noise: Noise, x: Any, address: Address) -> Tuning:
    """Double the batch while it pays, then try channels_last; stops after under half a second."""
    trials = _Trials(model, noise, x, address)
    size = 32
    while trials.affordable(size):
        rate = trials.run(size, channels_last=False)
        if rate < 0.9 * trials.best[2]:
            break
        size *= 2
    size = trials.best[0]
    images = isinstance(x, torch.Tensor) and x.dim() == 3
    if images and model.takes_channels_last and trials.affordable(size):
        trials.run(size, channels_last=True)
    size, channels_last, _ = trials.best
    return Tuning(Batching(size, channels_last), trials.probes, tuple(trials.rates))


class _Trials:
    """Timed forward passes within a budget of seconds."""

    def __init__(self, model: Model, noise: Noise, x: Any, address: Address) -> None:
        self._model, self._noise, self._x, self._address = model, noise, x, address
        self._started = time.perf_counter()
        self.rates: list[tuple[int, bool, float]] = []
        self.probes = 0

    @property
    def best(self) -> tuple[int, bool, float]:
        """The fastest so far; a larger batch must be clearly faster, for it costs memory."""
        best = (32, False, 0.0)
        for trial in self.rates:
            if trial[2] > 1.03 * best[2]:
                best = trial
        return best

    def affordable(self, size: int) -> bool:
        """Whether a trial of this size fits what is left of the budget."""
        if not self.rates:
            return True
        nbytes = self._x.numel() * self._x.element_size() if hasattr(self._x, "numel") else 0
        spent = time.perf_counter() - self._started
        cost = 2 * size / max(self.best[2], 1e-9)
        return size <= _LARGEST and size * nbytes <= _BYTES and spent + cost <= _SECONDS

    def run(self, size: int, *, channels_last: bool) -> float:
        """Passes per second at this batch size, after one pass to warm up."""
        batch = noisy(self._noise, self._x, self._address, PROBES, 0, size)
        self._model(batch, channels_last)
        _finish(batch)
        started = time.perf_counter()
        self._model(batch, channels_last)
        _finish(batch)
        self.probes += 2 * size
        rate = size / max(time.perf_counter() - started, 1e-9)
        self.rates.append((size, channels_last, rate))
        return rate


def _finish(batch: Any) -> None:
    """Wait for the GPU, so that the clock sees its work."""
    if isinstance(batch, torch.Tensor) and batch.device.type == "cuda":
        torch.cuda.synchronize(batch.device)
