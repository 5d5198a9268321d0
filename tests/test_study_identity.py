"""A study is known by its values: data, weights, and what models answer."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import centersmooth as cs
from centersmooth.errors import InputError, TrainingModeError
from centersmooth.store import Identity
from centersmooth.store.changes import changes
from centersmooth.study import Study
from centersmooth.study.identity import (
    answers,
    check_answers,
    distinct_models,
    identify,
    looked_at,
    same_answers,
    weights_digest,
)
from small_studies import inputs, model, setting, study


def net(seed: int = 0) -> torch.nn.Module:
    torch.manual_seed(seed)
    layers = torch.nn.Sequential(torch.nn.Linear(6, 4), torch.nn.BatchNorm1d(4))
    return layers.eval()


def changed(one: Study, other: Study) -> str:
    return changes(identify(one), identify(other))


def test_the_same_study_is_the_same() -> None:
    assert changed(study(2, model=net()), study(2, model=net())) == ""


def test_data_targets_and_names_count() -> None:
    own = inputs(3)
    other = own.clone()
    other[2, 5] += 1e-6
    base = study(3)
    assert "number 2" in changed(base, Study(other, base.settings, **_rest(base)))
    targets: Any = [torch.zeros(4), None, frozenset("ab")]
    with_targets = study(3, targets=targets)
    assert "number 0" in changed(base, with_targets)
    assert changed(with_targets, study(3, targets=[torch.zeros(4), None, {"a", "b"}])) == ""
    assert "number 2" in changed(with_targets, study(3, targets=[*targets[:2], frozenset("ac")]))
    assert "(b, was 1)" in changed(base, study(3, names=["0", "b", "2"]))


def _rest(own: Study) -> dict[str, Any]:
    return {"batch_size": 64, "seed": 5, "gallery": 1, "model": own.model}


def test_unreadable_inputs_are_known_as_such() -> None:
    class Broken(list[Any]):
        def __getitem__(self, index: Any) -> Any:
            if index == 0:
                raise InputError("expected an image, got none. Repair it.")
            return inputs(2)[index]

    one, other = (Study(Broken([0, 1]), [setting()], model=model) for _ in range(2))
    assert changed(one, other) == ""
    assert answers(one, 1, looked_at(one)) == answers(other, 1, looked_at(other)) != [None]
    assert looked_at(one) == 1


def test_weights_and_buffers_count_to_the_last_bit() -> None:
    base = weights_digest(net())
    assert base == weights_digest(net())
    for name in ("0.weight", "1.running_mean"):
        other = net()
        with torch.no_grad():
            tensor = dict((*other.named_parameters(), *other.named_buffers()))[name]
            tensor.view(-1)[0] += 1e-6
        assert weights_digest(other) != base
    assert weights_digest(model) is None
    assert "other weights of the model Sequential" in changed(
        study(1, model=net()), study(1, model=net(1))
    )


def test_versions_name_black_boxes() -> None:
    assert "version" in changed(study(1, version="1"), study(1, version="2"))


def test_each_model_is_told_once() -> None:
    one, other = net(), net()
    settings = [setting("a"), setting("b", model=other), setting("c", model=other)]
    own = study(1, settings, model=one)
    first, second = (found.value for found in distinct_models(own.settings))
    assert first is one
    assert second is other
    identity: Identity = identify(own)
    assert [described["model"] for described in identity.settings] == [0, 1, 1]


# -------------------------------------------------------------------------------- answers


def test_a_black_box_that_answers_otherwise_is_noticed() -> None:
    kept = answers(study(2), 9, 0)
    assert check_answers(study(2), kept, answers(study(2), 9, 0)) == ""

    def other(batch: torch.Tensor) -> torch.Tensor:
        return model(batch) * 1.01

    now = answers(study(2, model=other), 9, 0)
    assert "'l2'" in check_answers(study(2, model=other), kept, now)


def test_rounding_is_not_a_change() -> None:
    kept = answers(study(2), 9, 0)

    def rounded(batch: torch.Tensor) -> torch.Tensor:
        return model(batch) * (1 + 1e-6)

    assert check_answers(study(2), kept, answers(study(2, model=rounded), 9, 0)) == ""


def test_randomness_of_the_model_itself_says_nothing() -> None:
    def noisy(batch: torch.Tensor) -> torch.Tensor:
        return model(batch) + torch.rand(len(batch), 4)

    said = answers(study(2, model=noisy), 9, 0)
    assert said == [None, None]
    assert check_answers(study(2), answers(study(2), 9, 0), said) == ""


def test_a_model_that_fails_here_says_nothing_but_training_mode_is_an_error() -> None:
    def failing(batch: torch.Tensor) -> torch.Tensor:
        raise RuntimeError("no")

    assert answers(study(2, [setting()], model=failing), 9, 0) == [None]
    with pytest.raises(TrainingModeError):
        answers(study(2, model=net().train()), 9, 0)


def test_one_flipped_answer_in_eight_is_rounding_and_five_are_not() -> None:
    one = torch.tensor([0, 0, 0, 0, 1, 1, 1, 1])
    for flips, same in ((1, True), (4, True), (5, False)):
        other = one.clone()
        other[:flips] = 2
        assert same_answers(cs.metrics.Discrete(), one, other) is same
    assert not same_answers(cs.metrics.Discrete(), one, one[:4])
