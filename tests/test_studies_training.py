from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from studies import training
from studies.training import Recipe, reconstruction_error, trained

from centersmooth.errors import ArgumentError
from refusals import refused
from studies_small import blobs, in_place_of_real_data

RECIPE = Recipe("mnist", "autoencoder", 0.25, epochs=2, images=48, batch=16)


@pytest.fixture(autouse=True)
def _one_thread_and_small_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_place_of_real_data(tmp_path, monkeypatch)


def weights(model: torch.nn.Module) -> list[torch.Tensor]:
    return [value.clone() for value in model.state_dict().values()]


def test_a_model_is_trained_once_and_then_read(monkeypatch: pytest.MonkeyPatch) -> None:
    state = torch.random.get_rng_state()
    first = trained(RECIPE)
    assert torch.equal(torch.random.get_rng_state(), state)
    monkeypatch.setitem(training.DATASETS, "mnist", lambda: 1 / 0)
    second = trained(RECIPE)
    assert all(map(torch.equal, weights(first), weights(second)))
    assert not first.training
    assert not any(parameter.requires_grad for parameter in second.parameters())
    assert [path.suffix for path in RECIPE.place.parent.iterdir()] == [".pt"]


def test_a_training_that_was_stopped_goes_on_to_the_same_weights(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = trained(RECIPE)
    RECIPE.place.unlink()
    epoch = training._epoch

    def stopped(*arguments: object) -> float:
        if arguments[-1] == 1:
            raise KeyboardInterrupt
        return epoch(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(training, "_epoch", stopped)
    with pytest.raises(KeyboardInterrupt):
        trained(RECIPE)
    assert not RECIPE.place.exists()
    asked: list[int] = []
    monkeypatch.setattr(training, "_epoch", lambda *a: asked.append(a[-1]) or epoch(*a))
    resumed = trained(RECIPE)
    assert asked == [1]
    assert all(map(torch.equal, weights(whole), weights(resumed)))


def test_every_number_of_a_recipe_matters_to_its_name() -> None:
    others = [
        replace(RECIPE, dataset="cifar10"),
        replace(RECIPE, task="reconstruction"),
        replace(RECIPE, noise=0.5),
        replace(RECIPE, epochs=3),
        replace(RECIPE, images=32),
        replace(RECIPE, consistency=1.0),
        replace(RECIPE, batch=8),
        replace(RECIPE, rate=1e-4),
        replace(RECIPE, seed=1),
    ]
    assert len({recipe.name for recipe in (RECIPE, *others)}) == 10
    with refused(ArgumentError, "a dataset out of"):
        replace(RECIPE, dataset="imagenet")
    with refused(ArgumentError, "a task out of"):
        replace(RECIPE, task="colouring")


def test_training_learns() -> None:
    images = blobs().test.float() / 255
    longer = replace(RECIPE, epochs=12)
    before = reconstruction_error(RECIPE.build().eval(), images, 0.25)
    assert reconstruction_error(trained(longer), images, 0.25) < 0.6 * before


def test_consistency_adds_half_the_distance_between_two_draws() -> None:
    """The loss is linear in its weight, and its slope is what two outputs differ by."""
    clean = blobs().train[:8].float() / 255
    model = RECIPE.build()  # in training mode: outputs of random weights differ more there

    def loss(weight: float) -> float:
        generator = torch.Generator().manual_seed(3)
        recipe = replace(RECIPE, consistency=weight)
        return float(recipe.loss(model, clean, generator).detach())

    generator = torch.Generator().manual_seed(3)
    outputs = [
        model(clean + 0.25 * torch.randn(clean.shape, generator=generator)).detach()
        for _ in range(2)
    ]
    apart = float((outputs[0] - outputs[1]).pow(2).mean())
    assert apart > 0
    assert loss(5.0) - loss(1.0) == pytest.approx(4.0 * apart / 2, rel=1e-3)
    error = sum(float((output - clean).pow(2).mean()) for output in outputs) / 2
    assert loss(1.0) == pytest.approx(error + apart / 2, rel=1e-4)


def test_committed_weights_come_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = trained(RECIPE)
    monkeypatch.setattr(training, "COMMITTED", tmp_path / "weights")
    cached = RECIPE.place
    (tmp_path / "weights").mkdir()
    place = cached.rename(tmp_path / "weights" / cached.name)
    monkeypatch.setitem(training.DATASETS, "mnist", lambda: 1 / 0)
    assert RECIPE.place == place
    assert all(map(torch.equal, weights(model), weights(trained(RECIPE))))
