from __future__ import annotations

from pathlib import Path

import pytest
import torch
from studies import beyond_pages, restoration
from studies.records import read_lines
from studies.tightness import Tightness, strongest

from studies_small import SCALE, in_place_of_real_data

WEIGHTS = torch.diag(torch.tensor([3.0, 1.0, 1.0, 1.0]))


def linear(batch: torch.Tensor) -> torch.Tensor:
    return batch @ WEIGHTS


def test_the_attack_finds_the_steepest_direction_and_stays_within_eps() -> None:
    x = torch.zeros(4)
    attacked = strongest(linear, x, linear(x[None])[0], sigma=0.05, eps=0.5)
    assert 0.499 < float((attacked - x).norm()) <= 0.5
    assert abs(float(attacked[0])) > 0.49


def test_certificates_are_attacked_and_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_place_of_real_data(tmp_path, monkeypatch)
    restoration.network.cache_clear()
    Tightness().run(SCALE)
    restoration.network.cache_clear()
    lines = read_lines(tmp_path / "results" / "tiny" / "records" / "tightness.jsonl")
    assert [line["eps"] for line in lines] == [0.125, 0.25, 0.5, 0.0625, 0.125]
    assert [line["center"] for line in lines] == ["geometric median"] * 3 + ["clipped mean"] * 2
    assert all(0 < line["moved"] <= line["bound"] for line in lines)
    assert all(line["length"] <= line["eps"] for line in lines)
    (page,) = [page for page in beyond_pages.pages(SCALE) if page.name == "7c-tightness"]
    assert page.text.count(" | 1 | ") == 5
