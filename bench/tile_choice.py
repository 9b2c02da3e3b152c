#!/usr/bin/env python3
"""Measures how good the planner's choice of a product's tile is: its first choice against the best of its first
eight, which `tilejit tune` would try. Prints a table and the geometric mean.

    bench/tile_choice.py --build build/release --random 60 --seed 7 --start 20 --count 20

Needs a GPU and PyTorch. Random products are those of bench/products.py. Candidates take turns in random order, each a
CUDA graph; a candidate with wrong results is an error.
"""

import argparse
import concurrent.futures
import ctypes
import json
import pathlib
import random

import products
import script
import torch_timing

ROOT = pathlib.Path(__file__).resolve().parents[1]
CANDIDATES = 8
AT_LEAST_US = 1500  # per graph
AT_ONCE = 8  # runs of `tilejit tune`, each of which compiles in a process of its own


def candidates_of(build, row):
    """The tunings that `tilejit tune` tries, the planner's own choice first; their kernels are then in the cache."""
    candidates = script.candidates_of(build, products.spec_of(*row), CANDIDATES - 1, jobs=2)
    return [one["tuning"] for one in candidates]


def measure(torch, runtime, row, tunings, file):
    case = products.Case(torch, row)
    pointers = [ctypes.c_void_p(tensor.data_ptr()) for tensor in (case.a, case.b, case.d)]
    runs = {}
    for number, tuning in enumerate(tunings):
        kernel = runtime.compile({**case.spec(), "tuning": tuning} if tuning else case.spec())

        def run(_, kernel=kernel):
            kernel.launch(*pointers, stream=torch.cuda.current_stream().cuda_stream)

        case.d.fill_(-1)
        run(0)
        torch.cuda.synchronize()
        if not case.is_right():
            raise RuntimeError(f"{case.name()} is wrong with {json.dumps(tuning)}")
        runs[number] = run
    graphs = {number: torch_timing.timed_graph(torch, run, at_least_us=AT_LEAST_US) for number, run in runs.items()}
    us = torch_timing.in_turns(torch, graphs, rounds=5, order=random.Random(case.m))
    best = min(us, key=us.get)
    ratio = us[best] / us[0]
    print(f"| {case.name()} | {us[0]:.2f} | {us[best]:.2f} | {ratio:.3f} | {json.dumps(tunings[best])} |", flush=True)
    if file:
        with open(file, "a") as out:
            out.write(json.dumps({"product": case.name(), "tunings": tunings, "us": list(us.values())}) + "\n")
    return ratio


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release", help="folder of a build")
    parser.add_argument("--random", type=script.count, default=60, help="how many random products")
    parser.add_argument("--seed", type=int, default=products.SEED, help="of the random products")
    parser.add_argument("--start", type=int, default=0, help="the first row, from 0")
    parser.add_argument("--count", type=script.count, help="how many rows")
    parser.add_argument("--json", type=pathlib.Path, help="file to which a line per row is appended")
    options = parser.parse_args()
    import torch

    tilejit = script.tilejit_of(options.build)
    rows = products.random_rows(options.random, options.seed)[options.start :][: options.count]
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        tunings = list(pool.map(lambda row: candidates_of(options.build, row), rows))
    runtime = tilejit.Runtime({"device": 0, "tuning_file": None})
    print("| product | first choice, us | best of eight, us | ratio | best |\n|---|---|---|---|---|")
    products.print_summary([measure(torch, runtime, *pair, options.json) for pair in zip(rows, tunings)])


if __name__ == "__main__":
    script.run(main)
