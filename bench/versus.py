#!/usr/bin/env python3
"""Measures the effect of a change on host times: runs the programs of two builds in turns, on one machine.

    bench/versus.py OLD NEW                  # folders of two builds with TILEJIT_BUILD_BENCH=ON
    bench/versus.py OLD NEW --rounds 5 --only launch_bench

Needs no GPU: compile_bench (cold path, hits, misses), layout_bench (the layout algebra, planning), cache_bench (the store) and
launch_bench --host (launches, dispatchers, graphs, on a driver that does nothing). Each round runs OLD and NEW of each program,
in changing order. Prints for each row the least time of each build, their ratio, and in how many rounds NEW was slower by more
than 2 %; then the geometric mean of the ratios. Exits with 1 if the mean exceeds --most, or if a row was slower in most
rounds.
"""

import argparse
import json
import math
import pathlib
import subprocess
import sys

LIMIT = 1.02  # per row; it must not be exceeded in most rounds
GOOGLE = ("--benchmark_format=json", "--benchmark_min_time=0.2")
PROGRAMS = {
    "compile_bench": GOOGLE,
    "layout_bench": GOOGLE,
    "cache_bench": (*GOOGLE, "--benchmark_filter=hit|miss"),
    "launch_bench": ("--host",),
}


def times_of(build, program):
    """Returns times by row, in the unit that the program prints."""
    path = build / "bench" / program
    if not path.exists():
        sys.exit(f"versus.py: {path} is not there; configure {build} with -DTILEJIT_BUILD_BENCH=ON and build it")
    done = subprocess.run([path, *PROGRAMS[program]], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"versus.py: {path} failed: {done.stderr.strip()[-500:]}")
    found = json.loads(done.stdout)
    if "benchmarks" not in found:
        return {name: value for name, value in found.items() if value > 0}
    return {row["name"]: row["real_time"] for row in found["benchmarks"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=pathlib.Path, help="folder of a build")
    parser.add_argument("new", type=pathlib.Path, help="folder of a build")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each program (3)")
    parser.add_argument("--only", choices=PROGRAMS, help="one program")
    parser.add_argument("--most", type=float, default=1.005, help="of the geometric mean (1.005)")
    options = parser.parse_args()
    rounds = []
    for number in range(options.rounds):
        both = {}
        for program in [options.only] if options.only else PROGRAMS:
            builds = [("old", options.old), ("new", options.new)]
            for side, build in builds if number % 2 == 0 else reversed(builds):
                for row, time in times_of(build, program).items():
                    both.setdefault(f"{program} {row}", {})[side] = time
        rounds.append({row: sides for row, sides in both.items() if len(sides) == 2})
        print(f"round {number + 1} of {options.rounds}", file=sys.stderr)
    ratios, slow = [], []
    print(f"{'row':<64} {'old':>10} {'new':>10} {'ratio':>6} slower")
    for row in rounds[0]:
        seen = [one[row] for one in rounds if row in one]
        old, new = (min(sides[side] for sides in seen) for side in ("old", "new"))
        slower = sum(sides["new"] > LIMIT * sides["old"] for sides in seen)
        ratios.append(new / old)
        if slower > len(seen) / 2 and new > LIMIT * old:
            slow.append(row)
        print(f"{row:<64} {old:>10.4g} {new:>10.4g} {new / old:>6.3f} {slower} of {len(seen)}")
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"geometric mean of {len(ratios)} rows: {mean:.4f}")
    if slow:
        print("slower: " + ", ".join(slow))
    return 1 if slow or mean > options.most else 0


if __name__ == "__main__":
    sys.exit(main())
