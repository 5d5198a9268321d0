from __future__ import annotations

import pytest
import torch

from centersmooth.errors import InputError
from centersmooth.noise import Brightness, UniformL1
from noise_laws import generator


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_precision_goes_in_and_comes_out(dtype: torch.dtype) -> None:
    x = torch.ones(4, dtype=dtype)
    copies = UniformL1(0.3).sample(x, generator(), 2)
    assert copies.dtype == dtype
    assert copies.shape == (2, 4)
    assert torch.equal(x, torch.ones(4, dtype=dtype)), "the input itself is left alone"


def test_half_precision_is_drawn_in_single() -> None:
    """Noise drawn in half precision would have a thousand values only."""
    half = UniformL1(0.3).sample(torch.zeros(50).half(), generator(), 40)
    single = UniformL1(0.3).sample(torch.zeros(50), generator(), 40)
    assert torch.equal(half, single.half())


def test_nothing_is_clipped() -> None:
    copies = Brightness(0.5).sample(torch.ones(3), generator(), 100)
    assert float(copies.max()) > 1.2


def test_errors_name_the_noise() -> None:
    with pytest.raises(InputError, match="UniformL1 noise needs numbers to add to"):
        UniformL1(0.3).check_input("text", None)
    with pytest.raises(InputError, match=r"within \[0, 1\], got values from 2 to 2"):
        UniformL1(0.3).check_input(torch.full((2,), 2.0), (0.0, 1.0))
