"""BigGAN-deep (Brock et al. 2019) at 128 x 128, from the weights that Hugging Face published.

The file has no known hash here, so it is never fetched: put it in place by hand. It is read as
weights only. Spectral norms are divided out once, when it is read; what is left are plain layers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn.functional import batch_norm, interpolate, max_pool2d

from centersmooth.errors import ArgumentError, FormatError, expected
from centersmooth.metrics.weights import cache_folder
from studies.archives import tensors
from studies.origins import UnreachableError

FILE = "biggan-deep-128-pytorch_model.bin"
ADDRESS = f"https://s3.amazonaws.com/models.huggingface.co/biggan/{FILE}"
_LIMIT = 600_000_000


@dataclass(frozen=True)
class Shape:
    """The sizes of a generator; the defaults are those of BigGAN-deep-128."""

    width: int = 128
    latent: int = 128
    classes: int = 1000
    statistics: int = 51
    """For so many truncations from 0 to 1 the file holds means and variances."""
    attention: int = 8
    layers: tuple[tuple[bool, int, int], ...] = (
        (False, 16, 16),
        (True, 16, 16),
        (False, 16, 16),
        (True, 16, 8),
        (False, 8, 8),
        (True, 8, 4),
        (False, 4, 4),
        (True, 4, 2),
        (False, 2, 2),
        (True, 2, 1),
    )
    """Whether a block doubles the size, and its channels in and out in units of the width."""
    eps: float = 1e-4


class BigGAN(nn.Module):
    """(N, 128) latents to pictures (N, 3, 128, 128) in [0, 1], all of one class."""

    def __init__(self, shape: Shape, label: int, truncation: float = 1.0) -> None:
        super().__init__()
        self.shape, self.label = shape, label
        if not 0 <= label < shape.classes:
            fix = "207 is the golden retriever."
            raise ArgumentError(expected(f"a class below {shape.classes}", label, fix))
        self.row = statistics_row(shape, truncation)
        self.embeddings = nn.Linear(shape.classes, shape.latent, bias=False)
        self.generator = _Trunk(shape)

    def forward(self, latents: Tensor) -> Tensor:
        """The pictures that these latents stand for."""
        kind = self.embeddings.weight[:, self.label].expand(len(latents), -1)
        pictures = self.generator(torch.cat([latents, kind], dim=1), self.row)
        lit: Tensor = (pictures + 1) / 2
        return lit


def statistics_row(shape: Shape, truncation: float) -> int:
    """Which statistics belong to a truncation; only those in the file are used."""
    steps = shape.statistics - 1
    row = round(truncation * steps)
    if not (0 < row <= steps and math.isclose(row / steps, truncation, abs_tol=1e-9)):
        fix = "Statistics are known for these alone."
        what = f"a truncation that is a multiple of {1 / steps:g}, 1 at most"
        raise ArgumentError(expected(what, truncation, fix))
    return row


class _Trunk(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.width = shape.width
        condition = 2 * shape.latent
        self.gen_z = nn.Linear(condition, 4 * 4 * 16 * shape.width)
        layers: list[nn.Module] = []
        for place, (doubles, inputs, outputs) in enumerate(shape.layers):
            if place == shape.attention:
                layers.append(_Attention(inputs * shape.width))
            block = _Block(inputs * shape.width, outputs * shape.width, doubles, condition, shape)
            layers.append(block)
        self.layers = nn.ModuleList(layers)
        self.bn = _Norm(shape.width, None, shape)
        self.conv_to_rgb = nn.Conv2d(shape.width, shape.width, 3, padding=1)

    def forward(self, condition: Tensor, row: int) -> Tensor:
        maps = self.gen_z(condition).view(-1, 4, 4, 16 * self.width).permute(0, 3, 1, 2)
        for layer in self.layers:
            maps = layer(maps.contiguous(), condition, row)
        maps = self.bn(maps, condition, row).relu()
        pictures: Tensor = self.conv_to_rgb(maps)[:, :3].tanh()
        return pictures


class _Norm(nn.Module):
    """Batch norm by statistics from the file, scaled and moved by the condition if there is one."""

    running_means: Tensor
    running_vars: Tensor

    def __init__(self, channels: int, condition: int | None, shape: Shape) -> None:
        super().__init__()
        self.eps = shape.eps
        self.register_buffer("running_means", torch.zeros(shape.statistics, channels))
        self.register_buffer("running_vars", torch.ones(shape.statistics, channels))
        if condition is None:
            self.weight = nn.Parameter(torch.ones(channels))
            self.bias = nn.Parameter(torch.zeros(channels))
        else:
            self.scale = nn.Linear(condition, channels, bias=False)
            self.offset = nn.Linear(condition, channels, bias=False)

    def forward(self, maps: Tensor, condition: Tensor, row: int) -> Tensor:
        mean, variance = self.running_means[row], self.running_vars[row]
        if not hasattr(self, "scale"):
            return batch_norm(maps, mean, variance, self.weight, self.bias, eps=self.eps)
        normal = batch_norm(maps, mean, variance, eps=self.eps)
        scale, offset = self.scale(condition), self.offset(condition)
        moved: Tensor = normal * (1 + scale[..., None, None]) + offset[..., None, None]
        return moved


class _Block(nn.Module):
    """Four convolutions through a quarter of the channels, beside a shortcut."""

    def __init__(
        self, inputs: int, outputs: int, doubles: bool, condition: int, shape: Shape
    ) -> None:
        super().__init__()
        self.doubles, self.outputs, self.keeps = doubles, outputs, inputs == outputs
        middle = inputs // 4
        self.bn_0, self.conv_0 = _Norm(inputs, condition, shape), nn.Conv2d(inputs, middle, 1)
        self.bn_1 = _Norm(middle, condition, shape)
        self.conv_1 = nn.Conv2d(middle, middle, 3, padding=1)
        self.bn_2 = _Norm(middle, condition, shape)
        self.conv_2 = nn.Conv2d(middle, middle, 3, padding=1)
        self.bn_3, self.conv_3 = _Norm(middle, condition, shape), nn.Conv2d(middle, outputs, 1)

    def forward(self, maps: Tensor, condition: Tensor, row: int) -> Tensor:
        deep = self.conv_0(self.bn_0(maps, condition, row).relu())
        deep = self.conv_1(self._sized(self.bn_1(deep, condition, row).relu()))
        deep = self.conv_2(self.bn_2(deep, condition, row).relu())
        deep = self.conv_3(self.bn_3(deep, condition, row).relu())
        # Where channels change, half of them go by the shortcut.
        short = maps if self.keeps else maps[:, : maps.shape[1] // 2]
        added: Tensor = deep + self._sized(short)
        return added

    def _sized(self, maps: Tensor) -> Tensor:
        return interpolate(maps, scale_factor=2, mode="nearest") if self.doubles else maps


class _Attention(nn.Module):
    """Every place looks at all places of the map at half its size."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.snconv1x1_theta = nn.Conv2d(channels, channels // 8, 1, bias=False)
        self.snconv1x1_phi = nn.Conv2d(channels, channels // 8, 1, bias=False)
        self.snconv1x1_g = nn.Conv2d(channels, channels // 2, 1, bias=False)
        self.snconv1x1_o_conv = nn.Conv2d(channels // 2, channels, 1, bias=False)
        self.gamma = nn.Parameter(torch.zeros(1))

    def forward(self, maps: Tensor, condition: Tensor, row: int) -> Tensor:
        asked = self.snconv1x1_theta(maps).flatten(2)
        offered = max_pool2d(self.snconv1x1_phi(maps), 2).flatten(2)
        told = max_pool2d(self.snconv1x1_g(maps), 2).flatten(2)
        weights = (asked.transpose(1, 2) @ offered).softmax(dim=-1)
        seen = (told @ weights.transpose(1, 2)).unflatten(2, maps.shape[2:])
        added: Tensor = maps + self.gamma * self.snconv1x1_o_conv(seen)
        return added


def published(label: int, truncation: float = 1.0, path: Path | None = None) -> BigGAN:
    """BigGAN-deep-128 from the file at hand."""
    place = path or cache_folder() / FILE
    if not place.exists():
        fix = f"Download {ADDRESS} and put it into {place.parent}: there is no package with it."
        raise UnreachableError(expected("the weights of BigGAN-deep-128", "no file", fix))
    if place.stat().st_size > _LIMIT:
        what = f"a file of at most {_LIMIT:,} bytes"
        raise FormatError(expected(what, f"{place.stat().st_size:,}", f"Is this {FILE}?"))
    return filled(BigGAN(Shape(), label, truncation), tensors(place.read_bytes()))


def filled(model: BigGAN, state: Mapping[str, Tensor]) -> BigGAN:
    """The model with weights as published, in evaluation mode."""
    try:
        model.load_state_dict(without_spectral_norms(state))
    except RuntimeError as error:
        fix = "The file is damaged, or of another network."
        raise FormatError(expected("weights of BigGAN-deep", error, fix)) from error
    return model.eval().requires_grad_(False)


def without_spectral_norms(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """``weight_orig / (u W v)`` in place of the three parts of each spectral norm."""
    plain = {}
    for name, value in state.items():
        stem, _, kind = name.rpartition(".")
        if kind == "weight_orig":
            rows, u = value.flatten(1), state[f"{stem}.weight_u"]
            v = state.get(f"{stem}.weight_v")
            if v is None:  # older files keep only one side
                v = nn.functional.normalize(rows.T @ u, dim=0)
            plain[f"{stem}.weight"] = value / (u @ rows @ v)
        elif kind not in ("weight_u", "weight_v"):
            plain[name] = value
    return plain
