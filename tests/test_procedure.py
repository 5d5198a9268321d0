from __future__ import annotations

import math
import warnings
from typing import Any

import pytest
import torch

import centersmooth as cs
from centersmooth import metrics
from centersmooth.answering import find_answers
from centersmooth.errors import ArgumentError, OutputError
from centersmooth.models import Model
from centersmooth.procedure import (
    Counting,
    Party,
    Source,
    check_on_invalid,
    check_target,
    prepare,
    warn_about_units,
)
from centersmooth.sampling import CERTIFICATION, SAMPLES, Address, Batching, fingerprint
from centersmooth.sketch import Sketch
from refusals import refused
from tiny_models import NOISE, X, failing, linear

ADDRESS = Address(3, fingerprint(X))
MEDIAN = Party(metrics.L2(), cs.GeometricMedian())
MEDOID = Party(metrics.L1(), cs.Medoid(20))


def source(function: Any = linear, size: int = 64, on_invalid: str = "raise") -> Source:
    return Source(Model(function, None), NOISE, X, ADDRESS, Batching(size), on_invalid)


def ignored(count: int) -> None:
    pass


def counted(of: Source, parties: list[Party], samples: int = 200) -> Counting:
    answers = find_answers(of, parties, 51, ignored)
    counting = Counting(of, parties, answers, [None] * len(parties), None)
    counting.run(samples, ignored)
    return counting


# ---- answers and counts


def test_candidates_samples_and_certification_are_drawn_afresh() -> None:
    seen: list[torch.Tensor] = []

    def watched(batch: torch.Tensor) -> torch.Tensor:
        seen.append(batch)
        return linear(batch)

    counted(source(watched), [MEDOID])
    batches = torch.cat(seen)
    assert len(batches) == 20 + 51 + 200
    assert len(batches.unique(dim=0)) == len(batches)


def test_counts_are_those_of_the_distances_from_every_reference_point() -> None:
    of = source()
    answer = find_answers(of, [MEDOID], 51, ignored)[0]
    target = MEDOID.metric.collate(torch.zeros(1, 4))
    counting = Counting(of, [MEDOID], [answer], [target], None)
    counting.run(200, ignored)
    outputs = torch.cat([torch.as_tensor(part) for part in of.outputs(CERTIFICATION, (0, 200))])
    assert answer.outer is not None
    points = torch.cat((answer.value[None], torch.zeros(1, 4), answer.outer.rows))
    truth = MEDOID.metric.pairwise(points, outputs).sort(dim=1).values
    ranked = counting.sketches[0].ranked()
    assert ranked.rows == 1 + 1 + 20
    for row in (0, 1, 5, 21):
        for j in (101, 150, 200):
            exact = float(truth[row, j - 1])
            assert exact <= ranked.smallest(row, j) <= exact * (1 + 2.0**-10)


@pytest.mark.parametrize("size", [7, 64, 1000])
def test_batches_do_not_matter(size: int) -> None:
    whole = counted(source(), [MEDIAN, MEDOID])
    again = counted(source(size=size), [MEDIAN, MEDOID])
    for one, other in zip(whole.sketches, again.sketches, strict=True):
        assert one.total == other.total == 200
        for j in (120, 180, 200):
            smallest = one.ranked().smallest(0, j)
            assert other.ranked().smallest(0, j) == pytest.approx(smallest, rel=2.0**-9)


def test_parties_that_share_the_draws_get_what_they_would_get_alone() -> None:
    together = counted(source(), [MEDIAN, MEDOID])
    for place, party in enumerate([MEDIAN, MEDOID]):
        alone = counted(source(), [party])
        assert alone.sketches[0].ranked() == together.sketches[place].ranked()


def test_a_failing_party_leaves_all_counts_alike() -> None:
    """All parties measure a batch before any of it is counted."""

    def brittle(a: Any, b: Any) -> float:
        return math.nan if float(b.abs().max()) > limit else float((a - b).abs().max())

    limit = math.inf
    of, parties = source(), [MEDOID, Party(metrics.Custom(brittle), cs.Medoid(5))]
    answers = find_answers(of, parties, 51, ignored)
    outputs = torch.cat([torch.as_tensor(part) for part in of.outputs(CERTIFICATION, (0, 200))])
    largest = outputs.abs().amax(dim=1)
    limit = float(largest[:64].max())
    assert largest.max() > limit
    counting = Counting(of, parties, answers, [None, None], None)
    with refused(OutputError, "distances >= 0"):
        counting.run(200, ignored)
    assert [sketch.total for sketch in counting.sketches] == [counting.done] * 2
    assert counting.unfinished().done == counting.done > 0


class Interrupting(Sketch):
    """The user presses Ctrl-C while the sketch counts: Python tells as soon as it has."""

    presses = 0

    def add(self, distances: Any) -> None:
        super().add(distances)
        if self.presses:
            self.presses -= 1
            raise KeyboardInterrupt


@pytest.mark.parametrize("place", [0, 1])
def test_an_interrupt_while_counting_counts_nothing_twice(place: int) -> None:
    """Distances counted twice under a rank made for fewer would make every bound too small."""
    whole = counted(source(), [MEDIAN, MEDOID])
    answers = find_answers(source(), [MEDIAN, MEDOID], 51, ignored)
    counting = Counting(source(), [MEDIAN, MEDOID], answers, [None, None], None)
    sketches = [Interrupting(sketch.rows) for sketch in counting.sketches]
    sketches[place].presses = 1
    counting.sketches = tuple(sketches)
    with pytest.raises(KeyboardInterrupt):
        counting.run(200, ignored)
    left = counting.unfinished()
    assert left.done == 64
    assert [sketch.total for sketch in left.sketches] == [64, 64]
    resumed = Counting(source(), [MEDIAN, MEDOID], answers, [None, None], left)
    resumed.run(200, ignored)
    for one, other in zip(whole.sketches, resumed.sketches, strict=True):
        assert one.ranked() == other.ranked()


def test_sums_cut_in_two_by_an_interrupt_are_counted_anew(monkeypatch: Any) -> None:
    """An output in the sum, but not yet in the spread, would make Theorem D's bound too small."""
    parties = [MEDOID, Party(metrics.L2(), cs.ClippedMean(9.0))]
    whole = counted(source(), parties)
    answers = find_answers(source(), parties, 51, ignored)
    counting = Counting(source(), parties, answers, [None, None], None)
    moments = counting.sketches[1].moments
    assert moments is not None

    def interrupted(rows: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(moments._directions, "add", interrupted)
    with pytest.raises(KeyboardInterrupt):
        counting.run(200, ignored)
    left = counting.unfinished()
    assert [left.done, *(sketch.total for sketch in left.sketches)] == [0, 0, 0]
    resumed = Counting(source(), parties, answers, [None, None], left)
    resumed.run(200, ignored)
    for one, other in zip(whole.sketches, resumed.sketches, strict=True):
        assert one.ranked() == other.ranked()


# ---- failed outputs


def test_a_failed_output_is_named() -> None:
    of = source(failing(0.1))
    outputs = torch.cat([torch.as_tensor(part) for part in of.outputs(SAMPLES, (0, 51))])
    first = int(torch.isnan(outputs).any(dim=1).nonzero()[0, 0])
    words = (f"number {first} of the samples draws", "on_invalid='far'", "lower sigma")
    with refused(OutputError, *words):
        find_answers(of, [MEDIAN], 51, ignored)


def test_failures_during_certification_are_numbered_over_all_batches() -> None:
    of, party = source(failing(0.005), size=16), MEDIAN
    answers = find_answers(source(size=16), [party], 51, ignored)
    outputs = torch.cat([torch.as_tensor(part) for part in of.outputs(CERTIFICATION, (0, 400))])
    first = int(torch.isnan(outputs).any(dim=1).nonzero()[0, 0])
    assert first >= 16
    with refused(OutputError, f"number {first} of the certification draws", "1 of 16"):
        Counting(of, [party], answers, [None], None).run(400, ignored)


@pytest.mark.parametrize("party", [MEDIAN, MEDOID])
def test_far_failures_are_counted_at_infinity(party: Party) -> None:
    counting = counted(source(failing(0.1), on_invalid="far"), [party])
    outputs = [
        torch.as_tensor(part) for part in source(failing(0.1)).outputs(CERTIFICATION, (0, 200))
    ]
    failed = int(torch.isnan(torch.cat(outputs)).any(dim=1).sum())
    assert failed > 5
    ranked = counting.sketches[0].ranked()
    assert math.isfinite(ranked.smallest(0, 200 - failed))
    assert ranked.smallest(0, 200 - failed + 1) == math.inf


def test_there_are_two_ways_to_treat_a_failure() -> None:
    for option in ("raise", "far"):
        check_on_invalid(option)
    for option in ("ignore", None, True):
        with refused(ArgumentError, "on_invalid='raise' or 'far'", repr(option)):
            check_on_invalid(option)  # type: ignore[arg-type]


# ---- outputs averaged in groups


@pytest.mark.parametrize("pool", [1, 2, 4])
def test_groups_are_the_same_however_batches_are_cut(pool: int) -> None:
    party = Party(metrics.L1(), cs.WeberPoint(pool))
    one, other = (counted(source(size=size), [party, MEDIAN]) for size in (8, 64))
    for mine, theirs in zip(one.sketches, other.sketches, strict=True):
        assert mine.ranked() == theirs.ranked()
    assert one.sketches[0].rows == 2 * pool - 1
    assert one.sketches[0].total == 200 // pool
    assert one.sketches[1].total == 200


def test_a_batch_that_would_cut_a_group_is_refused() -> None:
    party = Party(metrics.L1(), cs.WeberPoint(4))
    with refused(ArgumentError, "a batch_size that is a multiple of 4", "got 6"):
        find_answers(source(size=6), [MEDIAN, party], 51, ignored)
    answers = find_answers(source(size=8), [party], 51, ignored)
    with refused(ArgumentError, "a batch_size that is a multiple of 4"):
        Counting(source(size=6), [party], answers, [None], None)


def test_a_failure_in_a_group_is_placed() -> None:
    of, party = source(failing(0.005), size=16), Party(metrics.L1(), cs.WeberPoint(2))
    answers = find_answers(source(size=16), [party], 51, ignored)
    outputs = torch.cat([torch.as_tensor(part) for part in of.outputs(CERTIFICATION, (0, 400))])
    first = int(torch.isnan(outputs).any(dim=1).nonzero()[0, 0]) // 2 * 2
    with refused(OutputError, f"one of numbers {first} to {first + 1} of the certification draws"):
        Counting(of, [party], answers, [None], None).run(400, ignored)


# ---- checks before the work


def test_preparing_checks_the_model_and_fixes_the_batching() -> None:
    model = Model(linear, None)
    fixed = prepare(model, NOISE, X, ADDRESS, MEDIAN, 48)
    assert (fixed.batching, fixed.probes, fixed.rates) == (Batching(48), 24, ())
    given = Batching(16, channels_last=True)
    assert prepare(model, NOISE, X, ADDRESS, MEDIAN, given).batching == given
    tuned = prepare(model, NOISE, X, ADDRESS, MEDIAN, None)
    passes = sum(size for size, _, _ in tuned.rates)
    assert 24 + 2 * passes <= tuned.probes <= 24 + 6 * passes


@pytest.mark.parametrize(
    "target",
    [
        torch.zeros(3),
        torch.zeros(1),
        torch.zeros(()),
        torch.zeros(2, 2),
        torch.full((4,), math.nan),
        2.0,
    ],
)
@pytest.mark.parametrize("party", [MEDIAN, MEDOID, Party(metrics.Angular(), cs.GeometricMedian())])
def test_a_target_unlike_the_outputs_is_refused(party: Party, target: Any) -> None:
    with refused(OutputError, "a target like the model's output, Tensor of shape (4,)"):
        check_target(source(), party, target)


def test_a_target_with_its_axes_in_another_order_is_refused() -> None:
    of = source(lambda batch: batch.reshape(-1, 2, 3))
    for metric in (metrics.L2(), metrics.L1(), metrics.TotalVariation()):
        party = Party(metric, cs.Medoid(5))
        assert len(check_target(of, party, torch.ones(2, 3))) == 1
        with refused(OutputError, "Tensor of shape (2, 3), got Tensor of shape (3, 2)"):
            check_target(of, party, torch.ones(3, 2))


def test_a_target_of_another_kind_is_refused() -> None:
    for target in ("text", None, object()):
        with refused(OutputError):
            check_target(source(), MEDIAN, target)
    boxes = source(lambda batch: batch[:, :4].abs().cumsum(dim=1))
    party = Party(metrics.BoxJaccard(), cs.Medoid(5))
    for fitting in (torch.zeros(0, 4), torch.tensor([0, 0, 1, 1]), [0.0, 0.0, 1.0, 1.0]):
        assert len(check_target(boxes, party, fitting)) == 1
    with refused(OutputError, "(4,) or (1, 4)"):
        check_target(boxes, party, torch.zeros(5))


def test_eight_bit_inputs_are_warned_about() -> None:
    with pytest.warns(UserWarning, match="Divide by 255"):
        warn_about_units(255 * torch.rand(3, 8), None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_about_units(255 * torch.rand(3, 8), (0.0, 255.0))
        warn_about_units(torch.rand(3, 8), None)
        warn_about_units(1000 * torch.randn(3, 8), None)
        warn_about_units(torch.zeros(0), None)
        warn_about_units("tokens", None)


def test_an_invalid_output_is_told_what_it_should_be_like() -> None:
    """Width and height in place of a corner: the commonest slip with boxes."""
    party = Party(metrics.BoxJaccard(), cs.Medoid(5))
    of = source(lambda batch: torch.tensor([[10.0, 10, 5, 5]]).expand(len(batch), 4))
    with refused(OutputError, "outputs that BoxJaccard can measure", "x1 <= x2"):
        find_answers(of, [party], 51, ignored)
