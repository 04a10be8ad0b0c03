#!/usr/bin/env python3
"""Prints what `cargo bench` measured last as tables: minimum, median and maximum of the samples of each bench.

    python3 benches/table.py [GROUP…]

A GROUP is the beginning of the names of the groups that are wanted, such as `list/` or `exchange/gate`.
"""

import json
import os
import pathlib
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


def main():
    groups = {}
    for path in sorted(TARGET.glob("criterion/**/new/benchmark.json"), key=lambda path: path.stat().st_mtime):
        about = json.loads(path.read_text())
        samples = json.loads((path.parent / "sample.json").read_text())
        times = sorted(time / iterations for time, iterations in zip(samples["times"], samples["iters"]))
        name = "/".join(filter(None, [about["function_id"], about["value_str"]]))
        throughput = (about["throughput"] or {}).get("Bytes")
        groups.setdefault(about["group_id"], []).append((name, times, throughput))
    for group, benches in groups.items():
        if not sys.argv[1:] or any(group.startswith(wanted) for wanted in sys.argv[1:]):
            table(group, benches)


def table(group, benches):
    """One group; the first of it is what the others are compared with."""
    print(f"\n{group}\n\n| | min | median | max | to the first | GB/s |\n|---|---|---|---|---|---|")
    first = statistics.median(benches[0][1])
    for name, times, throughput in benches:
        median = statistics.median(times)
        speed = f"{throughput / median:.2f}" if throughput else ""
        cells = [pretty(times[0]), pretty(median), pretty(times[-1]), f"{median / first:.2f}", speed]
        print(f"| {name} | " + " | ".join(cells) + " |")


def pretty(nanoseconds):
    for unit, size in (("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds:.3g} ns"


if __name__ == "__main__":
    main()
