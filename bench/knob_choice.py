#!/usr/bin/env python3
"""Measures how good the planner's knobs are: random cases of bench/sweep.py, as planned and with each of the
candidates that `tilejit tune` tries first, which change one knob or two.

    cmake --preset portable && cmake --build --preset portable
    bench/knob_choice.py --build build/portable --seed 2101 --count 100 --out knobs.jsonl
    bench/knob_choice.py --build build/portable --case 1902/38 2103/67 --budget 40
    bench/knob_choice.py --sum knobs.jsonl

Needs a GPU and PyTorch. Tensors and graphs are those of bench/sweep.py; graphs take 2 ms, and the better of two
replays counts, since so many are timed (about three cases of 17 candidates a second). Each case is one line of the
--out file. Printed are, by family, the geometric mean of the best candidate's time against the plan's, and the cases
where a knob gains most.
"""

import argparse
import collections
import concurrent.futures
import ctypes
import json
import os
import pathlib
import statistics
import subprocess
import sys

import script
import sweep
import torch_timing
from sweeping.gpu import one_line
from sweeping.problem import Problem, sets_of
from sweeping.recipes import case_of

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUDGET = 16
AT_LEAST_US = 2000  # per graph
WORST = 30


def trial_us(torch, kernel, pointers, few_us):
    """Microseconds of a launch, and a first estimate of them if there is none yet."""
    sets = len(pointers)

    def run(i):
        kernel.launch(*pointers[i], stream=torch.cuda.current_stream().cuda_stream)

    if few_us is None:
        few = max(2, min(sets, 20))
        graph = torch_timing.graph_of(torch, run, few, sets)
        few_us = min(torch_timing.replay_us(torch, graph) for _ in range(3)) / few
    launches = torch_timing.launches_of(max(few_us, 0.5), sets, AT_LEAST_US)
    graph = torch_timing.graph_of(torch, run, launches, sets)
    torch_timing.replay_us(torch, graph)
    return min(torch_timing.replay_us(torch, graph) for _ in range(2)) / launches, few_us


def measure(torch, runtime, key, candidates):
    """A record: the case and its trials."""
    case = case_of(*key)
    sets = sets_of(case, torch.cuda.get_device_properties(0).L2_cache_size)
    problem = Problem(torch, case, sets)
    pointers = [list(map(ctypes.c_void_p, problem.pointers(i))) for i in range(sets)]
    trials, few_us = [], None
    for candidate in candidates:
        trial = {member: candidate.get(member) for member in ("tuning", "template", "threads", "figures")}
        trial["registers"] = candidate.get("artifact", {}).get("metadata", {}).get("registers")
        tuning = {"tuning": candidate["tuning"]} if candidate["tuning"] else {}
        try:
            kernel = runtime.compile(case.spec() | tuning)
            trial["us"], few_us = trial_us(torch, kernel, pointers, few_us)
        except Exception as error:
            trial["failed"] = one_line(error)
        trials.append(trial)
    return {"case": key, "title": case.title, "bytes": case.bytes, "sets": sets, "trials": trials}


def best_of(record):
    """The trial that takes least time, and this time against the plan's."""
    timed = [trial for trial in record["trials"] if "us" in trial]
    best = min(timed, key=lambda trial: trial["us"])
    return best, best["us"] / timed[0]["us"]


def summary(records):
    records = [record for record in records if "us" in record["trials"][0]]
    families = collections.defaultdict(list)
    for record in records:
        families[record["trials"][0]["template"]].append(best_of(record)[1])
    yield "| family | cases | best knobs / planned | below 0.9 | least |\n|---|---|---|---|---|"
    for family, ratios in sorted(families.items()):
        mean = statistics.geometric_mean(ratios)
        below = sum(ratio < 0.9 for ratio in ratios)
        yield f"| {family} | {len(ratios)} | {mean:.3f} | {below} | {min(ratios):.2f} |"
    yield "\n| best / planned | planned, us | seed/index | best knobs | case |\n|---|---|---|---|---|"
    for record in sorted(records, key=lambda record: best_of(record)[1])[:WORST]:
        best, ratio = best_of(record)
        seed, index = record["case"]
        cells = [f"{ratio:.2f}", f"{record['trials'][0]['us']:.2f}", f"{seed}/{index}", json.dumps(best["tuning"])]
        yield f"| {' | '.join(cells)} | {record['title'][:160]} |"


def run(options):
    os.environ |= sweep.environment_of(options)
    import torch

    runtime = script.tilejit_of(options.build).Runtime({"device": 0, "tuning_file": None})
    keys = options.case or [(seed, options.start + i) for i in range(options.count) for seed in options.seed]
    records = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        waiting = [(key, pool.submit(script.candidates_of, options.build, case_of(*key).spec(), options.budget, 1)) for key in keys]
        for done, (key, candidates) in enumerate(waiting, start=1):
            try:
                records.append(measure(torch, runtime, key, candidates.result()))
            except subprocess.CalledProcessError as error:
                print(f"{key[0]}/{key[1]}: {script.sentence(error)}", file=sys.stderr, flush=True)
                continue
            torch.cuda.empty_cache()
            if options.out:
                with open(options.out, "a") as file:
                    file.write(json.dumps(records[-1]) + "\n")
            if done % 20 == 0 or done == len(keys):
                print(f"{done} of {len(keys)} cases", file=sys.stderr, flush=True)
    return records


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "portable")
    parser.add_argument("--seed", type=sweep.whole_number, nargs="+", default=[1], help="one or more; each has --count cases (1)")
    parser.add_argument("--start", type=sweep.whole_number, default=0, help="number of the first case (0)")
    parser.add_argument("--count", type=script.count, default=100, help="cases (100)")
    parser.add_argument("--case", type=sweep.seed_and_index, nargs="+", metavar="SEED/INDEX", help="these cases instead")
    parser.add_argument("--budget", type=script.count, default=BUDGET, help=f"candidates beside the plan itself ({BUDGET})")
    parser.add_argument("--out", type=pathlib.Path, help="file to append records to, JSON lines")
    parser.add_argument("--jobs", type=script.count, default=max(1, (os.cpu_count() or 2) - 1), help="kernels compiled at a time")
    parser.add_argument("--cache", type=pathlib.Path, help="folder for what is compiled; else one below the temporary folder")
    parser.add_argument("--sum", type=pathlib.Path, nargs="+", metavar="FILE", help="only print what these files say")
    return parser.parse_args()


def main():
    options = parse()
    if options.sum:
        records = [json.loads(line) for file in options.sum for line in file.read_text().splitlines()]
    else:
        records = run(options)
    print("\n".join(summary(records)))


if __name__ == "__main__":
    script.run(main)
