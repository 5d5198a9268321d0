"""`make bench`: all tables, as ratios in one run.

Records go to benchmarks/records, tables to RESULTS.md. Each part is a file beside this one with a
TITLE, `run`, which measures, and `tabulated`, which makes the table.

python benchmarks/run.py [--quick] [part ...]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import adaptive
import bounds
import latency
import memory
import metrics
import noises
import normed
import overhead
import pools
import ray_speed
import sharper
import small_eps

HERE = Path(__file__).parent
RECORDS = HERE / "records"
PARTS = {
    part.__name__: part
    for part in (
        *(bounds, normed, sharper, small_eps, pools, adaptive),
        *(overhead, memory, latency, metrics, noises, ray_speed),
    )
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=[*PARTS])
    parser.add_argument("--quick", action="store_true", help="small sizes, tables printed only")
    options = parser.parse_args()
    RECORDS.mkdir(exist_ok=True)
    for name in options.parts:
        part = PARTS[name]
        result = part.run(RECORDS, options.quick)
        if not options.quick:
            (RECORDS / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n")
        print(f"\n## {part.TITLE}\n\n{part.tabulated(result)}", flush=True)
    if not options.quick:
        write_results()


def write_results() -> None:
    """RESULTS.md from whatever records there are."""
    sections = ["# Benchmark results\n\nWritten by `make bench` from benchmarks/records.\n"]
    for name, part in PARTS.items():
        path = RECORDS / f"{name}.json"
        if path.exists():
            sections.append(f"## {part.TITLE}\n\n{part.tabulated(json.loads(path.read_text()))}")
    (HERE / "RESULTS.md").write_text("\n".join(sections))


if __name__ == "__main__":
    main()
