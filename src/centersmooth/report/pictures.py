"""Inputs and outputs as something to look at: an image, a curve, or text."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

from centersmooth.report.labels import readable, shortened

_LONGEST_SIDE = 320  # pixels; larger images are shrunk for the page
_LONGEST_TEXT = 600
_CURVE_POINTS = 240
CURVE_WIDTH, CURVE_HEIGHT = 200, 100


@dataclass(frozen=True)
class Picture:
    """One thing to show: exactly one of `src`, `curve` and `text` is set."""

    src: str | None = None
    """A PNG as a data address."""
    width: int = 0
    height: int = 0
    curve: str | None = None
    """An SVG path in a field of CURVE_WIDTH by CURVE_HEIGHT."""
    text: str | None = None
    note: str = ""
    """How grey levels are to be read, where that is not obvious."""

    @property
    def small(self) -> bool:
        """Whether pixels are to be shown as squares."""
        return max(self.width, self.height) <= 64


@dataclass(frozen=True)
class Scale:
    """What is shown black, and what white."""

    low: float
    high: float

    @property
    def note(self) -> str:
        """Empty for the usual scales."""
        usual = (self.low, self.high) in ((0.0, 1.0), (0.0, 255.0))
        return "" if usual else f"grey levels from {self.low:.3g} to {self.high:.3g}"


def scale_of(outputs: Iterable[Any]) -> Scale:
    """One scale for all images that are to be compared."""
    arrays = [array for output in outputs if (array := image(output)) is not None and array.size]
    finite = [array[np.isfinite(array)] for array in arrays]
    low = min((float(a.min()) for a in finite if a.size), default=0.0)
    high = max((float(a.max()) for a in finite if a.size), default=1.0)
    whole = all(np.issubdtype(array.dtype, np.integer) for array in arrays)
    if low >= 0 and high <= 1:
        return Scale(0.0, 1.0)
    if low >= 0 and high <= 255 and whole:
        return Scale(0.0, 255.0)
    return Scale(low, high if high > low else low + 1.0)


def picture(output: Any, scale: Scale) -> Picture:
    """The output in the form that suits it."""
    array = image(output)
    if array is not None:
        return _image_picture(array, scale)
    if isinstance(output, torch.Tensor) and output.dim() == 1 and output.numel() > 8:
        return _curve_picture(output.detach().cpu().double().numpy())
    return Picture(text=shortened(readable(_in_words(output), lines=True), _LONGEST_TEXT))


def image(output: Any) -> NDArray[Any] | None:
    """Height, width and colours (1 or 3) of an output that is an image, else None."""
    if not isinstance(output, (torch.Tensor, np.ndarray)):
        return None
    tensor = torch.as_tensor(output).detach().cpu()
    if tensor.dim() == 2:
        tensor = tensor[None]
    if tensor.dim() != 3 or tensor.shape[0] not in (1, 3) or min(tensor.shape[1:]) < 4:
        return None
    if tensor.dtype == torch.bool:
        tensor = tensor.to(torch.uint8)
    elif tensor.is_floating_point():
        tensor = tensor.float()
    return tensor.permute(1, 2, 0).numpy()


def _image_picture(array: NDArray[Any], scale: Scale) -> Picture:
    height, width = array.shape[:2]
    share = (np.nan_to_num(array.astype(float)) - scale.low) / (scale.high - scale.low)
    pixels = (np.clip(share, 0, 1) * 255).round().astype(np.uint8)
    found = Image.fromarray(pixels[..., 0] if pixels.shape[2] == 1 else pixels)
    if max(height, width) > _LONGEST_SIDE:
        found.thumbnail((_LONGEST_SIDE, _LONGEST_SIDE))
    file = io.BytesIO()
    found.save(file, format="PNG", optimize=True)
    src = "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()
    return Picture(src=src, width=width, height=height, note=scale.note)


def _curve_picture(values: NDArray[np.float64]) -> Picture:
    if len(values) > _CURVE_POINTS:
        values = values[np.linspace(0, len(values) - 1, _CURVE_POINTS).astype(int)]
    values = np.nan_to_num(values, posinf=0.0, neginf=0.0)
    low, high = float(values.min()), float(values.max())
    across = np.linspace(2, CURVE_WIDTH - 2, len(values))
    down = CURVE_HEIGHT - 4 - (values - low) / ((high - low) or 1.0) * (CURVE_HEIGHT - 8)
    points = (f"{x:.1f} {y:.1f}" for x, y in zip(across, down, strict=True))
    return Picture(curve="M" + "L".join(points), note=f"values from {low:.3g} to {high:.3g}")


def _in_words(output: Any) -> str:
    if isinstance(output, str):
        return output or "(empty text)"
    if isinstance(output, torch.Tensor):
        return _tensor_in_words(output.detach().cpu())
    if isinstance(output, dict):
        return "; ".join(f"{_in_words(k)}: {_in_words(v)}" for k, v in output.items())
    if isinstance(output, (set, frozenset)):
        return "{" + ", ".join(sorted(_in_words(item) for item in output)) + "}"
    if isinstance(output, (list, tuple)):
        return ", ".join(_in_words(item) for item in output) or "(nothing)"
    if isinstance(output, float):
        return f"{output:.4g}"
    return "(nothing)" if output is None else str(output)


def _tensor_in_words(tensor: torch.Tensor) -> str:
    if tensor.numel() == 0:
        return "(nothing)"
    if tensor.numel() <= 8:
        return ", ".join(f"{float(value):.4g}" for value in tensor.flatten())
    shape = "×".join(str(size) for size in tensor.shape)
    low, high = float(tensor.min()), float(tensor.max())
    return f"{shape} numbers from {low:.3g} to {high:.3g}"
