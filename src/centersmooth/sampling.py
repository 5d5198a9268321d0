"""The only loop over noise: x, noise, model, address -> blocks of outputs.

Randomness is addressed: (root seed, SHA-256 of x, phase, block) names a stream of noise, so
it does not depend on batch size, workers, or the metric.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from centersmooth.errors import ArgumentError, InputError, expected
from centersmooth.models import Model
from centersmooth.noise import Noise
from centersmooth.outputs import Outputs, join

BLOCK = 64
"""Noisy copies per address. Changing it changes every seeded result."""

CANDIDATES, SAMPLES, CERTIFICATION, PROBES = "candidates", "samples", "certification", "probes"


def root_seed(seed: int | None) -> int:
    """A seed from the operating system unless one is given."""
    if seed is None:
        return secrets.randbits(63)
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < 2**63:
        fix = "It is an int of Python's own; None draws a fresh seed from the operating system."
        raise ArgumentError(expected("a seed from 0 to 2**63 - 1", repr(seed), fix))
    return seed


def fingerprint(x: Any) -> bytes:
    """SHA-256 of an input's value."""
    return hashlib.sha256(_bytes(x)).digest()


def _bytes(x: Any) -> bytes:
    if isinstance(x, (torch.Tensor, np.ndarray)):
        tensor = torch.as_tensor(x).detach().cpu().contiguous()
        head = f"{tensor.dtype}{tuple(tensor.shape)}".encode()
        return head + tensor.reshape(-1).view(torch.uint8).numpy().tobytes()
    if isinstance(x, (str, bytes, int, float, bool, type(None))):
        return repr(x).encode()
    if isinstance(x, (list, tuple)):
        return b"(" + b",".join(fingerprint(item) for item in x) + b")"
    if isinstance(x, dict):
        return b"{" + b",".join(fingerprint(item) for item in sorted(x.items())) + b"}"
    fix = "Use tensors, arrays, strings, numbers, or lists and dicts of them."
    raise InputError(expected("an input with a value to hash", type(x).__name__, fix))


@dataclass(frozen=True)
class Address:
    """Where the randomness of one input comes from."""

    root: int
    x: bytes

    def generator(self, phase: str, block: int, device: torch.device) -> torch.Generator:
        """The stream of one block of one phase."""
        name = f"{self.root}/{self.x.hex()}/{phase}/{block}".encode()
        if device.type != "cpu":
            seed = int.from_bytes(hashlib.sha256(name).digest()[:8], "little") >> 1
            return torch.Generator(device).manual_seed(seed)
        return _full_generator(name)


def _full_generator(name: bytes) -> torch.Generator:
    """A CPU generator whose whole state comes from the name.

    `manual_seed` keeps only 32 bits of its seed on the CPU: among the 16,000 blocks of a
    million samples, two would share their noise in 3 % of runs.
    """
    generator = torch.Generator()
    state = generator.get_state().numpy().copy()
    words = np.frombuffer(hashlib.shake_256(name).digest(4 * 624), dtype="<u4")
    state[24 : 24 + 8 * 624].view(np.uint64)[:] = words
    generator.set_state(torch.from_numpy(state))
    return generator


def noisy(noise: Noise, x: Any, address: Address, phase: str, start: int, stop: int) -> Any:
    """Noisy copies number start to stop of a phase, the same however they are batched."""
    return _Phase(noise, x, address, phase).copies(start, stop)


class _Phase:
    """The noisy copies of one phase; a block that several small batches share is drawn once."""

    def __init__(self, noise: Noise, x: Any, address: Address, phase: str) -> None:
        self._noise, self._x, self._address, self._name = noise, x, address, phase
        self._device = x.device if isinstance(x, torch.Tensor) else torch.device("cpu")
        self._kept: tuple[int, Any] = (-1, None)

    def copies(self, start: int, stop: int) -> Any:
        """Copies number start to stop."""
        parts = []
        for block in range(start // BLOCK, (stop - 1) // BLOCK + 1):
            first, last = max(0, start - block * BLOCK), min(BLOCK, stop - block * BLOCK)
            drawn = self._block(block)
            parts.append(drawn if last - first == BLOCK else _own(drawn[first:last]))
        return parts[0] if len(parts) == 1 else join(parts)

    def _block(self, block: int) -> Any:
        if self._kept[0] != block:
            stream = self._address.generator(self._name, block, self._device)
            self._kept = (block, self._noise.sample(self._x, stream, BLOCK))
        return self._kept[1]


def _own(copies: Any) -> Any:
    """Copies of these copies: a model may overwrite what it is given."""
    return copies.clone() if isinstance(copies, torch.Tensor) else [copy(one) for one in copies]


@dataclass(frozen=True)
class Batching:
    """How noisy copies are handed to the model."""

    size: int
    channels_last: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.size, int) or isinstance(self.size, bool) or self.size < 1:
            fix = "Leave batch_size out to have it measured."
            raise ArgumentError(expected("a batch size >= 1", repr(self.size), fix))


def draw(
    model: Model,
    noise: Noise,
    x: Any,
    address: Address,
    phase: str,
    span: tuple[int, int],
    batching: Batching,
) -> Iterator[Outputs]:
    """The model's outputs for noisy copies number span[0] to span[1] of a phase."""
    drawn = _Phase(noise, x, address, phase)
    for start in range(span[0], span[1], batching.size):
        stop = min(start + batching.size, span[1])
        yield model(drawn.copies(start, stop), batching.channels_last)
