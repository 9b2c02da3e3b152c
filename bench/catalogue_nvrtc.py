#!/usr/bin/env python3
"""NVRTC's time for every kernel of the catalogue, as a multiple of an empty kernel's.

    bench/catalogue_nvrtc.py --build build/release
    bench/catalogue_nvrtc.py --build build/release --quick    # tiered: the first build, as a part of the full one

Needs no GPU. Times are processor time, least of 8 compiles in this process; NVRTC is taken from
TILEJIT_NVRTC or the loader's path.
"""

import argparse
import ctypes
import datetime
import json
import os
import pathlib
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
COMPILES = 8


def load_nvrtc():
    folder = os.environ.get("TILEJIT_NVRTC", "")
    for name in ("libnvrtc.so.13", "libnvrtc.so"):
        try:
            return ctypes.CDLL(os.path.join(folder, name) if folder else name)
        except OSError:
            continue
    raise SystemExit("libnvrtc was not found; set TILEJIT_NVRTC to its folder")


def milliseconds(nvrtc, source, target, *more):
    options = [f"--gpu-architecture={target}", "--std=c++17", "--no-cache", "--modify-stack-limit=false", "--minimal"]
    options += more
    array = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
    times = []
    for _ in range(COMPILES):
        program = ctypes.c_void_p()
        nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"kernel.cu", 0, None, None)
        begin = time.process_time()
        if nvrtc.nvrtcCompileProgram(program, len(options), array) != 0:
            raise SystemExit("NVRTC could not compile a kernel")
        times.append(1e3 * (time.process_time() - begin))
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return min(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--quick", action="store_true", help="compare the first build of tiered with the full one")
    options = parser.parse_args()
    nvrtc = load_nvrtc()
    empty = milliseconds(nvrtc, b'extern "C" __global__ void k() {}', options.target)
    found = []
    for spec in sorted((ROOT / "examples" / "catalogue").glob("*.json")):
        command = [options.build / "bin" / "tilejit", "render", spec, "--target", options.target]
        source = subprocess.run(command, capture_output=True, check=True).stdout
        full = milliseconds(nvrtc, source, options.target)
        ratio = full / empty
        if options.quick:
            light = subprocess.run([*command, "--light"], capture_output=True, check=False)
            first = light.stdout if light.returncode == 0 else source
            ratio = milliseconds(nvrtc, first, options.target, "--Ofast-compile=min") / full
        found.append((ratio, json.loads(spec.read_text())["name"]))
    command = f"bench/catalogue_nvrtc.py --build {options.build}" + (" --quick" if options.quick else "")
    print(f"{datetime.date.today()}; `{command}`; empty kernel {empty:.1f} ms\n")
    print(", ".join(f"{name} {ratio:.2f}" for ratio, name in sorted(found)))


if __name__ == "__main__":
    main()
