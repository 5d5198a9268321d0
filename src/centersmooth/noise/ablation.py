"""Noise that hides most of the input, against attackers who change a few places."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import torch

from centersmooth.errors import ArgumentError, InputError, expected
from centersmooth.noise.counts import SCALE, changes
from centersmooth.noise.draws import randint, subsets
from centersmooth.noise.inputs import InputRange, any_tensor
from centersmooth.noise.options import sizes, whole
from centersmooth.noise.shared import SharedMass

_ABSENT = "absent=None adds a channel that is 1 where nothing is shown."


class _Ablation(SharedMass):
    """Values at places that are not kept are hidden, and the model can tell which ones."""

    absent: float | None

    @property
    def scale(self) -> float:
        """Four changes, so that tables show 1, 2, 4, 6 and 8."""
        return SCALE

    def hidden(self, x: torch.Tensor, kept: torch.Tensor) -> torch.Tensor:
        """One copy of x per row of `kept`, of shape (count, *places), with the rest hidden.

        x has the axes of the places, or one more before them: channels, hidden together.
        """
        stacked = x.dim() == kept.dim()
        fill = torch.tensor(0 if self.absent is None else self.absent).to(x)
        values = torch.where(kept.unsqueeze(1), x if stacked else x.unsqueeze(0), fill)
        if self.absent is None:
            return torch.cat([values, (~kept).unsqueeze(1).to(x.dtype)], dim=1)
        return values if stacked else values.squeeze(1)

    def attacks(
        self, x: Any, eps: float, count: int, generator: torch.Generator, input_range: InputRange
    ) -> list[Any]:
        """The least or the largest value there is, at random, in place of what may be changed."""
        low, high = input_range or (float(x.min()), float(x.max()))
        found = []
        for _ in range(count):
            values = torch.randint(2, x.shape, generator=generator).to(x)
            if randint(2, generator):  # all alike, or each by itself
                values[...] = float(randint(2, generator))
            places = self.changed(x, changes(eps), generator)
            found.append(torch.where(places, low + (high - low) * values, x).to(x.dtype))
        return found

    @abstractmethod
    def changed(self, x: torch.Tensor, size: int, generator: torch.Generator) -> torch.Tensor:
        """Where an attacker of this size changes x: booleans that go with x."""

    def _check_absent(self) -> None:
        if self.absent is not None and not (
            isinstance(self.absent, (int, float)) and math.isfinite(self.absent)
        ):
            raise ArgumentError(expected("a finite absent value", repr(self.absent), _ABSENT))

    def _check_kind(self, x: torch.Tensor) -> None:
        """The null value must be one that the input's type can hold."""
        if self.absent is None or x.is_floating_point():
            return
        if torch.tensor(self.absent).to(x.dtype).item() != self.absent:
            what = f"an input that can hold the absent value {self.absent:g}"
            raise InputError(expected(what, str(x.dtype), f"Convert the input, or {_ABSENT}"))


@dataclass(frozen=True)
class Ablation(_Ablation):
    """Shows `keep` of the input's `features`, picked at random, and hides all others.

    eps is the number of features that the attacker changes, each as it likes (l0; 2.7 allows 2).
    ``mass_left(p, eps) = p - 1 + C(features - eps, keep) / C(features, keep)``, clipped at 0.

    A feature is one value of x; with ``channels=True``, all values at one place of an x whose
    first axis holds channels. Hidden values become 0 and a channel is added at the end that is
    1 where they are: (C, H, W) becomes (C + 1, H, W), and without channels (H, W) becomes
    (2, H, W). With `absent` they become that value and the shape stays; then exact only if no
    feature has the value.
    """

    keep: int
    features: int
    channels: bool = False
    absent: float | None = None
    norm: ClassVar[str] = "l0"

    def __post_init__(self) -> None:
        count = "features is x.numel(), or x[0].numel() with channels=True."
        whole(self.features, "features", 1, count)
        whole(self.keep, "keep", 1, "It is how many features the model is shown.")
        if self.keep > self.features:
            fix = "keep is how many of the features are shown."
            raise ArgumentError(expected(f"keep <= {self.features}", self.keep, fix))
        self._check_absent()

    def sample(self, x: torch.Tensor, generator: torch.Generator, count: int) -> torch.Tensor:
        """`count` copies, each showing other features."""
        kept = subsets(self.keep, self.features, count, generator, x.device)
        return self.hidden(x, kept.reshape(count, *(x.shape[1:] if self.channels else x.shape)))

    def changed(self, x: torch.Tensor, size: int, generator: torch.Generator) -> torch.Tensor:
        """Random features."""
        shape = x.shape[1:] if self.channels else x.shape
        places = torch.zeros(self.features, dtype=torch.bool)
        places[torch.randperm(self.features, generator=generator)[:size]] = True
        return places.reshape(shape).to(x.device)

    def shared(self, eps: float) -> float:
        """The probability that none of the changed features is shown."""
        return _none_shown(self.features, self.keep, changes(eps))

    def check_input(self, x: Any, input_range: InputRange) -> torch.Tensor:
        """A tensor with the declared number of features."""
        tensor = any_tensor(x, input_range, type(self).__name__)
        shape = tuple(tensor.shape)
        if self.channels and len(shape) < 2:
            fix = "With channels=True the first axis of the input holds channels."
            raise InputError(expected("an input with channels", f"shape {shape}", fix))
        found = math.prod(shape[1:] if self.channels else shape)
        if found != self.features:
            fix = f"Build the noise with features={found}: its guarantee depends on it."
            raise InputError(expected(f"an input of {self.features} features", found, fix))
        self._check_kind(tensor)
        return tensor

    def largest_move(self, x: torch.Tensor, input_range: tuple[float, float]) -> float:
        """Every feature changed."""
        return float(self.features)


@dataclass(frozen=True)
class PatchAblation(_Ablation):
    """Shows one block of pixels at a random place, wrapped round the border, and hides the rest.

    The attacker changes the pixels of one square patch as it likes; eps is the side of the
    patch in pixels (2.7 allows 2). With ``m = eps``,
    ``mass_left(p, eps) = p - min(H, m + h - 1) min(W, m + w - 1) / (H W)``, clipped at 0, for a
    `block` of h x w in an `image` of H x W. A block as high as the image is a band.

    Inputs are (H, W) or (C, H, W). Hidden pixels are marked as in `Ablation`.
    """

    block: tuple[int, int]
    image: tuple[int, int]
    absent: float | None = None
    norm: ClassVar[str] = "patch"

    def __post_init__(self) -> None:
        image = sizes(self.image, "image", "image=(28, 28) is the height and width of inputs.")
        block = sizes(self.block, "block", "block=(5, 5) is the height and width that are shown.")
        if block[0] > image[0] or block[1] > image[1]:
            fix = "The block is the part of the image that the model is shown."
            raise ArgumentError(expected(f"a block within {image}", block, fix))
        object.__setattr__(self, "image", image)
        object.__setattr__(self, "block", block)
        self._check_absent()

    def sample(self, x: torch.Tensor, generator: torch.Generator, count: int) -> torch.Tensor:
        """`count` copies, each showing a block at another place."""
        spans = []
        for shown, size in zip(self.block, self.image, strict=True):
            start = torch.randint(size, (count, 1), generator=generator, device=x.device)
            spans.append((torch.arange(size, device=x.device) - start) % size < shown)
        return self.hidden(x, spans[0][:, :, None] & spans[1][:, None, :])

    def changed(self, x: torch.Tensor, size: int, generator: torch.Generator) -> torch.Tensor:
        """A square somewhere in the image."""
        places = torch.zeros(self.image, dtype=torch.bool)
        sides = [min(size, length) for length in self.image]
        top, left = (
            randint(length - side + 1, generator)
            for length, side in zip(self.image, sides, strict=True)
        )
        places[top : top + sides[0], left : left + sides[1]] = True
        return places.to(x.device)

    def shared(self, eps: float) -> float:
        """The probability that the block and the patch do not meet."""
        side = changes(eps)
        if side == 0:
            return 1.0
        pairs = list(zip(self.block, self.image, strict=True))
        meet = math.prod(min(size, side + shown - 1) for shown, size in pairs)
        total = math.prod(self.image)
        return math.nextafter((total - meet) / total, -1.0) if meet < total else 0.0

    def check_input(self, x: Any, input_range: InputRange) -> torch.Tensor:
        """A tensor (H, W) or (C, H, W) of the declared size."""
        tensor = any_tensor(x, input_range, type(self).__name__)
        if tensor.dim() not in (2, 3) or tuple(tensor.shape[-2:]) != self.image:
            what = "an image of shape ({}, {}), with or without channels".format(*self.image)
            fix = "Build the noise with the size of the inputs: its guarantee depends on it."
            raise InputError(expected(what, tuple(tensor.shape), fix))
        self._check_kind(tensor)
        return tensor

    def largest_move(self, x: torch.Tensor, input_range: tuple[float, float]) -> float:
        """A patch that covers the image."""
        return float(max(self.image))


@lru_cache(maxsize=4096)
def _none_shown(features: int, keep: int, changed: int) -> float:
    """C(features - changed, keep) / C(features, keep), rounded down."""
    if changed == 0:
        return 1.0
    if changed > features - keep:
        return 0.0
    # The same with the two subsets exchanged; Python divides whole numbers of any size exactly.
    few, many = sorted((keep, changed))
    return math.nextafter(math.comb(features - many, few) / math.comb(features, few), 0.0)
