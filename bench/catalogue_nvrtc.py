#!/usr/bin/env python3
"""Measures NVRTC's time for every kernel of the catalogue, as a multiple of an empty kernel's.

    bench/catalogue_nvrtc.py --build build/release
    bench/catalogue_nvrtc.py --build build/release --quick    # tiered: the first build, relative to the full one
    bench/catalogue_nvrtc.py --build build/release --before /tmp/tilejit    # relative to another build's command

Needs no GPU. Times are processor time in this process. An empty kernel, or what else a kernel is compared
with, is compiled right before each kernel, in 24 rounds over the catalogue, and the median of a kernel's 24
ratios is printed, because the speed of shared machines changes by a tenth within seconds. NVRTC is taken from TILEJIT_NVRTC or the
loader's path.
"""

import argparse
import ctypes
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import time

import script

ROOT = pathlib.Path(__file__).resolve().parents[1]
ROUNDS = 24
EMPTY = b'extern "C" __global__ void k() {}'
# The library's own options.
OPTIONS = ("--std=c++17", "--modify-stack-limit=false", "--no-source-include", "--minimal")


def load_nvrtc():
    folder = os.environ.get("TILEJIT_NVRTC", "")
    for name in ("libnvrtc.so.13", "libnvrtc.so"):
        try:
            return ctypes.CDLL(os.path.join(folder, name) if folder else name)
        except OSError:
            continue
    raise SystemExit("libnvrtc was not found; set TILEJIT_NVRTC to its folder")


def compile_once(nvrtc, source, options):
    """Returns the processor time in ms."""
    array = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
    program = ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"kernel.cu", 0, None, None)
    begin = time.process_time()
    if nvrtc.nvrtcCompileProgram(program, len(options), array) != 0:
        raise SystemExit("NVRTC could not compile a kernel")
    spent = 1e3 * (time.process_time() - begin)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return spent


def ratios(nvrtc, pairs, target):
    """Quartiles of the time ratio kernel / base for {name: (base, kernel)}; each is a source and further options."""
    found = {name: [] for name in pairs}
    for _ in range(ROUNDS):
        for name, pair in pairs.items():
            base, time_of_kernel = (
                compile_once(nvrtc, source, [f"--gpu-architecture={target}", "--no-cache", *OPTIONS, *more])
                for source, more in pair
            )
            found[name].append(time_of_kernel / base)
    return {name: statistics.quantiles(values, n=4) for name, values in found.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--only", default="", help="kernels whose names contain this")
    parser.add_argument("--before", type=pathlib.Path, help="the command tilejit of another build")
    parser.add_argument("--quick", action="store_true", help="compare the first build of tiered with the full one")
    options = parser.parse_args()
    pairs = {}
    for spec in sorted((ROOT / "examples" / "catalogue").glob("*.json")):
        name = json.loads(spec.read_text())["name"]
        if options.only not in name:
            continue
        command = [options.build / "bin" / "tilejit", "render", spec, "--target", options.target]
        source = subprocess.run(command, capture_output=True, check=True).stdout
        if options.before:
            before = subprocess.run([options.before, *command[1:]], capture_output=True, check=True).stdout
            pairs[name] = (before, []), (source, [])
        elif options.quick:
            light = subprocess.run([*command, "--light"], capture_output=True, check=False)
            first = light.stdout if light.returncode == 0 else source
            pairs[name] = (source, []), (first, ["--Ofast-compile=min"])
        else:
            pairs[name] = (EMPTY, []), (source, [])
    found = sorted(((quartiles[1], quartiles), name) for name, quartiles in ratios(load_nvrtc(), pairs, options.target).items())
    command = f"bench/catalogue_nvrtc.py --build {options.build}" + (" --quick" if options.quick else "")
    command += f" --before {options.before}" if options.before else ""
    print(f"{datetime.date.today()}; `{command}`; median (quartiles)\n")
    print(", ".join(f"{name} {middle:.2f} ({low:.2f}-{high:.2f})" for (_, (low, middle, high)), name in found))
    print(f"geometric mean {statistics.geometric_mean(middle for (middle, _), _ in found):.3f}")


if __name__ == "__main__":
    script.run(main)
