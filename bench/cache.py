#!/usr/bin/env python3
"""Prints the table of the cache for docs/performance.md: runs cache_bench and compares with the aims.

    cmake --preset release && cmake --build --preset release
    bench/cache.py [PROGRAM]    PROGRAM: build/release/bench/cache_bench
"""

import argparse
import json
import pathlib
import subprocess

import script

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Each row: title, benchmark, field of its report, factor to the unit, unit, aim.
ROWS = [
    ("hit in memory", "memory_hit", "real_time", 1e-3, "us", 0.2),
    ("hit on disk among 100,000 entries, median", "disk_hit", "p50_us", 1, "us", 60),
    ("the same, 99 of 100", "disk_hit", "p99_us", 1, "us", 200),
    ("hit in a bundle of 10,000, median", "bundle_hit", "p50_us", 1, "us", 20),
    ("the same, 99 of 100", "bundle_hit", "p99_us", 1, "us", None),
    ("miss on disk, median", "miss", "p50_us", 1, "us", None),
    ("eviction pass that removes nothing", "sweep_that_removes_nothing", "real_time", 1, "ms", 1000),
    ("eviction pass that removes a tenth", "sweep_that_removes_a_tenth", "real_time", 1, "ms", 1000),
    ("process that waits for another's compile: beyond it, median", "waiting_process", "p50_us", 1e-3, "ms", 5),
    ("the same, the longest of 50", "waiting_process", "max_us", 1e-3, "ms", 5),
    ("dead remote: the first request, beyond its time-out of 200 ms", "dead_remote", "beyond_timeout_us", 1e-3, "ms", None),
    ("dead remote: each request after it", "dead_remote", "real_time", 1e-3, "us", 1),
]  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", default=ROOT / "build/release/bench/cache_bench")
    report = subprocess.run(
        [parser.parse_args().program, "--benchmark_format=json"], capture_output=True, text=True, check=True
    ).stdout
    found = {item["name"].split("/")[0]: item for item in json.loads(report)["benchmarks"]}
    print("| what | measured | aim |\n|---|---|---|")
    for row, name, field, factor, unit, aim in ROWS:
        value = found[name][field] * factor
        missed = ", missed" if aim is not None and value > aim else ""
        target = f"{aim} {unit}" if aim is not None else ""
        print(f"| {row} | {value:.3g} {unit}{missed} | {target} |")


if __name__ == "__main__":
    script.run(main)
