"""Checks of the inputs a noise is asked to perturb."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from centersmooth.errors import InputError, expected

InputRange = tuple[float, float] | None


def real_tensor(x: Any, input_range: InputRange, noise: str) -> torch.Tensor:
    """A finite floating-point tensor inside the declared range, for noise that is added."""
    fix = f"{noise} noise needs numbers to add to: convert the input first."
    x = _tensor(x, fix)
    if not x.is_floating_point():
        fix = "Convert it, e.g. x.float() / 255 for 8-bit images, and give sigma in those units."
        raise InputError(expected("a floating-point input", str(x.dtype), fix))
    return _checked(x, input_range)


def any_tensor(x: Any, input_range: InputRange, noise: str) -> torch.Tensor:
    """A tensor of numbers of any kind inside the declared range, for noise that hides or moves."""
    return _checked(_tensor(x, f"{noise} works on tensors: convert the input first."), input_range)


def check_dimension(x: torch.Tensor, dimension: int) -> torch.Tensor:
    """Refuse an input with another number of values than the noise was built for."""
    if x.numel() != dimension:
        fix = f"Build the noise with dimension={x.numel()}: its guarantee depends on it."
        raise InputError(expected(f"an input of {dimension} values", x.numel(), fix))
    return x


def token_list(x: Any, input_range: InputRange) -> list[Any]:
    """A sequence of tokens as a list."""
    if input_range is not None:
        fix = "Leave input_range out: tokens have no range of values."
        raise InputError(expected("no input_range for tokens", input_range, fix))
    if not isinstance(x, (list, tuple)):
        fix = "Split the text first: text.split() for words, list(text) for characters."
        raise InputError(expected("a list of tokens", type(x).__name__, fix))
    return list(x)


def _tensor(x: Any, fix: str) -> torch.Tensor:
    got = type(x).__name__
    if isinstance(x, np.ndarray):
        try:
            x = torch.from_numpy(x.copy())  # a copy: torch takes no reversed axes
        except TypeError:
            got = f"an array of {x.dtype}"
    if not isinstance(x, torch.Tensor):
        raise InputError(expected("a torch tensor or numpy array of numbers", got, fix))
    return x.detach()


def _checked(x: torch.Tensor, input_range: InputRange) -> torch.Tensor:
    if not bool(torch.isfinite(x).all()):
        bad = int((~torch.isfinite(x)).sum())
        fix = "Clean the input first: noise cannot be added to NaN or infinity."
        raise InputError(expected("finite input values", f"{bad} NaN or infinite ones", fix))
    if input_range is not None and x.numel():
        _check_range(x, input_range)
    return x


def _check_range(x: torch.Tensor, input_range: tuple[float, float]) -> None:
    low, high = float(x.min()), float(x.max())
    if low < input_range[0] or high > input_range[1]:
        fix = "Rescale the input, or declare its real input_range (sigma and eps are in its units)."
        what = f"an input within [{input_range[0]:g}, {input_range[1]:g}]"
        raise InputError(expected(what, f"values from {low:g} to {high:g}", fix))
