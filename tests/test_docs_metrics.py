"""docs/metrics.md says what the code does: every row is run, on outputs of a real model too."""

from __future__ import annotations

import inspect
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import centersmooth as cs
from centersmooth import metrics
from centersmooth.centers import default_center
from digit_outputs import SIGMA, digit, model, noisy_outputs, outputs_by_metric
from metric_laws import check_laws

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "metrics.md"
RECORD = ROOT / "benchmarks" / "records" / "metrics.json"
OUTPUTS = outputs_by_metric()
THEOREMS = {"Medoid": "B", "GeometricMedian": "C"}
NAMES = {name: getattr(metrics, name) for name in metrics.__all__}
NOT_ROWS = {"Block", "Hilbert", "Metric", "MetricReport", "check"}


def rows() -> dict[str, dict[str, str]]:
    """The tables of the page, by the name of the metric."""
    found, header = {}, []
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
        if line.startswith("| metric"):
            header = cells
        elif line.startswith("| `"):
            row = dict(zip(header, cells, strict=True))
            found[re.match(r"`(\w+)", cells[0])[1]] = row  # type: ignore[index]
    return found


ROWS = rows()


def test_every_public_metric_has_a_row_and_an_output_of_a_real_model() -> None:
    assert set(ROWS) == set(NAMES) - NOT_ROWS
    assert set(OUTPUTS) == set(ROWS)


@pytest.mark.parametrize("name", ROWS)
def test_the_example_of_a_row_is_true(name: str) -> None:
    example, value = re.fullmatch(r"`(.+)` is (\S+)", ROWS[name]["example"]).groups()  # type: ignore[union-attr]
    found = eval(example, {**NAMES, "tensor": torch.tensor, "torch": torch})
    assert found == pytest.approx(float(value), rel=1e-3)
    assert example.startswith(name)


@pytest.mark.parametrize("name", ROWS)
def test_theorem_and_range_are_what_the_code_gives(name: str) -> None:
    metric = OUTPUTS[name][0]
    assert theorem(metric) in re.findall(r"\b[A-D]\b", ROWS[name]["theorem"])
    assert upper_end(ROWS[name]["range"], metric) == pytest.approx(metric.diameter)


def theorem(metric: Any) -> str:
    return THEOREMS[type(default_center(metric)).__name__]


def upper_end(text: str, metric: Any) -> float:
    """The upper end of a range, in the words of the page."""
    found = re.fullmatch(r"\[0, (.+)[\])]", text)
    assert found, text
    return float(UPPER[found[1]](metric))


def parts_of(metric: Any) -> np.ndarray:
    pairs = zip(metric.weights, metric.parts, strict=True)
    return np.array([weight * part.diameter for weight, part in pairs])


UPPER: dict[str, Any] = {
    "1": lambda m: 1,
    "2": lambda m: 2,
    "∞": lambda m: math.inf,
    "π": lambda m: math.pi,
    "√2": lambda m: math.sqrt(2),
    "√log 2": lambda m: math.sqrt(math.log(2)),
    "cutoff": lambda m: m.cutoff,
    "2 Σ max w": lambda m: 2 * sum(float(head.max()) for head in m.network.heads),
    "largest cost": lambda m: np.max(m.cost),
    "last − first position": lambda m: m.positions[-1] - m.positions[0],
    "n(n − 1)/2": lambda m: m.items * (m.items - 1) / 2,
    "⌊n²/2⌋": lambda m: m.items**2 // 2,
    "yours": lambda m: vars(m)["diameter"],
    "the sum of theirs": lambda m: parts_of(m).sum(),
    "the root of squares of theirs": lambda m: np.linalg.norm(parts_of(m)),
    "the largest of theirs": lambda m: parts_of(m).max(),
    "that of the metric": lambda m: m.metric.diameter,
    "the power of that of the metric": lambda m: m.metric.diameter**m.exponent,
}


@pytest.mark.parametrize("name", ROWS)
def test_the_docstring_has_formula_range_and_theorem_as_well(name: str) -> None:
    text = inspect.getdoc(NAMES[name]) or ""
    combined = not inspect.isclass(NAMES[name])
    assert "``" in text
    assert combined or re.search(r"[Rr]ange\s+\[0", text) or name in ("Custom", "Discrete")
    assert combined or re.search(r"Theorem [A-D]", text)


def test_speeds_are_those_of_the_committed_record() -> None:
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    told = {name: row["pairs/s"] for name, row in ROWS.items() if row["pairs/s"] != "—"}
    assert set(told) == set(record["pairs"])
    for name, text in told.items():
        assert text == rounded(record["pairs"][name]["ours"]), name


def rounded(rate: float) -> str:
    """Two digits, as the page has them."""
    step = 10 ** (math.floor(math.log10(rate)) - 1)
    whole = round(rate / step) * step
    return f"{whole / 1e6:g} million" if whole >= 1e6 else f"{whole:,.0f}"


@pytest.mark.parametrize("name", ROWS)
def test_the_laws_hold_on_outputs_of_a_real_model(name: str) -> None:
    metric, read = OUTPUTS[name]
    outputs = noisy_outputs(read, 16)
    check_laws(metric, outputs)
    d = metric.pairwise(outputs, outputs).numpy()
    assert d.max() > 0, "outputs that never differ show nothing"


@pytest.mark.parametrize("name", ROWS)
def test_blocks_may_be_empty_and_are_joined_without_a_difference(name: str) -> None:
    metric, read = OUTPUTS[name]
    outputs = noisy_outputs(read, 5)
    block = metric.collate(outputs)
    for none in (block.take(0, 0), metric.collate(outputs[:0])):
        assert metric.measure(none, block).shape == (0, 5)
        assert metric.measure(block, none).shape == (5, 0)
    joined = metrics.Block.join([block.take(0, 2), block.take(2, 5)])
    whole, parts = (metric.measure(b, b).numpy() for b in (block, joined))
    np.testing.assert_allclose(parts, whole, rtol=1e-9)
    assert metric(outputs[0], outputs[0]) == 0


@pytest.mark.parametrize("name", ROWS)
def test_a_certificate_holds_at_an_attacked_input(name: str) -> None:
    metric, read = OUTPUTS[name]
    options = {"answer_samples": 51, "batch_size": 128, "seed": 3, "progress": False}
    center = cs.Medoid(20, outer=20) if default_center(metric) == cs.Medoid() else None
    smoother = cs.Smoother(model(read), cs.Gaussian(SIGMA), metric, center, **options)
    certificate = smoother.certify(digit(), samples=150, alpha=0.1, seed=5)
    eps = 0.1
    bound = certificate.bound(eps)
    assert certificate.status(eps) == "certified"
    assert 0 <= bound <= metric.diameter
    attacked = digit() + eps * digit() / digit().norm()
    moved = [metric(certificate.value, smoother.predict(attacked, seed=s).value) for s in (7, 8, 9)]
    assert np.median(moved) <= bound
    again = cs.Certificate.from_json(certificate.to_json(), metric=metric)
    assert again.bound(eps) == bound


def test_a_wrong_row_would_be_noticed() -> None:
    l2, angular = metrics.L2(), metrics.Angular()
    assert upper_end("[0, 1]", l2) != l2.diameter
    assert upper_end("[0, π]", angular) != angular.diameter
    assert theorem(l2) not in re.findall(r"\b[A-D]\b", ROWS["L1"]["theorem"])
