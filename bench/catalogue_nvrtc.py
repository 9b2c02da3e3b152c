#!/usr/bin/env python3
"""NVRTC's time for every kernel of the catalogue, as a multiple of an empty kernel's.

    bench/catalogue_nvrtc.py --build build/release
    bench/catalogue_nvrtc.py --build build/release --quick    # tiered: the first build, as a part of the full one

Needs no GPU. Times are processor time, the mean of the fastest 6 of 24 rounds of compiles in this
process (the least alone is one lucky sample, which moves ratios by 5 %); NVRTC is taken from
TILEJIT_NVRTC or the loader's path.
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

ROOT = pathlib.Path(__file__).resolve().parents[1]
ROUNDS, FASTEST = 24, 6
# Those of the library.
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
    """Processor time in ms."""
    array = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
    program = ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"kernel.cu", 0, None, None)
    begin = time.process_time()
    if nvrtc.nvrtcCompileProgram(program, len(options), array) != 0:
        raise SystemExit("NVRTC could not compile a kernel")
    spent = 1e3 * (time.process_time() - begin)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return spent


def fast_times(nvrtc, sources, target):
    """Of {name: (source, more options)}, in rounds, so that a slower minute of the machine is nobody's alone."""
    times = {name: [] for name in sources}
    for _ in range(ROUNDS):
        for name, (source, more) in sources.items():
            options = [f"--gpu-architecture={target}", "--no-cache", *OPTIONS, *more]
            times[name].append(compile_once(nvrtc, source, options))
    return {name: statistics.mean(sorted(of_name)[:FASTEST]) for name, of_name in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--only", default="", help="kernels whose names contain this")
    parser.add_argument("--quick", action="store_true", help="compare the first build of tiered with the full one")
    options = parser.parse_args()
    sources = {"": (b'extern "C" __global__ void k() {}', [])}
    for spec in sorted((ROOT / "examples" / "catalogue").glob("*.json")):
        name = json.loads(spec.read_text())["name"]
        if options.only not in name:
            continue
        command = [options.build / "bin" / "tilejit", "render", spec, "--target", options.target]
        source = subprocess.run(command, capture_output=True, check=True).stdout
        sources[name] = (source, [])
        if options.quick:
            light = subprocess.run([*command, "--light"], capture_output=True, check=False)
            first = light.stdout if light.returncode == 0 else source
            sources[name + " quick"] = (first, ["--Ofast-compile=min"])
    times = fast_times(load_nvrtc(), sources, options.target)
    empty = times.pop("")
    if options.quick:
        found = [(times[name + " quick"] / ms, name) for name, ms in times.items() if not name.endswith(" quick")]
    else:
        found = [(ms / empty, name) for name, ms in times.items()]
    command = f"bench/catalogue_nvrtc.py --build {options.build}" + (" --quick" if options.quick else "")
    print(f"{datetime.date.today()}; `{command}`; empty kernel {empty:.1f} ms\n")
    print(", ".join(f"{name} {ratio:.2f}" for ratio, name in sorted(found)))


if __name__ == "__main__":
    main()
