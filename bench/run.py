#!/usr/bin/env python3
"""Runs every benchmark and prints one table. Without a GPU, benchmarks that need one are skipped.

    cmake --preset release && cmake --build --preset release
    bench/run.py --build build/release

PyTorch, Triton and CuPy are measured beside it if they are installed (bench/peers.py).
"""

import argparse
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import script

ROOT = pathlib.Path(__file__).resolve().parents[1]
SPEC = ROOT / "bench" / "specs" / "add_f16.json"
OTHER_SPEC = ROOT / "examples" / "specs" / "mul_relu.json"
OTHER_ENTRY = "tilejit_mul_relu_f32"
NEW_PROCESSES = 41


def output_of(*command, **environment):
    result = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
    )
    if result.returncode != 0:
        raise RuntimeError(f"{command[0]}: {result.stderr.strip()}")
    return result.stdout


def google_benchmark(program):
    document = json.loads(output_of(program, "--benchmark_format=json"))
    return {entry["name"].split("/iterations")[0]: entry for entry in document["benchmarks"]}


def compile_rows(build):
    found = google_benchmark(build / "bench" / "compile_bench")
    yield "cold: spec text to cubin, beyond NVRTC", f"{found['cold']['beyond_nvrtc_ms']:.2f} ms"
    yield "cold: NVRTC's own time in it", f"{found['cold']['nvrtc_ms']:.2f} ms"
    yield "memory hit: spec text to cubin", f"{found['memory_hit/real_time']['real_time']:.4f} ms"
    yield "disk hit: spec text to cubin, same process", f"{found['disk_hit/real_time']['real_time']:.4f} ms"
    for dtype in ("f32", "f16"):
        nvrtc = found[f"nvrtc_vector_add/{dtype}"]
        yield (
            f"NVRTC: vector add {dtype} against an empty kernel",
            f"{nvrtc['add_ms']:.2f} / {nvrtc['empty_ms']:.2f} ms = {nvrtc['ratio']:.3f}",
        )


def layout_rows(build):
    for name, entry in google_benchmark(build / "bench" / "layout_bench").items():
        yield f"layouts: {name.replace('_', ' ')}", f"{entry['real_time'] / 1000:.2f} us"


def first_kernel_rows(build):
    with tempfile.TemporaryDirectory() as cache:

        def run(*other):
            program = build / "bench" / "first_kernel"
            return json.loads(output_of(program, SPEC, *other, TILEJIT_CACHE_DIR=cache))

        first = run()
        until = {"loaded": "loaded kernel", "cubin": "cubin (no GPU)"}[first["until"]]
        yield f"new process, first time: spec text to {until}", f"{first['milliseconds']:.2f} ms"
        what = f"new process, from the disk: spec text to {until}"
        yield what, median_of(lambda: run())
        if until == "loaded kernel":
            cubin = pathlib.Path(cache) / "other.cubin"
            output_of(build / "bin" / "tilejit", "compile", OTHER_SPEC, "-o", cubin)
            what += ", another kernel loaded before"
            yield what, median_of(lambda: run(cubin, OTHER_ENTRY))


def median_of(run):
    runs = [run()["milliseconds"] for _ in range(NEW_PROCESSES)]
    return f"{statistics.median(runs):.3f} ms (of {len(runs)}; least {min(runs):.3f})"


def gpu_rows(build):
    launch = json.loads(output_of(build / "bench" / "launch_bench"))
    yield (
        "host time of a launch against cuLaunchKernel",
        f"{launch['launch_us']:.2f} / {launch['cuLaunchKernel_us']:.2f} us = {launch['ratio']:.3f}",
    )
    document = json.loads(output_of(build / "bin" / "tilejit", "run", SPEC, "--bench", "--json"))
    kernel = document["kernels"][0]
    speed = kernel["benchmark"]
    yield (
        "add f16 (16384,8192)",
        f"{speed['gigabytes_per_second']:.0f} GB/s, {speed['percent_of_copy']:.1f} % of a copy",
    )


def peer_rows():
    result = subprocess.run(
        [sys.executable, str(ROOT / "bench" / "peers.py")],
        capture_output=True,
        text=True,
        check=False,
    )
    for line in result.stdout.splitlines():
        name, value = line.split("\t")
        yield name, value


def machine(doctor):
    """The GPU if there is one, its driver, the processor, and NVRTC, as a document names them."""
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        cpu = next((line.split(":")[1].strip() for line in lines if "model name" in line), "?")
    driver = doctor["driver"]
    gpus = [f"{device['name']}" for device in driver.get("devices", [])[:1]]
    known = f"driver {driver['version']}, " if gpus else ""
    return ", ".join([*gpus, f"{known}{cpu}, {os.cpu_count()} cores, NVRTC {doctor['nvrtc']['version']}"])


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    build = parser.parse_args().build
    doctor = json.loads(
        subprocess.run(
            [str(build / "bin" / "tilejit"), "doctor", "--json"],
            capture_output=True,
            text=True,
            check=False,
        ).stdout
    )
    rows = [*compile_rows(build), *layout_rows(build), *first_kernel_rows(build)]
    devices = doctor["driver"].get("devices")
    if devices:
        rows += [*gpu_rows(build), *peer_rows()]
    print(f"{machine(doctor)}; {datetime.date.today()}; `{' '.join(sys.argv)}`\n")
    print("| what | measured |\n|---|---|")
    for name, value in rows:
        print(f"| {name} | {value} |")


if __name__ == "__main__":
    script.run(main)
