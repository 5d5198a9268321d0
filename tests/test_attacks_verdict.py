from __future__ import annotations

import pytest
from scipy.stats import binom, binomtest

import centersmooth as cs
from centersmooth.attacks.verdict import OVERWHELMING, Verdict

SPLIT = cs.Split(0.02, 0.05)
JOINT = cs.Joint(0.01)


@pytest.mark.parametrize("violations", [0, 1, 7, 50])
def test_the_chance_and_the_interval_are_the_exact_ones(violations: int) -> None:
    for level, share in ((SPLIT, 0.05), (JOINT, 0.5)):
        verdict = Verdict.of(violations, 50, level)
        assert verdict.chance == pytest.approx(binom.sf(violations - 1, 50, share), rel=1e-9)
        exact = binomtest(violations, 50).proportion_ci(0.999, method="exact")
        assert verdict.interval == pytest.approx((exact.low, exact.high), rel=1e-9)


def test_what_else_may_have_gone_wrong_is_said() -> None:
    assert Verdict.of(3, 50, SPLIT).unlucky == 0.02
    assert Verdict.of(3, 50, JOINT).unlucky == 0.02  # Markov: twice alpha


def test_only_overwhelming_evidence_breaks() -> None:
    for level, limit in ((SPLIT, 15), (JOINT, 43)):
        broken = [v for v in range(51) if Verdict.of(v, 50, level).broken]
        assert broken == list(range(broken[0], 51))
        assert abs(broken[0] - limit) <= 2
        assert Verdict.of(broken[0] - 1, 50, level).chance > OVERWHELMING
    assert not Verdict.of(0, 50, SPLIT).broken
    assert not Verdict.of(0, 1, JOINT).broken


def test_too_few_answers_cannot_tell() -> None:
    for level, least in ((JOINT, 20), (SPLIT, 5)):
        assert Verdict.of(1, 2, level).least_trials == least
        assert Verdict.of(least, least, level).broken
        assert not Verdict.of(least - 1, least - 1, level).broken
