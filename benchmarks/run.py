"""`make bench`: all tables, as ratios in one run.

Records go to benchmarks/records, tables to RESULTS.md.

python benchmarks/run.py [--quick] [bounds] [small_eps] [overhead] [memory] [latency]
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
import overhead
import small_eps

HERE = Path(__file__).parent
RECORDS = HERE / "records"
PARTS = ("bounds", "small_eps", "overhead", "memory", "latency")


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


def small_eps_table(result: dict[str, Any]) -> str:
    """Median over images of Theorem D's bound over Theorem C's, per metric, budget and eps."""
    rows: list[list[object]] = []
    for metric in small_eps.METRICS:
        for budget in small_eps.SIZES:
            both = [r for r in result["records"] if r["budget"] == budget]
            if not both:
                continue
            pairs = [(r["bounds"][metric]["D"], r["bounds"][metric]["C"]) for r in both]
            places = range(len(small_eps.SHIFTS))
            ratios = [statistics.median(d[i] / c[i] for d, c in pairs) for i in places]
            worst = max(d[1] / c[1] for d, c in pairs)
            ends = [metric, f"{both[0]['evaluations']:,}", len(both)]
            rows.append([*ends, *(f"{r:.3f}" for r in ratios), f"{worst:.3f}"])
    header = ["metric", "evaluations", "images", *(f"h = {h:g}" for h in small_eps.SHIFTS)]
    header.append(f"worst image at {small_eps.SHIFTS[1]:g}")
    slower = statistics.median(
        r["seconds"]["D"] / r["seconds"]["C"] for r in result["records"] if r["seconds"]
    )
    note = (
        "Medians over MNIST test images of (Theorem D's eps_2, `ClippedMean()`) / "
        "(Theorem C's, `GeometricMedian()`) on the same draws of the packaged autoencoder, sigma "
        f"= {small_eps.SIGMA}, eps = h sigma, alpha = {small_eps.ALPHA} (joint). Processor time of "
        f"one l2 certificate at the default budget, D / C: {slower:.2f}.\n\n"
    )
    return note + table(header, rows)


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


TABLES = {
    "bounds": ("Bounds beside the published procedure", bounds_table),
    "small_eps": ("Small eps: Theorem D beside Theorem C", small_eps_table),
    "overhead": ("Overhead", overhead_table),
    "memory": ("Memory", memory_table),
    "latency": ("A finished certificate", latency_table),
}


def measure(part: str, quick: bool) -> Any:
    """One part, measured now (bounds go on from their records)."""
    if part == "bounds":
        return bounds.run(RECORDS, 2 if quick else 10, 20_000 if quick else 1_000_000)
    if part == "small_eps":
        return small_eps.run(RECORDS, quick)
    return {"overhead": overhead, "memory": memory, "latency": latency}[part].run(quick)


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
