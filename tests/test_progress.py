from __future__ import annotations

import io
import sys
from typing import Any

import pytest
import torch

import centersmooth as cs
from centersmooth.errors import ArgumentError, ModelError
from centersmooth.progress import Unfinished, progress_bar
from refusals import refused
from tiny_models import X, linear, smoother


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


# ---- bars and callbacks


def test_a_callback_hears_the_sum_of_the_steps() -> None:
    heard: list[tuple[int, int]] = []
    with progress_bar(lambda done, total: heard.append((done, total)), "work", 10) as advance:
        for step in (3, 0, 7):
            advance(step)
    assert heard == [(3, 10), (3, 10), (10, 10)]


@pytest.mark.parametrize(
    ("option", "stream", "shown"),
    [
        (None, Terminal, True),
        (None, io.StringIO, False),
        (False, Terminal, False),
        (True, Terminal, True),
    ],
)
def test_a_bar_is_shown_on_a_terminal_only(
    option: Any, stream: type[io.StringIO], shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", stream())
    monkeypatch.setenv("TERM", "xterm")
    with progress_bar(option, "counting sheep", 10) as advance:
        advance(10)
    written = sys.stderr.getvalue()  # type: ignore[attr-defined]
    assert ("counting sheep" in written) == shown
    assert bool(written) == shown


@pytest.mark.parametrize("center", [cs.GeometricMedian(), cs.Medoid(20, pool=2)])
def test_the_steps_of_a_certificate_add_up(center: Any) -> None:
    heard: list[tuple[int, int]] = []
    made = smoother(center=center, progress=lambda *step: heard.append(step))
    certificate = made.certify(X, samples=130, target=linear(X[None])[0])
    assert heard[-1] == (certificate.evaluations, certificate.evaluations)
    assert [done for done, _ in heard] == sorted(done for done, _ in heard)
    heard.clear()
    prediction = made.predict(X)
    assert heard[-1] == (prediction.evaluations, prediction.evaluations)
    heard.clear()
    made.certify_many([X, X + 1], samples=50)
    assert heard == [(1, 2), (2, 2)]


def test_the_steps_of_the_published_procedure_add_up() -> None:
    for hd in (False, True):
        heard: list[tuple[int, int]] = []
        found = cs.published.certify(
            linear,
            X,
            cs.Gaussian(0.25),
            cs.metrics.L1(),
            0.05,
            n=300,
            m=500,
            delta=0.2,
            hd=hd,
            batch_size=64,
            progress=lambda *step, heard=heard: heard.append(step),
        )
        assert heard[-1] == (found.evaluations, found.evaluations)  # type: ignore[union-attr]


# ---- going on after an interruption


class Breaking:
    """The linear model, which breaks when it has seen so many inputs in a run."""

    def __init__(self, after: float, error: BaseException) -> None:
        self.after, self.error, self.seen = after, error, 0

    def __call__(self, batch: torch.Tensor) -> torch.Tensor:
        self.seen += len(batch)
        if self.seen > self.after:
            raise self.error
        return linear(batch)


def broken(after: int, error: BaseException, **options: Any) -> tuple[cs.Smoother, Breaking]:
    model = Breaking(after, error)
    return smoother(model, **options), model


def interrupted(made: cs.Smoother, kind: type[BaseException], **options: Any) -> Unfinished:
    with pytest.raises(kind) as caught:
        made.certify(X, samples=400, **options)
    found = caught.value.unfinished  # type: ignore[attr-defined]
    assert isinstance(found, Unfinished)
    return found


TARGET = linear(X[None])[0] + 1


@pytest.mark.parametrize("error", [KeyboardInterrupt(), ValueError("out of memory")])
@pytest.mark.parametrize(
    ("metric", "center"),
    [
        (cs.metrics.L2(), None),
        (cs.metrics.L1(), cs.Medoid(20)),
        (cs.metrics.Angular(), None),
        (cs.metrics.L2(), cs.ClippedMean()),
        (cs.metrics.TotalVariation(), cs.WeberPoint(2)),
    ],
)
def test_a_resumed_certificate_is_the_uninterrupted_one(
    error: BaseException, metric: Any, center: Any
) -> None:
    made, model = broken(300, error, metric=metric, center=center)
    kind = KeyboardInterrupt if isinstance(error, KeyboardInterrupt) else ModelError
    unfinished = interrupted(made, kind, target=TARGET)
    assert 0 < unfinished.done < 400
    model.after, seen = float("inf"), model.seen
    resumed = made.certify(X, samples=400, target=TARGET, resume=unfinished)
    assert model.seen - seen == 400 - unfinished.done + 1  # and one to compare the target with
    whole = smoother(metric=metric, center=center).certify(X, samples=400, target=TARGET)
    assert resumed.ranked == whole.ranked
    assert torch.equal(resumed.value, whole.value)
    assert (resumed.seed, resumed.spread) == (whole.seed, whole.spread)
    for eps in (0.0, 0.1, 0.2):
        assert resumed.bound(eps) == whole.bound(eps)
        assert resumed.error(eps) == whole.error(eps)


def test_a_run_may_be_interrupted_twice_and_resumed_from_either_point() -> None:
    made, model = broken(200, KeyboardInterrupt())
    first = interrupted(made, KeyboardInterrupt)
    model.after = model.seen + 130
    second = interrupted(made, KeyboardInterrupt, resume=first)
    assert first.done < second.done < 400
    model.after = float("inf")
    whole = smoother().certify(X, samples=400).ranked
    assert made.certify(X, samples=400, resume=second).ranked == whole
    assert made.certify(X, samples=400, resume=first).ranked == whole


def test_a_run_without_a_seed_goes_on_with_the_seed_it_drew() -> None:
    made, model = broken(300, KeyboardInterrupt(), seed=None)
    unfinished = interrupted(made, KeyboardInterrupt)
    model.after = float("inf")
    resumed = made.certify(X, samples=400, resume=unfinished)
    assert resumed.seed == unfinished.seed
    assert resumed.ranked == made.certify(X, samples=400, seed=resumed.seed).ranked


def test_an_interruption_by_the_callback_loses_nothing() -> None:
    def stop(done: int, total: int) -> None:
        if done > 200:
            raise KeyboardInterrupt

    made = smoother(progress=stop)
    unfinished = interrupted(made, KeyboardInterrupt)
    resumed = smoother().certify(X, samples=400, resume=unfinished)
    assert resumed.ranked == smoother().certify(X, samples=400).ranked


def test_a_run_of_something_else_is_not_resumed() -> None:
    made, model = broken(300, KeyboardInterrupt())
    unfinished = interrupted(made, KeyboardInterrupt, target=TARGET)
    model.after = float("inf")
    others = [
        (made, X + 1, {"target": TARGET}),
        (made, X, {"target": TARGET + 1}),
        (made, X, {"target": None}),
        (smoother(model, noise=cs.Gaussian(0.5)), X, {"target": TARGET}),
        (smoother(model, metric=cs.metrics.SquaredL2()), X, {"target": TARGET}),
        (smoother(model, center=cs.Medoid(20)), X, {"target": TARGET}),
    ]
    for other, x, options in others:
        with refused(ArgumentError, "an unfinished run of this input", "same input, smoother"):
            other.certify(x, samples=400, resume=unfinished, **options)


def test_more_samples_than_asked_for_cannot_be_taken_back() -> None:
    made, model = broken(300, KeyboardInterrupt())
    unfinished = interrupted(made, KeyboardInterrupt)
    model.after = float("inf")
    with refused(ArgumentError, f"samples >= {unfinished.done} to resume", "100"):
        made.certify(X, samples=100, resume=unfinished)
