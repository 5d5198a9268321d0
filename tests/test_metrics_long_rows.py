from __future__ import annotations

import pytest
import torch

from centersmooth import kernels
from centersmooth.errors import OutputError
from centersmooth.metrics.long_rows import long_l2
from metric_laws import generator
from refusals import refused


def rows(count: int, width: int, seed: int, spread: float = 1.0, at: float = 0.0) -> torch.Tensor:
    return torch.randn(count, width, generator=generator(seed)) * spread + at


def exact(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return (a.double()[:, None] - b.double()[None]).square().sum(-1).sqrt()


@pytest.mark.parametrize("width", [1, 255, 256, 257, 9_000])
@pytest.mark.parametrize(("spread", "at"), [(1.0, 0.0), (0.01, 1.0), (1e-25, 0.0)])
def test_lengths_are_rounded_up_and_by_very_little(width: int, spread: float, at: float) -> None:
    a, b = (rows(n, width, n, spread, at) for n in (6, 9))
    found, wanted = long_l2(a, b), exact(a, b)
    assert bool((found >= wanted * (1 - 1e-13)).all())
    assert bool((found <= wanted * (1 + 1e-3)).all())


def test_near_pairs_among_far_ones_stay_exact() -> None:
    a = rows(8, 1_000, 1)
    b = torch.cat((a[:4], a[4:] + 1e-5 * rows(4, 1_000, 2), -a))
    found, wanted = long_l2(a, b), exact(a, b)
    assert (found.diagonal()[:4] == 0).all()
    assert bool((found >= wanted * (1 - 1e-13)).all())
    torch.testing.assert_close(found, wanted, rtol=1e-9, atol=0)


def test_rows_in_double_precision_and_few_rows_are_what_the_kernel_makes_of_them() -> None:
    a, b = rows(7, 700, 3).double(), rows(5, 700, 4).double()
    torch.testing.assert_close(long_l2(a, b), kernels.l2(a, b), rtol=1e-12, atol=0)
    assert torch.equal(long_l2(a[:2], b), kernels.l2(a[:2], b))
    assert long_l2(a[:0], b).shape == (0, 5)


def test_the_choice_of_fast_products_does_not_matter() -> None:
    """Told to round the factors of products, torch would make these distances too small."""
    a, b = rows(6, 4_000, 5), rows(9, 4_000, 6)
    before, precision = long_l2(a, b), torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium")
    try:
        assert torch.equal(long_l2(a, b), before)
    finally:
        torch.set_float32_matmul_precision(precision)


def test_rows_of_two_sizes_are_refused() -> None:
    with refused(OutputError, "one size"):
        long_l2(rows(5, 10, 1), rows(5, 11, 1))
