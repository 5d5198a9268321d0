"""Models trained to give back the clean image; kept in the user's cache, resumed after a stop.

Layers run under bfloat16 autocast in training, for its speed; losses are in single precision.

Every epoch has a seed of its own, so that a training that was stopped and went on gives the very
weights of one that was not (on the same machine, with one thread).
"""

from __future__ import annotations

import hashlib
import io
import json
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import mse_loss

from centersmooth.errors import ArgumentError, expected
from centersmooth.metrics.weights import cache_folder
from studies.autoencoder import Autoencoder, Reconstruction
from studies.data import Images, as_floats, cifar10, mnist
from studies.origins import write_atomically

DATASETS: dict[str, Callable[[], Images]] = {"mnist": mnist, "cifar10": cifar10}
COMMITTED = Path(__file__).parent / "weights"
TASKS = ("autoencoder", "reconstruction")
_SHAPES = {"mnist": (1, 28), "cifar10": (3, 32)}
_VERSION = 2  # of what a recipe means: a change of the code below makes old weights stale


@dataclass(frozen=True)
class Recipe:
    """All that a trained model depends on.

    noise: the standard deviation of the Gaussian noise on its inputs in training.
    images: how many training images are used, the first ones.
    consistency: the weight of ``|f(x + n) - f(x + n')|^2 / 2`` for two draws of the noise, the
    spread of the outputs, beside the error.
    """

    dataset: str
    task: str
    noise: float
    epochs: int
    images: int
    consistency: float = 0.0
    batch: int = 128
    rate: float = 1e-3
    seed: int = 0

    def __post_init__(self) -> None:
        _check_known("dataset", self.dataset, tuple(DATASETS))
        self.check_task()

    def check_task(self) -> None:
        """Refuse a task that there is no network for."""
        _check_known("task", self.task, TASKS)

    @property
    def name(self) -> str:
        """A readable name that differs wherever the weights would."""
        told = json.dumps({"version": _VERSION, **asdict(self)}, sort_keys=True)
        digest = hashlib.sha256(told.encode()).hexdigest()[:12]
        return f"{self.dataset}-{self.task}-noise-{self.noise:g}-{digest}"

    @property
    def place(self) -> Path:
        """The trained weights: those that are committed, else in the cache."""
        committed = COMMITTED / f"{self.name}.pt"
        return committed if committed.exists() else cache_folder() / "studies" / committed.name

    def build(self) -> nn.Module:
        """The network with its first weights, the caller's random numbers untouched."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            return self.network()

    def network(self) -> nn.Module:
        """A new network."""
        kind = Autoencoder if self.task == "autoencoder" else Reconstruction
        return kind(*_SHAPES[self.dataset])

    def loss(self, model: Any, clean: Tensor, generator: torch.Generator) -> Tensor:
        """The error, and the spread if asked for. Noise is not clipped, nor in certificates."""
        seen = model.observe(clean)
        outputs: Tensor = model(seen + self.noise * torch.randn(seen.shape, generator=generator))
        error = mse_loss(outputs, clean)
        if not self.consistency:
            return error
        again = model(seen + self.noise * torch.randn(seen.shape, generator=generator))
        both = (error + mse_loss(again, clean)) / 2
        return both + self.consistency * mse_loss(outputs, again) / 2


def _check_known(noun: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        fix = "These are the ones the studies have."
        raise ArgumentError(expected(f"a {noun} out of {known}", repr(value), fix))


def trained(recipe: Recipe) -> nn.Module:
    """The model of a recipe, in evaluation mode: out of the cache, or trained now."""
    model = recipe.build()
    if recipe.place.exists():
        state = _read(recipe.place)
        model.load_state_dict(state)
        return model.eval().requires_grad_(False)
    images = DATASETS[recipe.dataset]().train[: recipe.images]
    _train(recipe, model, images)
    write_atomically(recipe.place, _bytes(model.state_dict()))
    _checkpoint(recipe).unlink(missing_ok=True)
    return model.eval().requires_grad_(False)


def _train(recipe: Recipe, model: nn.Module, images: Tensor) -> None:
    """The epochs that are missing; each ends with a checkpoint."""
    model.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    optimizer = torch.optim.Adam(model.parameters(), lr=recipe.rate, fused=True)
    start = 0
    if _checkpoint(recipe).exists():
        kept = _read(_checkpoint(recipe))
        model.load_state_dict(kept["model"])
        optimizer.load_state_dict(kept["optimizer"])
        start = int(kept["epochs"])
    for epoch in range(start, recipe.epochs):
        error = _epoch(recipe, model, optimizer, images, epoch)
        print(
            f"{recipe.name}: epoch {epoch + 1} of {recipe.epochs}, loss {error:.5f}",
            file=sys.stderr,
            flush=True,
        )
        kept = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
        write_atomically(_checkpoint(recipe), _bytes({**kept, "epochs": epoch + 1}))


def _epoch(
    recipe: Recipe,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    images: Tensor,
    epoch: int,
) -> float:
    """Every image once, with noise of its own; the mean loss."""
    model.train()
    generator = torch.Generator().manual_seed(1_000_003 * (recipe.seed + 1) + epoch)
    order, total = torch.randperm(len(images), generator=generator), 0.0
    for places in torch.split(order, recipe.batch):
        if len(places) < 2:  # batch norm needs two
            continue
        clean = as_floats(images[places]).contiguous(memory_format=torch.channels_last)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = recipe.loss(model, clean, generator)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        total += loss.item() * len(places)
    return total / len(images)


@torch.inference_mode()
def reconstruction_error(
    model: nn.Module, images: Tensor, noise: float, seed: int = 0, batch: int = 250
) -> float:
    """The mean squared error per pixel to the clean image, from noisy inputs."""
    generator = torch.Generator().manual_seed(seed)
    observe: Any = model.observe
    total = 0.0
    for clean in torch.split(images, batch):
        seen = observe(clean)
        outputs = model(seen + noise * torch.randn(seen.shape, generator=generator))
        total += float(mse_loss(outputs, clean)) * len(clean)
    return total / len(images)


def _checkpoint(recipe: Recipe) -> Path:
    return recipe.place.with_suffix(".unfinished")


def _bytes(state: Any) -> bytes:
    buffer = io.BytesIO()
    torch.save(state, buffer)
    return buffer.getvalue()


def _read(path: Path) -> Any:
    return torch.load(path, map_location="cpu", weights_only=True)
