from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import kstest

from centersmooth.errors import ArgumentError, InputError
from centersmooth.models import Model
from centersmooth.noise import Gaussian, TokenDeletion
from centersmooth.sampling import (
    BLOCK,
    CERTIFICATION,
    PROBES,
    SAMPLES,
    Address,
    Batching,
    draw,
    fingerprint,
    noisy,
    root_seed,
)
from refusals import refused

NOISE = Gaussian(0.5)
X = torch.linspace(-1, 1, 12).reshape(3, 4)
ADDRESS = Address(7, fingerprint(X))


def copies(start: int, stop: int, address: Address = ADDRESS, phase: str = SAMPLES) -> torch.Tensor:
    drawn: torch.Tensor = noisy(NOISE, X, address, phase, start, stop)
    return drawn


def in_batches(function: Any, size: int, count: int = 200) -> list[torch.Tensor]:
    model = Model(function, None)
    drawn = draw(model, NOISE, X, ADDRESS, SAMPLES, (0, count), Batching(size))
    return [part for part in drawn if isinstance(part, torch.Tensor)]


# ---- the noise


@pytest.mark.parametrize("size", [1, 7, 64, 65, 1000])
def test_the_noise_is_the_same_however_it_is_batched(size: int) -> None:
    parts = in_batches(lambda batch: batch.clone(), size)
    assert all(len(part) <= size for part in parts)
    assert torch.equal(torch.cat(parts), copies(0, 200))


@pytest.mark.parametrize("span", [(0, 1), (5, 6), (63, 65), (64, 128), (10, 150), (199, 200)])
def test_every_span_is_a_part_of_the_whole(span: tuple[int, int]) -> None:
    assert torch.equal(copies(*span), copies(0, 200)[slice(*span)])


def test_seed_input_phase_and_block_each_name_noise_of_their_own() -> None:
    other_input = Address(7, fingerprint(X + 1e-6))
    streams = [
        copies(0, BLOCK),
        copies(BLOCK, 2 * BLOCK),
        copies(0, BLOCK, Address(8, ADDRESS.x)),
        copies(0, BLOCK, other_input),
        copies(0, BLOCK, phase=CERTIFICATION),
        copies(0, BLOCK, phase=PROBES),
    ]
    for i, one in enumerate(streams):
        for other in streams[:i]:
            assert not (one == other).any()


def test_seeds_that_differ_only_above_bit_32_differ() -> None:
    """`torch.Generator.manual_seed` drops these bits on the CPU."""
    for bit in (32, 40, 62):
        assert not (copies(0, 9) == copies(0, 9, Address(7 + 2**bit, ADDRESS.x))).any()


def test_no_two_blocks_share_their_noise() -> None:
    """A million samples have 16,000 blocks; 32 bits of seed would repeat in 3 % of runs."""
    cpu = torch.device("cpu")
    first = [torch.randn(2, generator=ADDRESS.generator("any", n, cpu)) for n in range(16_000)]
    assert len(torch.stack(first).unique(dim=0)) == 16_000


def test_the_noise_of_many_blocks_is_normal() -> None:
    noise = (copies(0, 6400) - X) / NOISE.sigma
    assert kstest(noise.flatten().numpy(), "norm").pvalue > 1e-3
    across_blocks = noise[:, 0, 0].reshape(-1, BLOCK).numpy()
    correlation = np.corrcoef(across_blocks) - np.eye(len(across_blocks))
    assert np.abs(correlation).max() < 5 / np.sqrt(BLOCK)


def test_global_randomness_is_neither_used_nor_touched() -> None:
    torch.manual_seed(0)
    before, state = copies(0, 10), torch.get_rng_state()
    assert torch.equal(torch.get_rng_state(), state)
    torch.manual_seed(1)
    assert torch.equal(copies(0, 10), before)


def test_noise_seeded_today_is_the_noise_of_tomorrow() -> None:
    """A change here changes every seeded result: it needs a new major version."""
    address = Address(1, fingerprint(torch.zeros(2)))
    assert address.x.hex().startswith("21ff1b764ef3e705")
    drawn = noisy(Gaussian(1.0), torch.zeros(2), address, SAMPLES, 0, 2)
    pinned = [-0.4415017, -0.2334611, -0.6517447, 0.7885920]
    assert drawn.flatten().tolist() == pytest.approx(pinned, abs=1e-5)


# ---- the outputs


def test_outputs_agree_to_rounding_whatever_the_batch_size() -> None:
    weights = torch.randn(12, 50, generator=torch.Generator().manual_seed(1))

    def model(batch: torch.Tensor) -> torch.Tensor:
        return torch.tanh(batch.flatten(1) @ weights)

    whole = [torch.cat(in_batches(model, size)) for size in (7, 64)]
    assert torch.allclose(*whole, rtol=0, atol=1e-5)


def test_an_impossible_batch_size_is_refused() -> None:
    for size in (0, -1, 2.5, "64", True, None):
        with refused(ArgumentError, "a batch size >= 1", repr(size)):
            Batching(size)  # type: ignore[arg-type]


# ---- seeds and fingerprints


def test_a_seed_comes_from_the_operating_system_unless_given() -> None:
    assert root_seed(None) != root_seed(None)
    assert root_seed(0) == 0
    assert root_seed(2**63 - 1) == 2**63 - 1
    for bad in (-1, 2**63, 1.0, "1", True):
        with refused(ArgumentError, "seed", repr(bad)):
            root_seed(bad)  # type: ignore[arg-type]


def test_equal_inputs_have_one_fingerprint() -> None:
    wide = torch.zeros(3, 8)
    wide[:, ::2] = X
    equal = [X, X.clone(), X.numpy(), X.T.contiguous().T, wide[:, ::2], X.clone().requires_grad_()]
    assert len({fingerprint(x) for x in equal}) == 1
    assert fingerprint([1, "a"]) == fingerprint((1, "a"))
    assert fingerprint({"a": X, "b": 2}) == fingerprint({"b": 2, "a": X.clone()})


def test_different_inputs_have_different_fingerprints() -> None:
    nudged = X.clone()
    nudged[2, 3] = torch.nextafter(nudged[2, 3], torch.tensor(9.0))
    different = [
        X,
        nudged,
        X.reshape(4, 3),
        X[None],
        X.double(),
        X.half(),
        X.bfloat16(),
        X.view(torch.int32),
        torch.zeros(2, dtype=torch.bool),
        torch.zeros(2, dtype=torch.uint8),
        torch.zeros(()),
        torch.zeros(0),
        "1",
        1,
        1.0,
        b"1",
        None,
        True,
        ["ab", "c"],
        ["a", "bc"],
        [["a"], "b"],
        ["a", ["b"]],
        {"a": 1},
        {"a": "1"},
        [("a", 1)],
    ]
    assert len({fingerprint(x) for x in different}) == len(different)


def test_an_input_without_a_value_is_refused() -> None:
    for x in (object(), {"a": object()}, [lambda: 0]):
        with refused(InputError, "a value to hash", "tensors"):
            fingerprint(x)


class Counted(Gaussian):
    """Counts how often it is asked for a block."""

    blocks = 0

    def sample(self, x: torch.Tensor, generator: torch.Generator, count: int) -> torch.Tensor:
        Counted.blocks += 1
        return super().sample(x, generator, count)


@pytest.mark.parametrize("size", [1, 5, 64, 100])
def test_a_block_is_drawn_once_and_kept_from_models_that_overwrite(size: int) -> None:
    Counted.blocks = 0
    x, address = torch.zeros(3), Address(1, fingerprint(torch.zeros(3)))

    def overwriting(batch: torch.Tensor) -> torch.Tensor:
        return batch.add_(1)

    options = (Counted(0.25), x, address, "samples", (0, 200), Batching(size))
    outputs = torch.cat(list(draw(Model(overwriting, None), *options)))  # type: ignore[arg-type]
    assert torch.equal(outputs, 1 + noisy(Gaussian(0.25), x, address, "samples", 0, 200))
    assert Counted.blocks == 4


def test_lists_of_tokens_are_kept_from_models_that_overwrite() -> None:
    tokens = ["a", "b", "c"]
    address, noise = Address(1, fingerprint(tokens)), TokenDeletion(0.3)

    def overwriting(batch: list[list[str]]) -> list[int]:
        counts = [len(words) for words in batch]
        for words in batch:
            words.clear()
        return counts

    def counting(batch: list[list[str]]) -> list[int]:
        return [len(words) for words in batch]

    found = [
        [
            n
            for part in draw(
                Model(f, None), noise, tokens, address, "samples", (0, 90), Batching(7)
            )
            for n in part
        ]
        for f in (overwriting, counting)
    ]
    assert found[0] == found[1]
    assert tokens == ["a", "b", "c"]
