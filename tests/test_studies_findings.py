"""What is committed is what the committed records say."""

from __future__ import annotations

from pathlib import Path

import pytest
from studies import findings, scales
from studies.records import write_lines, write_rows
from studies.scales import scale_named

from studies_small import SCALE, row

COMMITTED = ("full",)


@pytest.mark.parametrize("name", COMMITTED)
def test_committed_pages_hold_no_number_that_their_records_do_not(name: str) -> None:
    scale = scale_named(name)
    found = findings.pages(scale)
    for page in found:
        path = scale.results / f"{page.name}.md"
        assert path.read_text(encoding="utf-8") == page.content(scale), path
    written = (scale.results / "README.md").read_text(encoding="utf-8")
    assert written == findings.summary(scale, found)
    expected = {"README.md", *(f"{page.name}.md" for page in found)}
    assert {path.name for path in scale.results.glob("*.md")} == expected


@pytest.fixture
def records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(scales, "RESULTS", tmp_path)
    return tmp_path / "tiny" / "records"


def own(**values: object) -> object:
    """A record on the grid of the tests' scale."""
    return row(eps=(0.0625, 0.125), **values)


def test_nothing_is_written_without_records(records: Path) -> None:
    assert findings.write(SCALE) == []
    assert not records.parent.exists()


def test_the_summary_has_a_line_per_distance(records: Path) -> None:
    theirs = {"procedure": "published", "evaluations": 120_000}
    rows = [own(), own(bounds=(4.0, 8.0), smoothing_error=0.25, **theirs)]
    rows += [own(metric="Angular", bounds=(0.1, 0.2)), own(metric="TotalVariation")]
    write_rows(records / "mnist-autoencoder.jsonl", rows)
    written = findings.summary(SCALE, findings.pages(SCALE))
    assert (
        "| l2 | 0.25 | ≤ 0.45 | – | 1 | 5,099 | 120,000 | 1 (1) | 1/23.5 | 2.00 (above 1 at 2 of 2 "
        in written
    )
    assert "| angular |" not in written  # there is nothing to compare with
    assert "(2-angular.md)" in written


def test_training_noise_is_told_by_a_ratio(records: Path) -> None:
    # The second input has no counterpart, so it counts for nothing here.
    trained = [own(bounds=(1.0, 2.0)), own(index=1, bounds=(9.0, 9.0))]
    write_rows(records / "mnist-autoencoder.jsonl", trained)
    plain = own(part="mnist-autoencoder-plain", bounds=(3.0, 5.0))
    write_rows(records / "mnist-autoencoder-plain.jsonl", [plain])
    page = {page.name: page.content(SCALE) for page in findings.pages(SCALE)}["4-training-noise"]
    assert "| mnist-autoencoder | 0.25 | 0.0625 | 1 | 1 | 3 | 3 |" in page
    assert "| mnist-autoencoder | 0.5 | 0.125 | 1 | 2 | 5 | 2.5 |" in page


@pytest.mark.parametrize(
    ("bound", "error", "met"), [(0.6, 1.04, "yes"), (0.6, 1.1, "no"), (0.8, 1.0, "no")]
)
def test_training_for_certificates_must_not_cost_too_much(
    records: Path, bound: float, error: float, met: str
) -> None:
    part = "consistency-mnist"
    alone = row(part=part, setting="l2, sigma 0.25, noise alone", bounds=(0.5, 1.0))
    other = row(part=part, setting="l2, sigma 0.25, consistency 4", bounds=(0.1, bound))
    write_rows(records / f"{part}.jsonl", [alone, other])
    lines = [
        {"part": "m", "weight": w, "trained": t, "noisy": 0.01 * e, "clean": 0.005}
        for w, t, e in ((0.0, "noise alone", 1.0), (4.0, "consistency 4", error))
    ]
    write_lines(records / "consistency-mnist-errors.jsonl", lines)
    (page,) = findings.pages(SCALE)
    line = next(line for line in page.text.splitlines() if line.startswith("| consistency 4"))
    assert line.endswith(f"| {met} |")


def test_a_refuted_certificate_would_show(records: Path) -> None:
    lines = [
        {"part": "tightness", "center": "c", "index": i, "eps": 0.25, "bound": 1.0, "moved": moved}
        for i, moved in enumerate((0.5, 2.0, 0.25))
    ]
    write_lines(records / "tightness.jsonl", lines)
    (page,) = findings.pages(SCALE)
    assert "| c | 0.25 | 3 | 1 | 0.500 | 2 | 0.500 |" in page.text
