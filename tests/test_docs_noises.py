"""docs/noises.md says what the code does, and each noise works on inputs of its own kind."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import laplace, norm

import centersmooth as cs
from centersmooth import metrics, noise
from digit_outputs import digit

PAGE = Path(__file__).parent.parent / "docs" / "noises.md"
SENTENCE = ("rain " * 9 + "in may was warm as tea").split()
GENE = [0, 0, 1, 2, 2, 3, 3, 3] * 3
SHARES = np.array([0.55, 0.7, 0.9, 0.99, 0.999])


@dataclass(frozen=True)
class Case:
    """A noise, an input of its own kind, an attack on it, and a model that reads such inputs."""

    noise: noise.Noise
    x: Any
    attacked: Any
    eps: float
    model: Callable[[Any], Any]
    metric: metrics.Metric


def bands(images: torch.Tensor) -> torch.Tensor:
    """The mean of each band of four rows of the first channel."""
    return images[:, 0].float().reshape(len(images), 7, 4, -1).mean(dim=(2, 3))


def darkest(images: torch.Tensor) -> torch.Tensor:
    """The same from the largest to the smallest: a cyclic shift by four rows changes nothing."""
    return bands(images).sort(dim=1).values


def ink(images: torch.Tensor) -> torch.Tensor:
    return images[:, 0] > 0.5


def signal_parts(signals: torch.Tensor) -> torch.Tensor:
    return signals.reshape(len(signals), 4, -1).mean(dim=2)


def degrees(bits: torch.Tensor) -> torch.Tensor:
    """The degree of each of ten nodes, from the upper triangle of the adjacency."""
    row, column = torch.triu_indices(10, 10, offset=1)
    found = torch.zeros(len(bits), 10)
    return found.index_add(1, row, bits.float()).index_add(1, column, bits.float())


def common_words(texts: Sequence[Sequence[str]]) -> list[frozenset[str]]:
    return [frozenset(word for word in text if text.count(word) > 1) for text in texts]


def runs(genes: Any) -> list[str]:
    """The bases, each run of them once."""
    letters = (["ACGT"[base] for base in gene] for gene in genes)
    return [
        "".join(b for a, b in zip(["", *word], word, strict=False) if a != b) for word in letters
    ]


def changed(x: torch.Tensor, places: Any, value: Any) -> torch.Tensor:
    attacked = x.clone()
    attacked[places] = value
    return attacked


def cases() -> dict[str, Case]:
    image, m, n = digit(), metrics, noise
    colour = image.expand(3, -1, -1).contiguous()
    signal = torch.linspace(0, 1, 20)
    one_value = changed(signal, 3, signal[3] + 0.05)
    edges = (torch.arange(45) % 5 == 0).float()
    along = image / image.norm()
    other = [*SENTENCE[:-1], "coffee"]
    gene = [1, *GENE[1:]]
    patch = changed(image, (slice(None), slice(3, 5), slice(3, 5)), 1.0)
    pixel = changed(image, (slice(None), 3, 3), 1.0)
    per_channel = n.AnisotropicGaussian(sigma=(0.2, 0.3, 0.4))
    whitened = colour + 0.1 * torch.tensor([0.2, 0.0, 0.0])[:, None, None] * along
    found = {
        "Gaussian": (cs.Gaussian(0.25), image, image + 0.1 * along, 0.1, bands, m.L2()),
        "AnisotropicGaussian": (per_channel, colour, whitened, 0.1, bands, m.L2()),
        "UniformL1": (n.UniformL1(0.5), signal, one_value, 0.05, signal_parts, m.L1()),
        "LaplaceL1": (n.LaplaceL1(0.2), signal, one_value, 0.05, signal_parts, m.L1()),
        "UniformLinf": (
            n.UniformLinf(0.5, 20),
            signal,
            signal + 0.002,
            0.002,
            signal_parts,
            m.L2(),
        ),
        "GaussianLinf": (
            n.GaussianLinf(0.5, 20),
            signal,
            signal + 0.02,
            0.02,
            signal_parts,
            m.L2(),
        ),
        "Ablation": (n.Ablation(40, 784, channels=True), image, pixel, 1, bands, m.L2()),
        "PatchAblation": (n.PatchAblation((7, 7), (28, 28)), image, patch, 2, bands, m.L2()),
        "BitFlips": (n.BitFlips(0.02, 0.6), edges, changed(edges, 1, 1.0), 1, degrees, m.L1()),
        "TokenDeletion": (n.TokenDeletion(0.9), SENTENCE, other, 1, common_words, m.SetJaccard()),
        "TokenSubstitution": (n.TokenSubstitution(0.5, 4), GENE, gene, 1, runs, m.Levenshtein()),
        "GaussianShift": (n.GaussianShift(6.0), image, image.roll(2, dims=1), 2, darkest, m.L2()),
        "UniformShift": (n.UniformShift(8), image, image.roll(1, dims=1), 1, darkest, m.L2()),
        "Brightness": (n.Brightness(0.2), image, image + 0.05, 0.05, ink, m.MaskJaccard()),
    }
    return {name: Case(*case) for name, case in found.items()}


CASES = cases()


def rows() -> dict[str, list[str]]:
    table = PAGE.read_text(encoding="utf-8").splitlines()
    found = [[cell.strip() for cell in line.strip("|").split("|")] for line in table]
    return {re.match(r"`(\w+)", row[0])[1]: row for row in found if re.match(r"`\w+\(", row[0])}  # type: ignore[index]


ROWS = rows()


def test_every_noise_has_a_row_and_an_input_of_its_own_kind() -> None:
    assert set(ROWS) == set(noise.__all__) - {"Noise"} == set(CASES)


@pytest.mark.parametrize("name", ROWS)
def test_psi_is_the_formula_of_the_row(name: str) -> None:
    case, text = CASES[name], re.search(r"`(.+?)`", ROWS[name][2])
    if text is None:  # a sum over regions: docs/theory/noises.md
        assert ROWS[name][2] == "by regions, exact"
        return
    for eps in (case.eps, 2 * case.eps):
        wanted = np.maximum(0, psi(text[1], case.noise, eps))
        found = case.noise.mass_left(SHARES, eps)
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)
        assert (found <= wanted + 1e-14).all()


WORDS = {
    "F⁻¹": "laplace_back",
    "F(": "laplace_law(",
    "Φ⁻¹": "back",
    "Φ": "law",
    "−": "-",
    "√dimension": "dimension**0.5",
    "·": "*",
    "^": "**",
    " / HW": " / (H*W)",
    "2 half_width": "(2*half_width)",
    "2 most": "2*most",
}


def psi(text: str, of: Any, eps: float) -> Any:
    """The formula of a row as numbers."""
    for old, new in WORDS.items():
        text = text.replace(old, new)
    names = {key: value for key, value in vars(of).items() if not key.startswith("_")}
    names.update(p=SHARES, eps=eps, law=norm.cdf, back=norm.ppf, C=math.comb, min=min)
    if isinstance(of, noise.LaplaceL1):
        names.update(laplace_law=laplace(scale=of.b).cdf, laplace_back=laplace(scale=of.b).ppf)
    if isinstance(of, noise.PatchAblation):
        (names["h"], names["w"]), (names["H"], names["W"]) = of.block, of.image
    return eval(text, names)


@pytest.mark.parametrize("name", CASES)
def test_a_certificate_holds_on_an_input_of_the_noises_own_kind(name: str) -> None:
    case = CASES[name]
    options = {"answer_samples": 101, "batch_size": 256, "seed": 1, "progress": False}
    center = cs.Medoid(30, outer=30) if case.metric.hilbert is None else None
    smoother = cs.Smoother(case.model, case.noise, case.metric, center, **options)
    certificate = smoother.certify(case.x, samples=400, alpha=0.1, seed=2)
    assert certificate.status(case.eps) == "certified"
    bound = certificate.bound(case.eps)
    assert bound < case.metric.diameter
    answers = [smoother.predict(case.attacked, seed=s).value for s in (5, 6, 7)]
    assert np.median([case.metric(certificate.value, answer) for answer in answers]) <= bound
    assert case.noise.norm in certificate.explain(case.eps)
