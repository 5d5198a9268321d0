"""The smoothing phase: outputs are drawn and gathered until every party has its answer."""

from __future__ import annotations

from collections.abc import Sequence

from centersmooth.centers import Answer
from centersmooth.outputs import Outputs, join
from centersmooth.procedure import Party, Source, check_groups
from centersmooth.progress import Advance
from centersmooth.sampling import CANDIDATES, SAMPLES


def find_answers(
    source: Source, parties: Sequence[Party], samples: int, advance: Advance
) -> tuple[Answer, ...]:
    """The answers of all parties from the same draws."""
    return Answering(parties, samples).run(source, advance)


class Answering:
    """Candidates first, then the samples that choose among them.

    Whatever interrupts `run`, it can be called again and draws only what is missing.
    """

    def __init__(self, parties: Sequence[Party], samples: int) -> None:
        self.parties, self.samples = tuple(parties), samples
        self._begin()

    def _begin(self) -> None:
        self._gatherings = [p.center.gather(p.metric, self.samples) for p in self.parties]
        self._candidates: list[Outputs] = []
        self._offered = False
        self._gathered = 0
        self._torn = False

    @property
    def done(self) -> int:
        """How many outputs need not be drawn again."""
        return self._gathered + sum(map(len, self._candidates))

    def run(self, source: Source, advance: Advance) -> tuple[Answer, ...]:
        """Draw what is missing and name the centers."""
        check_groups(source, self.parties)
        if self._torn:  # an interrupt between two parties: only one has the last outputs
            self._begin()
        advance(self.done)
        self._draw_candidates(source, advance)
        self._offer(source)
        for outputs in source.outputs(SAMPLES, (self._gathered, self.samples)):
            self._gather(source, outputs)
            advance(len(outputs))
        return tuple(gathering.answer() for gathering in self._gatherings)

    def _draw_candidates(self, source: Source, advance: Advance) -> None:
        draws = max(party.center.draws for party in self.parties)
        for outputs in source.outputs(CANDIDATES, (sum(map(len, self._candidates)), draws)):
            self._candidates.append(outputs)
            advance(len(outputs))

    def _offer(self, source: Source) -> None:
        """Every party gets as many candidates as it wants, once."""
        if self._offered or not self._candidates:
            return
        candidates = join(self._candidates)
        wanted = [candidates[: party.center.draws] for party in self.parties]
        for party, own in zip(self.parties, wanted, strict=True):
            if party.center.draws:
                source.collate(party, own, CANDIDATES, 0)
        self._torn = True
        for gathering, party, own in zip(self._gatherings, self.parties, wanted, strict=True):
            if party.center.draws:
                gathering.add_candidates(own)
        self._offered, self._torn = True, False

    def _gather(self, source: Source, outputs: Outputs) -> None:
        """One batch, prepared for every party before any of them takes it."""
        start = self._gathered
        blocks = [source.collate(party, outputs, SAMPLES, start) for party in self.parties]
        self._torn = True
        for gathering, block in zip(self._gatherings, blocks, strict=True):
            gathering.add_samples(block, outputs)
        self._gathered, self._torn = start + len(outputs), False
