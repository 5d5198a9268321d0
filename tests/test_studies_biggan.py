"""BigGAN-deep's loading code, on small random weights named and laid out like the published."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from studies.biggan import (
    FILE,
    BigGAN,
    Shape,
    filled,
    published,
    statistics_row,
    without_spectral_norms,
)
from studies.origins import UnreachableError
from torch.nn.utils import spectral_norm

from centersmooth.errors import ArgumentError, FormatError
from refusals import refused

SMALL = Shape(width=8, latent=6, classes=5, statistics=6)


def as_published(model: BigGAN) -> dict[str, torch.Tensor]:
    """Its weights with spectral norms, which all but the embeddings and the last norm have."""
    state = {}
    generator = torch.Generator().manual_seed(1)
    normed = {
        name
        for name, layer in model.named_modules()
        if isinstance(layer, (torch.nn.Linear, torch.nn.Conv2d)) and name != "embeddings"
    }
    for name, value in model.state_dict().items():
        stem, _, kind = name.rpartition(".")
        if kind == "weight" and stem in normed:
            rows = value.flatten(1)
            u = torch.nn.functional.normalize(torch.randn(len(rows), generator=generator), dim=0)
            state[f"{stem}.weight_orig"] = value
            state[f"{stem}.weight_u"] = u
            state[f"{stem}.weight_v"] = torch.nn.functional.normalize(rows.T @ u, dim=0)
        else:
            state[name] = value
    return state


def random_model(truncation: float = 1.0) -> BigGAN:
    torch.manual_seed(0)
    return BigGAN(SMALL, label=2, truncation=truncation).eval()


def test_latents_become_pictures_by_themselves() -> None:
    model = random_model()
    latents = torch.randn(3, 6, generator=torch.Generator().manual_seed(2))
    pictures = model(latents)
    assert pictures.shape == (3, 3, 128, 128)
    assert bool(((pictures >= 0) & (pictures <= 1)).all())
    torch.testing.assert_close(model(latents[1:2])[0], pictures[1], atol=1e-5, rtol=1e-4)
    other = BigGAN(SMALL, label=3).eval()
    other.load_state_dict(model.state_dict())
    assert not torch.allclose(other(latents), pictures)


def test_published_weights_find_their_places() -> None:
    model, twin = random_model(), BigGAN(SMALL, label=2)
    state = as_published(model)
    assert "generator.layers.8.snconv1x1_theta.weight_orig" in state
    assert "generator.layers.10.bn_3.offset.weight_u" in state
    found = filled(twin, state)
    assert not found.training
    assert found(torch.zeros(1, 6)).shape == (1, 3, 128, 128)
    del state["generator.layers.0.conv_0.bias"]
    with refused(FormatError, "weights of BigGAN-deep"):
        filled(twin, state)


@pytest.mark.parametrize("layer", [torch.nn.Linear(4, 5), torch.nn.Conv2d(3, 4, 3)])
def test_spectral_norms_are_divided_out_as_torch_does(layer: torch.nn.Module) -> None:
    normed = spectral_norm(layer).eval()
    x = torch.randn(2, 4) if isinstance(layer, torch.nn.Linear) else torch.randn(2, 3, 5, 5)
    answer = normed(x)
    state = {f"a.{name}": value for name, value in normed.state_dict().items()}
    plain = without_spectral_norms(state)
    assert sorted(plain) == ["a.bias", "a.weight"]
    torch.testing.assert_close(plain["a.weight"], normed.weight, atol=1e-6, rtol=1e-5)
    assert torch.isfinite(answer).all()


def test_truncations_are_those_the_file_has_statistics_for() -> None:
    assert statistics_row(Shape(), 0.4) == 20
    assert statistics_row(SMALL, 1.0) == 5
    for wrong in (0.0, 0.5, 1.2, -0.2):
        with refused(ArgumentError, "multiple of 0.2"):
            statistics_row(SMALL, wrong)
    with refused(ArgumentError, "a class below 5"):
        BigGAN(SMALL, label=5)


def test_a_missing_file_says_where_to_put_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with refused(UnreachableError, FILE, str(tmp_path)):
        published(207)
    (tmp_path / "wrong.bin").write_bytes(b"no weights")
    with refused(FormatError, "saved weights"):
        published(207, path=tmp_path / "wrong.bin")
