from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

import centersmooth as cs
from centersmooth.errors import ArgumentError, InputError
from centersmooth.noise import BitFlips
from noise_laws import (
    GRID,
    Law,
    assert_exact,
    assert_samples_follow,
    assert_valid,
    changed_in,
    claims_and_is_refuted,
    generator,
    independent,
    least_of_ball,
    promises_too_much,
    repeated,
    two_valued_smoother,
)

RATES = [(0.1, 0.3), (0.02, 0.7), (0.3, 0.3), (0.0, 0.4), (0.5, 0.0)]
X = (0, 1, 0, 1, 0, 1)


def flipped(p_plus: float, p_minus: float):
    def law(x: tuple[int, ...]) -> Law:
        bits = ({0: 1 - p_plus, 1: p_plus}, {0: p_minus, 1: 1 - p_minus})
        return independent([{k: p for k, p in bits[bit].items() if p > 0} for bit in x])

    return law


@pytest.mark.parametrize("rates", RATES)
@pytest.mark.parametrize("count", [1, 2, 3])
def test_exact_over_every_ball(rates: tuple[float, float], count: int) -> None:
    exact = least_of_ball(flipped(*rates), X, changed_in(X, count, (0, 1)))
    noise = BitFlips(*rates)
    assert_exact(noise.mass_left(GRID, count + 0.9), exact)
    assert promises_too_much(noise.mass_left(GRID, count - 1), exact)


@pytest.mark.parametrize(("additions", "deletions"), [(0, None), (None, 0), (1, None), (1, 1)])
def test_exact_when_the_attacker_is_limited(additions: int | None, deletions: int | None) -> None:
    def allowed(y: tuple[int, ...]) -> bool:
        added = sum(b > a for a, b in zip(X, y, strict=True))
        deleted = sum(b < a for a, b in zip(X, y, strict=True))
        return added <= (9 if additions is None else additions) and deleted <= (
            9 if deletions is None else deletions
        )

    noise = BitFlips(0.05, 0.4, additions, deletions)
    around = [y for y in changed_in(X, 3, (0, 1)) if allowed(y)]
    exact = least_of_ball(flipped(0.05, 0.4), X, around)
    assert_exact(noise.mass_left(GRID, 3), exact)
    assert (noise.mass_left(GRID, 3) > BitFlips(0.05, 0.4).mass_left(GRID, 3) + 1e-3).any()


def test_the_symmetric_formula_is_wrong_for_sparse_noise() -> None:
    """Twin: one rate for both directions, the mean of the two."""
    exact = least_of_ball(flipped(0.02, 0.7), X, changed_in(X, 2, (0, 1)))
    assert promises_too_much(BitFlips(0.36, 0.36).mass_left(GRID, 2), exact)


def test_one_kind_of_attack_is_not_always_the_worst() -> None:
    """Why psi is a least over divisions: additions only or deletions only promise too much."""
    noise = BitFlips(0.1, 0.3)
    additions = BitFlips(0.1, 0.3, most_deletions=0).mass_left(GRID, 2)
    deletions = BitFlips(0.1, 0.3, most_additions=0).mass_left(GRID, 2)
    exact = least_of_ball(flipped(0.1, 0.3), X, changed_in(X, 2, (0, 1)))
    assert promises_too_much(additions, exact)
    assert promises_too_much(deletions, exact)
    assert_exact(noise.mass_left(GRID, 2), exact)


def test_a_bit_that_the_noise_never_sets_gives_the_attack_away() -> None:
    noise = BitFlips(0.0, 0.4)
    assert noise.mass_left(1.0, 2) == pytest.approx(0.16, abs=1e-12)
    assert noise.mass_needed(0.2, 2) is None


@pytest.mark.parametrize("rates", RATES[:4])
def test_several_draws_are_exact_too(rates: tuple[float, float]) -> None:
    x = (0, 1)
    law = repeated(flipped(*rates), 3)
    exact = least_of_ball(law, x, changed_in(x, 2, (0, 1)))
    noise = BitFlips(*rates, most_additions=1, most_deletions=1)
    assert_exact(noise.mass_left(GRID, 2, fold=3), exact)
    assert promises_too_much(noise.mass_left(GRID, 2), exact)


def test_fewer_ones_than_deletions_is_only_safer() -> None:
    x = (0, 0, 0, 1)
    exact = least_of_ball(flipped(0.1, 0.3), x, changed_in(x, 3, (0, 1)))
    assert_valid(BitFlips(0.1, 0.3).mass_left(GRID, 3), exact)


def test_hundreds_of_flips_keep_their_digits() -> None:
    noise = BitFlips(0.49, 0.49)
    psi = noise.mass_left(GRID, 300)
    assert (np.diff(psi) >= 0).all()
    # The normal law in the limit: 300 bits, each telling 0.02 / sqrt(0.2499) of a deviation.
    normal = cs.Gaussian(1.0).mass_left(0.8, 0.02 / 0.2499**0.5 * 300**0.5)
    assert noise.mass_left(0.8, 300) == pytest.approx(normal, abs=2e-3)


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.float32])
def test_samples_follow_the_law(dtype: torch.dtype) -> None:
    x = torch.tensor([0, 1, 0, 1]).to(dtype)
    copies = BitFlips(0.1, 0.3).sample(x, generator(), 20_000)
    assert copies.dtype == dtype
    law = flipped(0.1, 0.3)((0, 1, 0, 1))
    assert_samples_follow(law, [tuple(int(bit) for bit in row) for row in copies.tolist()])


def test_large_inputs_are_drawn_in_parts() -> None:
    x = torch.zeros(3, 200_000)
    copies = BitFlips(0.01, 0.3).sample(x, generator(), 4)
    assert copies.shape == (4, 3, 200_000)
    assert abs(float(copies.mean()) - 0.01) < 5 * (0.01 / copies.numel()) ** 0.5
    assert not torch.equal(copies[0], copies[1])


def test_norm_names_what_limits_the_attacker() -> None:
    assert BitFlips(0.1, 0.3).norm == "Hamming"
    assert BitFlips(0.1, 0.3, most_deletions=0).norm == "Hamming (at most 0 deletions)"
    assert BitFlips(0.1, 0.3, 2, 1).norm == "Hamming (at most 2 additions, at most 1 deletions)"


def test_a_certificate_holds_at_the_worst_graph_and_a_wrong_one_does_not() -> None:
    """psi's extremal sets by the number of bits that the attack of two added bits has set."""
    noise, x = BitFlips(0.2, 0.2), torch.zeros(6)
    worst = torch.tensor([1.0, 1.0, 0.0, 0.0, 0.0, 0.0])
    assert noise.mass_left(0.96, 2) == pytest.approx(0.36, abs=1e-9)  # at most one bit is set

    def quiet(others: int):
        """0 when one of the attacked bits is not set, or some of the others is."""
        return lambda z: (z[:, :2].sum(dim=1) <= 1) | (z[:, 2 : 2 + others].sum(dim=1) > 0)

    # At x': .36 + .64 (1 - .8^others), which is .74 for 4 and .49 for 1.
    smoother = two_valued_smoother(noise, quiet(4))
    assert claims_and_is_refuted(smoother, x, worst, 2) == (True, False)
    smoother = two_valued_smoother(noise, quiet(1))
    assert claims_and_is_refuted(smoother, x, worst, 2) == (False, False)
    assert claims_and_is_refuted(smoother, x, worst, 1) == (True, True)


def test_graphs_go_through_the_whole_pipeline() -> None:
    """Degrees of a graph of 6 nodes, from its upper triangle."""
    pairs = list(itertools.combinations(range(6), 2))
    x = torch.tensor([1.0 if b - a == 1 else 0.0 for a, b in pairs])

    def degrees(batch: torch.Tensor) -> torch.Tensor:
        rows = [batch[:, [node in pair for pair in pairs]].sum(dim=1) for node in range(6)]
        return torch.stack(rows, dim=1)

    noise = BitFlips(0.01, 0.3)
    smoother = cs.Smoother(
        degrees, noise, cs.metrics.L1(), answer_samples=101, input_range=(0, 1), progress=False
    )
    certificate = smoother.certify(x, samples=2_000, seed=0)
    assert certificate.bound(0) <= certificate.bound(1) <= certificate.metric.diameter
    again = cs.Certificate.from_json(certificate.to_json())
    assert again.bound(1) == certificate.bound(1)
    assert "Hamming distance 1" in certificate.guarantee(1)


@pytest.mark.parametrize(
    "rates",
    [(0.0, 0.0), (0.5, 0.5), (1.0, 0.0), (-0.1, 0.5), (0.1, 0.2, -1), (0.1, 0.2, None, 1.5)],
)
def test_options_that_make_no_sense(rates: tuple) -> None:
    with pytest.raises(ArgumentError, match="expected"):
        BitFlips(*rates)


def test_inputs_must_be_bits() -> None:
    with pytest.raises(InputError, match="expected an input of zeros and ones"):
        BitFlips(0.1, 0.2).check_input(torch.tensor([0.0, 0.5]), None)
