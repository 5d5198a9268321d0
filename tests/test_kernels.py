from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch

from centersmooth import kernels, metrics
from centersmooth.errors import OutputError
from refusals import refused

BELOW = 2.0**-20
WIDTHS = [1, 3, 255, 256, 257, 600]


def rows(count: int, width: int, seed: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(count, width, generator=generator, dtype=torch.float64).to(dtype)


def naive_l1(a: torch.Tensor, b: torch.Tensor) -> np.ndarray:
    a64, b64 = a.double().numpy(), b.double().numpy()
    return np.array([[math.fsum(np.abs(r - s)) for s in b64] for r in a64]).reshape(len(a), len(b))


def naive_l2(a: torch.Tensor, b: torch.Tensor) -> np.ndarray:
    a64, b64 = a.double().numpy(), b.double().numpy()
    table = [[math.sqrt(math.fsum((r - s) ** 2)) for s in b64] for r in a64]
    return np.array(table).reshape(len(a), len(b))


KERNELS = [(kernels.l1, naive_l1), (kernels.l2, naive_l2)]
Kernel = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
Naive = Callable[[torch.Tensor, torch.Tensor], np.ndarray]


def blocks(kind: str, width: int, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """Blocks of 9 and 6 rows, of a kind that is hard on floating point."""
    a, b = rows(9, width, 1, dtype), rows(6, width, 2, dtype)
    if kind == "nearly equal":
        a = 1 + 1e-6 * a
        b = a[:6] * (1 + torch.finfo(dtype).eps * torch.arange(6)[:, None])
    if kind == "far from the origin":
        a, b = a + 1e5, b + 1e5
    if kind == "identical":
        b = a[:6].clone()
    if kind == "constant":
        a, b = torch.full_like(a, 7.3), torch.full_like(b, 7.3)
    if kind == "zero":
        a, b = torch.zeros_like(a), torch.zeros_like(b)
    if kind == "of many scales":
        a, b = a * 10.0 ** torch.arange(-12, 15, 3)[:, None], b * 1e-9
    if kind == "two clusters":
        a[4:], b[3:] = a[4:] * 1e-5 + 100, b[3:] * 1e-5 + 100
    return a.to(dtype), b.to(dtype)


@pytest.mark.parametrize(("kernel", "naive"), KERNELS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(
    "kind",
    [
        "random",
        "nearly equal",
        "far from the origin",
        "identical",
        "constant",
        "zero",
        "of many scales",
        "two clusters",
    ],
)
def test_distances_are_never_below_the_truth_and_hardly_above(
    kernel: Kernel, naive: Naive, dtype: torch.dtype, kind: str
) -> None:
    for width in WIDTHS:
        a, b = blocks(kind, width, dtype)
        found, truth = kernel(a, b).numpy(), naive(a, b)
        assert found.dtype == np.float64
        assert (found >= truth * (1 - BELOW)).all(), (kind, width)
        assert (found <= truth * (1 + 1e-4)).all(), (kind, width, (found / truth).max())


@pytest.mark.parametrize(("kernel", "naive"), KERNELS)
def test_every_number_of_rows_is_counted_once(kernel: Kernel, naive: Naive) -> None:
    for of_a in range(6):
        for of_b in range(10):
            a, b = rows(of_a, 5, of_a), rows(of_b, 5, of_b + 100)
            found = kernel(a, b)
            assert found.shape == (of_a, of_b)
            np.testing.assert_allclose(found, naive(a, b), rtol=1e-4)


@pytest.mark.parametrize(("kernel", "naive"), KERNELS)
def test_outputs_without_numbers_are_all_the_same(kernel: Kernel, naive: Naive) -> None:
    assert torch.equal(kernel(rows(5, 0, 1), rows(6, 0, 2)), torch.zeros(5, 6).double())


@pytest.mark.parametrize(("kernel", "naive"), KERNELS)
def test_memory_layout_does_not_matter(kernel: Kernel, naive: Naive) -> None:
    a, b = rows(40, 12, 1), rows(40, 12, 2)
    for view in (lambda t: t.T, lambda t: t[::3, ::2], lambda t: t[:, 2:9]):
        assert torch.equal(kernel(view(a), view(b)), kernel(*(view(t).clone() for t in (a, b))))


@pytest.mark.parametrize(("kernel", "naive"), KERNELS)
def test_single_and_double_precision_mix_without_loss(kernel: Kernel, naive: Naive) -> None:
    single, double = rows(5, 20, 1), rows(5, 20, 2, torch.float64)
    close = single.double() + 1e-9  # closer than single precision can tell
    for a, b in ((single, double), (double, single), (single, close), (close, single)):
        truth = naive(a, b)
        assert (kernel(a, b).numpy() >= truth * (1 - BELOW)).all()
        np.testing.assert_allclose(kernel(a, b), truth, rtol=1e-4)


@pytest.mark.parametrize(("kernel", "naive"), KERNELS)
def test_both_directions_agree(kernel: Kernel, naive: Naive) -> None:
    a, b = rows(7, 300, 1), rows(5, 300, 2)
    np.testing.assert_allclose(kernel(a, b), kernel(b, a).T, rtol=1e-12)


@pytest.mark.parametrize(("kernel", "naive"), KERNELS)
def test_identical_rows_are_at_distance_zero(kernel: Kernel, naive: Naive) -> None:
    a = rows(10, 784, 1)
    assert kernel(a, a).diagonal().max() == 0


@pytest.mark.parametrize(("kernel", "naive"), KERNELS)
def test_the_tiniest_and_the_largest_floats_keep_their_distance(
    kernel: Kernel, naive: Naive
) -> None:
    tiny, huge = torch.finfo(torch.float32).tiny * 2.0**-23, torch.finfo(torch.float32).max
    for count in (1, 5):
        a = torch.full((count, 2), tiny)
        assert (kernel(a, 0 * a) > 0).all()
        b = torch.full((count, 2), huge / 4)
        assert (kernel(b, -b).numpy() >= naive(b, -b) * (1 - BELOW)).all()


@pytest.mark.parametrize(("kernel", "naive"), KERNELS)
@pytest.mark.parametrize("width", [1, 4, 6])
def test_rows_of_another_size_are_refused_rather_than_read_past_their_end(
    kernel: Kernel, naive: Naive, width: int
) -> None:
    for count in (1, 5):
        with refused(OutputError, "one size", f"5 and {width} numbers"):
            kernel(rows(count, 5, 1), rows(count, width, 2))


@pytest.mark.parametrize("width", [784, 20_000])
@pytest.mark.parametrize("gap", [3e-5, 1e-4, 1e-3, 1e-2])
def test_a_query_measures_hardly_more_than_there_is(width: int, gap: float) -> None:
    """Theorem B compares radii measured at the query with one measured at the certificate: a
    distance that comes out too large there is as bad as one too small here."""
    a = rows(6, width, 1)
    b = a + gap * rows(6, width, 2)
    truth = (a.double() - b.double()).square().sum(dim=1).sqrt()
    assert ((kernels.l2(a, b).diagonal() / truth - 1).abs() <= 2.0**-20).all()
    truth = (a.double() - b.double()).abs().sum(dim=1)
    assert ((kernels.l1(a, b).diagonal() / truth - 1).abs() <= kernels.L1_ROUNDING).all()
    assert metrics.L1().rounding == metrics.TotalVariation().rounding == kernels.L1_ROUNDING
    assert kernels.L1_ROUNDING > 515 * 2.0**-24
