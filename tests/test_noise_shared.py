from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from centersmooth.noise import TokenDeletion, UniformL1
from centersmooth.noise.shared import SharedMass
from noise_laws import GRID, Law, assert_exact, least_mass, promises_too_much, several


def half_shared(shared: float) -> tuple[Law, Law]:
    """Two laws that agree on `shared` of their mass and never meet elsewhere."""
    here = {"both": shared / 2, "both too": shared / 2, "here": 1 - shared}
    there = {"both": shared / 2, "both too": shared / 2, "there": 1 - shared}
    return here, there


@pytest.mark.parametrize("fold", [1, 2, 3])
@pytest.mark.parametrize("shared", [0.0, 0.3, 0.9])
def test_exact_for_every_fold_where_the_rest_never_meets(shared: float, fold: int) -> None:
    noise = UniformL1(0.5)
    eps = 1 - shared  # the cubes of edge 1 share 1 - eps
    here, there = (several(law, fold) for law in half_shared(shared))
    assert_exact(noise.mass_left(GRID, eps, fold), least_mass(here, there))


def test_a_fold_that_is_forgotten_is_caught() -> None:
    here, there = (several(law, 2) for law in half_shared(0.8))
    assert promises_too_much(UniformL1(0.5).mass_left(GRID, 0.2), least_mass(here, there))


@pytest.mark.parametrize("fold", [1, 2, 7])
def test_rounded_down_in_exact_arithmetic(fold: int) -> None:
    noise = TokenDeletion(0.9)
    for p in np.random.default_rng(0).random(300):
        exact = Fraction(float(p)) - 1 + Fraction(0.9) ** (3 * fold)
        assert Fraction(float(noise.mass_left(p, 3, fold))) <= max(exact, Fraction(0))


def test_is_abstract() -> None:
    with pytest.raises(TypeError, match="abstract"):
        SharedMass()  # type: ignore[abstract]
