from __future__ import annotations

import numpy as np
import pytest
import torch

from centersmooth.errors import InputError
from centersmooth.noise import inputs

UNIT = (0.0, 1.0)


def test_arrays_become_tensors() -> None:
    assert torch.equal(inputs.real_tensor(np.ones(2), UNIT, "Some"), torch.ones(2).double())
    assert torch.equal(inputs.any_tensor(np.arange(2), UNIT, "Some"), torch.arange(2))
    assert inputs.token_list(("a", 1), None) == ["a", 1]


@pytest.mark.parametrize(
    ("x", "limits", "message"),
    [
        ([1.0], None, "expected a torch tensor or numpy array of numbers, got list. Some noise"),
        (np.array(["a"]), None, "got an array of <U1"),
        (torch.zeros(2, dtype=torch.uint8), None, "expected a floating-point input, got torch.ui"),
        (torch.tensor([1.0, torch.nan, torch.inf]), None, "got 2 NaN or infinite ones"),
        (torch.tensor([0.0, 2.0]), UNIT, r"expected an input within \[0, 1\], got values from 0 "),
    ],
)
def test_real_tensor_refuses(x: object, limits: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        inputs.real_tensor(x, limits, "Some")


def test_any_tensor_takes_whole_numbers_but_not_everything() -> None:
    assert inputs.any_tensor(torch.tensor([True]), None, "Some").dtype == torch.bool
    with pytest.raises(InputError, match="Some works on tensors"):
        inputs.any_tensor("text", None, "Some")
    with pytest.raises(InputError, match="values from 0 to 7"):
        inputs.any_tensor(torch.arange(8), UNIT, "Some")


def test_an_empty_input_is_in_every_range() -> None:
    assert inputs.real_tensor(torch.zeros(0), UNIT, "Some").numel() == 0


def test_dimension_must_be_the_one_declared() -> None:
    with pytest.raises(InputError, match=r"expected an input of 4 values, got 6. .*dimension=6"):
        inputs.check_dimension(torch.zeros(2, 3), 4)


def test_tokens_are_a_list_without_a_range() -> None:
    with pytest.raises(InputError, match=r"expected a list of tokens, got str. Split the text"):
        inputs.token_list("text", None)
    with pytest.raises(InputError, match="expected no input_range"):
        inputs.token_list(["a"], UNIT)
