#!/usr/bin/env python3
"""Times the kernels that two builds of the tilejit command make, in turns on one GPU.

    bench/same_speed.py /tmp/before/tilejit build/portable/bin/tilejit examples/catalogue/softmax.json
    bench/same_speed.py OLD NEW --rounds 9 $(cut -d' ' -f1 differ.txt | sort -u)      # what bench/same_sass.py named

Each round benchmarks every spec by OLD and NEW, in changing order, in graphs of at least 20 launches whose tensors together
exceed the L2 cache twice, without tuned choices. Prints per kernel the median times and the median of the rounds' ratios NEW /
OLD, then their geometric mean. Exits with 1 if a ratio exceeds --most. A spec that cannot be benchmarked is named and left out.
"""

import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import script

LIMIT = 1.01


def times_of(command, spec, cache, options):
    """Microseconds by kernel; what went wrong if it cannot be benchmarked."""
    line = [command, "bench", spec, "--graph", "--json", "--no-tuning", f"--max-time={options.max_time}", f"--error={options.error}"]
    done = subprocess.run(line, capture_output=True, text=True, check=False, env={**os.environ, "TILEJIT_CACHE_DIR": cache})
    if done.returncode != 0:
        return done.stderr.strip().splitlines()[-1]
    return {row["kernel"]: row["time"]["median_ms"] * 1e3 for row in json.loads(done.stdout)["rows"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=pathlib.Path, help="a build's command")
    parser.add_argument("new", type=pathlib.Path, help="a build's command")
    parser.add_argument("specs", type=pathlib.Path, nargs="+", help="spec files")
    parser.add_argument("--rounds", type=script.count, default=7, help="runs of each build (7)")
    parser.add_argument("--most", type=float, default=LIMIT, help=f"of each ratio ({LIMIT})")
    parser.add_argument("--max-time", type=script.count, default=300, help="milliseconds of a benchmark (300)")
    parser.add_argument("--error", type=float, default=0.2, help="per cent, at which a benchmark ends (0.2)")
    options = parser.parse_args()
    options.old, options.new = options.old.resolve(), options.new.resolve()
    for command in (options.old, options.new):
        if not os.access(command, os.X_OK):
            raise RuntimeError(f"{command} cannot be run; build the target tilejit_command")
    ratios = []
    print("| kernel | old, us | new, us | new / old |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        caches = {"old": f"{folder}/old", "new": f"{folder}/new"}
        for spec in options.specs:
            rounds = []
            for number in range(options.rounds):
                sides = ("old", "new") if number % 2 == 0 else ("new", "old")
                rounds.append({side: times_of(getattr(options, side), spec, caches[side], options) for side in sides})
                failed = next((what for what in rounds[-1].values() if isinstance(what, str)), None)
                if failed:
                    print(f"{spec}: {failed}", flush=True)
                    rounds = []
                    break
            for kernel in rounds[0]["old"] if rounds else ():
                old, new = (statistics.median(both[side][kernel] for both in rounds) for side in ("old", "new"))
                ratios.append(statistics.median(both["new"][kernel] / both["old"][kernel] for both in rounds))
                print(f"| {spec.stem} {kernel} | {old:.2f} | {new:.2f} | {ratios[-1]:.3f} |", flush=True)
    if not ratios:
        raise RuntimeError("no spec could be benchmarked")
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"{len(ratios)} kernels: geometric mean {mean:.3f}, most {max(ratios):.3f}")
    sys.exit(max(ratios) > options.most)


if __name__ == "__main__":
    script.run(main)
