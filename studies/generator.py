"""A generator of small photos: the decoder of a variational autoencoder (Kingma and Welling 2014).

It stands in for BigGAN where that cannot be had. Its latent inputs are N(0, I), and an attacker
changes those.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from studies.training import Recipe

LATENT = 64
_SHARPNESS = 0.1  # the standard deviation of a pixel about the decoder's answer


class Generator(nn.Module):
    """(N, 64) to photos (N, 3, 32, 32) in [0, 1]; the encoder is there for training."""

    def __init__(self, channels: int = 3) -> None:
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(channels, 32, 4, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(32, 64, 4, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(64, 128, 4, stride=2, padding=1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(128 * 16, 2 * LATENT),
        )
        self.decoder = nn.Sequential(
            nn.Linear(LATENT, 128 * 16),
            nn.ReLU(),
            nn.Unflatten(1, (128, 4, 4)),
            nn.ConvTranspose2d(128, 64, 4, stride=2, padding=1),
            nn.ReLU(),
            nn.ConvTranspose2d(64, 32, 4, stride=2, padding=1),
            nn.ReLU(),
            nn.ConvTranspose2d(32, channels, 4, stride=2, padding=1),
        )

    def forward(self, latents: Tensor) -> Tensor:
        """The photos that these latents stand for."""
        logits: Tensor = self.decoder(latents)
        return logits.float().sigmoid()


@dataclass(frozen=True)
class Generating(Recipe):
    """How a generator is trained: by the evidence lower bound, per pixel."""

    dataset: str = "cifar10"
    task: str = "generator"
    noise: float = 0.0
    epochs: int = 6
    images: int = 50_000

    def check_task(self) -> None:
        """There is only one."""

    def network(self) -> nn.Module:
        return Generator()

    def loss(self, model: Any, clean: Tensor, generator: torch.Generator) -> Tensor:
        """Squared error of a sampled reconstruction plus the divergence from N(0, I)."""
        # Single precision, whatever the layers run in: exp(v) - 1 - v would lose all its digits.
        mean, log_variance = model.encoder(clean).float().chunk(2, dim=1)
        noise = torch.randn(mean.shape, generator=generator)
        photos = model(mean + (log_variance / 2).exp() * noise)
        error = (photos - clean).pow(2).sum() / (2 * _SHARPNESS**2)
        divergence = (mean.pow(2) + log_variance.exp() - 1 - log_variance).sum() / 2
        bound: Tensor = (error + divergence) / clean.numel()
        return bound


def latents(count: int, size: int = LATENT, seed: int = 0) -> Tensor:
    """Inputs drawn as the generator was trained for; the same first ones however many."""
    generator = torch.Generator().manual_seed(seed)
    return torch.stack([torch.randn(size, generator=generator) for _ in range(count)])
