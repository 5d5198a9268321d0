"""What makes a study this study: settings, data and models by their values, not their names."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import torch

from centersmooth.errors import InputError, ModelError, TrainingModeError
from centersmooth.metrics import Block, Metric
from centersmooth.models import Model
from centersmooth.outputs import encode, pick
from centersmooth.sampling import Address, fingerprint, noisy
from centersmooth.store import Identity
from centersmooth.store.changes import UNREADABLE
from centersmooth.study.setting import Setting, description
from centersmooth.study.study import Study

_COPIES = 8
_TRIED = 10  # inputs that may be unreadable before we look at none
_PHASE = "fingerprint"


def identify(study: Study) -> Identity:
    """Reads every input once, so that a changed one is noticed before samples are spent."""
    models = distinct_models(study.settings)
    numbers = [models.index(_Same(setting.model)) for setting in study.settings]
    return Identity(
        settings=[
            description(setting, draws, number)
            for setting, draws, number in zip(study.settings, study.draws, numbers, strict=True)
        ],
        inputs=[(study.name(i), _of_input(study, i)) for i in range(len(study.inputs))],
        models=[_of_model(model.value, _version(study, model)) for model in models],
        options={
            "input_range": study.input_range and list(study.input_range),
            "seed": study.seed,
            "batch_size": study.batch_size,
            "device": study.device and str(study.device),
            "gallery": study.gallery,
        },
    )


class _Same:
    """A model, equal to itself alone: modules and functions may define their own ==."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.value is other.value

    __hash__ = None  # type: ignore[assignment]


def distinct_models(settings: Sequence[Setting]) -> list[_Same]:
    """The models of a study, each once."""
    found: list[_Same] = []
    for setting in settings:
        if _Same(setting.model) not in found:
            found.append(_Same(setting.model))
    return found


def _version(study: Study, model: _Same) -> str | None:
    return next(own.version for own in study.settings if own.model is model.value)


# ------------------------------------------------------------------------------------- data


def _of_input(study: Study, index: int) -> str:
    try:
        return digest_of(study, index, study.inputs[index])
    except InputError:
        return UNREADABLE


def digest_of(study: Study, index: int, x: Any) -> str:
    """SHA-256 of an input that was read, and of its targets."""
    digest = hashlib.sha256(fingerprint(x))
    for place in range(len(study.settings)):
        digest.update(_of_target(study.target(place, index)))
    return digest.hexdigest()


def _of_target(target: Any) -> bytes:
    try:
        return fingerprint(target)
    except InputError:  # sets, for one
        return fingerprint(json.dumps(encode(target)))


# ----------------------------------------------------------------------------------- models


def _of_model(model: Any, version: str | None) -> dict[str, Any]:
    kind = model if isinstance(model, type) or hasattr(model, "__qualname__") else type(model)
    return {"name": kind.__qualname__, "version": version, "weights": weights_digest(model)}


def weights_digest(model: Any) -> str | None:
    """SHA-256 of all parameters and buffers by name; None for a black box."""
    if not isinstance(model, torch.nn.Module):
        return None
    digest = hashlib.sha256()
    for name, tensor in (*model.named_parameters(), *model.named_buffers()):
        digest.update(name.encode() + b"\0" + fingerprint(tensor))
    return digest.hexdigest()


def looked_at(study: Study) -> int | None:
    """The number of the first input that can be read; None if the first few cannot."""
    for index in range(min(_TRIED, len(study.inputs))):
        with suppress(InputError):
            study.inputs[index]
            return index
    return None


def answers(study: Study, seed: int, index: int | None) -> list[list[Any] | None]:
    """What each setting's model says to a few addressed noisy copies of that input.

    None where that says nothing: the model failed on them, or draws randomness of its own.
    """
    leaders = {number: places[0] for number, places in study.groups().items()}
    x = _read(study, index)
    return [
        None if x is None else _answers(study, study.settings[place], x, seed)
        for place in leaders.values()
    ]


def _read(study: Study, index: int | None) -> Any:
    try:
        return None if index is None else study.inputs[index]
    except InputError:
        return None


def _answers(study: Study, setting: Setting, x: Any, seed: int) -> list[Any] | None:
    assert setting.model is not None, "given when the study was built"
    model = Model(setting.model, study.device)
    model.begin()
    try:
        x = model.place(setting.noise.check_input(x, study.input_range))
        copies = noisy(setting.noise, x, Address(seed, fingerprint(x)), _PHASE, 0, _COPIES)
        one, other = model(copies), model(copies)
        said = [setting.metric.to_json(pick(one, [i])[0]) for i in range(_COPIES)]
        repeats = same_answers(setting.metric, one, other)
    except TrainingModeError:
        raise
    except (ModelError, InputError):
        return None
    return said if repeats else None


def check_answers(study: Study, kept: Any, now: Sequence[list[Any] | None]) -> str:
    """Which model has come to answer otherwise, in words; empty if none has."""
    if not isinstance(kept, list) or len(kept) != len(now):
        return "other models"
    for places, old, new in zip(study.groups().values(), kept, now, strict=True):
        setting = study.settings[places[0]]
        if old is None or new is None:
            continue
        read: Callable[[Any], Any] = setting.metric.from_json
        if not same_answers(setting.metric, [read(o) for o in old], [read(n) for n in new]):
            return f"a model that answers otherwise under setting {setting.name!r}"
    return ""


def same_answers(metric: Metric, one: Any, other: Any) -> bool:
    """Whether most outputs agree up to rounding, which may flip a thresholded one."""
    a, b = metric.collate(one), metric.collate(other)
    if len(a) != len(b):
        return False
    typical = _typical(metric, a)
    lengths = metric.measure(a, b).diagonal()
    both_failed = ~(a.valid | b.valid).to(lengths.device)
    return int(((lengths > 1e-3 * typical) & ~both_failed).sum()) <= len(a) // 2


def _typical(metric: Metric, block: Block) -> float:
    lengths = metric.measure(block, block)
    finite = lengths[torch.isfinite(lengths)]
    return float(finite.median()) if len(finite) else 0.0
