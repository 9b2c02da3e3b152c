#!/usr/bin/env python3
"""Small problems: measures a kernel's time as a node of a CUDA graph, from 6 KB to 100 MB, beside PyTorch
and Triton in graphs of the same run. Prints one table.

    cmake --preset release && cmake --build --preset release
    bench/small.py --build build/release

Needs a GPU. A graph has 50 nodes, each after the one before. The time is the median of 21 launches of the
graph, divided by 50. Data smaller than the L2 cache stays in it, for all three alike.
"""

import argparse
import datetime
import json
import pathlib
import statistics
import subprocess

import script
import torch_timing

ROOT = pathlib.Path(__file__).resolve().parents[1]
NODES, LAUNCHES = 50, 21


def graph_microseconds(torch, run):
    graph = torch_timing.graph_of(torch, lambda _: run(), NODES)
    times = [torch_timing.replay_us(torch, graph) for _ in range(LAUNCHES + 3)]
    return statistics.median(times[3:]) / NODES


def peers(torch, triton_kernels, kernel, size):
    """PyTorch's and Triton's times in microseconds."""
    if kernel == "add":
        t = {name: torch.zeros(size // 6, dtype=torch.float16, device="cuda") for name in "abc"}
        eager = lambda: torch.add(t["a"], t["b"], out=t["c"])
    else:
        t = {name: torch.zeros((size // 4096, 1024), dtype=torch.bfloat16, device="cuda") for name in "xy"}
        eager = lambda: torch.softmax(t["x"], -1)
    return [graph_microseconds(torch, run) for run in (eager, triton_kernels.function_of(kernel, t))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    options = parser.parse_args()
    import torch
    import triton_kernels

    done = subprocess.run([options.build / "bench" / "graph_bench"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(done.stderr.strip())
    print(f"{datetime.date.today()}; `bench/small.py --build {options.build}`\n")
    print("| kernel | KB moved | us | GB/s | PyTorch, us | Triton, us |\n|---|---|---|---|---|---|")
    for line in done.stdout.splitlines():
        row = json.loads(line)
        eager, triton = peers(torch, triton_kernels, row["kernel"], row["bytes"])
        speed = row["bytes"] / row["microseconds"] / 1e3
        print(
            f"| {row['kernel']} | {row['bytes'] / 1024:.0f} | {row['microseconds']:.2f} | {speed:.0f} "
            f"| {eager:.2f} | {triton:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    script.run(main)
