from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import centersmooth as cs
from centersmooth import metrics
from centersmooth.centers import Center
from centersmooth.errors import (
    ArgumentError,
    BatchDependenceError,
    BudgetError,
    InputError,
    ModelError,
    OutputError,
    TrainingModeError,
)
from centersmooth.sampling import Batching
from metric_laws import generator
from refusals import refused
from tiny_models import NOISE, X, boxes, failing, linear, smoother

METRICS = [
    metrics.L1(),
    metrics.L2(),
    metrics.SquaredL2(),
    metrics.TotalVariation(),
    metrics.Angular(),
    metrics.Cosine(),
]


class Recording:
    """The linear model, which keeps all the noisy inputs it was given."""

    def __init__(self) -> None:
        self.batches: list[torch.Tensor] = []

    def __call__(self, batch: torch.Tensor) -> torch.Tensor:
        self.batches.append(batch.clone())
        return linear(batch)

    def inputs(self) -> torch.Tensor:
        """In order, without the 24 of the contract check."""
        return torch.cat(self.batches)[24:]


# ---- one seed, one result


@pytest.mark.parametrize("metric", METRICS, ids=lambda m: m.name)
def test_a_seed_reproduces_everything(metric: Any) -> None:
    first, second = (smoother(metric=metric).certify(X, samples=100, seed=5) for _ in range(2))
    assert first.seed == second.seed == 5
    assert torch.equal(first.value, second.value)
    assert first.ranked == second.ranked
    assert first.spread == second.spread


@pytest.mark.parametrize("center", [cs.GeometricMedian(), cs.Medoid(20), cs.Medoid(10, pool=3)])
def test_answer_and_certificate_agree_under_one_seed(center: Center) -> None:
    made = smoother(center=center, seed=9)
    certificate = made.certify(X, samples=50)
    assert torch.equal(made(X), certificate.value)
    prediction = made.predict(X)
    assert torch.equal(prediction.value, certificate.value)
    assert (prediction.spread, prediction.seed) == (certificate.spread, 9)
    assert prediction.evaluations == center.draws + 51
    assert certificate.evaluations == prediction.evaluations + 50
    assert certificate.probes == 24


def test_other_seeds_and_other_inputs_get_other_noise() -> None:
    made = smoother()
    values = [made.predict(X, seed=seed).value for seed in (1, 2, 1 + 2**32)]
    values.append(made.predict(torch.nextafter(X, torch.tensor(9.0)), seed=1).value)
    assert len(torch.stack(values).unique(dim=0)) == len(values)


def test_the_certificates_seed_overrides_the_smoothers() -> None:
    assert smoother(seed=1).certify(X, samples=50, seed=2).seed == 2
    assert smoother(seed=1).certify(X, samples=50).seed == 1
    assert smoother(seed=None).certify(X, samples=50, seed=0).seed == 0


def test_without_a_seed_every_run_is_fresh_and_says_its_seed() -> None:
    made = smoother(seed=None)
    one, other = (made.certify(X, samples=50) for _ in range(2))
    assert one.seed != other.seed
    assert made.certify(X, samples=50, seed=one.seed).ranked == one.ranked
    assert not torch.equal(made(X), made(X))


@pytest.mark.parametrize("size", [7, 64, 1000, Batching(64)])
@pytest.mark.parametrize("center", [cs.GeometricMedian(), cs.Medoid(20, pool=2)])
def test_the_batch_size_changes_neither_noise_nor_answer(size: Any, center: Center) -> None:
    models = [Recording(), Recording()]
    first = smoother(models[0], center=center, batch_size=33).certify(X, samples=150)
    second = smoother(models[1], center=center, batch_size=size).certify(X, samples=150)
    assert torch.equal(models[0].inputs(), models[1].inputs())
    assert torch.allclose(first.value, second.value, rtol=0, atol=1e-4)
    for eps in (0.0, 0.1):
        assert first.bound(eps) == pytest.approx(second.bound(eps), rel=2e-3)


def test_tuning_happens_once_and_is_recorded() -> None:
    made = smoother(batch_size=None)
    first, second = made.certify(X, samples=50), made.certify(X + 0.01, samples=50)
    assert first.provenance.batch_size == second.provenance.batch_size >= 32
    assert first.probes == second.probes > 24


# ---- several at once


def test_together_every_certificate_is_what_it_would_be_alone() -> None:
    centers: list[Center] = [cs.GeometricMedian(), cs.Medoid(20), cs.Medoid(10, pool=2)]
    made = [smoother(center=center) for center in centers]
    made.append(smoother(metric=metrics.TotalVariation(), center=cs.Medoid(20)))
    target = torch.zeros(4)
    options: dict[str, Any] = {"samples": 150, "alpha": 0.02}
    together = cs.certify_together(made, X, targets=[target, None, target, None], **options)
    for one, certificate, wanted in zip(made, together, [True, False, True, False], strict=True):
        alone = one.certify(X, target=target if wanted else None, **options)
        assert torch.equal(certificate.value, alone.value)
        assert certificate.ranked == alone.ranked
        assert certificate.has_target == wanted
        assert certificate.bound(0.1) == alone.bound(0.1)
        assert certificate.evaluations == 20 + 51 + 150


def test_only_metric_and_center_may_differ() -> None:
    first = smoother()
    for other in (
        smoother(lambda batch: batch),
        smoother(noise=cs.Gaussian(0.5)),
        smoother(answer_samples=99),
        smoother(on_invalid="far"),
    ):
        with refused(ArgumentError, "share model, noise, answer_samples and on_invalid"):
            cs.certify_together([first, other], X)
    with refused(ArgumentError, "at least one smoother"):
        cs.certify_together([], X)
    with refused(ArgumentError, "a list of smoothers", "got Smoother"):
        cs.certify_together(first, X)  # type: ignore[arg-type]
    with refused(ArgumentError, "1 targets", "got 2"):
        cs.certify_together([first], X, targets=[None, None])


def test_many_inputs_get_a_certificate_each() -> None:
    made, inputs = smoother(), torch.stack((X, X + 0.1, X - 0.1))
    many = made.certify_many(inputs, targets=[None, torch.zeros(4), None], samples=60, alpha=0.05)
    assert [certificate.has_target for certificate in many] == [False, True, False]
    for x, certificate in zip(inputs, many, strict=True):
        alone = made.certify(x, samples=60, alpha=0.05)
        assert torch.equal(certificate.value, alone.value)
        assert certificate.alpha == 0.05
    assert made.certify_many([]) == []
    with refused(ArgumentError, "3 targets", "got 1"):
        made.certify_many(inputs, targets=[None])


# ---- answers


def test_the_bound_covers_the_answers_at_the_edge_of_the_ball() -> None:
    """A taste of test_coverage: answers at random x' at distance eps, with fresh noise."""
    eps = 0.25
    for metric in (metrics.L2(), metrics.L1(), metrics.Angular()):
        made = smoother(metric=metric, seed=None)
        certificate = made.certify(X, samples=400, seed=1)
        bound = certificate.bound(eps)
        assert bound < metric.diameter
        for seed in range(20):
            move = torch.randn(6, generator=generator(seed))
            answer = made.predict(X + eps * move / move.norm(), seed=seed).value
            assert metric(answer, certificate.value) <= bound


def test_the_answer_of_an_affine_model_is_near_its_value() -> None:
    answer = smoother(answer_samples=2001)(X)
    assert (answer - linear(X[None])[0]).norm() < 0.1


def test_outputs_of_every_kind_can_be_smoothed() -> None:
    def words(batch: torch.Tensor) -> list[str]:
        return ["high" if value > 0.05 else "low" for value in batch[:, 0].tolist()]

    assert smoother(words, metrics.Discrete()).certify(X, samples=50).value in ("high", "low")
    found = smoother(boxes, metrics.BoxJaccard()).certify(X, samples=200)
    assert found.value.shape == (4,)
    assert found.bound(0.02) < 1
    sets = smoother(
        lambda batch: [frozenset((row > 0.3).nonzero()[:, 0].tolist()) for row in batch],
        metrics.SetJaccard(),
        center=cs.Medoid(20),
    )
    assert isinstance(sets(X), frozenset)
    one = cs.models.one_at_a_time(lambda x: float(x.sum()))
    assert smoother(one)(X).item() == pytest.approx(float(X.sum()), abs=0.5)


def test_inputs_may_be_arrays_and_need_gradients() -> None:
    made = smoother()
    answer = made(X)
    assert torch.equal(made(X.numpy()), answer)
    assert torch.equal(made(X.clone().requires_grad_()), answer)


def test_failures_can_be_counted_as_far() -> None:
    for metric in METRICS:
        made = smoother(failing(0.02), metric, on_invalid="far")
        certificate = made.certify(X, samples=400)
        assert torch.isfinite(certificate.value).all()
        assert certificate.bound(0.1) < math.inf
        with refused(OutputError, "number", "on_invalid='far'"):
            smoother(failing(0.02), metric).certify(X, samples=400)
    hopeless = smoother(failing(0.6), metrics.L1(), on_invalid="far").certify(X, samples=50)
    assert torch.isfinite(hopeless.value).all()
    assert hopeless.bound(0.01) == hopeless.spread == math.inf


# ---- what is refused before samples are spent


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"noise": 0.25}, ("a noise object", "0.25", "cs.Gaussian(sigma=0.25)")),
        ({"noise": cs.Gaussian}, ("a noise object", "Gaussian (the class)")),
        ({"metric": "L2"}, ("a metric object", "cs.metrics.L2()")),
        ({"metric": metrics.L2}, ("L2 (the class)",)),
        ({"center": "medoid"}, ("a center object", "cs.Medoid()")),
        ({"center": cs.GeometricMedian(), "metric": metrics.L1()}, ("Euclidean", "cs.Medoid()")),
        ({"center": cs.Medoid(pool=2), "metric": metrics.Discrete()}, ("pool",)),
        ({"answer_samples": 9}, ("answer_samples >= 10", "9")),
        ({"answer_samples": 99.0}, ("answer_samples >= 10", "99.0")),
        ({"batch_size": 0}, ("batch_size >= 1", "0")),
        ({"batch_size": 2.5}, ("batch_size >= 1", "2.5")),
        ({"batch_size": "64"}, ("batch_size >= 1", "'64'")),
        ({"input_range": (1, 0)}, ("low < high", "(1, 0)")),
        ({"input_range": (0, math.inf)}, ("low < high",)),
        ({"input_range": 255}, ("a pair (low, high)", "255")),
        ({"on_invalid": "ignore"}, ("on_invalid='raise' or 'far'",)),
        ({"seed": -1}, ("a seed",)),
        ({"seed": 1.5}, ("a seed",)),
    ],
)
def test_options_that_make_no_sense_are_refused(
    options: dict[str, Any], words: tuple[str, ...]
) -> None:
    given = {"noise": NOISE, "metric": metrics.L2(), **options}
    with refused(ArgumentError, *words):
        cs.Smoother(linear, **given)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"samples": 0}, ("samples >= 1",)),
        ({"samples": 1e4}, ("samples >= 1", "10000.0")),
        ({"samples": True}, ("samples >= 1",)),
        ({"alpha": 0}, ("0 < alpha < 0.5",)),
        ({"alpha": 0.99}, ("0 < alpha < 0.5", "0.99", "may fail")),
        ({"alpha": "0.01"}, ("0 < alpha < 0.5",)),
        ({"seed": -3}, ("a seed",)),
        ({"grid": []}, ("positive, finite eps",)),
        ({"grid": [0.0, 0.1]}, ("positive, finite eps",)),
        ({"grid": [0.1, math.nan]}, ("positive, finite eps",)),
        ({"grid": 0.1}, ("a list of positive", "grid=[0.1, 0.2, 0.3]")),
        ({"grid": "coarse"}, ("a list of positive",)),
    ],
)
def test_a_call_that_makes_no_sense_is_refused_unsampled(
    options: dict[str, Any], words: tuple[str, ...]
) -> None:
    model = Recording()
    with refused(ArgumentError, *words):
        smoother(model).certify(X, **options)
    assert not torch.cat([*model.batches, torch.zeros(24, 6)])[24:].numel()


@pytest.mark.parametrize("center", [cs.GeometricMedian(), cs.Medoid(20)])
def test_a_grid_out_of_reach_is_refused_with_the_number_that_would_do(center: Center) -> None:
    model, grid = Recording(), [0.1, 2.2 * 0.25]
    made = smoother(model, center=center, answer_samples=199)
    with refused(BudgetError, "enough samples for eps = 0.55", "200 reach eps = ") as _:
        made.certify(X, samples=200, grid=grid)
    assert not model.batches
    with pytest.raises(BudgetError) as caught:
        made.certify(X, samples=200, grid=grid)
    text = str(caught.value)
    least = int(text.split("At least ")[1].split(" ")[0].replace(",", ""))
    assert made.certify(X, samples=least, grid=grid).status(0.55) == "certified"
    with refused(BudgetError, f"got {least - 1:,}"):
        made.certify(X, samples=least - 1, grid=grid)
    with refused(BudgetError, "No number", "use more noise, or more answer_samples"):
        made.certify(X, samples=200, grid=[100.0])


def test_a_grid_beyond_the_declared_range_is_refused() -> None:
    made = smoother(noise=cs.Gaussian(5.0), input_range=(0, 1))
    with refused(ArgumentError, "a grid and goals up to eps = 2.449", "units of the input"):
        made.certify(X, samples=200, grid=[1.0, 3.0])


def test_a_center_without_a_theorem_is_refused_unsampled() -> None:
    class Mean(cs.Medoid):
        pass

    class Own(Center):
        check = gather = measure = lambda self, *arguments: None

    model = Recording()
    with refused(ArgumentError, "a center with a theorem", "Own", "cs.Medoid()"):
        smoother(model, center=Own()).certify(X)
    assert not model.batches
    assert smoother(center=Mean(5)).certify(X, samples=50).center == Mean(5)


@pytest.mark.parametrize(
    ("x", "words"),
    [
        (X.tolist(), ("a torch tensor or numpy array",)),
        ((255 * X).byte(), ("floating-point", "x.float() / 255")),
        (torch.where(X > 0.5, math.nan, X), ("finite", "NaN")),
        (X + 0.5, ("within [0, 1]", "1.4")),
        (255 * X, ("within [0, 1]", "units")),
    ],
)
def test_an_input_out_of_line_is_refused(x: Any, words: tuple[str, ...]) -> None:
    model = Recording()
    made = smoother(model, input_range=(0, 1))
    for call in (made, made.predict, made.certify):
        with refused(InputError, *words):
            call(x)
    assert not model.batches


def test_an_eps_beyond_the_declared_range_is_refused() -> None:
    certificate = smoother(input_range=(0, 1)).certify(X, samples=100)
    diagonal = math.sqrt(6)
    assert certificate.bound(diagonal - 1e-9) > 0
    for call in (certificate.bound, certificate.status, certificate.explain):
        with refused(ArgumentError, "eps <= 2.449", "units of the input"):
            call(diagonal + 1e-3)


def test_a_batch_axis_is_told_from_a_broken_model() -> None:
    network = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten()).eval()
    with refused(ModelError, "x[0], not x", "1, 1, 8, 8)"):
        smoother(network)(torch.zeros(1, 1, 8, 8))
    smoother(network)(torch.zeros(1, 8, 8))


def test_models_out_of_line_are_refused() -> None:
    network = nn.Sequential(nn.Linear(6, 4), nn.BatchNorm1d(4))
    with refused(TrainingModeError, "model.eval()"):
        smoother(network.train())(X)
    with refused(BatchDependenceError, "one input each"):
        smoother(lambda batch: linear(batch) - linear(batch).mean(dim=0))(X)
    with refused(OutputError, "one output per input", "dict"):
        smoother(lambda batch: {"logits": linear(batch)})(X)
    smoother(network.eval())(X)


def test_a_target_out_of_line_is_refused_before_sampling() -> None:
    model = Recording()
    with refused(OutputError, "a target like the model's output", "(3,)"):
        smoother(model).certify(X, target=torch.zeros(3))
    assert len(torch.cat(model.batches)) == 24 + 1


def test_eight_bit_units_are_warned_about() -> None:
    with pytest.warns(UserWarning, match="Divide by 255"):
        smoother(lambda batch: batch / 255)(torch.linspace(0, 255, 6))


def test_numpy_numbers_are_numbers() -> None:
    certificate = smoother().certify(X, samples=100, alpha=np.float64(0.01))
    assert certificate.bound(np.float32(0.125)) == certificate.bound(0.125)


class Unfrozen(cs.Gaussian):
    """What a dataclass that is not frozen looks like."""

    __hash__ = None  # type: ignore[assignment]


def test_a_noise_that_can_change_is_refused() -> None:
    with refused(ArgumentError, "a noise that cannot change", "frozen=True"):
        smoother(noise=Unfrozen(0.25))
