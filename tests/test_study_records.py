"""Records say what certificates, answers and targets say."""

from __future__ import annotations

import json
import math

import pytest
import torch

import centersmooth as cs
from centersmooth.published import PublishedCertificate
from centersmooth.store import decoded
from centersmooth.study import records
from small_studies import model, published, setting


def blank(**options: object) -> records.Record:
    return records.blank(setting(**options), 0, 3, "a name", seed=5)  # type: ignore[arg-type]


def test_a_certificate_at_the_settings_eps() -> None:
    own = setting(model=model)
    smoother = own.smoother(None, 64, None)
    x = torch.linspace(-1, 1, 6)
    certificate = smoother.certify(x, samples=200, alpha=0.1, target=torch.zeros(4), seed=5)
    record = records.of_certificate(blank(), certificate, certificate.evaluations)
    assert record.bounds == tuple(certificate.bound(eps) for eps in own.eps)
    assert record.errors == tuple(certificate.error(eps) for eps in own.eps)
    assert record.status == "certified"
    assert record.evaluations == certificate.evaluations
    assert (record.index, record.seed, record.draws) == (3, 5, 0)


def found(status: str, bound: float) -> PublishedCertificate:
    value = None if status == "abstained" else torch.zeros(4)
    return PublishedCertificate(0.1, bound, status, value, 1.0, 0.1, 700, 5)


def test_the_published_procedure_may_abstain() -> None:
    start = records.blank(published(), 0, 3, "a name", seed=5)
    record = records.of_published(start, [found("abstained", math.inf)] * 2)
    assert (record.status, record.bounds) == ("abstained", (math.inf, math.inf))
    record = records.of_published(start, [found("certified", 1.0), found("certified", 2.0)])
    assert (record.status, record.bounds, record.evaluations) == ("certified", (1.0, 2.0), 700)


def test_a_failure_says_why_and_not_too_long() -> None:
    record = records.failed(blank(), "no" * 5_000 + "\udcff", 1.5)
    assert record.status == "failed"
    assert record.bounds == record.statuses == ()
    assert len(record.message) < 2_100
    record.message.encode()


@pytest.mark.parametrize(
    ("one", "other", "wanted"),
    [
        (torch.tensor([3.0, 4.0]), torch.zeros(2), 5.0),
        (None, torch.zeros(2), None),
        (torch.zeros(2), None, None),
        (torch.tensor([math.nan, 0.0]), torch.zeros(2), None),
    ],
)
def test_distances_where_both_ends_can_be_measured(
    one: torch.Tensor | None, other: torch.Tensor | None, wanted: float | None
) -> None:
    assert records.distance(cs.metrics.L2(), one, other) == pytest.approx(wanted)


def test_the_gallery_keeps_answers_and_the_nearest_and_farthest_outputs() -> None:
    outputs = torch.arange(20.0)[:, None].flip(0)
    outputs[4] = math.nan  # the one at 15
    value = torch.tensor([9.6])
    record = records.with_outputs(blank(), cs.metrics.L2(), torch.ones(1), value, outputs)
    assert record.base is not None
    assert record.samples is not None
    assert torch.equal(decoded(record.base), torch.ones(1))
    kept = [float(decoded(sample.output)) for sample in record.samples]
    assert kept == [10.0, 9.0, 18.0, 1.0, 19.0, 0.0]
    for sample, output in zip(record.samples, kept, strict=True):
        assert sample.distance == pytest.approx(abs(output - 9.6), rel=1e-5)


def test_an_abstention_has_no_answer_to_look_at() -> None:
    record = records.with_outputs(blank(), cs.metrics.L2(), torch.ones(1), None, torch.ones(3, 1))
    assert (record.smoothed, record.samples) == (None, None)


def test_inputs_that_json_cannot_hold_are_left_out() -> None:
    text = records.encoded_input(torch.ones(2))
    assert text is not None
    assert json.loads(text)["shape"] == [2]
    assert records.encoded_input(object()) is None
