"""Noises, metrics and centers as JSON: the class name and its fields, and back again."""

from __future__ import annotations

import dataclasses
import math
from types import ModuleType
from typing import Any

from centersmooth.errors import FormatError, expected


def describe(thing: Any) -> dict[str, Any]:
    """The class name and the fields; what JSON cannot hold is named only."""
    known = dataclasses.is_dataclass(thing)
    options = [f.name for f in dataclasses.fields(thing) if f.init] if known else []
    fields = {name: getattr(thing, name) for name in options}
    plain = known and all(_plain(value) for value in fields.values())
    values = {name: _write(value) for name, value in fields.items()} if plain else None
    return {"type": type(thing).__name__, "fields": values}


def restore(data: Any, module: ModuleType, base: type) -> Any:
    """The object described, if its class is a public one of the module."""
    try:
        name, fields = data["type"], data["fields"]
        kind = getattr(module, name) if name in module.__all__ else None
        if not (isinstance(kind, type) and issubclass(kind, base)) or fields is None:
            raise FormatError(_unknown(base, name))
        return kind(**{field: _read(value) for field, value in fields.items()})
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        if isinstance(error, FormatError):
            raise
        what = f"the description of a {base.__name__.lower()}"
        raise FormatError(expected(what, str(error), "The file is damaged.")) from error


def _unknown(base: type, name: object) -> str:
    noun = base.__name__.lower()
    fix = f"It is one of your own: pass it, Certificate.from_json(text, {noun}=...)."
    return expected(f"a {noun} that comes with centersmooth", repr(name), fix)


def _plain(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(_plain(item) for item in value)
    return value is None or isinstance(value, (bool, int, float, str))


def _write(value: Any) -> Any:
    """JSON has no infinity."""
    if isinstance(value, (list, tuple)):
        return [_write(item) for item in value]
    return "infinity" if value == math.inf else value


def _read(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_read(item) for item in value)
    return math.inf if value == "infinity" else value
