#!/usr/bin/env python3
"""Measures random formulas on random shapes beside PyTorch and torch.compile: cases that users meet and that
nobody tuned.

    cmake --preset portable && cmake --build --preset portable
    bench/sweep.py --build build/portable --seed 1 --start 0 --count 100 --out sweep.jsonl
    bench/sweep.py --build build/portable --again sweep.jsonl --below 0.92     # or --repeat with the first
    bench/sweep.py --sum sweep.jsonl --worst worst/
    bench/sweep.py --build build/portable --case 201/10 112/21
    bench/sweep.py --seed 1 --count 5 --list             # the cases, without a GPU

Needs a GPU and PyTorch. A seed and an index determine a case: a spec, and the same computation as PyTorch
source. First, both compilers compile all cases in --jobs processes. Then, case by case, our result is
compared with PyTorch's in f64, and ours, eager PyTorch and torch.compile (default mode, static shapes) are
timed in turns: launches in CUDA graphs of 4 ms or more, medians of 7 replays. Launches take their tensors
in turn from copies that together are more than twice as large as the L2 cache. Cases below 1 MB have one
copy, which stays in the cache. This is the same for all three. Each case is one line of the --out file,
even if it fails. The summary is printed at the end.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import script
from sweeping import report
from sweeping.recipes import case_of
from sweeping.workers import Worker, ask_all, serve

ROOT = pathlib.Path(__file__).resolve().parents[1]
PREPARE_SECONDS, MEASURE_SECONDS = 240, 120
REPEATS = 3
BROKEN = re.compile("CUDA error|CUDA_ERROR")


def plan_of(tilejit, spec, target):
    """Returns the plan as JSON."""
    command = [str(tilejit), "render", "-", "--plan", "--no-tuning", "--target", target]
    done = subprocess.run(command, input=json.dumps(spec), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def predicted_on(device, figures):
    """The predicted milliseconds on that device, or on the one that stands for its target."""
    known = figures.get("predicted", {})
    ours = [ms for name, ms in known.items() if name.split()[0] in device.split()]
    return ours[0] if ours else figures.get("predicted_ms")


def plan_members(plan, us, device):
    """A record's members about the plan: its template, its choices, and its prediction."""
    predicted = predicted_on(device, plan["figures"])
    chosen = {key: plan[key] for key in ("threads", "vector", "unroll", "rows", "tile", "box", "scan") if key in plan}
    members = {"family": plan["template"], "plan": chosen}
    if predicted is not None:
        members["predicted_us"] = predicted * 1e3
        if us:
            members["predicted_error"] = predicted * 1e3 / us - 1
    return members


def environment_of(options):
    """The workers' environment. They share caches that nothing else uses."""
    cache = options.cache or pathlib.Path(tempfile.gettempdir()) / "tilejit-sweep"
    cache.mkdir(parents=True, exist_ok=True)
    return {
        **os.environ,
        "TILEJIT_LIBRARY": str(script.library_of(options.build)),
        "TILEJIT_CACHE_DIR": str(cache / "tilejit"),
        "TILEJIT_TUNING": "off",
        "TORCHINDUCTOR_CACHE_DIR": str(cache / "inductor"),
        "TORCHINDUCTOR_FX_GRAPH_CACHE": "1",
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "PYTHONUNBUFFERED": "1",
    }


class Sweep:
    """The workers, and the file to which records are appended."""

    def __init__(self, options, out):
        self.options, self.out = options, out
        self.tilejit = options.build / "bin" / "tilejit"
        if not self.tilejit.exists():
            raise RuntimeError(f"{self.tilejit} is not there; build it, or name another folder by --build")
        self.environment = environment_of(options)
        self.log_path = pathlib.Path(self.environment["TILEJIT_CACHE_DIR"]).parent / "workers.log"
        self.log = open(self.log_path, "ab")
        self.records = []
        self.measuring = self.worker()
        self.started = time.monotonic()
        self.machine = self.measuring.ask({"do": "describe"}, PREPARE_SECONDS)
        if "lost" in self.machine:
            raise RuntimeError(f"the first worker failed: {self.machine['lost']}; {self.log_path} says why")

    def worker(self):
        return Worker([sys.executable, str(pathlib.Path(__file__)), "--worker"], self.environment, self.log)

    def prepare(self, keys):
        """Compiles all cases ahead of time, in parallel. Failures show again when the cases are measured."""
        workers = [self.worker() for _ in range(min(self.options.jobs, len(keys)))]
        requests = [{"do": "prepare", "case": key, "peers": not self.options.alone} for key in keys]
        for done, _ in enumerate(ask_all(workers, requests, PREPARE_SECONDS), start=1):
            if done % 10 == 0 or done == len(keys):
                print(f"compiled {done} of {len(keys)}, {self.seconds():.0f} s", file=sys.stderr, flush=True)
        with concurrent.futures.ThreadPoolExecutor(len(workers)) as pool:
            list(pool.map(Worker.stop, workers))

    def seconds(self):
        return time.monotonic() - self.started

    def measure(self, key, repeat=0):
        case = case_of(*key)
        request = {"do": "measure", "case": key, "peers": not self.options.alone}
        answer = self.measuring.ask(request, MEASURE_SECONDS)
        if "lost" in answer:
            answer = {"failed": {"measuring": answer["lost"]}}
        elif BROKEN.search(str(answer["failed"])):  # the process is no longer usable
            self.measuring.stop(kill=True)
        record = {"seed": case.seed, "index": case.index, "repeat": repeat, "kind": case.kind, "title": case.title}
        record |= {"bytes": case.bytes, "us": {}, **answer, **self.machine}
        ours = record["us"].get("ours")
        record["gbps"] = case.bytes / ours / 1e3 if ours else None
        try:
            plan = plan_of(self.tilejit, case.spec(), self.machine["target"])
            record |= plan_members(plan, ours, self.machine["device"])
        except (subprocess.CalledProcessError, json.JSONDecodeError) as error:
            record["failed"]["plan"] = script.sentence(error)
        self.append({**record, "spec": case.spec(), "pytorch": case.torch_source()})

    def append(self, record):
        self.records.append(record)
        if self.out is not None:
            with open(self.out, "a") as file:
                file.write(json.dumps(record) + "\n")
        compiled, eager = (report.ratio(record, peer) for peer in ("compiled", "eager"))
        cells = [f"{name} {value:.2f} x" for name, value in (("compiled", compiled), ("eager", eager)) if value]
        cells += [f"{what}: {why}" for what, why in record["failed"].items()]
        speed = f"{record['gbps']:.0f} GB/s, " if record["gbps"] else ""
        print(f"{record['seed']}/{record['index']} {speed}{', '.join(cells)} | {record['title'][:160]}", flush=True)

    def run(self, keys, repeats=(0,)):
        """Compiles all cases, then measures until the time is up."""
        if not keys:
            return
        self.prepare(keys)
        self.measure_all([(key, repeat) for repeat in repeats for key in keys])
        if self.options.repeat:
            low = [(record["seed"], record["index"]) for record in slow(self.records, self.options.below)]
            self.measure_all([(key, repeat) for repeat in range(1, REPEATS + 1) for key in low])
        self.measuring.stop()

    def measure_all(self, pairs):
        for done, (key, repeat) in enumerate(pairs):
            if self.options.minutes and self.seconds() > 60 * self.options.minutes:
                print(f"--minutes are over after {done} of {len(pairs)} measurements", file=sys.stderr)
                break
            self.measure(key, repeat)


def slow(records, below):
    """The first records of the cases whose ratio to torch.compile is below that."""
    return [case.first for case in report.measured(records) if (report.ratio(case.first) or 9) < below]


def again(options):
    """Measures the cases below a ratio three more times, and appends the results to their file."""
    records = report.load([options.again])
    low = slow(records, options.below)
    for record in low:
        if case_of(record["seed"], record["index"]).spec() != record["spec"]:
            raise RuntimeError(
                f"case {record['seed']}/{record['index']} of {options.again} is another one by now; "
                "measure the sweep again by the checkout's own script"
            )
    print(f"{len(low)} of {len(records)} records are below {options.below}")
    sweep = Sweep(options, options.again)
    sweep.run([(record["seed"], record["index"]) for record in low], range(1, REPEATS + 1))
    return records + sweep.records


def list_cases(keys):
    for key in keys:
        case = case_of(*key)
        print(json.dumps({"bytes": case.bytes, "title": case.title, "spec": case.spec(), "pytorch": case.torch_source()}))


def whole_number(text):
    """A type for argparse: a whole number, 0 or above."""
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from 0 on")
    return int(text)


def seed_and_index(text):
    """A type for argparse: the two numbers of a case, as the output has them."""
    seed, _, index = text.partition("/")
    return whole_number(seed), whole_number(index)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "portable")
    parser.add_argument("--seed", type=whole_number, nargs="+", default=[1], help="one or more; each has --count cases (1)")
    parser.add_argument("--start", type=whole_number, default=0, help="number of the first case (0)")
    parser.add_argument("--count", type=script.count, default=100, help="cases (100)")
    parser.add_argument("--case", type=seed_and_index, nargs="+", metavar="SEED/INDEX", help="these cases instead")
    parser.add_argument("--out", type=pathlib.Path, help="file to append records to, JSON lines")
    parser.add_argument("--jobs", type=script.count, default=max(1, (os.cpu_count() or 2) - 2), help="processes that compile ahead")
    parser.add_argument("--minutes", type=float, help="start no measurement after so many")
    parser.add_argument("--alone", action="store_true", help="check and time our kernels only, for the error of predictions")
    parser.add_argument("--cache", type=pathlib.Path, help="folder for what is compiled; else one below the temporary folder")
    parser.add_argument("--again", type=pathlib.Path, metavar="FILE", help="measure its cases below --below three times more")
    parser.add_argument("--repeat", action="store_true", help="measure cases below --below three times more at the end")
    parser.add_argument("--below", type=float, default=0.92, help="torch.compile's time / ours (0.92)")
    parser.add_argument("--sum", type=pathlib.Path, nargs="+", metavar="FILE", help="only print what these files say")
    parser.add_argument("--worst", type=pathlib.Path, metavar="DIR", help="write the slowest cases as spec files")
    parser.add_argument("--top", type=script.count, default=20, help="how many of these (20)")
    parser.add_argument("--list", action="store_true", help="only print the cases, as JSON lines")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    options = parse()
    if options.worker:
        from sweeping import gpu

        serve(gpu.answer)
        return
    keys = options.case or [(seed, options.start + i) for i in range(options.count) for seed in options.seed]
    if options.list:
        list_cases(keys)
        return
    if options.sum:
        records = report.load(options.sum)
    elif options.again:
        records = again(options)
    else:
        sweep = Sweep(options, options.out)
        sweep.run(keys)
        records = sweep.records
    print()
    print("\n".join(report.summary(records, options.top)))
    if options.worst:
        print("\n" + "\n".join(map(str, report.write_specs(records, options.worst, options.top))))


if __name__ == "__main__":
    script.run(main)
