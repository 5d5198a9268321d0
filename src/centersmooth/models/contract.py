"""Checks of the model that cost a few forward passes and save a wrong certificate."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import torch

from centersmooth.errors import BatchDependenceError, ModelError, expected
from centersmooth.metrics import Block
from centersmooth.models.model import Model
from centersmooth.outputs import join

_ROWS = 8
_KEPT = 4

Measure = Callable[[Block, Block], torch.Tensor]


def check_contract(
    model: Model, batch: Any, collate: Callable[[Any], Block], measure: Measure
) -> int:
    """Try the model on 12 noisy inputs: the same answers whatever shares the batch, and where.

    Returns the number of forward passes spent. Rounding may move an answer a little, and a
    thresholded one now and then by a lot, so only a majority of changed answers counts.
    """
    kept, middle, rest = batch[:_KEPT], batch[_KEPT:_ROWS], batch[_ROWS : _ROWS + _KEPT]
    # Joining copies: a model may overwrite what it is given.
    outputs = model(join([kept, middle]))
    first = collate(join([outputs]))
    again = collate(model(join([kept, middle])))
    other = collate(model(join([rest, kept]))).take(_KEPT, _ROWS)  # in other places, too
    spread = measure(first, first)
    typical = float(spread[torch.isfinite(spread)].median()) if len(spread) else 0.0
    if _changed(measure, first.take(_KEPT, _ROWS), collate(outputs).take(_KEPT, _ROWS), typical):
        fix = "Return a copy from the model, e.g. outputs.clone()."
        got = "outputs that its next call overwrites"
        raise ModelError(expected("a model that returns new outputs", got, fix))
    if _changed(measure, first, again, typical):
        warnings.warn(
            "the model answers the same batch differently each time: it draws randomness of its "
            "own. The guarantee holds if those draws are independent, but no seed reproduces it.",
            stacklevel=2,
        )
    elif _changed(measure, first, other, typical):
        fix = (
            "Call model.eval() (BatchNorm in training mode does this), do not normalise over the "
            "batch or pad to its longest input, and draw no random numbers from a fixed seed. If "
            "it cannot be helped, use cs.models.one_at_a_time."
        )
        got = "answers that change with the rest of the batch, or with the place in it"
        raise BatchDependenceError(expected("answers that depend on one input each", got, fix))
    return 2 * _ROWS + 2 * _KEPT


def _changed(measure: Measure, one: Block, other: Block, typical: float) -> bool:
    lengths = measure(one.take(0, _KEPT), other.take(0, _KEPT)).diagonal()
    both_failed = ~(one.valid[:_KEPT] | other.valid[:_KEPT]).to(lengths.device)
    return int(((lengths > 1e-3 * typical) & ~both_failed).sum()) > _KEPT // 2
