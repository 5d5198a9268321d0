from __future__ import annotations

import torch
from torch import nn

from centersmooth.models import Model
from centersmooth.noise import Gaussian
from centersmooth.sampling import Address, fingerprint
from centersmooth.tuning import _Trials, tune

NOISE = Gaussian(0.5)


def trials(x: torch.Tensor, *rates: tuple[int, bool, float]) -> _Trials:
    made = _Trials(Model(lambda batch: batch, None), NOISE, x, Address(0, fingerprint("x")))
    made.rates.extend(rates)
    return made


def test_what_was_tried_is_recorded_and_the_best_of_it_chosen() -> None:
    sizes = []

    def model(batch: torch.Tensor) -> torch.Tensor:
        sizes.append(len(batch))
        return batch

    x = torch.zeros(3, 8, 8)
    found = tune(Model(model, None), NOISE, x, Address(0, fingerprint(x)))
    tried = [size for size, _, _ in found.rates]
    assert tried == [32 * 2**i for i in range(len(tried))]
    assert sorted(set(sizes)) == tried
    assert all(2 <= sizes.count(size) <= 6 for size in tried)
    assert sizes == sorted(sizes)
    assert found.probes == sum(sizes)
    assert found.batching.size in tried
    assert not found.batching.channels_last
    assert all(rate > 0 for *_, rate in found.rates)


def test_channels_last_is_tried_on_images_and_the_better_layout_kept() -> None:
    x = torch.zeros(3, 8, 8)
    network = Model(nn.Conv2d(3, 4, 3).eval(), None)
    found = tune(network, NOISE, x, Address(0, fingerprint(x)))
    assert [trial[:2] for trial in found.rates[:2]] == [(32, False), (32, True)]
    assert len({last for _, last, _ in found.rates[2:]}) == 1
    assert found.batching.channels_last in {last for _, last, _ in found.rates}
    flat = tune(Model(nn.Linear(8, 2).eval(), None), NOISE, x[0], Address(0, fingerprint(x)))
    assert not any(last for _, last, _ in flat.rates)


def test_a_larger_batch_must_be_clearly_faster() -> None:
    x = torch.zeros(4)
    assert trials(x).best == (32, False, 0.0)
    assert trials(x, (32, False, 100.0), (64, False, 102.0)).best[0] == 32
    assert trials(x, (32, False, 100.0), (64, False, 104.0)).best[0] == 64
    assert trials(x, (64, False, 100.0), (64, True, 200.0)).best == (64, True, 200.0)


def test_trials_stop_when_memory_or_time_would_run_out() -> None:
    fast = (32, False, 1e9)
    assert trials(torch.zeros(4), fast).affordable(4096)
    assert not trials(torch.zeros(4), fast).affordable(8192)
    assert not trials(torch.zeros(1).expand(2**22), fast).affordable(64)
    assert not trials(torch.zeros(4), (32, False, 10.0)).affordable(64)
    assert trials(torch.zeros(4)).affordable(32)
