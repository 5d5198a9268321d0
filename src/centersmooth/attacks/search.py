"""The search for the worst input within eps: random ones, responses, gradients, refinement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from centersmooth.attacks.ascent import Ascent, differentiable
from centersmooth.attacks.judge import Judge
from centersmooth.noise.balls import Ball
from centersmooth.noise.inputs import InputRange
from centersmooth.procedure import Party, Source
from centersmooth.sampling import noisy

_RANDOM, _KEPT, _CHILDREN, _ROUNDS = 24, 4, 6, 3
_PROBED, _LEAST_PROBED, _ITERATIONS = 256, 32, 12
_NUMBERS = 2**25  # of noise that are held in double precision at once
_STEPS = 20
_PHASE = "response"


@dataclass(frozen=True)
class Candidate:
    """An input that the attacker may choose."""

    x: Any
    found_by: str
    movement: float | None = None
    """As the judge measured it; None before that."""


class Search:
    """Everything that is tried, best first; `evaluations` counts the forward passes."""

    def __init__(
        self,
        source: Source,
        party: Party,
        reference: Any,
        eps: float,
        input_range: InputRange,
        judge: Judge,
    ) -> None:
        self._source, self._party, self._reference = source, party, reference
        self._eps, self._range, self._judge = eps, input_range, judge
        self._generator = torch.Generator().manual_seed(source.address.root % 2**62)
        self._probed = 0
        x = source.x
        floats = isinstance(x, torch.Tensor) and x.is_floating_point()
        self._ball = source.noise.ball(x) if floats else None

    @property
    def evaluations(self) -> int:
        """Forward passes spent so far."""
        return self._probed + self._judge.evaluations

    def run(self, own: Sequence[Any]) -> list[Candidate]:
        """The best inputs found, the worst for the certificate first."""
        noise, x = self._source.noise, self._source.x
        random = noise.attacks(x, self._eps, _RANDOM, self._generator, self._range)
        found = [Candidate(there, "the caller") for there in own]
        found += [Candidate(there, "random search") for there in random]
        if self._ball is not None:
            found += self._responses(self._ball)
        best = self._ranked(found)
        if self._ball is not None and best:
            best = self._ranked([*best[:_KEPT], *self._ascents(self._ball, best)])
            best = self._refined(self._ball, best)
        return best

    def _ranked(self, found: Sequence[Candidate]) -> list[Candidate]:
        """With their movements, the largest first."""
        measured = [
            replace(c, movement=self._judge.movement(c.x)) if c.movement is None else c
            for c in found
        ]
        return sorted(measured, key=lambda c: -(c.movement or 0.0))

    def _moved(self, ball: Ball, delta: torch.Tensor, found_by: str) -> Candidate:
        x = self._source.x
        return Candidate(ball.moved(x, delta.to(x.device), self._eps, self._range), found_by)

    def _responses(self, ball: Ball) -> list[Candidate]:
        """Along the noise to which the outputs respond most, forwards and backwards.

        Power iteration on the covariance of noise and outputs, from the samples alone: what the
        gradient would tell of a linear model, without one.
        """
        count = min(_PROBED, max(_LEAST_PROBED, _NUMBERS // max(1, self._source.x.numel())))
        found = _noise_and_rows(self._source, self._party, count)
        self._probed += count
        if found is None:
            return []
        noise, rows = found
        direction = noise.T @ (rows @ torch.ones(rows.shape[1], 1).to(rows))
        for _ in range(_ITERATIONS):
            direction = noise.T @ (rows @ (rows.T @ (noise @ direction)))
            direction = direction / direction.norm().clamp(min=1e-300)
        gradient = direction.reshape(self._source.x.shape)
        moves = (ball.steepest(sign * gradient, self._eps) for sign in (1.0, -1.0))
        return [self._moved(ball, move, "the outputs' response to noise") for move in moves]

    def _ascents(self, ball: Ball, starts: Sequence[Candidate]) -> list[Candidate]:
        source = self._source
        if not differentiable(source.model.function, source.x, self._reference):
            return []
        ascent = Ascent(
            source.model.function,
            source.noise,
            source.x,
            self._reference,
            source.address.root % 2**62,
        )
        found = []
        for start in starts[:_KEPT]:
            delta = start.x.double() - source.x.double()
            delta = ascent.climb(ball, delta, self._eps, _STEPS)
            found.append(self._moved(ball, delta, "gradient ascent"))
        self._probed += ascent.evaluations
        return found

    def _refined(self, ball: Ball, best: Sequence[Candidate]) -> list[Candidate]:
        """Random changes of the best so far, smaller and smaller."""
        x, kept = self._source.x.double(), list(best[:_KEPT])
        for step in range(_ROUNDS):
            children = []
            for parent in kept:
                move = parent.x.double() - x
                for _ in range(_CHILDREN):
                    change = ball.random(x, self._eps * 0.5 ** (step + 1), self._generator)
                    longer = ball.project(1.5 * (move + change), self._eps)
                    name = parent.found_by.removesuffix(", refined") + ", refined"
                    children.append(self._moved(ball, longer, name))
            kept = self._ranked([*kept, *children])[:_KEPT]
        return kept


def _noise_and_rows(
    source: Source, party: Party, count: int
) -> tuple[torch.Tensor, torch.Tensor] | None:
    """Centred noises and the outputs under them, where both are rows of numbers."""
    copies = noisy(source.noise, source.x, source.address, _PHASE, 0, count)
    noise = (copies.double() - source.x.double()).flatten(1)
    parts = [source.model(part, False) for part in torch.split(copies, source.batching.size)]
    blocks = [party.metric.collate(part) for part in parts]
    rows = [block.rows for block in blocks]
    if not all(isinstance(row, torch.Tensor) and row.dim() == 2 for row in rows):
        return None
    if len({row.shape[1] for row in rows}) != 1:
        return None
    valid = torch.cat([block.valid for block in blocks]).to(rows[0].device)
    outputs = torch.cat(rows).double()[valid]
    if len(outputs) < count // 4 or outputs.shape[1] == 0:
        return None
    chosen = noise.to(outputs.device)[valid]
    return chosen - chosen.mean(dim=0), outputs - outputs.mean(dim=0)
