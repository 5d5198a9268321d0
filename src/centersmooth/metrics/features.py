"""The networks of LPIPS, as an embedding in which it is a squared l2 distance."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from centersmooth.errors import FormatError, OutputError, expected
from centersmooth.metrics.weights import Arrays

_CHUNK = 16
_SHIFT, _SCALE = (-0.030, -0.088, -0.188), (0.458, 0.448, 0.450)
_TRUNKS = {"alex": "AlexNet_0", "vgg": "VGG16_0"}
_SMALLEST = {"alex": 31, "vgg": 16}

# Per stage: the pooling before it (size, stride), and (stride, padding) of its convolutions.
_Stage = tuple[tuple[int, int] | None, tuple[tuple[int, int], ...]]
_PLANS: dict[str, tuple[_Stage, ...]] = {
    "alex": (
        (None, ((4, 2),)),
        ((3, 2), ((1, 2),)),
        ((3, 2), ((1, 1),)),
        (None, ((1, 1),)),
        (None, ((1, 1),)),
    ),
    "vgg": (
        (None, ((1, 1), (1, 1))),
        ((2, 2), ((1, 1), (1, 1))),
        ((2, 2), ((1, 1), (1, 1), (1, 1))),
        ((2, 2), ((1, 1), (1, 1), (1, 1))),
        ((2, 2), ((1, 1), (1, 1), (1, 1))),
    ),
}


class Features(nn.Module):
    """Images (N, 3, H, W) in [-1, 1] to one vector each, whose squared l2 distances are LPIPS.

    Built from arrays named and laid out as in the published files, of any widths.
    """

    def __init__(self, name: str, arrays: Arrays) -> None:
        super().__init__()
        self.name = name
        try:
            stages, heads = _stages(name, arrays), _heads(len(_PLANS[name]), arrays)
        except (KeyError, TypeError, ValueError, IndexError) as error:
            fix = "The file is damaged, or made for another network."
            raise FormatError(expected(f"weights of {name}", repr(error), fix)) from error
        if min(float(head.min()) for head in heads) < 0:
            fix = "LPIPS is a squared distance only with weights >= 0."
            raise FormatError(expected("weights >= 0 for the features", "negative ones", fix))
        self.stages = nn.ModuleList(stages)
        self.heads = nn.ParameterList(heads)
        self.diameter = 2.0 * sum(float(head.max()) for head in heads) * (1 + 2.0**-20)
        self.eval().requires_grad_(False)

    def forward(self, images: Tensor) -> Tensor:
        """The features of every stage, of length one per position, times sqrt(w / positions)."""
        shift, scale = (images.new_tensor(v).reshape(3, 1, 1) for v in (_SHIFT, _SCALE))
        features, rows = (images - shift) / scale, []
        for stage, head in zip(self.stages, self.heads, strict=True):
            features = stage(features)
            lengths = torch.linalg.vector_norm(features, dim=1, keepdim=True) + 1e-10
            weights = (head / math.prod(features.shape[2:])).sqrt().reshape(-1, 1, 1)
            rows.append((features / lengths * weights).flatten(1))
        return torch.cat(rows, dim=1)

    def embed(self, images: Tensor) -> Tensor:
        """The same, always 16 images at a time: a row depends on its own image only.

        (The last bits of a convolution depend on the size of the batch.)
        """
        smallest = _SMALLEST[self.name]
        if min(images.shape[-2:]) < smallest:
            fix = "Upsample inside the model, or use SSIM()."
            got = f"{images.shape[-2]} x {images.shape[-1]}"
            what = f"images of at least {smallest} x {smallest} pixels for {self.name}"
            raise OutputError(expected(what, got, fix))
        rows = []
        with torch.no_grad():
            for part in torch.split(images.to(self.heads[0].device), _CHUNK):
                whole = F.pad(part, (0, 0) * 3 + (0, _CHUNK - len(part)))
                rows.append(self(whole)[: len(part)])
        return torch.cat(rows)


def _stages(name: str, arrays: Arrays) -> list[nn.Module]:
    trunk, count = arrays[_TRUNKS[name]], 0
    stages: list[nn.Module] = []
    for pooling, convolutions in _PLANS[name]:
        layers: list[nn.Module] = [nn.MaxPool2d(*pooling)] if pooling else []
        for stride, padding in convolutions:
            layers += [_convolution(trunk[f"Conv_{count}"], stride, padding), nn.ReLU()]
            count += 1
        stages.append(nn.Sequential(*layers))
    return stages


def _convolution(arrays: Arrays, stride: int, padding: int) -> nn.Conv2d:
    """Kernels are stored as height, width, input, output."""
    kernel = torch.from_numpy(np.array(arrays["kernel"]).transpose(3, 2, 0, 1).copy()).float()
    outputs, inputs, *size = kernel.shape
    with torch.device("meta"):  # nothing is initialised, no random number is drawn
        layer = nn.Conv2d(inputs, outputs, (size[0], size[1]), stride, padding)
    state: dict[str, Any] = {"weight": kernel, "bias": torch.from_numpy(arrays["bias"]).float()}
    layer.load_state_dict(state, assign=True)
    return layer


def _heads(count: int, arrays: Arrays) -> list[nn.Parameter]:
    kernels = [arrays[f"NetLinLayer_{i}"]["Conv_0"]["kernel"] for i in range(count)]
    rows = [torch.from_numpy(np.array(kernel).reshape(-1)).float() for kernel in kernels]
    return [nn.Parameter(row, requires_grad=False) for row in rows]
