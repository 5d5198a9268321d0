"""The page as a parser sees it: `scripts/check_report_in_browser.py` looks at it in a browser."""

from __future__ import annotations

import base64
import hashlib
import html.parser
import json
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import report_runs
from centersmooth.report import write_report
from centersmooth.store import Store

VOID = {"meta", "input", "img", "br", "link", "hr"}
Element = tuple[str, dict[str, str]]


class Reader(html.parser.HTMLParser):
    """Elements in order, with their attributes, their ancestors, and the text inside."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[Element] = []
        self.texts: dict[int, str] = {}
        self.parents: dict[int, int] = {}
        self.unbalanced: list[str] = []
        self._open: list[int] = []
        self.feed(text)
        self.unbalanced += [self.elements[place][0] for place in self._open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        place = len(self.elements)
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if self._open:
            self.parents[place] = self._open[-1]
        if tag not in VOID:
            self._open.append(place)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        if self._open and self.elements[self._open[-1]][0] == tag:
            self._open.pop()
        else:
            self.unbalanced.append(tag)

    def handle_data(self, data: str) -> None:
        for place in self._open:
            self.texts[place] = self.texts.get(place, "") + data

    def all(self, tag: str, **wanted: str) -> list[dict[str, str]]:
        return [
            attributes
            for name, attributes in self.elements
            if name == tag and wanted.items() <= attributes.items()
        ]

    def said(self, tag: str, name: str = "") -> list[str]:
        return [
            " ".join(self.texts.get(place, "").split())
            for place, (found, attributes) in enumerate(self.elements)
            if found == tag and name in [*attributes.get("class", "").split(), ""]
        ]


class Page:
    def __init__(self, folder: Path) -> None:
        self.run = folder
        self.text = write_report(folder).page.read_text(encoding="utf-8")
        self.reader = Reader(self.text)

    @property
    def data(self) -> dict[str, Any]:
        place = next(
            i for i, (_, attrs) in enumerate(self.reader.elements) if attrs.get("id") == "data"
        )
        return json.loads(self.reader.texts[place])


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Page:
    return Page(report_runs.images(tmp_path_factory.mktemp("images"), inputs=21))


@pytest.fixture(scope="module")
def boxes(tmp_path_factory: pytest.TempPathFactory) -> Page:
    return Page(report_runs.boxes(tmp_path_factory.mktemp("boxes"), inputs=5))


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Page:
    return Page(report_runs.texts(tmp_path_factory.mktemp("texts"), hostile=True))


@pytest.fixture(params=["images", "boxes", "hostile"])
def page(request: pytest.FixtureRequest) -> Page:
    return request.getfixturevalue(request.param)


# ------------------------------------------------------------------ one file, and a safe one


def test_nothing_is_loaded_from_anywhere(page: Page) -> None:
    assert "http:" not in page.text
    assert "https:" not in page.text
    assert page.reader.all("link") == []
    addresses = [
        attributes[name]
        for _, attributes in page.reader.elements
        for name in ("src", "href", "action", "srcset", "data", "poster")
        if name in attributes
    ]
    assert addresses
    assert all(address.startswith(("data:image/png;", "#")) for address in addresses)
    assert "@import" not in page.text
    assert set(re.findall(r"url\(\s*([^)]{1,12})", page.text)) <= {
        found for found in re.findall(r"url\(\s*([^)]{1,12})", page.text) if found.startswith("#")
    }


def test_the_policy_allows_this_style_and_this_script_and_nothing_else(page: Page) -> None:
    (policy,) = page.reader.all("meta", **{"http-equiv": "Content-Security-Policy"})
    allowed = dict(part.strip().split(" ", 1) for part in policy["content"].split(";"))
    assert allowed["default-src"] == "'none'"
    assert allowed["img-src"] == "data:"
    for name, tag in (("style-src", "style"), ("script-src", "script")):
        (inner,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page.text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inner.encode()).digest()).decode()
        assert allowed[name] == f"'sha256-{digest}'"
    assert page.text.index("Content-Security-Policy") < page.text.index("<style>")


def test_no_attribute_needs_what_the_policy_forbids(page: Page) -> None:
    names = {name for _, attributes in page.reader.elements for name in attributes}
    assert not {name for name in names if name == "style" or name.startswith("on")}


def test_hostile_labels_are_text_wherever_they_appear(hostile: Page) -> None:
    assert hostile.reader.all("img") == []
    assert len(hostile.reader.all("script")) == 2
    assert "onerror=alert(1)" in hostile.text
    assert "<img src=x" not in hostile.text
    for hidden in ("\u202e", "\x1b", "\u2028"):
        assert hidden not in hostile.text
    (label,) = {text for text in hostile.reader.said("h4") if text.startswith("</script>")}
    assert "$\\frac{a}$" in label


# ------------------------------------------------------------------ structure


def test_elements_are_balanced_and_names_unique(page: Page) -> None:
    assert page.reader.unbalanced == []
    names = Counter(a["id"] for _, a in page.reader.elements if "id" in a)
    assert [name for name, count in names.items() if count > 1] == []


def test_every_reference_to_a_name_finds_it(page: Page) -> None:
    names = {a["id"] for _, a in page.reader.elements if "id" in a}
    for _, attributes in page.reader.elements:
        for key in ("aria-labelledby", "for"):
            assert set(attributes.get(key, "").split()) <= names
        if attributes.get("href", "").startswith("#"):
            assert attributes["href"][1:] in names


def test_landmarks_and_headings(page: Page) -> None:
    for landmark in ("header", "main", "footer"):
        assert len(page.reader.all(landmark)) == 1
    assert page.reader.all("html", lang="en")
    assert all("aria-label" in nav for nav in page.reader.all("nav"))
    assert all("aria-labelledby" in section for section in page.reader.all("section"))
    levels = [int(tag[1]) for tag, _ in page.reader.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_pictures_controls_and_columns_have_names(page: Page) -> None:
    assert all(image["alt"] for image in page.reader.all("img"))
    for tag, attributes in page.reader.elements:
        if tag == "svg":
            assert {"role", "aria-hidden"} & attributes.keys()
    labelled = {label["for"] for label in page.reader.all("label")}
    for tag in ("input", "select"):
        for control in page.reader.all(tag):
            assert control.get("id") in labelled or control["aria-label"]
    for head in page.reader.all("th"):
        assert head["scope"] in ("col", "rowgroup", "row")
    for scrolled in page.reader.all("div", role="region"):
        assert scrolled["tabindex"] == "0"


# ------------------------------------------------------------------ numbers


def test_embedded_records_are_those_of_the_store(images: Page) -> None:
    expected = {}
    with Store(images.run) as store:
        for found in store.records():
            name = found.setting + " (published)" * (found.procedure == "published")
            expected[name, found.index] = found
    seen = 0
    for group in images.data["groups"]:
        index = np.frombuffer(base64.b64decode(group["index"]), "<i4").tolist()
        status = np.frombuffer(base64.b64decode(group["status"]), "u1").tolist()
        bounds = np.frombuffer(base64.b64decode(group["bounds"]), "<f8").reshape(len(index), -1)
        for row, place in enumerate(index):
            record = expected[group["name"], place]
            assert images.data["statuses"][status[row]] == record.status
            assert tuple(bounds[row]) == (record.bounds or (record.diameter,) * len(record.eps))
            seen += 1
    assert seen == len(expected)


def test_shares_and_medians_are_those_of_a_naive_count(images: Page) -> None:
    with Store(images.run) as store:
        records = list(store.records())
    (panel,) = images.data["panels"]
    column = panel["eps"].index(panel["headline"])
    counts, sentences = images.reader.said("p", "count"), images.reader.said("p", "sentence")
    medians = images.reader.said("span", "median")
    settings = dict.fromkeys(record.setting for record in records)
    for place, name in enumerate(settings):
        own = [record for record in records if record.setting == name]
        bounds = [float("inf") if r.status != "certified" else r.bounds[column] for r in own]
        safe = sum(bound <= panel["tolerance"] for bound in bounds)
        assert counts[2 * place] == f"{safe} of {len(own)} inputs"
        assert sentences[place].startswith(f"For {safe} of {len(own)} inputs it is certified")
        shown = float(medians[place].removeprefix("Median bound: ").removesuffix("."))
        exact = sorted(bounds)[len(bounds) // 2]
        assert exact <= shown <= exact * 1.001


def test_those_without_a_bound_are_counted_on_the_page(images: Page) -> None:
    left = images.reader.said("span", "left")
    assert [text.split(":")[0] for text in left] == ["1 failed", "2 undecided", "3 abstained"]


def test_each_figure_is_there_with_its_words(images: Page) -> None:
    figures = images.reader.all("svg", **{"class": "figure"})
    assert len(figures) == 5
    assert all(figure["role"] == "img" for figure in figures)
    assert sum(
        text.startswith("Median bound by attack size.") for text in images.reader.said("desc")
    )


def test_the_gallery_shows_the_region_of_the_chosen_attack_only(boxes: Page) -> None:
    regions = [a for a in boxes.reader.all("g") if "region" in a.get("class", "").split()]
    shown = [region for region in regions if "off" not in region["class"].split()]
    assert {region["data-place"] for region in shown} == {"1"}
    assert len(shown) == 4  # of five inputs one has "no box"
    assert any('is "no box" as well' in text for text in boxes.reader.said("p", "claim"))


def test_a_finished_run_is_not_called_unfinished(page: Page) -> None:
    assert "Not finished" not in page.text


def test_versions_seeds_and_settings_are_told(images: Page) -> None:
    told = images.text[images.text.index('id="reproduce"') :]
    for word in ("torch", "seed", "answer_samples", "Gaussian", "weights", "alpha"):
        assert word in told
    assert "encoded answers" not in told  # the store's own, long and of no use to a reader


def test_an_unfinished_run_of_one_failed_record_has_a_page(tmp_path: Path) -> None:
    of = report_runs.setting("a", report_runs.cs.metrics.L2())
    page = Page(report_runs.write(tmp_path, [of], [report_runs.without(of, 0, "failed")], 3))
    assert page.reader.unbalanced == []
    assert page.reader.said("p", "count")[0] == "0 of 1 inputs"
    assert "1 failed" in page.reader.said("span", "left")[0]
    assert page.reader.said("p", "notice")[0].startswith("Not finished. 1 of 3 records are there")


def test_a_run_without_records_has_a_page(tmp_path: Path) -> None:
    of = report_runs.setting("a", report_runs.cs.metrics.L2())
    page = Page(report_runs.write(tmp_path, [of], [], 3))
    assert page.reader.unbalanced == []
    assert "No record has a bound to show yet" in page.text
