from __future__ import annotations

import pytest
import torch

from centersmooth.metrics import bits
from metric_laws import generator


def random_bits(rows: int, width: int, seed: int) -> torch.Tensor:
    return torch.rand(rows, width, generator=generator(seed)) < 0.4


@pytest.mark.parametrize("width", [0, 1, 63, 64, 65, 200])
def test_words_count_what_the_bits_say(width: int) -> None:
    a, b = random_bits(5, width, 1), random_bits(4, width, 2)
    one, other = bits.packed(a), bits.packed(b)
    assert one.shape == (5, -(-width // 64))
    assert torch.equal(bits.differing(one, other), (a[:, None] ^ b[None]).sum(-1).double())
    assert torch.equal(bits.shared(one, other), (a[:, None] & b[None]).sum(-1).double())
    assert torch.equal(bits.counts(one), a.sum(-1).double())


def test_all_bits_of_a_word_count() -> None:
    full = bits.packed(torch.ones(1, 128, dtype=torch.bool))
    assert float(bits.counts(full)) == 128
    assert float(bits.shared(full, full)) == 128
    assert float(bits.differing(full, full)) == 0


def test_blocks_without_rows_and_strided_blocks_are_fine() -> None:
    rows = bits.packed(random_bits(6, 130, 3))
    assert bits.shared(rows[:0], rows).shape == (0, 6)
    assert bits.counts(rows[:0]).shape == (0,)
    assert torch.equal(bits.differing(rows[::2], rows), bits.differing(rows, rows)[::2])
