"""Attacks by gradients: the expected distance of the outputs under noise, climbed step by step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from centersmooth.noise import Noise
from centersmooth.noise.balls import Ball

_PAIRS = 16


def differentiable(model: Callable[[Any], Any], x: Any, reference: Any) -> bool:
    """Whether the model's output has a gradient with respect to x, and the reference's shape."""
    if not (isinstance(model, torch.nn.Module) and isinstance(x, torch.Tensor)):
        return False
    if not (x.is_floating_point() and isinstance(reference, torch.Tensor)):
        return False
    try:
        with torch.enable_grad():
            output = model(x.detach()[None].clone().requires_grad_())
    except Exception:  # a model may refuse a batch of one, or gradients, with anything
        return False
    if not isinstance(output, torch.Tensor) or output.grad_fn is None:
        return False
    return output.numel() == reference.numel()


class Ascent:
    """Moves within the ball that climb ``E |f(x + delta + noise) - w|`` (EOT-PGD).

    Every step looks at pairs of opposite noises: to first order they cancel, which leaves the
    effect of the move. It is a stand-in for the distance that the certificate is about.
    """

    def __init__(
        self,
        model: Callable[[Any], Any],
        noise: Noise,
        x: torch.Tensor,
        reference: torch.Tensor,
        seed: int,
    ) -> None:
        self._model, self._noise, self._x = model, noise, x.detach()
        self._reference = reference.detach().to(x.device).double().flatten()
        self._generator = torch.Generator(x.device).manual_seed(seed)
        self.evaluations = 0

    def climb(self, ball: Ball, delta: torch.Tensor, eps: float, steps: int) -> torch.Tensor:
        """From a first move to a better one."""
        for step in range(steps):
            stride = eps * (1.0 if step < steps / 2 else 0.25)
            rise = ball.steepest(self.gradient(delta), stride)
            delta = ball.project(delta + rise, eps)
        return delta

    def gradient(self, delta: torch.Tensor) -> torch.Tensor:
        """Of the mean distance, at x + delta."""
        noise = self._noise.sample(self._x, self._generator, _PAIRS) - self._x
        move = delta.to(self._x.dtype).detach().requires_grad_()
        with torch.enable_grad():
            outputs = self._model(self._x + move + torch.cat((noise, -noise)))
            distances = (outputs.double().flatten(1) - self._reference).norm(dim=1)
            gradient = torch.autograd.grad(distances.mean(), move)[0]
        self.evaluations += 2 * _PAIRS
        return torch.nan_to_num(gradient.double())
