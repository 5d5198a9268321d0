from __future__ import annotations

from dataclasses import replace

import pytest
import torch

import centersmooth as cs
from centersmooth.report.gallery import Card, Curator
from centersmooth.store import Record, Sampled
from centersmooth.study.setting import PublishedProcedure, Setting, description
from report_runs import encoded, record, setting, without

IMAGES = setting("images", cs.metrics.L2())
BOXES = setting("boxes", cs.metrics.BoxJaccard())
TEXTS = setting("texts", cs.metrics.Discrete())
BOX = torch.tensor([[1.0, 2.0, 3.0, 5.0]])
SEEN = (0.5, 0.6, 1.5, 1.6)


def cards(of: Setting, *records: Record, most: int = 12) -> tuple[Card, ...]:
    curator = Curator({of.name: description(of, 0, 0)}, most)
    assert list(curator.watch(records)) == list(records)
    found = curator.exhibitions
    return found[0].cards if found else ()


def pictured(index: int = 0, **values: object) -> Record:
    image = torch.full((4, 4), 0.5)
    samples = tuple(Sampled(d, encoded(image * d / 2)) for d in SEEN)
    kept = {"input": encoded(image), "base": encoded(image), "smoothed": encoded(image)}
    return record(IMAGES, index, (1.0, 2.0, 3.0), **{**kept, "samples": samples, **values})


def test_images_show_the_worst_ones_seen() -> None:
    (card,) = cards(IMAGES, pictured())
    assert [look.heading for look in card.looks] == [
        "Input",
        "Base answer",
        "Smoothed answer",
        "Next to farthest seen: 1.5",
        "Farthest seen: 1.6",
    ]
    assert all(look.picture.src for look in card.looks)
    assert card.scene is None


def test_texts_show_the_nearest_and_the_farthest() -> None:
    samples = tuple(Sampled(d, encoded(f"at {d}")) for d in SEEN)
    found = record(TEXTS, 0, (0.1, 0.2, 0.3), smoothed=encoded("an answer"), samples=samples)
    (card,) = cards(TEXTS, found)
    assert [look.picture.text for look in card.looks] == ["an answer", "at 0.5", "at 1.6"]
    (card,) = cards(TEXTS, replace(found, samples=samples[:1]))
    assert [look.heading for look in card.looks] == ["Smoothed answer", "Farthest seen: 0.5"]


def test_boxes_are_drawn_over_the_input() -> None:
    kept = {"base": encoded(BOX), "smoothed": encoded(BOX)}
    image = record(BOXES, 0, (0.1, 0.2, 0.3), input=encoded(torch.rand(8, 8)), **kept)
    (card,) = cards(BOXES, image)
    assert card.scene is not None
    assert card.looks == ()
    (card,) = cards(BOXES, replace(image, input=encoded("the input as text")))
    assert card.scene is not None
    assert [look.picture.text for look in card.looks] == ["the input as text"]


def test_claims_say_what_is_certified_and_no_more() -> None:
    statuses = ("certified", "certified", "undecided")
    found = pictured(statuses=statuses, errors=(1.5, 2.5, 3.5))
    first, second, third = cards(IMAGES, found)[0].claims
    assert first.text == (
        "Up to ε = 0.1 no answer lies farther than 1 from the smoothed one (0.25 per value, root "
        "mean square), nor farther than 1.5 from the truth."
    )
    assert (first.safe, second.safe, third.safe) == (True, True, False)
    assert third.text == "undecided at ε = 0.5: no bound."
    (card,) = cards(BOXES, record(BOXES, 0, (0.1, 0.2, 1.0), smoothed=encoded(BOX)))
    assert not card.claims[2].safe
    assert "largest distance" in card.claims[2].text


def test_a_failed_record_shows_its_input_and_its_reason() -> None:
    failed = replace(without(IMAGES, 0, "failed", "out of range\x00"), input=encoded("x"))
    (card,) = cards(IMAGES, failed)
    assert card.message == "out of range\ufffd"
    assert card.claims == ()
    assert [look.heading for look in card.looks] == ["Input"]


def test_the_first_inputs_as_they_come() -> None:
    found = cards(IMAGES, *(pictured(index) for index in range(5)), most=3)
    assert [card.index for card in found] == [0, 1, 2]
    assert cards(IMAGES, pictured(), most=0) == ()


def test_published_and_unkept_records_are_left_out() -> None:
    paper = setting("paper", cs.metrics.L2(), published=PublishedProcedure())
    kept = replace(pictured(), setting="paper", procedure="published")
    assert cards(paper, kept) == ()
    assert cards(IMAGES, record(IMAGES, 0, (1.0, 2.0, 3.0))) == ()


@pytest.mark.parametrize("text", ["{", '{"tensor": "!"}', '{"mine": 1, "own": 2}'])
def test_outputs_that_only_their_metric_can_read(text: str) -> None:
    found = pictured(smoothed=text, samples=(Sampled(0.5, text),))
    (card,) = cards(IMAGES, found)
    headings = [look.heading for look in card.looks]
    assert headings == ["Input", "Base answer", "Farthest seen: 0.5"]
    assert card.looks[-1].picture.text == "(kept in the metric's own format)"
