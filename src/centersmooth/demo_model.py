"""A small real model and a few real digits, so that a first certificate needs no download.

`scripts/train_demo_model.py` makes both files; `data/README.md` says where they come from.
"""

from importlib.resources import files

import numpy as np
import torch
from torch import Tensor, nn

from centersmooth.errors import ArgumentError, expected


class Autoencoder(nn.Module):
    """Denoise 28x28 digits: (N, 1, 28, 28) to the same shape in [0, 1], through a code of 64."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = _encoder()
        self.decoder = _decoder()

    def forward(self, images: Tensor) -> Tensor:
        """Return the clean image each noisy one most likely came from."""
        restored: Tensor = self.decoder(self.encoder(images))
        return restored


def autoencoder() -> Autoencoder:
    """Return the trained model, frozen and in evaluation mode."""
    # On "meta" nothing is initialised, so loading leaves the caller's random state untouched.
    with torch.device("meta"):
        model = Autoencoder()
    # Stored in half precision to keep the package small; computed in single.
    state = {
        name: torch.from_numpy(array.astype(np.float32) if array.dtype == np.float16 else array)
        for name, array in _arrays("autoencoder.npz").items()
    }
    model.load_state_dict(state, assign=True)
    return model.eval().requires_grad_(False)


def digits(count: int | None = None) -> tuple[Tensor, Tensor]:
    """Return the first `count` packaged test digits (all by default) and their labels.

    Classes take turns (0, 1, ..., 9, 0, ...), so any multiple of ten is exactly balanced.
    """
    stored = _arrays("digits.npz")
    available = len(stored["labels"])
    count = available if count is None else count
    if not 0 < count <= available:
        fix = "Leave it out to get them all."
        raise ArgumentError(expected(f"a count from 1 to {available}", count, fix))
    images = torch.from_numpy(stored["images"][:count]).unsqueeze(1).float() / 255
    return images, torch.from_numpy(stored["labels"][:count]).long()


def _encoder() -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(1, 12, 3, padding=1),
        nn.BatchNorm2d(12),
        nn.ReLU(),
        nn.Conv2d(12, 24, 4, stride=2, padding=1),
        nn.ReLU(),
        nn.Conv2d(24, 48, 4, stride=2, padding=1),
        nn.BatchNorm2d(48),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(48 * 49, 64),
    )


def _decoder() -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(64, 48 * 49),
        nn.ReLU(),
        nn.Unflatten(1, (48, 7, 7)),
        nn.ConvTranspose2d(48, 24, 4, stride=2, padding=1),
        nn.ReLU(),
        nn.ConvTranspose2d(24, 12, 4, stride=2, padding=1),
        nn.ReLU(),
        nn.Conv2d(12, 1, 3, padding=1),
        nn.Sigmoid(),
    )


def _arrays(name: str) -> dict[str, np.ndarray]:
    """Read a packaged archive; pickles are refused, so a tampered file cannot run code."""
    resource = files("centersmooth") / "data" / name
    with resource.open("rb") as file, np.load(file, allow_pickle=False) as archive:
        return dict(archive)
