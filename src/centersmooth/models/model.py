"""A model as the sampler sees it: a batch in, one output per row out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from centersmooth.errors import ArgumentError, ModelError, OutputError, TrainingModeError, expected
from centersmooth.outputs import Outputs


class Model:
    """Wraps a torch module or any callable ``batch -> outputs``."""

    def __init__(self, function: Callable[[Any], Any], device: str | torch.device | None) -> None:
        if not callable(function):
            fix = "Pass a torch.nn.Module or a function of one batch."
            raise ArgumentError(expected("a callable model", type(function).__name__, fix))
        self.function = function
        self.device = torch.device(device) if device is not None else _device_of(function)

    def __call__(self, batch: Any) -> Outputs:
        """The outputs for a batch, one per row."""
        try:
            with torch.no_grad():
                outputs = self.function(batch)
        except Exception as error:
            raise ModelError(_failure(batch, error)) from error
        return _checked(outputs, len(batch))

    def place(self, x: Any) -> Any:
        """The input on the model's device."""
        if isinstance(x, torch.Tensor) and self.device is not None:
            return x.to(self.device)
        return x

    def check_mode(self) -> None:
        """Refuse a module in training mode: BatchNorm would mix the samples of a batch."""
        if not isinstance(self.function, torch.nn.Module):
            return
        training = [name or "the model" for name, m in self.function.named_modules() if m.training]
        if training:
            got = f"training mode in {', '.join(training[:3])}" + (", …" if training[3:] else "")
            fix = "Call model.eval() first."
            raise TrainingModeError(expected("a model in evaluation mode", got, fix))


def one_at_a_time(function: Callable[[Any], Any]) -> Callable[[Any], list[Any]]:
    """A model of batches from a function of a single input."""

    def model(batch: Any) -> list[Any]:
        return [function(x) for x in batch]

    return model


def _device_of(function: Any) -> torch.device | None:
    if isinstance(function, torch.nn.Module):
        for tensor in (*function.parameters(), *function.buffers()):
            return tensor.device
    return None


def _failure(batch: Any, error: Exception) -> str:
    got = f"{type(error).__name__}: {error}"
    shape = tuple(getattr(batch, "shape", (len(batch),)))
    fix = (
        f"The model was called with a batch of {len(batch)} noisy inputs, shape {shape}. "
        "centersmooth adds the batch axis itself: pass one input without it (x[0], not x). "
        "A function of single inputs needs cs.models.one_at_a_time(f)."
    )
    return expected("a model that takes a batch", got, fix)


def _checked(outputs: Any, count: int) -> Outputs:
    if isinstance(outputs, (torch.Tensor, Sequence)) and not isinstance(outputs, (str, bytes)):
        got = len(outputs) if not isinstance(outputs, torch.Tensor) or outputs.dim() else 0
        if got == count:
            return outputs
        found = f"{got} for {count} inputs"
    elif hasattr(outputs, "__array__"):
        return _checked(torch.as_tensor(outputs), count)
    else:
        found = type(outputs).__name__
    fix = (
        "Return a tensor with a leading batch axis or a list; pick one entry of a dict or tuple "
        "with a lambda, and adapt a function of single inputs by cs.models.one_at_a_time(f)."
    )
    raise OutputError(expected("one output per input", found, fix))
