"""What of a study differs from the one that started a run, in words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

_SHOWN = 3
UNREADABLE = "unreadable"
"""In place of the digest of an input that could not be read: it may be repaired later."""


class Comparable(Protocol):
    """The parts that are compared: see `Identity`."""

    @property
    def settings(self) -> Sequence[Mapping[str, Any]]: ...

    @property
    def inputs(self) -> Sequence[tuple[str, str]]: ...

    @property
    def models(self) -> Sequence[Mapping[str, Any]]: ...

    @property
    def options(self) -> Mapping[str, Any]: ...


def changes(kept: Comparable, now: Comparable) -> str:
    """The first few differences; empty if there are none."""
    found = [
        *_of_mapping("the study", kept.options, now.options),
        *_of_settings(kept.settings, now.settings),
        *_of_inputs(kept.inputs, now.inputs),
        *_of_models(kept.models, now.models),
    ]
    more = f" and {len(found) - _SHOWN} more changes" if len(found) > _SHOWN else ""
    return "; ".join(found[:_SHOWN]) + more


def _of_settings(
    kept: Sequence[Mapping[str, Any]], now: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    if len(kept) != len(now):
        yield f"{len(now)} settings instead of {len(kept)}"
    for old, new in zip(kept, now, strict=False):
        yield from _of_mapping(f"setting {old.get('name')!r}", old, new)


def _of_mapping(owner: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    for key in sorted(old.keys() | new.keys()):
        was, is_ = _plain(old.get(key)), _plain(new.get(key))
        if was != is_:
            yield f"{owner} with {key} {_short(is_)} instead of {_short(was)}"


def _of_inputs(kept: Sequence[tuple[str, str]], now: Sequence[tuple[str, str]]) -> Iterator[str]:
    if len(kept) != len(now):
        yield f"{len(now)} inputs instead of {len(kept)}"
    for index, (old, new) in enumerate(zip(kept, now, strict=False)):
        if old[0] != new[0] or old[1] not in (new[1], UNREADABLE):
            named = f" ({new[0]}, was {old[0]})" if old[0] != new[0] else f" ({new[0]})"
            yield f"another input or target at number {index}{named}"


def _of_models(
    kept: Sequence[Mapping[str, Any]], now: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    for old, new in zip(kept, now, strict=False):
        for key, noun in (("weights", "other weights"), ("version", "another version")):
            if old.get(key) != new.get(key):
                yield f"{noun} of the model {new.get('name')}"
        if old.get("name") != new.get("name"):
            yield f"the model {new.get('name')} instead of {old.get('name')}"


def _plain(value: Any) -> Any:
    """As it comes back from JSON."""
    return json.loads(json.dumps(value))


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."
