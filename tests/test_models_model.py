from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from centersmooth.errors import ArgumentError, ModelError, OutputError, TrainingModeError
from centersmooth.models import Model, one_at_a_time
from refusals import refused

BATCH = torch.randn(5, 3, generator=torch.Generator().manual_seed(0))


def model(function: Any) -> Model:
    return Model(function, None)


def conv() -> nn.Module:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.Flatten()).eval()


def test_a_module_and_a_function_are_called_with_the_batch() -> None:
    linear = nn.Linear(3, 2).eval()
    assert torch.equal(torch.as_tensor(model(linear)(BATCH)), linear(BATCH))
    assert model(lambda batch: [len(row) for row in batch])(BATCH) == [3] * 5


def test_no_gradients_are_kept() -> None:
    assert not torch.as_tensor(model(nn.Linear(3, 2).eval())(BATCH)).requires_grad


def test_arrays_become_tensors_and_arrays_of_words_lists() -> None:
    outputs = model(lambda batch: batch.numpy().astype(np.float64))(BATCH)
    assert torch.equal(torch.as_tensor(outputs), BATCH.double())
    assert model(lambda batch: np.array(["a"] * len(batch)))(BATCH) == ["a"] * 5


@pytest.mark.parametrize("kind", ["<f4", ">f4", "f2", "g", "u1", ">i8", "?"])
def test_arrays_of_any_layout_become_tensors(kind: str) -> None:
    array = np.arange(10).reshape(5, 2).astype(kind)[:, ::-1]
    array.flags.writeable = False
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        outputs = torch.as_tensor(model(lambda batch: array)(BATCH))
    assert outputs.double().tolist() == array.astype(float).tolist()


@pytest.mark.parametrize("device", ["gpu", "cuda:77", "", 3.5])
def test_a_device_that_is_not_there_is_refused(device: Any) -> None:
    with refused(ArgumentError, "a device of this machine", repr(device), "Leave device out"):
        Model(nn.Linear(3, 2).eval(), device)


def test_an_input_of_another_precision_than_the_weights_is_told_so() -> None:
    with refused(ModelError, "torch.float64", "x.float()"):
        model(nn.Linear(3, 2).eval())(BATCH.double())


def test_a_function_of_one_input_is_adapted() -> None:
    outputs = model(one_at_a_time(lambda x: float(x.sum())))(BATCH)
    assert outputs == [float(row.sum()) for row in BATCH]


@pytest.mark.parametrize("thing", [None, 3, torch.zeros(2), "model"])
def test_what_cannot_be_called_is_no_model(thing: Any) -> None:
    with refused(ArgumentError, "a callable model", type(thing).__name__):
        model(thing)


@pytest.mark.parametrize(
    ("returned", "word"),
    [
        (lambda batch: batch[:-1], "4 for 5 inputs"),
        (lambda batch: batch.sum(), "0 for 5 inputs"),
        (lambda batch: (batch, batch), "2 for 5 inputs"),
        (lambda batch: {"boxes": batch}, "dict"),
        (lambda batch: "text", "str"),
        (lambda batch: None, "NoneType"),
        (lambda batch: 1.5, "float"),
        (lambda batch: np.float64(1.5), "0 for 5 inputs"),
        (lambda batch: set("abcde"), "set"),
    ],
)
def test_anything_but_one_output_per_input_is_refused(returned: Any, word: str) -> None:
    with refused(OutputError, "one output per input", word, "leading batch axis", "lambda"):
        model(returned)(BATCH)


def test_a_model_that_fails_is_told_what_it_was_given() -> None:
    """The commonest reason is an input with a batch axis of its own."""
    network = conv()
    batch = torch.zeros(12, 1, 3, 8, 8)
    with refused(ModelError, "RuntimeError", "(12, 1, 3, 8, 8)", "x[0], not x") as _:
        model(network)(batch)
    with pytest.raises(ModelError) as caught:
        model(network)(batch)
    assert isinstance(caught.value.__cause__, RuntimeError)


def test_an_interrupt_is_not_swallowed() -> None:
    def stopped(batch: Any) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model(stopped)(BATCH)


def test_training_mode_is_refused_wherever_it_hides() -> None:
    network = conv()
    model(network).begin()
    network[1].train()
    with refused(TrainingModeError, "training mode in 1.", "model.eval()"):
        model(network).begin()
    network.train()
    with refused(TrainingModeError, "training mode in the model, 0, 1, …"):
        model(network).begin()
    model(lambda batch: batch).begin()  # nothing is known of a function


def test_inputs_go_where_the_weights_are() -> None:
    assert model(nn.Linear(3, 2)).device == torch.device("cpu")
    assert model(nn.ReLU()).device is None
    assert model(lambda batch: batch).device is None
    placed = Model(nn.Linear(3, 2), "meta").place(BATCH)
    assert placed.device.type == "meta"
    assert model(nn.Linear(3, 2)).place("text") == "text"


# ---- channels last


def test_another_memory_layout_gives_the_same_outputs_and_leaves_the_weights_alone() -> None:
    network = conv()
    strides = [weight.stride() for weight in network.parameters()]
    images = torch.randn(4, 3, 8, 8, generator=torch.Generator().manual_seed(1))
    plain, laid_out = (model(network)(images, channels_last=flag) for flag in (False, True))
    assert torch.allclose(torch.as_tensor(plain), torch.as_tensor(laid_out), atol=1e-5)
    assert [weight.stride() for weight in network.parameters()] == strides


def test_weights_trained_between_two_runs_count() -> None:
    network = conv()
    wrapped, images = model(network), torch.ones(2, 3, 8, 8)
    wrapped(images, channels_last=True)
    with torch.no_grad():
        network[0].weight.zero_()
    wrapped.begin()
    fresh = torch.as_tensor(wrapped(images, channels_last=True))
    assert torch.allclose(fresh, network(images), atol=1e-5)


def test_the_twin_copies_the_weights_of_convolutions_alone() -> None:
    network = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.Flatten(), nn.Linear(288, 4))
    network = network.eval()
    wrapped = model(network)
    wrapped(torch.ones(2, 3, 8, 8), channels_last=True)
    twin = wrapped._laid_out
    assert twin is not None
    assert twin[0].weight is not network[0].weight  # type: ignore[index]
    assert twin[0].weight.is_contiguous(memory_format=torch.channels_last)  # type: ignore[index]
    assert twin[3].weight is network[3].weight  # type: ignore[index]
    assert twin[1].running_mean is network[1].running_mean  # type: ignore[index]


def test_a_module_that_cannot_be_copied_keeps_its_layout() -> None:
    network = conv()
    network.handle = (number for number in range(3))  # type: ignore[assignment]
    assert not model(network).takes_channels_last


def test_only_modules_with_images_weights_take_channels_last() -> None:
    assert model(conv()).takes_channels_last
    assert not model(nn.Linear(3, 2)).takes_channels_last
    assert not model(lambda batch: batch).takes_channels_last
