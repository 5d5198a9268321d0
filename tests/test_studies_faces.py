"""Experiment 5 end to end, with a detector that finds bright squares."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from studies import faces, faces_page, scales
from studies.faces import FACE, NO_FACE, Faces
from studies.records import read_rows

from studies_small import SCALE, row


class Detector(torch.nn.Module):
    """A box around the pixels of the first channel above one half; none where there are few."""

    def forward(self, images: torch.Tensor) -> list[torch.Tensor]:
        return [self._box(image[0] > 0.5) for image in images]

    def _box(self, bright: torch.Tensor) -> torch.Tensor:
        places = bright.nonzero().float()
        if len(places) < 9:
            return torch.zeros((0, 4))
        low, high = places.quantile(0.1, dim=0), places.quantile(0.9, dim=0)
        return torch.stack([low[1], low[0], high[1] + 1, high[0] + 1])[None]


def photos(count: int) -> tuple[torch.Tensor, list[str]]:
    """One with a bright square that fades at its border, the others dark."""
    found = torch.zeros(count, 3, 16, 16)
    found[0, :, 2:14, 3:15] = 0.5
    found[0, :, 4:12, 5:13] = 1.0
    return found, [f"photo {number}" for number in range(count)]


@pytest.fixture
def ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(scales, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(faces, "_detector", lambda: Detector().eval())
    Faces(photos=photos).run(SCALE)
    Faces(photos=photos).keep(SCALE)
    return tmp_path / "results" / "tiny"


def test_faces_and_no_faces_are_told_apart_and_shown(ran: Path) -> None:
    rows = read_rows(ran / "records" / "faces.jsonl")
    assert {(r.index, r.answer) for r in rows} == {(0, FACE), (1, NO_FACE)}
    assert {r.procedure for r in rows} == {"sharp", "published"}
    none = next(r for r in rows if r.answer == NO_FACE)
    assert none.bounds == (0.0,)  # certified to see nothing, which is no success
    assert none.errors == (0.0,)
    assert (ran / "figures" / "faces-examples.png").stat().st_size > 1_000
    (page,) = faces_page.pages(SCALE)
    assert "| 0.5 | 0.05 | ours | 2 | 1 | 1 | 1 |" in page.text
    assert page.headline is not None
    assert page.headline.ratio < 1


def test_ratios_are_taken_of_faces_with_a_bound_only() -> None:
    face = {"metric": "BoxJaccard", "diameter": 1.0, "bounds": (0.3, 1.0)}
    assert faces_page.counts(row(**face, answer=FACE), 0.375)
    assert not faces_page.counts(row(**face, answer=FACE), 0.5)
    assert not faces_page.counts(row(**face, answer=NO_FACE), 0.375)
    assert not faces_page.counts(row(**face, answer=FACE), 0.25)
