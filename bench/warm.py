#!/usr/bin/env python3
"""Measures warming: how fast present entries are skipped, and how compiling scales with -j. Prints one table.

    cmake --preset release && cmake --build --preset release
    bench/warm.py --build build/release
    bench/warm.py --build build/release --jobs 1,2,16 --kernels 200

Needs NVRTC, but no GPU; only the built programs and Python's standard library. The distinct kernels are softmaxes
of as many widths, warmed into an empty cache each time; the least time of --rounds counts.
"""

import argparse
import datetime
import json
import os
import pathlib
import subprocess
import tempfile

import script

ROOT = pathlib.Path(__file__).resolve().parents[1]


def softmaxes(path, count):
    """Writes a spec file of `count` kernels of different widths."""
    tensor = {"dtype": "T", "layout": "(M,N):(N,1)"}
    path.write_text(
        json.dumps(
            {
                "name": "softmax",
                "sweep": {"T": ["f16", "bf16"], "N": [1024 + 8 * i for i in range((count + 1) // 2)]},
                "tensors": {"x": tensor, "y": tensor},
                "formula": ["e = exp(x - max(x))", "y = e / sum(e)"],
            }
        )
    )


def warm(command, cache, *arguments):
    environment = {**os.environ, "TILEJIT_CACHE_DIR": str(cache)}
    result = subprocess.run(
        [str(command), "warm", *map(str, arguments), "--json", "--quiet"],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if result.returncode != 0:
        raise SystemExit(result.stderr)
    return json.loads(result.stdout)


def fill(cache, count, spec, command, target):
    """Creates an entry for every key without compiling: one kernel's file under all the other keys."""
    one = spec.parent / "one.json"
    softmaxes(one, 1)
    one.write_text(one.read_text().replace('"T": ["f16", "bf16"]', '"T": ["f16"]'))
    warm(command, cache, one, "--target", target)
    (entry,) = cache.glob("v1/??/*.cubin")
    data = entry.read_bytes()
    environment = {**os.environ, "TILEJIT_CACHE_DIR": str(cache)}
    found = subprocess.run(
        [str(command), "coverage", str(spec), "--target", target, "--json"],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    keys = [kernel["key"] for kernel in json.loads(found.stdout)["kernels"]]
    for key in keys:
        folder = cache / "v1" / key[:2]
        folder.mkdir(mode=0o700, exist_ok=True)
        (folder / f"{key}.cubin").write_bytes(data)
    if len(keys) != count:
        raise RuntimeError(f"{spec} has {len(keys)} kernels, not {count}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--present", type=script.count, default=10_000)
    parser.add_argument("--kernels", type=script.count, default=200)
    parser.add_argument("--jobs", type=script.counts, default="1,2")
    parser.add_argument("--rounds", type=script.count, default=3)
    parser.add_argument("--target", default="sm_90a")
    options = parser.parse_args()
    command = options.build / "bin" / "tilejit"
    print(f"{datetime.date.today()}; {os.cpu_count()} cores; bench/warm.py --build {options.build}\n")
    print("| what | -j | seconds | a second |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        spec = folder / "many.json"
        softmaxes(spec, options.present)
        fill(folder / "present", options.present, spec, command, options.target)
        for jobs in (1, os.cpu_count()):
            best = min(
                warm(command, folder / "present", spec, "--target", options.target, "-j", jobs)["seconds"]
                for _ in range(options.rounds)
            )
            print(f"| {options.present} present | {jobs} | {best:.2f} | {options.present / best:.0f} |")
        softmaxes(spec, options.kernels)
        first = None
        for jobs in options.jobs:
            times = []
            for i in range(options.rounds):
                found = warm(command, folder / f"cold{jobs}.{i}", spec, "--target", options.target, "-j", jobs)
                if found["compiled"] != options.kernels:
                    raise RuntimeError(f"{found['compiled']} kernels were compiled, not {options.kernels}")
                times.append(found["seconds"])
            first = first or min(times)
            print(
                f"| {options.kernels} compiled | {jobs} | {min(times):.2f} | {options.kernels / min(times):.1f},"
                f" {first / min(times):.2f} x |"
            )


if __name__ == "__main__":
    script.run(main)
