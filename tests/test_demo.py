"""What the demo prints: the numbers of the certificates, abstentions told, bounds rounded up."""

from __future__ import annotations

import dataclasses

import pytest
import torch
from rich.console import Console

from centersmooth import demo, metrics
from centersmooth.demo_model import autoencoder

TINY = demo.Budget(samples=1_000, published_n=3_000, published_m=9_500)


@pytest.fixture(scope="module")
def found() -> list[demo.Certified]:
    return demo.certify_all(autoencoder(), 1, 0, TINY)


def printed(found: list[demo.Certified], place: int) -> str:
    console = Console(width=80)
    with console.capture() as capture:
        console.print(demo.table(found, place))
    return capture.get()


def abstaining(digit: demo.Certified) -> demo.Certified:
    """The same digit, had the published procedure abstained."""
    curves = [
        tuple(
            dataclasses.replace(point, status="abstained", value=None, bound=metric.diameter)
            for point in curve
        )
        for metric, curve in zip(demo.METRICS, digit.published, strict=True)
    ]
    return dataclasses.replace(digit, published=tuple(curves))


def test_ink_jaccard_compares_what_is_above_one_half() -> None:
    images = torch.rand((5, 1, 6, 6), generator=torch.Generator().manual_seed(0))
    masks = images > 0.5
    ink = demo.InkJaccard()
    assert ink.pairwise(images, images).equal(metrics.MaskJaccard().pairwise(masks, masks))


def test_ink_jaccard_notices_nan() -> None:
    images = torch.rand((2, 1, 6, 6), generator=torch.Generator().manual_seed(0))
    images[1, 0, 0, 0] = torch.nan
    assert demo.InkJaccard().collate(images).valid.tolist() == [True, False]


@pytest.mark.parametrize("place", [0, 1])
def test_table_shows_the_certificates_numbers(found: list[demo.Certified], place: int) -> None:
    lines = [line.split() for line in printed(found, place).splitlines()]
    for digit in found:
        for eps in demo.SHOWN:
            shown = next(x for x in lines if x[:2] == [str(digit.label), f"{eps:g}"])
            certificate = digit.certificates[place]
            assert float(shown[2]) >= certificate.bound(eps)
            assert float(shown[2]) == pytest.approx(certificate.bound(eps), abs=1e-3)
            assert float(shown[-1]) == pytest.approx(certificate.error(eps), abs=1e-3)


def test_published_bounds_are_of_the_same_model_and_larger(found: list[demo.Certified]) -> None:
    for digit in found:
        for certificate, curve in zip(digit.certificates, digit.published, strict=True):
            assert [point.eps for point in curve] == list(demo.GRID)
            assert all(point.bound > certificate.bound(point.eps) for point in curve)


def test_an_abstention_is_told_and_not_dropped_from_the_median(
    found: list[demo.Certified],
) -> None:
    text = printed([found[0], abstaining(found[0])], 0)
    medians = [line.split() for line in text.splitlines() if "median" in line]
    assert text.count("abstained") == len(demo.SHOWN)
    assert [line[3:5] for line in medians] == [["none", "-"]] * len(demo.SHOWN)
    assert "no bound (abstained)" in demo.reading(abstaining(found[0]), TINY)
