from __future__ import annotations

import math

import pytest
import torch
from studies.autoencoder import CODE, MEASUREMENTS, Autoencoder, Reconstruction


@pytest.mark.parametrize(("channels", "size"), [(1, 28), (3, 32)])
def test_images_come_back_in_their_shape_and_range(channels: int, size: int) -> None:
    model = Autoencoder(channels, size).eval()
    images = torch.rand(2, channels, size, size, generator=torch.Generator().manual_seed(0))
    outputs = model(images)
    assert outputs.shape == images.shape
    assert bool(((outputs >= 0) & (outputs <= 1)).all())
    assert model.encoder(images).shape == (2, CODE)
    assert model.observe(images) is images


def test_the_decoder_mirrors_the_encoder() -> None:
    shapes = [tuple(p.shape) for p in Autoencoder(1, 28).parameters() if p.dim() == 4]
    half = len(shapes) // 2
    assert shapes[:half] == [(32, 1, 3, 3), (64, 32, 4, 4), (128, 64, 4, 4)]
    # A transposed convolution has its inputs first, as the convolution it mirrors its outputs.
    assert shapes[half:] == [(128, 64, 4, 4), (64, 32, 4, 4), (1, 32, 3, 3)]


def test_the_pseudo_inverse_solves_the_measurements() -> None:
    model = Reconstruction(1, 20).eval()
    images = torch.rand(3, 1, 20, 20, generator=torch.Generator().manual_seed(1))
    measured = model.observe(images)
    assert measured.shape == (3, MEASUREMENTS)
    rough = measured @ model.inverse.T
    torch.testing.assert_close(rough @ model.measuring.T, measured, atol=1e-4, rtol=1e-4)
    # The transpose, which is easily mistaken for it, does not.
    wrong = measured @ model.measuring
    assert not torch.allclose(wrong @ model.measuring.T, measured, atol=0.1)
    assert model(measured).shape == images.shape


def test_measurements_keep_lengths_on_average_and_are_always_the_same() -> None:
    model, twin = Reconstruction(1, 20), Reconstruction(1, 20)
    assert torch.equal(model.measuring, twin.measuring)
    assert float(model.measuring.double().var()) == pytest.approx(1 / MEASUREMENTS, rel=0.02)
    assert math.isclose(float(model.measuring.double().pow(2).sum()), 20 * 20, rel_tol=0.02)


@torch.inference_mode()
@pytest.mark.parametrize("kind", [Autoencoder, Reconstruction])
def test_bfloat16_changes_answers_by_less_than_a_grey_level(kind: type) -> None:
    """Single precision comes back, finer than bfloat16's steps, and rows stay by themselves."""
    torch.manual_seed(0)
    model = kind(1, 20).eval()
    images = torch.rand(6, 1, 20, 20, generator=torch.Generator().manual_seed(2))
    seen = model.observe(images)
    before, narrow = model(seen), model.narrowed()
    after = narrow(seen)
    assert after.dtype == torch.float32
    assert 0 < float((after - before).abs().max()) < 1 / 255
    assert bool((after != after.bfloat16().float()).any())
    torch.testing.assert_close(narrow(seen[2:3]), after[2:3], rtol=0, atol=1e-6)
