"""A model as the sampler sees it: a batch in, one output per row out."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
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
        self.device = _device_of(function) if device is None else _known(device)
        self._laid_out: torch.nn.Module | None = None

    def __call__(self, batch: Any, channels_last: bool = False) -> Outputs:
        """The outputs for a batch, one per row; images may come with channels last in memory."""
        try:
            with torch.no_grad():
                outputs = self._channels_last(batch) if channels_last else self.function(batch)
        except Exception as error:
            raise ModelError(_failure(batch, error)) from error
        return _checked(outputs, len(batch))

    @property
    def takes_channels_last(self) -> bool:
        """Whether there is a twin of the model with weights to lay out with channels last."""
        module = self.function
        if not isinstance(module, torch.nn.Module) or isinstance(module, torch.jit.ScriptModule):
            return False
        if not any(weight.dim() == 4 for weight in module.parameters()):
            return False
        try:
            self._laid_out = self._laid_out or _twin(module)
        except Exception:  # whatever a module holds that cannot be copied
            return False
        return True

    def _channels_last(self, batch: torch.Tensor) -> Any:
        """The outputs of the twin: the caller's own weights stay untouched."""
        assert isinstance(self.function, torch.nn.Module), "see takes_channels_last"
        self._laid_out = self._laid_out or _twin(self.function)
        return self._laid_out(_laid_out(batch))

    def place(self, x: Any) -> Any:
        """The input on the model's device."""
        if isinstance(x, torch.Tensor) and self.device is not None:
            return x.to(self.device)
        return x

    def begin(self) -> None:
        """Before each run: refuse training mode, in which BatchNorm mixes the samples of a batch,
        and forget laid-out weights, for the caller may have trained since."""
        self._laid_out = None
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


def _tensor(array: np.ndarray[Any, Any]) -> torch.Tensor:
    """A copy: torch takes no reversed axes, foreign byte orders or arrays it must not write to."""
    kind = array.dtype.newbyteorder("=")
    return torch.from_numpy(array.astype(np.float64 if kind == np.longdouble else kind))


def _twin(module: torch.nn.Module) -> torch.nn.Module:
    """A copy that shares all weights but those of convolutions, which it has laid out anew."""
    shared: dict[int, Any] = {}
    for weight in (*module.parameters(), *module.buffers()):
        anew = weight.dim() == 4
        shared[id(weight)] = _frozen(weight) if anew else weight
    return copy.deepcopy(module, shared)


def _frozen(weight: torch.Tensor) -> torch.Tensor:
    tensor = _laid_out(weight.detach())
    is_parameter = isinstance(weight, torch.nn.Parameter)
    return torch.nn.Parameter(tensor, requires_grad=False) if is_parameter else tensor


def _laid_out(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.contiguous(memory_format=torch.channels_last) if tensor.dim() == 4 else tensor


def _known(device: str | torch.device) -> torch.device:
    """The device, if a tensor can be put there."""
    try:
        return torch.empty(0, device=device).device
    except (RuntimeError, AssertionError, TypeError) as error:
        fix = f"Leave device out to use the model's own ({str(error).splitlines()[0]})."
        raise ArgumentError(expected("a device of this machine", repr(device), fix)) from error


def _device_of(function: Any) -> torch.device | None:
    if isinstance(function, torch.nn.Module):
        for tensor in (*function.parameters(), *function.buffers()):
            return tensor.device
    return None


def _failure(batch: Any, error: Exception) -> str:
    got = f"{type(error).__name__}: {error}"
    shape = tuple(getattr(batch, "shape", (len(batch),)))
    kind = f", {batch.dtype}" if isinstance(batch, torch.Tensor) else ""
    fix = f"The model was called with a batch of {len(batch)} noisy inputs, shape {shape}{kind}. "
    if kind and any(word in got for word in ("dtype", "Double", "Half", "BFloat16")):
        fix += (
            "Noisy inputs have the type of the input: give it that of the weights, "
            "e.g. x.float() for the usual single precision."
        )
    else:
        fix += (
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
        array = np.asarray(outputs)
        numbers = array.dtype.kind in "biufc"
        return _checked(_tensor(array) if numbers else array.tolist(), count)
    else:
        found = type(outputs).__name__
    fix = (
        "Return a tensor with a leading batch axis or a list; pick one entry of a dict or tuple "
        "with a lambda, and adapt a function of single inputs by cs.models.one_at_a_time(f)."
    )
    raise OutputError(expected("one output per input", found, fix))
