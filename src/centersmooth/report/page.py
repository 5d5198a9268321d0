"""The page: everything about a run in one file that loads nothing from anywhere."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

import jinja2
import numpy as np
from markupsafe import Markup

from centersmooth import __version__
from centersmooth.report import style, vector, words
from centersmooth.report.embedding import payload
from centersmooth.report.figures import Drawing
from centersmooth.report.gallery import Exhibition
from centersmooth.report.groups import Group
from centersmooth.report.labels import readable, tree
from centersmooth.report.panels import Panel, Series
from centersmooth.report.pictures import CURVE_HEIGHT, CURVE_WIDTH
from centersmooth.report.tables import Line, lines, note, span

_SCRIPTS = ("data.js", "safe.js", "table.js")
# Said elsewhere on the page, or of use to the store alone.
_TREE_LEAVES_OUT = ("settings", "sessions", "counts", "title", "expected", "answers", "looked_at")


@dataclass(frozen=True)
class Subject:
    """All that a report tells of."""

    info: Mapping[str, Any]
    """What the store says of the run."""
    groups: Sequence[Group]
    panels: Sequence[Panel]
    tolerances: Sequence[float]
    """One per panel."""
    drawings: Sequence[Sequence[Drawing]]
    """Likewise."""
    svgs: Mapping[str, str]
    """By the name of the figure's file."""
    exhibitions: Sequence[Exhibition]

    @property
    def settings(self) -> dict[str, Mapping[str, Any]]:
        """Descriptions by name."""
        return {found["name"]: found for found in self.info.get("settings", ())}


def page(subject: Subject) -> str:
    """The whole page."""
    style_text, script = Markup(_asset("page.css")), Markup("".join(map(_asset, _SCRIPTS)))
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            title=readable(str(subject.info.get("title") or "Certified robustness")),
            lead=_lead(subject),
            missing=_missing(subject),
            contents=_contents(subject),
            panels=[_panel_view(subject, place) for place in range(len(subject.panels))],
            guarantees=words.guarantees(subject.groups, subject.settings),
            not_promised=words.NOT_PROMISED,
            exhibitions=_exhibition_views(subject),
            curve_width=CURVE_WIDTH,
            curve_height=CURVE_HEIGHT,
            cost=words.cost(subject.groups),
            settings={readable(name): tree(told) for name, told in subject.settings.items()},
            facts=tree({k: v for k, v in subject.info.items() if k not in _TREE_LEAVES_OUT}),
            sessions=tree(subject.info.get("sessions")),
            version=__version__,
            payload=payload(subject.groups, subject.panels, subject.tolerances),
            style=style_text,
            script=script,
            style_hash=_fingerprint(style_text),
            script_hash=_fingerprint(script),
        )
    )


def figure_file(place: int, drawing: Drawing) -> str:
    """The name of a figure's files, without their ending."""
    return drawing.name if place == 0 else f"{drawing.name}-{place + 1}"


# ------------------------------------------------------------------ what the templates show


def _lead(subject: Subject) -> str:
    inputs = {index for group in subject.groups for index in group.index.tolist()}
    records = sum(len(group) for group in subject.groups)
    many = len(subject.groups)
    counted = (
        f"{len(inputs):,} {_plural('input', len(inputs))} under {many} "
        f"{_plural('setting', many)}: {records:,} {_plural('record', records)}."
    )
    return f"How far can an attacker who changes the input move the model's answer? {counted}"


def _missing(subject: Subject) -> str:
    """What of the run is still to come, where the store knows."""
    wanted, records = subject.info.get("expected"), sum(len(group) for group in subject.groups)
    if not isinstance(wanted, int) or records >= wanted:
        return ""
    return f"{records:,} of {wanted:,} records are there; all numbers speak of these alone."


def _contents(subject: Subject) -> list[tuple[str, str]]:
    found = [
        ("certified", "What was certified"),
        ("meaning", "What this promises"),
        ("figures", "Figures"),
        ("numbers", "Numbers"),
        ("gallery", "Gallery"),
        ("records", "All records"),
        ("reproduce", "Settings, seeds and versions"),
    ]
    return [entry for entry in found if entry[0] != "gallery" or subject.exhibitions]


def _panel_view(subject: Subject, place: int) -> dict[str, Any]:
    panel, tolerance = subject.panels[place], subject.tolerances[place]
    places = {id(group): number for number, group in enumerate(subject.groups)}
    found = lines(panel, tolerance)
    return {
        "panel": panel,
        "heading": words.subject(panel),
        "tolerance": repr(tolerance),
        "tolerance_text": f"{tolerance:.6g}",
        "limit": repr(_limit(panel, tolerance)),
        "settings": [_setting_view(one, panel, tolerance, places) for one in panel.series],
        "comparisons": [
            text for pair in panel.pairs if (text := words.comparison(*pair, panel)) is not None
        ],
        "figures": [_figure_view(subject, place, drawing) for drawing in subject.drawings[place]],
        "lines": _line_views(found),
        "with_error": any(line.error for line in found),
        "note": note(panel, tolerance),
    }


def _setting_view(
    one: Series, panel: Panel, tolerance: float, places: Mapping[int, int]
) -> dict[str, Any]:
    share, bound = one.share(panel.headline, tolerance), one.bound(panel.headline)
    return {
        "place": places[id(one.group)],
        "name": readable(one.group.key.setting),
        "hue": one.hue,
        "published": one.published,
        "percent": words.percent_of(share.hits, share.count) if share else "0\u00a0%",
        "fill": f"{100 * share.value:.4g}" if share else "0",
        "count": words.counted(share) if share else "",
        "span": words.spanned(share) if share else "",
        "sentence": words.headline(one, panel, tolerance),
        "median": f"Median bound: {words.amount(bound.value)}." if bound else "",
        "left_over": words.left_over(one.group),
    }


def _figure_view(subject: Subject, place: int, drawing: Drawing) -> dict[str, Any]:
    name = figure_file(place, drawing)
    svg = vector.inline(
        subject.svgs[name], f"f-{name}", drawing.title, drawing.description, style.PALETTE
    )
    return {"title": drawing.title, "svg": svg, "caption": drawing.caption, "file": name}


def _line_views(found: Sequence[Line]) -> list[list[dict[str, Any]]]:
    """Cells of the summary, grouped by setting."""
    grouped: dict[str, list[dict[str, Any]]] = {}
    for line in found:
        cells = {
            "setting": line.setting,
            "eps": line.eps,
            "inputs": f"{line.inputs:,}",
            "telling": f"{line.telling:,}",
            "bound": words.amount(line.bound.value),
            "interval": span(line.bound.low, line.bound.high),
            "spread": span(line.low, line.high),
            "error": words.figure_of_merit(line.error),
            "within": f"{line.within.hits:,} of {line.within.count:,}",
        }
        grouped.setdefault(line.setting, []).append(cells)
    return list(grouped.values())


def _exhibition_views(subject: Subject) -> list[dict[str, Any]]:
    found = []
    for exhibition in subject.exhibitions:
        for place, group in enumerate(subject.groups):
            if group.key.setting == exhibition.setting and group.key.procedure == "sharp":
                headlines = [panel.headline for panel in subject.panels if group in panel.groups]
                column = group.column(headlines[0]) if headlines else None
                found.append(
                    {
                        "place": place,
                        "setting": group.name,
                        "cards": exhibition.cards,
                        "boxes": any(card.scene for card in exhibition.cards),
                        "headline": None if column is None else group.eps[column],
                    }
                )
    return found


def _limit(panel: Panel, tolerance: float) -> float:
    """Where the slider ends: at the largest distance there is, or the largest bound seen."""
    largest = [group.bounds[group.telling] for group in panel.groups]
    seen = max((float(np.max(values)) for values in largest if values.size), default=tolerance)
    return max(tolerance, min(panel.diameter, 1.02 * seen)) or 1.0


def _plural(noun: str, count: int) -> str:
    return noun if count == 1 else noun + "s"


# ------------------------------------------------------------------ pieces of the file


@lru_cache(maxsize=1)
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("centersmooth.report", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@lru_cache(maxsize=8)
def _asset(name: str) -> str:
    resource = files("centersmooth.report") / "templates" / name
    return resource.read_text(encoding="utf-8")


def _fingerprint(text: str) -> str:
    """What the content security policy allows: this text, and no other."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return "sha256-" + base64.b64encode(digest).decode()
