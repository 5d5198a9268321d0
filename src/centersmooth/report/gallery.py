"""What the models answered for the first inputs of a run, and what the certificates allow."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from centersmooth import metrics
from centersmooth.errors import FormatError
from centersmooth.metrics import L2, BoxJaccard, Metric
from centersmooth.report.labels import readable
from centersmooth.report.pictures import Picture, Scale, image, picture, scale_of
from centersmooth.report.scenes import Scene, scene
from centersmooth.report.words import amount, measured
from centersmooth.specification import restore
from centersmooth.store.record import Record, decoded
from centersmooth.wording import number


@dataclass(frozen=True)
class Claim:
    """What is certified at one attack size."""

    eps: float
    text: str
    safe: bool


@dataclass(frozen=True)
class Look:
    """A picture with its heading."""

    heading: str
    picture: Picture
    alt: str


@dataclass(frozen=True)
class Card:
    """One input under one setting."""

    index: int
    name: str
    status: str
    message: str
    looks: tuple[Look, ...]
    scene: Scene | None
    claims: tuple[Claim, ...]


@dataclass(frozen=True)
class Exhibition:
    """The cards of one setting."""

    setting: str
    cards: tuple[Card, ...]


class Curator:
    """Keeps the first inputs of each sharp setting, as they come: none is picked by its result."""

    def __init__(self, settings: Mapping[str, Mapping[str, Any]], most: int) -> None:
        self._settings, self._most = settings, most
        self._cards: dict[str, list[Card]] = {}

    def watch(self, records: Iterable[Record]) -> Iterator[Record]:
        """The same records, looked at as they pass."""
        for record in records:
            if record.procedure == "sharp" and _kept(record):
                cards = self._cards.setdefault(record.setting, [])
                if len(cards) < self._most:
                    cards.append(_card(record, _metric(self._settings.get(record.setting, {}))))
            yield record

    @property
    def exhibitions(self) -> list[Exhibition]:
        """What was kept, by setting."""
        return [Exhibition(name, tuple(cards)) for name, cards in self._cards.items() if cards]


def _kept(record: Record) -> bool:
    return any(text is not None for text in (record.input, record.base, record.smoothed))


def _card(record: Record, metric: Metric | None) -> Card:
    given, base, smoothed = (_read(text) for text in (record.input, record.base, record.smoothed))
    drawn = scene(given, base, smoothed, record) if isinstance(metric, BoxJaccard) else None
    looks = _looks(record, given, base, smoothed) if drawn is None else []
    if drawn is not None and drawn.backdrop is None and given is not _MISSING:
        looks = [_input(record, given)]
    return Card(
        index=record.index,
        name=readable(record.input_ref),
        status=record.status,
        message=readable(record.message),
        looks=tuple(looks),
        scene=drawn,
        claims=tuple(
            _claim(record, place, metric, smoothed) for place in range(len(record.bounds))
        ),
    )


def _input(record: Record, given: Any) -> Look:
    return _look("Input", f"input {readable(record.input_ref)}", given, scale_of([given]))


def _looks(record: Record, given: Any, base: Any, smoothed: Any) -> list[Look]:
    """Input, base answer, smoothed answer, nearest and farthest outputs seen."""
    seen = sorted(record.samples or (), key=lambda sampled: sampled.distance)
    outputs = [_read(sampled.output) for sampled in seen]
    scale = scale_of([base, smoothed, *outputs])
    name = readable(record.input_ref)
    looks = [] if given is _MISSING else [_input(record, given)]
    for heading, alt, output in (
        ("Base answer", f"base model's answer for input {name}", base),
        ("Smoothed answer", f"smoothed model's answer for input {name}", smoothed),
    ):
        if output is not _MISSING:
            looks.append(_look(heading, alt, output, scale))
    for place, word in _worth_seeing(len(seen), pictures=image(smoothed) is not None):
        heading = f"{word} seen: {measured(seen[place].distance)}"
        alt = f"{word.lower()} of the outputs sampled for input {name}"
        looks.append(_look(heading, alt, outputs[place], scale))
    return looks


def _worth_seeing(count: int, pictures: bool) -> list[tuple[int, str]]:
    """Of images the worst ones; of other outputs the nearest and the farthest."""
    first, last = (0, "Nearest"), (count - 1, "Farthest")
    if pictures and count > 1:
        return [(count - 2, "Next to farthest"), last]
    return ([first, last] if count > 1 else [last]) if count else []


def _look(heading: str, alt: str, output: Any, scale: Scale) -> Look:
    if output is _MISSING:
        return Look(heading, Picture(text="(kept in the metric's own format)"), alt)
    return Look(heading, picture(output, scale), alt)


def _claim(record: Record, place: int, metric: Metric | None, smoothed: Any) -> Claim:
    eps, bound, status = record.eps[place], record.bounds[place], record.statuses[place]
    if status != "certified":
        return Claim(eps, f"{status} at ε = {eps:g}: no bound.", False)
    if bound >= record.diameter:
        return Claim(eps, f"At ε = {eps:g} the bound is the largest distance there is.", False)
    text = f"Up to ε = {eps:g} no answer lies farther than {amount(bound)} from the smoothed one"
    text += _per_number(metric, smoothed, bound)
    if record.errors is not None:
        text += f", nor farther than {amount(record.errors[place])} from the truth"
    return Claim(eps, f"{text}.", True)


def _per_number(metric: Metric | None, smoothed: Any, bound: float) -> str:
    """An l2 distance between images, as something one can picture."""
    if not isinstance(metric, L2) or not isinstance(smoothed, torch.Tensor) or not smoothed.numel():
        return ""
    each = number(bound / math.sqrt(smoothed.numel()))
    return f" ({each} per value, root mean square)"


class _Missing:
    """An output that was not kept, or that only its metric can read."""


_MISSING = _Missing()


def _read(text: str | None) -> Any:
    if text is None:
        return _MISSING
    try:
        return decoded(text)
    except FormatError:
        return _MISSING


def _metric(setting: Mapping[str, Any]) -> Metric | None:
    """The metric itself, if it is one of ours."""
    try:
        return restore(setting.get("metric"), metrics, Metric)  # type: ignore[no-any-return]
    except FormatError:
        return None
