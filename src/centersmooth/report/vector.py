"""A matplotlib SVG made fit for the page: colours follow its theme, text its typeface.

Under the page's content security policy style attributes do nothing, so every property becomes an
attribute, and every colour of the palette a class that the style sheet fills in, light or dark.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from xml.etree import ElementTree

from markupsafe import Markup, escape

_SVG = "{http://www.w3.org/2000/svg}"
_LINK = "{http://www.w3.org/1999/xlink}href"
_DROPPED = ("metadata", "style", "title")
_REFERENCE = re.compile(r"url\(#([^)]*)\)")
_SIZE = re.compile(r"[\d.]+px")


def inline(
    svg: str, prefix: str, title: str, description: str, palette: Mapping[str, str]
) -> Markup:
    """The figure as an element of the page; `palette` maps colours to names of classes."""
    root = ElementTree.fromstring(svg)
    for element in root.iter():
        for child in list(element):
            if child.tag.removeprefix(_SVG) in _DROPPED:
                element.remove(child)
    for element in root.iter():
        element.tag = element.tag.removeprefix(_SVG)
        element.attrib = _attributes(element.attrib, prefix, palette)
    box = root.attrib["viewBox"]
    inner = "".join(ElementTree.tostring(child, encoding="unicode") for child in root)
    named = f'role="img" aria-labelledby="{prefix}-title {prefix}-text"'
    head = (
        f'<title id="{prefix}-title">{escape(title)}</title>'
        f'<desc id="{prefix}-text">{escape(description)}</desc>'
    )
    shape = f'viewBox="{box}" preserveAspectRatio="xMidYMid meet"'
    return Markup(f'<svg class="figure" {shape} {named}>{head}{inner}</svg>')


def _attributes(
    given: Mapping[str, str], prefix: str, palette: Mapping[str, str]
) -> dict[str, str]:
    kept: dict[str, str] = {}
    classes: list[str] = []
    for name, value in _flat(given):
        if name in ("fill", "stroke") and value.lower() in palette:
            classes.append(f"{name}-{palette[value.lower()]}")
        elif name == "id":
            kept["id"] = f"{prefix}-{value}"
        elif name in (_LINK, "href"):
            kept["href"] = f"#{prefix}-{value.removeprefix('#')}"
        elif name == "font":  # the shorthand of older versions
            kept["font-size"] = "".join(_SIZE.findall(value)[:1])
        elif not name.startswith("{") and name != "font-family":
            kept[name] = _REFERENCE.sub(rf"url(#{prefix}-\1)", value)
    if classes:
        kept["class"] = " ".join(classes)
    return kept


def _flat(given: Mapping[str, str]) -> list[tuple[str, str]]:
    """Attributes, with the properties of `style` among them."""
    pairs = [(name, value) for name, value in given.items() if name != "style"]
    for declaration in given.get("style", "").split(";"):
        name, colon, value = declaration.partition(":")
        if colon:
            pairs.append((name.strip(), value.strip()))
    return pairs
