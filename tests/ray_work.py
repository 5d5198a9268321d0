"""Work for Ray's processes: a model that kills them, and a parcel that counts its deliveries."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import torch

from small_studies import inputs, model


class KillsItsWorkers:
    """The small model, but the first process to reach the second input is killed, and so is
    every one that reaches the third. The process that made it is spared."""

    def __init__(self, folder: Path) -> None:
        self._mark, self._spared = folder / "killed", os.getpid()

    def __call__(self, batch: torch.Tensor) -> torch.Tensor:
        if os.getpid() != self._spared:
            if _about(batch, 1) and not self._mark.exists():
                self._mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            if _about(batch, 2):
                os.kill(os.getpid(), signal.SIGKILL)
        return model(batch)


def _about(batch: torch.Tensor, index: int) -> bool:
    """Whether these are noisy copies of that input."""
    return len(batch) > 20 and bool((batch.mean(dim=0) - inputs(4)[index]).norm() < 0.5)


class Parcel:
    """Squares numbers once two processes are at it; every delivery leaves a file."""

    def __init__(self, folder: Path) -> None:
        self.delivered, self.begun = folder / "delivered", folder / "begun"
        self.delivered.mkdir()
        self.begun.mkdir()
        self.weights = torch.ones(10**6)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        (self.delivered / f"{os.getpid()}-{os.urandom(4).hex()}").touch()

    def __call__(self, number: int) -> tuple[int, int, int]:
        if number < 0:
            raise ValueError(f"no root of {number}")
        (self.begun / str(os.getpid())).touch()
        while len(list(self.begun.iterdir())) < 2:
            os.sched_yield()
        return number * number, os.getpid(), torch.get_num_threads()
