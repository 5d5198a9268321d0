"""`make bench`: all tables, as ratios in one run.

Records go to benchmarks/records, tables to RESULTS.md.

python benchmarks/run.py [--quick] [part ...], the parts being those of PARTS
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import adaptive
import bounds
import latency
import memory
import metrics
import normed
import overhead
import pools
import ray_speed
import sharper
import small_eps

HERE = Path(__file__).parent
RECORDS = HERE / "records"
PARTS = (
    *("bounds", "normed", "sharper", "small_eps", "pools", "adaptive"),
    *("overhead", "memory", "latency", "metrics", "ray_speed"),
)


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


def sharper_table(result: dict[str, Any]) -> str:
    """Median over images of the new form / a plainer one, from the same samples."""
    shifts = [f"h = {h:g}" for h in sharper.SHIFTS]
    rows = []
    for metric in bounds.METRICS:
        for form in list(result["digits"][0][metric]["default"][0])[1:]:
            for budget in bounds.SIZES:
                found = [r[metric][budget] for r in result["digits"] if budget in r[metric]]
                rows.append([metric, budget, form, *sharper_ratios(found, form)])
    wide = [
        [name, "default", form, *sharper_ratios([found], form)]
        for name, found in result["wide"].items()
        for form in list(found[0])[1:]
    ]
    note = (
        f"Medians over {len(result['digits'])} MNIST test images ({sharper.THOROUGH} at the "
        "largest budget) of (bound) / (the plainer form's "
        f"bound on the same samples), sigma = {bounds.SIGMA}, eps = h sigma, alpha = "
        f"{bounds.ALPHA}. 'Afterwards': the least of several forms, chosen on the distances "
        "themselves, which is not valid: no choice made beforehand can be better. 'From w': "
        "without the point along the ray. The last rows are directions (angular distance, the "
        "identity in 64 dimensions) at that typical angle from the certified one; 1.000 where "
        "both forms say nothing.\n\n"
    )
    return note + table(["metric", "budget", "against", *shifts], [*rows, *wide])


def sharper_ratios(found: list[list[dict[str, float]]], form: str) -> list[str]:
    """For each eps, the median of new / form."""
    places = range(len(sharper.SHIFTS))
    ratios = ([one[i]["new"] / one[i][form] for one in found] for i in places)
    return [f"{statistics.median(several):.3f}" for several in ratios]


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


def normed_table(result: dict[str, Any]) -> str:
    """Median over images of ours / published for total variation, per center and budget."""
    ours, there = result["ours"], result["published"]
    rows = []
    for budget in normed.SIZES:
        for center in normed.CENTERS:
            here = [[b or math.inf for b in r["bounds"][budget][center]] for r in ours]
            ratios = ["-" if r == "inf" else r for r in median_ratios(here, there)]
            rows.append([center, budget, *ratios])
    seconds = {k: statistics.median(r["seconds"][k] for r in ours) for k in ("passes", "answer")}
    note = (
        f"Total variation: medians over {len(ours)} images of (our eps_2) / (published eps_2), "
        f"sigma = {bounds.SIGMA}, alpha = {bounds.ALPHA}; published at m = {result['m']:,}. "
        f"A Weber point of 999 outputs takes {seconds['answer']:.2f} s, their forward passes "
        f"{seconds['passes']:.2f} s.\n\n"
    )
    return note + table(["center", "budget", *(f"h = {h:g}" for h in bounds.SHIFTS)], rows)


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


def adaptive_table(result: dict[str, Any]) -> str:
    """Samples spent until the question is settled, and how many times fewer that is."""
    asked = [question for image in result["images"] for question in image["questions"]]
    rows, most = [], result["most"]
    for metric in (*adaptive.METRICS, "all"):
        for margin in adaptive.MARGINS:
            for shift in (*adaptive.SHIFTS, "all"):
                here = [
                    q
                    for q in asked
                    if metric in (q["metric"], "all")
                    and shift in (q["shift"], "all")
                    and q["margin"] == margin
                ]
                if (metric == "all") == (shift == "all"):
                    rows.append([metric, margin, shift, *adaptive_cells(here, most)])
    header = ["metric", "goal", "eps / sigma", "samples, most 4,000", "times fewer"]
    header += ["settled rightly", "samples, most 40,000", "times fewer", "settled rightly"]
    note = (
        f"Is eps_2 at most 1.2 (goal met) or 0.8 times (missed) what {most['thorough']:,} "
        f"samples prove? Medians over {len(result['images'])} images of the certification samples "
        "until that is settled, and how many times fewer than the fixed number (its share of the "
        "median, answer and candidates not counted). The last column of each budget counts the "
        "questions settled as the thorough bound says.\n\n"
    )
    return note + table([*header, "least fixed m in hindsight"], rows)


def adaptive_cells(asked: list[dict[str, Any]], most: dict[str, int]) -> list[object]:
    """Medians over some questions, per budget."""
    cells: list[object] = []
    for budget, samples in most.items():
        spent = statistics.median(question[budget]["samples"] for question in asked)
        right = sum(q[budget]["outcome"] == f"goal {q['margin']}" for q in asked)
        cells += [f"{spent:,.0f}", f"{samples / spent:.1f}", f"{right} of {len(asked)}"]
    known = [q["hindsight"] for q in asked if q["hindsight"] is not None]
    return [*cells, f"{statistics.median(known):,.0f}" if known else "-"]


def pools_table(result: list[dict[str, Any]]) -> str:
    """Median over images of the bound of a center over that of the usual one."""
    rows = []
    for case in pools.CASES:
        chosen = {h: pools.name(center) for h, center in pools.designed(case).items()}
        for center in result[0]["bounds"][case]:
            cells = []
            for place, shift in enumerate(pools.SHIFTS):
                text = pools_cell(result, case, center, place)
                cells.append(f"**{text}**" if chosen[shift] == center else text)
            rows.append([case, center, *cells])
    note = (
        f"Medians over {len(result)} images of the bound over that of the usual medoid (100 of "
        "1), n = 999, m = 4,000. 'N of l': N candidates, each pooled from l outputs, on the same "
        "draws. Bold: the center that design_eps chooses for that eps.\n\n"
    )
    return note + table(["metric", "center", *(f"h = {h:g}" for h in pools.SHIFTS)], rows)


def pools_cell(result: list[dict[str, Any]], case: str, center: str, place: int) -> str:
    """One ratio, unless most bounds are as large as distances get."""
    here = [image["bounds"][case][center][place] for image in result]
    usual = [image["bounds"][case]["100 of 1"][place] for image in result]
    if statistics.median(here) >= pools.CASES[case][1].diameter:
        return "undecided"
    return f"{statistics.median(a / b for a, b in zip(here, usual, strict=True)):.3f}"


def ray_speed_table(result: dict[str, Any]) -> str:
    """One process beside several."""
    setup, ways = result["setup"], result["ways"]
    rows = [[name, r["record_s"], r["total_s"], r["speedup"]] for name, r in ways.items()]
    note = (
        f"{setup['inputs']} digits through the autoencoder, {setup['samples']:,} samples each, on "
        f"{setup['cores']} cores (load {setup['load_before']:.1f} before it began). Seconds per "
        f"record are counted after the first {ray_speed.WARM}, when all processes stand; the total "
        "includes starting them. All ways gave the same records, bit for bit.\n\n"
    )
    header = ["where", "s per record", "total s", "times as fast as serial"]
    return note + table(header, rows)


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
    "normed": ("Centers for total variation", normed_table),
    "sharper": ("Several levels, the point along the ray, the joint t", sharper_table),
    "small_eps": ("Small eps: Theorem D beside Theorem C", small_eps_table),
    "overhead": ("Overhead", overhead_table),
    "memory": ("Memory", memory_table),
    "latency": ("A finished certificate", latency_table),
    "adaptive": ("Stopping when the question is settled", adaptive_table),
    "pools": ("Pooled candidates", pools_table),
    "ray_speed": ("Ray", ray_speed_table),
    "metrics": ("Distances", metrics_table),
}


def measure(part: str, quick: bool) -> Any:
    """One part, measured now (bounds go on from their records)."""
    if part == "bounds":
        return bounds.run(RECORDS, 2 if quick else 10, 20_000 if quick else 1_000_000)
    if part == "normed":
        return normed.run(RECORDS, 2 if quick else 10, 20_000 if quick else 1_000_000)
    if part == "small_eps":
        return small_eps.run(RECORDS, quick)
    parts = {"overhead": overhead, "memory": memory, "latency": latency, "adaptive": adaptive}
    parts |= {"pools": pools, "sharper": sharper, "ray_speed": ray_speed, "metrics": metrics}
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
