"""How a run's batches are cut: measured once, then kept with the run."""

from __future__ import annotations

import math
from typing import Any

from centersmooth.errors import InputError, ModelError
from centersmooth.models import Model
from centersmooth.planning import measured
from centersmooth.sampling import Address, Batching, fingerprint
from centersmooth.store import Writer
from centersmooth.study.setting import Setting
from centersmooth.study.study import Study

_FALLBACK = 32


class Batchings:
    """For each model and shape of input the batching of the run, with its speed."""

    def __init__(self, study: Study, writer: Writer, seed: int) -> None:
        self._study, self._writer, self._seed = study, writer, seed

    def of(self, draws: int, setting: Setting, x: Any) -> tuple[Batching, float]:
        """The batching and its forward passes per second, measured if this run has none yet."""
        key = f"{draws}/{tuple(getattr(x, 'shape', ()))}/{getattr(x, 'dtype', type(x).__name__)}"
        kept = self._writer.tuning(key)
        if kept is None:
            try:
                kept = self._measured(setting, x)
            except (ModelError, InputError):
                # The certification will say what is wrong with this input.
                return Batching(_FALLBACK), math.inf
            self._writer.add_tuning(key, *kept)
        size, channels_last, rate = kept
        return Batching(size, channels_last), rate

    def _measured(self, setting: Setting, x: Any) -> tuple[int, bool, float]:
        assert setting.model is not None, "given when the study was built"
        model = Model(setting.model, self._study.device)
        model.begin()
        x = model.place(setting.noise.check_input(x, self._study.input_range))
        address = Address(self._seed, fingerprint(x))
        batching, rate = measured(model, setting.noise, x, address, self._study.batch_size)
        return batching.size, batching.channels_last, rate


def spans(samples: int, size: int, rate: float, seconds: float) -> list[tuple[int, int]]:
    """Where to cut a certification into pieces of so many seconds, at ends of batches."""
    batches = max(1, math.ceil(min(samples, rate * seconds) / size))
    step = batches * size
    return [(start, min(start + step, samples)) for start in range(0, samples, step)]
