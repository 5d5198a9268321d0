"""Which batch size and memory layout suit a model: measured on the model itself."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import torch

from centersmooth.models import Model
from centersmooth.noise import Noise
from centersmooth.sampling import PROBES, Address, Batching, noisy

_SECONDS = 0.8
_TIMED, _ENOUGH = 5, 0.04  # passes per trial, and the seconds after which there are no more
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
    """The better layout first, then twice the batch while it pays; within a second.

    A single pass tells little: the first ones warm caches and threads, and others use the machine.
    """
    trials = _Trials(model, noise, x, address)
    trials.run(32, channels_last=False)
    images = isinstance(x, torch.Tensor) and x.dim() == 3
    if images and model.takes_channels_last and trials.affordable(32):
        trials.run(32, channels_last=True)
    layout, size = trials.best[1], 64
    while trials.affordable(size):
        if trials.run(size, channels_last=layout) < 0.9 * trials.best[2]:
            break
        size *= 2
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
        cost = 3 * size / max(self.best[2], 1e-9)
        return size <= _LARGEST and size * nbytes <= _BYTES and spent + cost <= _SECONDS

    def run(self, size: int, *, channels_last: bool) -> float:
        """Passes per second at this batch size: the best of some, after one to warm up."""
        batch = noisy(self._noise, self._x, self._address, PROBES, 0, size)
        self._seconds(batch, channels_last)
        spent = [self._seconds(batch, channels_last)]
        while len(spent) < _TIMED and sum(spent) < _ENOUGH:
            spent.append(self._seconds(batch, channels_last))
        self.probes += size * (1 + len(spent))
        rate = size / max(min(spent), 1e-9)
        self.rates.append((size, channels_last, rate))
        return rate

    def _seconds(self, batch: Any, channels_last: bool) -> float:
        started = time.perf_counter()
        self._model(batch, channels_last)
        _finish(batch)
        return time.perf_counter() - started


def _finish(batch: Any) -> None:
    """Wait for the GPU, so that the clock sees its work."""
    if isinstance(batch, torch.Tensor) and batch.device.type == "cuda":
        torch.cuda.synchronize(batch.device)
