from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import centersmooth as cs
from centersmooth import metrics
from centersmooth.certificates import SCHEMA, Certificate
from centersmooth.errors import ArgumentError, FormatError
from refusals import refused
from tiny_models import TARGET, certificate, one_of_each_kind

LAW = settings(derandomize=True, deadline=None, max_examples=60)


CERTIFICATES = one_of_each_kind()
names = st.sampled_from(sorted(CERTIFICATES))
attacks = st.floats(0, 0.2) | st.floats(0, 2.4)


def reached(one: Certificate, eps: float) -> float:
    return min(eps, one.grid[-1]) if one.grid else eps


# ---- bounds


@LAW
@given(names, attacks, attacks)
def test_a_larger_attack_never_has_a_smaller_bound(name: str, a: float, b: float) -> None:
    one = CERTIFICATES[name]
    low, high = (reached(one, eps) for eps in sorted((a, b)))
    assert one.bound(low) <= one.bound(high) <= one.metric.diameter
    if one.has_target:
        assert one.error(low) <= one.error(high) <= one.metric.diameter
    if one.status(high) == "certified":
        assert one.status(low) == "certified"


@LAW
@given(names, attacks)
def test_undecided_means_the_diameter_and_decided_means_less_or_equal(
    name: str, eps: float
) -> None:
    one = CERTIFICATES[name]
    point = reached(one, eps)
    if one.status(point) == "undecided":
        assert one.bound(point) == one.metric.diameter
    else:
        assert one.bound(point) < math.inf


def test_the_error_is_the_bound_about_the_target() -> None:
    """Certified with the answer itself as target, both are the same number."""
    made = certificate()
    twin = certificate(target=made.value)
    for eps in (0.0, 0.05, 0.1):
        assert twin.error(eps) == twin.bound(eps) == made.bound(eps)


def test_the_error_covers_what_the_answer_is_off() -> None:
    for name in ("median", "angular", "medoid", "grid"):
        one = CERTIFICATES[name]
        target = -TARGET if name == "angular" else TARGET
        assert one.error(0.1) >= one.metric(one.value, target)
        assert one.error(0.1) <= one.metric.diameter


def test_there_is_no_error_without_a_target() -> None:
    with refused(ArgumentError, "target=..."):
        CERTIFICATES["split median"].error(0.1)


def test_an_eps_is_rounded_up_to_the_declared_grid() -> None:
    one, plain = CERTIFICATES["grid"], certificate(target=TARGET, alpha=0.01 / 3)
    for eps, point in ((0.0, 0.05), (0.05, 0.05), (0.051, 0.1), (0.15, 0.2), (0.2, 0.2)):
        assert one.bound(eps) == one.bound(point) == plain.bound(point)
        assert one.error(eps) == plain.error(point)
    with refused(ArgumentError, "eps <= 0.2", "larger grid"):
        one.bound(0.2001)


def test_the_grid_spends_a_split_levels_certificate_share_only() -> None:
    grid = certificate(grid=[0.05, 0.1], alpha=cs.Split(0.02, 0.03))
    plain = certificate(alpha=cs.Split(0.01, 0.03))
    assert grid.bound(0.1) == plain.bound(0.1)


@pytest.mark.parametrize("eps", [-0.1, math.nan, math.inf, "0.1", None, [0.1], torch.zeros(2)])
def test_what_is_no_attack_is_refused(eps: Any) -> None:
    one = CERTIFICATES["median"]
    for call in (one.bound, one.error, one.status, one.explain, one.guarantee):
        with refused(ArgumentError, "one finite eps >= 0", "units of the input"):
            call(eps)


def test_a_curve_is_the_bound_at_each_eps() -> None:
    one = CERTIFICATES["median"]
    assert one.curve([0.0, 0.1]) == [one.bound(0.0), one.bound(0.1)]


def test_a_seen_spread_sharpens_the_bound_of_a_medoid() -> None:
    one = CERTIFICATES["medoid"]
    assert one.spread is not None
    assert one.bound_seen(0.1, one.spread) < one.bound(0.1)
    spreads = [one.bound_seen(0.1, spread) for spread in (0.0, 1.0, 2.0)]
    assert spreads == sorted(spreads)
    radius = spreads[0]
    assert spreads[2] == pytest.approx(radius + 2.0, rel=1e-4)
    assert one.bound_seen(2.0, 0.1) == math.inf
    with refused(ArgumentError, "a certificate of a Medoid", "GeometricMedian"):
        CERTIFICATES["median"].bound_seen(0.1, 1.0)
    for spread in (-1.0, math.nan, "1", None):
        with refused(ArgumentError, "spread"):
            one.bound_seen(0.1, spread)  # type: ignore[arg-type]


# ---- radius


@pytest.mark.parametrize("name", ["median", "split median", "angular", "medoid", "split medoid"])
def test_the_radius_grows_with_what_is_tolerated(name: str) -> None:
    one = CERTIFICATES[name]
    taus = [one.bound(0.1) * share for share in (0, 0.3, 0.6, 0.9, 1.0, 1.2, 1.5, 3)]
    radii = [one.radius(tau) for tau in taus]
    assert radii == sorted(radii)
    assert radii[0] == 0
    assert radii[-1] > 0


@pytest.mark.parametrize("name", ["median", "split median", "angular"])
def test_the_radius_of_a_median_inverts_the_bound_of_its_split_form(name: str) -> None:
    one = CERTIFICATES[name]
    split = dataclasses.replace(one, level=one.level.as_split(), _known={})
    for eps in (0.01, 0.1, 0.2):
        tau = 1.01 * split.bound(eps)
        radius = one.radius(tau)
        assert radius >= eps
        assert split.bound(radius) <= tau < split.bound(radius + 1e-6)


def test_a_joint_certificate_inverts_its_split_form() -> None:
    one, split = certificate(alpha=0.02), certificate(alpha=cs.Split(0.01, 0.01))
    for tau in (split.bound(0.05), 1.3 * split.bound(0.1)):
        assert one.radius(tau) == split.radius(tau) > 0


@pytest.mark.parametrize("name", ["Theorem A", "split medoid"])
def test_the_bound_at_the_radius_is_within_what_is_tolerated(name: str) -> None:
    """The radius spends a third of the level per division: the bound, with all of it, is below."""
    one = CERTIFICATES[name]
    taus = [one.bound(0.05) * share for share in (0.8, 1.0, 1.5, 3.0)]
    assert one.radius(taus[-1]) > 0
    for tau in taus:
        radius = one.radius(tau)
        assert one.bound(radius) <= tau or radius == 0


def test_the_radius_on_a_grid_is_the_last_point_that_holds() -> None:
    one = CERTIFICATES["grid"]
    for place, eps in enumerate(one.grid or ()):
        assert one.radius(one.bound(eps)) >= eps
        before = (0.0, *(one.grid or ()))[place]
        assert one.radius(one.bound(eps) * (1 - 1e-9)) == before


def test_the_diameter_tolerates_everything() -> None:
    assert CERTIFICATES["boxes"].radius(1.0) == math.inf
    assert CERTIFICATES["boxes"].radius(0) == 0
    for tau in (-1, math.nan, "1", None):
        with refused(ArgumentError, "tau >= 0"):
            CERTIFICATES["median"].radius(tau)  # type: ignore[arg-type]


# ---- to keep


@pytest.mark.parametrize("name", sorted(CERTIFICATES))
def test_json_gives_the_same_answers(name: str, tmp_path: Path) -> None:
    one = CERTIFICATES[name]
    one.save(tmp_path / "certificate.json")
    for back in (
        Certificate.from_json(one.to_json()),
        Certificate.load(tmp_path / "certificate.json"),
    ):
        assert torch.equal(back.value, one.value)
        for field in ("noise", "metric", "center", "sizes", "level", "grid", "ranked", "spread"):
            assert getattr(back, field) == getattr(one, field)
        assert back.provenance == one.provenance
        for eps in np.linspace(0, 0.2, 7):
            assert back.bound(eps) == one.bound(eps)
            assert back.explain(eps) == one.explain(eps)
            assert back.has_target == one.has_target
            if one.has_target:
                assert back.error(eps) == one.error(eps)
        assert back.radius(2.0) == one.radius(2.0)
        assert str(back) == str(one)


def test_json_is_small_beside_the_value() -> None:
    one = certificate(metric=metrics.L1(), center=cs.Medoid(100), samples=4_000, target=TARGET)
    assert len(one.to_json()) - len(json.dumps(one.metric.to_json(one.value))) < 200_000


def test_a_metric_of_ones_own_is_passed_when_reading() -> None:
    def gap(a: Any, b: Any) -> float:
        return float((a - b).abs().max())

    class Own(metrics.L1):
        pass

    for metric in (metrics.Custom(gap, diameter=50.0), Own()):
        one = certificate(metric=metric, center=cs.Medoid(5))
        text = one.to_json()
        back = Certificate.from_json(text, metric=metric)
        assert back.bound(0.1) == one.bound(0.1)
        with refused(FormatError, "metric=", type(metric).__name__):
            Certificate.from_json(text)


def test_a_noise_and_a_center_of_ones_own_are_passed_when_reading(tmp_path: Path) -> None:
    class OwnNoise(cs.Gaussian):
        pass

    class OwnCenter(cs.Medoid):
        pass

    own = {"noise": OwnNoise(0.25), "center": OwnCenter(5)}
    one = certificate(**own)
    one.save(tmp_path / "own.json")
    assert Certificate.load(tmp_path / "own.json", **own).bound(0.1) == one.bound(0.1)
    for missing in own:
        rest = {name: thing for name, thing in own.items() if name != missing}
        with refused(FormatError, f"{missing}=...", type(own[missing]).__name__):
            Certificate.from_json(one.to_json(), **rest)


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "weights.pt").write_bytes(bytes([255, 254, 0]))
    with refused(FormatError, "a certificate", "that Certificate.save wrote"):
        cs.Certificate.load(tmp_path / "weights.pt")


def test_what_is_no_json_of_a_certificate_is_refused() -> None:
    for text in (
        "",
        "{",
        "[]",
        "3",
        "null",
        '"text"',
        "{}",
        '{"schema": 1}',
        "\x00",
        "[" * 100_000,
    ):
        with refused(FormatError):
            Certificate.from_json(text)
    with refused(FormatError, f"schema {SCHEMA}", "schema 99", "another version"):
        Certificate.from_json('{"schema": 99}')


def damaged(path: str, value: Any, name: str = "medoid") -> str:
    data = json.loads(CERTIFICATES[name].to_json())
    place, *parts = path.split("/")
    target = data
    for part in parts:
        target, place = target[place], part
    if value is KeyError:
        del target[place]
    else:
        target[place] = value
    return json.dumps(data)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        *((part, KeyError) for part in json.loads(CERTIFICATES["medoid"].to_json())),
        ("noise/type", "Laplacian"),
        ("noise/type", "Noise"),
        ("noise/type", "__class__"),
        ("noise/type", ["Gaussian"]),
        ("noise/fields", {"sigma": -1}),
        ("noise/fields", {"sigma": "big"}),
        ("noise/fields", {"tau": 1}),
        ("noise/fields", None),
        ("metric/type", "Block"),
        ("metric/fields", {"diameter": -3.0}),
        ("metric/fields", {"diameter": "x"}),
        ("center/type", "Center"),
        ("center/type", "Answer"),
        ("center/fields/candidates", 19),
        ("center/fields/candidates", -1),
        ("center/fields/candidates", 10**9),
        ("center/fields/outer", 3),
        ("sizes/m", 100),
        ("sizes/m", 201),
        ("sizes/m", 0),
        ("sizes/n", -5),
        ("sizes/n", math.inf),
        ("sizes/n", "many"),
        ("level/form", "Both"),
        ("level/alpha", 0.7),
        ("level/alpha", math.nan),
        ("level/alpha", 0),
        ("grid", [0.2, 0.1]),
        ("grid", [-0.1, 0.1]),
        ("grid", [0.1, math.nan]),
        ("grid", "0.1"),
        ("has_target", False),
        ("spread", "far"),
        ("provenance", {}),
        ("provenance/evil", 1),
        ("provenance/seed", KeyError),
        ("value", {"pickle": "gASVKAAAAAAAAACMBXBvc2l4"}),
        ("value/shape", [99]),
        ("distances/rows", 2),
        ("distances/columns", 10**9),
        ("distances/counts", "garbage"),
    ],
)
def test_damaged_or_hostile_files_are_refused(path: str, value: Any) -> None:
    with refused(FormatError):
        Certificate.from_json(damaged(path, value))
