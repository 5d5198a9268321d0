"""Texts that come from data, made fit to be read: by people, browsers, LaTeX and files."""

from __future__ import annotations

import unicodedata
from typing import Any

_JOINERS = "\u200c\u200d"  # words of some scripts, and some emoji, need them
_LONGEST, _MOST = 300, 40


def readable(text: str, lines: bool = False) -> str:
    """The text without control characters, half characters, and marks that turn text around.

    One line, unless `lines` are kept. Such a mark in a name could make the rest of a sentence
    read backwards, and so say what nobody wrote.
    """
    return "".join(_character(c, lines) for c in text)


def _character(c: str, lines: bool) -> str:
    if c in "\n\r\t\u2028\u2029":
        return "\n" if lines and c == "\n" else " "
    hidden = unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co") and c not in _JOINERS
    return "\ufffd" if hidden else c


def shortened(text: str, most: int = _LONGEST) -> str:
    """At most so many characters."""
    return text if len(text) <= most else text[: most - 1] + "…"


def tree(value: Any) -> Any:
    """JSON of any origin as something short enough to show, with readable texts."""
    if isinstance(value, dict):
        return {readable(str(key)): tree(inner) for key, inner in list(value.items())[:_MOST]}
    if isinstance(value, (list, tuple)):
        shown = [tree(inner) for inner in value[:_MOST]]
        return [*shown, f"and {len(value) - _MOST:,} more"] if len(value) > _MOST else shown
    return shortened(readable(value)) if isinstance(value, str) else value
