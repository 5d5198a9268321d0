"""Experiments 1 to 4 end to end on a tiny data set: trained, certified, recorded, written."""

from __future__ import annotations

from pathlib import Path

import pytest
from studies import findings, restoration
from studies.records import read_lines, read_rows
from studies.restoration import PARTS, Restoration

from studies_small import SCALE, in_place_of_real_data

NOISY, PLAIN = Restoration("mnist", "reconstruction"), Restoration("mnist", "reconstruction", False)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both parts run twice, the second time from what the first has kept."""
    folder = tmp_path_factory.mktemp("studies")
    with pytest.MonkeyPatch.context() as patch:
        in_place_of_real_data(folder, patch)
        restoration.network.cache_clear()
        for part in (NOISY, PLAIN):
            part.run(SCALE)
            part.keep(SCALE)
        before = records(folder)
        NOISY.run(SCALE)
        NOISY.keep(SCALE)
        assert records(folder) == before
        findings.write(SCALE)
    restoration.network.cache_clear()
    return folder / "results" / "tiny"


def records(folder: Path) -> dict[str, bytes]:
    found = (folder / "results" / "tiny" / "records").iterdir()
    return {path.name: path.read_bytes() for path in found}


def test_every_setting_has_its_records(results: Path) -> None:
    rows = read_rows(results / "records" / f"{NOISY.name}.jsonl")
    assert {row.metric for row in rows} == {"TotalVariation", "Angular", "L2"}
    count = {p: sum(r.procedure == p for r in rows) for p in ("sharp", "thorough", "published")}
    # Beside the three metrics, clipped means for two of them.
    assert count == {"sharp": 2 * 3 + 2 * 2, "thorough": 3 + 2, "published": 3}
    ours = next(r for r in rows if r.metric == "L2" and r.procedure == "sharp")
    assert ours.errors is not None
    assert list(ours.bounds) == sorted(ours.bounds)
    assert ours.at(0.125) is not None
    assert {"trained at noise 0.25" in r.setting for r in rows} == {True}
    plain = read_rows(results / "records" / f"{PLAIN.name}.jsonl")
    assert {"trained at noise 0" in r.setting for r in plain} == {True}


def test_the_mean_smoothed_model_stands_beside(results: Path) -> None:
    lines = read_lines(results / "records" / f"{NOISY.name}-mean.jsonl")
    assert [line["index"] for line in lines] == [0, 1]
    assert all(line["error"] > 0 and line["samples"] == restoration.MEAN_SAMPLES for line in lines)
    assert not (results / "records" / f"{PLAIN.name}-mean.jsonl").exists()


def test_pages_figures_and_the_summary_are_written(results: Path) -> None:
    pages = sorted(path.name for path in results.glob("*.md"))
    assert pages == [
        "1-total-variation.md",
        "2-angular.md",
        "3-l2.md",
        "4-training-noise.md",
        "7a-certified-error.md",
        "README.md",
    ]
    for page in pages:
        text = (results / page).read_text()
        assert "nan" not in text
        for figure in (part.split(")")[0] for part in text.split("](figures/")[1:]):
            assert (results / "figures" / figure).stat().st_size > 1_000
    summary = (results / "README.md").read_text()
    assert all(f"| {name} |" in summary for name in ("total variation", "angular", "l2"))


def test_the_nearest_noise_level_serves_each_sigma() -> None:
    assert [NOISY.level(s, SCALE) for s in (0.05, 0.2, 0.9)] == [0.0, 0.25, 0.25]
    assert PLAIN.level(0.9, SCALE) == 0.0
    assert len({part.name for part in PARTS}) == 8
