from __future__ import annotations

import re
from xml.etree import ElementTree

from centersmooth.report import style
from centersmooth.report.vector import inline
from report_runs import HOSTILE


def drawn(label: str = "plain") -> str:
    with style.rules():
        figure = style.blank()
        ax = figure.subplots()
        ax.plot([1, 2], [2, 1], "o-", color=style.HUES[1], label=f" {label}")
        ax.fill_between([1, 2], [1, 0], [3, 2], color=style.HUES[0], alpha=0.2)
        ax.legend()
        return style.as_svg(figure)


def test_nothing_is_left_that_the_content_policy_would_drop_or_a_network_could_serve() -> None:
    found = inline(drawn(), "f-a", "Title", "Text", style.PALETTE)
    assert "style=" not in found
    assert "<style" not in found
    assert "http" not in found
    assert "metadata" not in found
    assert "font-family" not in found


def test_colours_of_the_palette_become_classes() -> None:
    found = inline(drawn(), "f-a", "Title", "Text", style.PALETTE)
    left = set(re.findall(r'(?:fill|stroke)="(#[0-9a-f]{6})"', found))
    assert left == set()
    for name in ("stroke-s1", "fill-s1", "fill-s0", "fill-ink", "stroke-rule", "fill-muted"):
        assert name in found


def test_every_reference_finds_its_element_and_names_are_its_own() -> None:
    found = inline(drawn(), "f-a", "Title", "Text", style.PALETTE)
    names = re.findall(r' id="([^"]*)"', found)
    assert len(set(names)) == len(names)
    assert all(name.startswith("f-a-") for name in names)
    references = re.findall(r'href="#([^"]*)"', found) + re.findall(r"url\(#([^)]*)\)", found)
    assert references
    assert set(references) <= set(names)


def test_title_and_description_are_escaped_and_named() -> None:
    found = inline(drawn(HOSTILE.split("\x1b")[0]), "f-a", HOSTILE, HOSTILE, style.PALETTE)
    assert "<img" not in found
    assert 'aria-labelledby="f-a-title f-a-text"' in found
    root = ElementTree.fromstring(re.sub("[\x00-\x1f]", "", found))
    assert root.attrib["role"] == "img"
    texts = [element.text or "" for element in root.iter("text")]
    assert any(text.strip().startswith("</script><img src=x") for text in texts)
    assert any("$\\frac{a}$" in text for text in texts)  # no mathematics is made of labels
