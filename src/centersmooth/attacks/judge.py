"""How far the smoothed model's answer moves at an input, estimated from few samples."""

from __future__ import annotations

from typing import Any

from centersmooth.answering import find_answers
from centersmooth.errors import CenterError
from centersmooth.metrics import Block
from centersmooth.procedure import Party, Source
from centersmooth.sampling import Address

_MOVED = b"an input that an attack tries"


class Judge:
    """Answers of a smaller smoothed model, all with the same noise so that they compare."""

    def __init__(self, source: Source, party: Party, reference: Block, samples: int) -> None:
        self._source, self._party, self._reference = source, party, reference
        self._samples = samples
        self.evaluations = 0

    def movement(self, x: Any) -> float:
        """The distance (in the center's lengths) of one answer at x from the reference point."""
        address = Address(self._source.address.root, _MOVED)
        origin = self._source
        there = Source(origin.model, origin.noise, x, address, origin.batching, origin.on_invalid)
        self.evaluations += self._party.center.draws + self._samples
        try:
            answer = find_answers(there, [self._party], self._samples, _ignored)[0]
        except CenterError:
            return 0.0
        return float(self._party.metric.measure(self._reference, answer.reference)[0, 0])


def _ignored(count: int) -> None:
    """No bar for the search."""
