"""`make bench`: all tables, as ratios in one run.

Records go to benchmarks/records, tables to RESULTS.md.

python benchmarks/run.py [--quick] [bounds] [overhead] [memory] [latency] [metrics]
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bounds
import latency
import memory
import metrics
import overhead

HERE = Path(__file__).parent
RECORDS = HERE / "records"
PARTS = ("bounds", "overhead", "memory", "latency", "metrics")


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines) + "\n"


def bounds_table(result: dict[str, Any]) -> str:
    """Median over images of ours / published, per metric, budget and eps / sigma."""
    published, ours = result["published"], result["ours"]
    rows = []
    for metric in bounds.METRICS:
        for budget in bounds.SIZES:
            here = [record["bounds"][budget][metric] for record in ours]
            there = [record["bounds"][metric] for record in published]
            most = [record["bounds"]["50,100"][metric] for record in ours]
            cells = [*median_ratios(here, there), *median_ratios(here, most)]
            rows.append([metric, f"{ours[0]['evaluations'][budget]:,}", *cells])
    shifts = [f"h = {h:g}" for h in bounds.SHIFTS]
    header = ["metric", "our evaluations", *shifts, *(f"/ 50,100 at {h}" for h in shifts)]
    abstained = sum(s != "certified" for r in published for v in r["status"].values() for s in v)
    note = (
        f"Medians over {len(ours)} MNIST test images of (our eps_2) / (published eps_2), sigma "
        f"= {bounds.SIGMA}, eps = h sigma, alpha = {bounds.ALPHA}; published: n = 10,000, m = "
        f"{published[0]['m']:,}, {published[0]['evaluations']:,} evaluations, "
        f"{abstained} abstentions. The last three columns compare with our own largest budget.\n\n"
    )
    return note + table(header, rows)


def median_ratios(ours: list[list[float]], theirs: list[list[float]]) -> list[str]:
    """For each eps, the median over images of one bound over the other."""
    places = range(len(bounds.SHIFTS))
    ratios = ([a[i] / b[i] for a, b in zip(ours, theirs, strict=True)] for i in places)
    return [f"{statistics.median(found):.3f}" for found in ratios]


def overhead_table(result: dict[str, Any]) -> str:
    """Certify's wall clock over raw forward passes."""
    rows = [
        [
            name,
            r["raw_passes_per_second"],
            r["raw_batch"],
            r["ratio"]["l2"],
            r["ratio"]["tv"],
            r["first_call_ratio"]["l2"],
            r["first_call_ratio"]["tv"],
        ]
        for name, r in result.items()
        if isinstance(r, dict)
    ]
    header = [
        "model, evaluations",
        "raw passes/s",
        "best batch",
        "l2",
        "tv",
        "l2 first",
        "tv first",
    ]
    note = (
        "Wall clock of certify over the same number of raw forward passes on one unchanging batch "
        f"at the best of {len(overhead.BATCHES)} batch sizes and two layouts "
        f"({result['threads']} threads). "
        "'First' includes checks, tuning and compilation of kernels.\n\n"
    )
    return note + table(header, rows)


def memory_table(result: dict[str, Any]) -> str:
    """Peak memory above the model's own."""
    rows = [[n, f"{r['samples']:,}", r["model_mb"], r["above_mb"]] for n, r in result.items()]
    return table(["case", "m", "model alone, MB", "certify adds, MB"], rows)


def latency_table(result: dict[str, Any]) -> str:
    """A finished certificate's answers."""
    rows = [
        [n, f"{r['samples']:,}", r["first_ms"], r["again_ms"], r["json_kb"], r["value_kb"]]
        for n, r in result.items()
    ]
    header = ["metric", "m", "bound, first ms", "again ms", "JSON, KB", "its value, KB"]
    return table(header, rows)


def metrics_table(result: dict[str, Any]) -> str:
    """Pairs per second of every metric."""
    rows = []
    for name, r in result["pairs"].items():
        library = ["none", "", ""]
        if r["library"]:
            theirs = r["by_library"]
            library = [r["library"], f"{theirs:,.0f}", f"{r['ours'] / theirs:.2f}"]
        rates = [f"{r['ours']:,.0f}", f"{r['naive']:,.0f}", f"{r['ours'] / r['naive']:,.0f}"]
        rows.append([name, *rates, *library])
    header = [
        "metric",
        "ours",
        "naive loop",
        "ours / naive",
        "library",
        "its pairs/s",
        "ours / its",
    ]
    lpips = result["lpips"]
    note = (
        f"Pairs per second of processor time, one thread, {metrics.REFERENCES} outputs against "
        f"{metrics.SAMPLES:,}, preparation of the outputs included; `naive` is the formula in a "
        "loop over pairs. Every library is checked to give the same distances; torchmetrics gets "
        "outputs in double precision, in which we compute.\n\n"
    )
    after = (
        f"\nLPIPS of {lpips['samples']:,} samples and {lpips['candidates']} candidates (AlexNet, "
        f"64 x 64 pixels): {lpips['ratio']:.2f} times the cost of embedding each output once "
        f"({lpips['embedding_s']:.1f} s).\n"
    )
    return note + table(header, rows) + after


TABLES = {
    "bounds": ("Bounds beside the published procedure", bounds_table),
    "overhead": ("Overhead", overhead_table),
    "memory": ("Memory", memory_table),
    "latency": ("A finished certificate", latency_table),
    "metrics": ("Distances", metrics_table),
}


def measure(part: str, quick: bool) -> Any:
    """One part, measured now (bounds go on from their records)."""
    if part == "bounds":
        return bounds.run(RECORDS, 2 if quick else 10, 20_000 if quick else 1_000_000)
    parts = {"overhead": overhead, "memory": memory, "latency": latency, "metrics": metrics}
    return parts[part].run(quick)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=PARTS)
    parser.add_argument("--quick", action="store_true", help="small sizes, tables printed only")
    options = parser.parse_args()
    RECORDS.mkdir(exist_ok=True)
    for part in options.parts:
        result = measure(part, options.quick)
        if not options.quick:
            (RECORDS / f"{part}.json").write_text(json.dumps(result, indent=1) + "\n")
        title, render = TABLES[part]
        print(f"\n## {title}\n\n{render(result)}", flush=True)
    if not options.quick:
        write_results()


def write_results() -> None:
    """RESULTS.md from whatever records there are."""
    sections = ["# Benchmark results\n\nWritten by `make bench` from benchmarks/records.\n"]
    for part, (title, render) in TABLES.items():
        path = RECORDS / f"{part}.json"
        if path.exists():
            sections.append(f"## {title}\n\n{render(json.loads(path.read_text()))}")
    (HERE / "RESULTS.md").write_text("\n".join(sections))


if __name__ == "__main__":
    main()
