"""Experiment 6 end to end, with a small generator and small weights of LPIPS."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from studies import perception, perception_page, scales
from studies.generator import Generating, Generator, latents
from studies.perception import Perception, Pictured
from studies.records import read_rows
from studies.scales import FULL, SMALL, Scale
from studies.training import COMMITTED

import centersmooth as cs
from centersmooth.metrics.features import Features
from lpips_weights import small_weights
from studies_small import SCALE, blobs


def pictured(scale: Scale) -> Pictured:
    torch.manual_seed(0)
    return Pictured(Generator().eval(), "not trained", 64)


def test_pictures_are_certified_and_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(scales, "RESULTS", tmp_path / "results")
    small = cs.metrics.LPIPS(Features("alex", small_weights("alex")))
    monkeypatch.setattr(perception.cs.metrics, "LPIPS", lambda: small)
    part = Perception("generator", pictured)
    part.run(SCALE)
    part.keep(SCALE)
    folder = tmp_path / "results" / "tiny"
    rows = read_rows(folder / "records" / "generator.jsonl")
    assert [row.procedure for row in rows] == ["sharp", "published", "sharp"]
    assert {row.metric for row in rows} == {"LPIPS"}
    assert (folder / "figures" / "generator-examples.png").stat().st_size > 1_000
    (page,) = perception_page.pages(SCALE)
    assert "generator | 0.5 | 0.02" in page.text
    assert "generator-examples.png" in page.pictures


def test_the_generator_learns_its_photos() -> None:
    clean = blobs(3, 32).train[:16].float() / 255
    recipe = Generating()
    model = recipe.build()
    optimizer = torch.optim.Adam(model.parameters(), 3e-3)
    generator = torch.Generator().manual_seed(0)
    losses = []
    for _ in range(25):
        loss = recipe.loss(model, clean, generator)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < 0.6 * losses[0]
    assert model(latents(2)).shape == (2, 3, 32, 32)


def test_latents_are_the_same_ones_however_many() -> None:
    assert torch.equal(latents(2), latents(5)[:2])
    assert latents(1, 7).shape == (1, 7)


@pytest.mark.parametrize("scale", [SMALL, FULL])
def test_the_generator_of_both_scales_is_committed(scale: Scale) -> None:
    """No data and no training are needed for its figure."""
    recipe = Generating(epochs=scale.generating.epochs, images=scale.generating.images)
    assert recipe.place.parent == COMMITTED
    assert recipe.place.stat().st_size < 20_000_000
    pictures = perception.trained_here(scale).model(latents(3))
    assert pictures.shape == (3, 3, 32, 32)
    assert float(pictures.flatten(1).std(dim=1).min()) > 0.05
