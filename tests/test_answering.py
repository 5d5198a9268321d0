"""An interrupt or error while answers are looked for costs nothing that was drawn."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import centersmooth as cs
from centersmooth.errors import ArgumentError, CenterError, OutputError
from centersmooth.progress import Unfinished
from refusals import refused
from tiny_models import X, linear, smoother

CENTERS = [
    (cs.metrics.L2(), None),
    (cs.metrics.L1(), cs.Medoid(20)),
    (cs.metrics.L1(), cs.Medoid(20, pool=2)),
    (cs.metrics.L2(), cs.ClippedMean()),
    (cs.metrics.L1(), cs.WeberPoint(2)),
]


class Breaking:
    """A model that fails once so many inputs were seen."""

    def __init__(self, after: float, error: BaseException) -> None:
        self.after, self.error, self.seen = after, error, 0

    def __call__(self, batch: Any) -> Any:
        if self.seen + len(batch) > self.after:
            raise self.error
        self.seen += len(batch)
        return linear(batch)


def interrupted(made: cs.Smoother, kind: type[BaseException], **options: Any) -> Unfinished:
    with pytest.raises(kind) as caught:
        made.certify(X, samples=400, **options)
    found = caught.value.unfinished  # type: ignore[attr-defined]
    assert isinstance(found, Unfinished)
    return found


@pytest.mark.parametrize(("metric", "center"), CENTERS)
@pytest.mark.parametrize("share", [0.0, 0.15, 0.5, 0.8])
def test_an_interrupted_answer_goes_on_where_it_was(metric: Any, center: Any, share: float) -> None:
    options = {"metric": metric, "center": center, "batch_size": 8}
    whole = smoother(**options).certify(X, samples=400)
    model = Breaking(float("inf"), KeyboardInterrupt())
    made = smoother(model, **options)
    made.source(X, 0)  # checks and tuning
    model.after = model.seen + int(share * (whole.evaluations - 400))
    left = interrupted(made, KeyboardInterrupt)
    assert left.answering is not None
    assert not left.answers
    kept = left.answering.done
    model.after, seen = float("inf"), model.seen
    resumed = made.certify(X, samples=400, resume=left)
    assert model.seen - seen == whole.evaluations - kept
    assert kept > 0 or share < 0.5
    assert resumed.ranked == whole.ranked
    assert torch.equal(resumed.value, whole.value)
    assert resumed.bound(0.1) == whole.bound(0.1)


def test_an_interrupt_between_two_parties_begins_anew(monkeypatch: Any) -> None:
    """One party would have had the last outputs twice."""
    pair = [smoother(metric=cs.metrics.L2()), smoother(metric=cs.metrics.L1())]
    whole = cs.certify_together(pair, X, 400)
    gathers = cs.Medoid.gather
    presses = [True]

    def gather(self: cs.Medoid, metric: Any, samples: int) -> Any:
        made = gathers(self, metric, samples)
        add = made.add_samples

        def pressed(block: Any, outputs: Any) -> None:
            if presses:
                presses.pop()
                raise KeyboardInterrupt
            add(block, outputs)

        monkeypatch.setattr(made, "add_samples", pressed)
        return made

    monkeypatch.setattr(cs.Medoid, "gather", gather)
    with pytest.raises(KeyboardInterrupt) as caught:
        cs.certify_together(pair, X, 400)
    left = caught.value.unfinished  # type: ignore[attr-defined]
    resumed = cs.certify_together(pair, X, 400, resume=left)
    for one, other in zip(whole, resumed, strict=True):
        assert one.ranked == other.ranked
        assert torch.equal(one.value, other.value)


def test_a_repaired_model_goes_on_after_an_invalid_output() -> None:
    good = [float("inf")]

    def model(batch: torch.Tensor) -> torch.Tensor:
        good[0] -= 1
        return linear(batch) if good[0] > 0 else linear(batch) * float("nan")

    made = smoother(model, batch_size=8)
    made.source(X, 0)  # checks
    good[0] = 5
    left = interrupted(made, OutputError)
    assert left.answering is not None
    assert left.answering.done == 32
    good[0] = float("inf")
    whole = smoother(batch_size=8).certify(X, samples=400)
    assert made.certify(X, samples=400, resume=left).ranked == whole.ranked


def test_an_answer_of_other_samples_is_not_resumed() -> None:
    model = Breaking(60, KeyboardInterrupt())
    left = interrupted(smoother(model, batch_size=8), KeyboardInterrupt)
    with refused(ArgumentError, "answer_samples=", "got 77"):
        smoother(answer_samples=77).certify(X, samples=400, resume=left)


def test_a_center_that_cannot_be_found_loses_nothing(monkeypatch: Any) -> None:
    made = smoother(metric=cs.metrics.L2())

    def none(*arguments: Any) -> Any:
        raise CenterError("expected a median, got none. Try again.")

    with monkeypatch.context() as patched:
        patched.setattr("centersmooth.centers.geometric_median.geometric_median", none)
        left = interrupted(made, CenterError)
    assert left.answering is not None
    assert left.answering.done == made.answer_samples
    assert made.certify(X, samples=400, resume=left).ranked == made.certify(X, samples=400).ranked
