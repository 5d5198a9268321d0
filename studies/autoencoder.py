"""The paper's networks: images through a narrow code, and images from few measurements."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

CODE = 256
MEASUREMENTS = 256


class Autoencoder(nn.Module):
    """(N, C, S, S) to the same shape in [0, 1], through a code of 256 numbers.

    3x3 convolution (32), batch norm, 4x4 convolutions of stride 2 (64, 128), batch norm, linear;
    the decoder mirrors it and ends in a sigmoid.
    """

    def __init__(self, channels: int, size: int) -> None:
        super().__init__()
        self.dtype = torch.float32
        small = size // 4
        flat = 128 * small * small
        self.encoder = nn.Sequential(
            nn.Conv2d(channels, 32, 3, padding=1),
            nn.BatchNorm2d(32),
            nn.ReLU(),
            nn.Conv2d(32, 64, 4, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(64, 128, 4, stride=2, padding=1),
            nn.BatchNorm2d(128),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(flat, CODE),
        )
        self.decoder = nn.Sequential(
            nn.Linear(CODE, flat),
            nn.ReLU(),
            nn.Unflatten(1, (128, small, small)),
            nn.BatchNorm2d(128),
            nn.ConvTranspose2d(128, 64, 4, stride=2, padding=1),
            nn.ReLU(),
            nn.ConvTranspose2d(64, 32, 4, stride=2, padding=1),
            nn.BatchNorm2d(32),
            nn.ReLU(),
            nn.Conv2d(32, channels, 3, padding=1),
        )

    def forward(self, images: Tensor) -> Tensor:
        """The images as the code remembers them."""
        own = images.to(self.dtype).contiguous(memory_format=torch.channels_last)
        logits: Tensor = self.decoder(self.encoder(own))
        # Single precision from here, so that outputs are not counted in steps of 1/256.
        return logits.float().sigmoid().contiguous()

    def narrowed(self) -> Autoencoder:
        """Itself in bfloat16, far faster on the processors that have it.

        Batch norm stays in single precision, as under autocast, in which it was trained.
        """
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        for module in self.modules():
            if isinstance(module, (nn.Conv2d, nn.ConvTranspose2d, nn.Linear)):
                module.bfloat16()
        self.dtype = torch.bfloat16
        return self

    def observe(self, images: Tensor) -> Tensor:
        """What the attacker can change: the image itself."""
        return images


class Reconstruction(nn.Module):
    """256 Gaussian measurements ``y = A x`` back to the image: pseudo-inverse, then the network.

    The entries of A are independent N(0, 1/256), so that ``E |A x|^2 = |x|^2``. The attacker
    changes y, and a change of y moves ``A^+ y`` by at most 1 / (least singular value of A).
    """

    measuring: Tensor
    inverse: Tensor

    def __init__(self, channels: int, size: int, seed: int = 0) -> None:
        super().__init__()
        self.shape = (channels, size, size)
        generator = torch.Generator().manual_seed(seed)
        pixels = math.prod(self.shape)
        matrix = torch.randn(MEASUREMENTS, pixels, generator=generator, dtype=torch.float64)
        matrix /= math.sqrt(MEASUREMENTS)
        self.register_buffer("measuring", matrix.float())
        self.register_buffer("inverse", torch.linalg.pinv(matrix).float())
        self.network = Autoencoder(channels, size)

    def forward(self, measured: Tensor) -> Tensor:
        """(N, 256) to (N, C, S, S)."""
        rough = (measured @ self.inverse.T).reshape(-1, *self.shape)
        restored: Tensor = self.network(rough)
        return restored

    def narrowed(self) -> Reconstruction:
        """The network in bfloat16; the measurements stay in single precision."""
        self.network.narrowed()
        return self

    def observe(self, images: Tensor) -> Tensor:
        """What the attacker can change: the measurements."""
        return images.flatten(1) @ self.measuring.T
