#!/usr/bin/env python3
"""compute-sanitizer names the caller's file and line where a kernel of their own writes out of bounds.

    tests/gpu/memcheck_lines.py --command build/ci/bin/tilejit

Skipped (exit code 77) where there is no GPU or no compute-sanitizer.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
SOURCE = """#include "plan.cuh"
#include "store.cuh"
extern "C" __global__ void beyond(const __grid_constant__ Params p) {
  store(p.y, threadIdx.x + 32 * 1024 * 1024);
}
"""
HEADER = """// The store lies in line 3.
__device__ __noinline__ void store(float* y, long long i) {
  y[i] = 1;
}
"""
SPEC = {
    "op": "cuda",
    "name": "beyond",
    "source": "beyond.cu",
    "tensors": {"y": {"dtype": "f32", "shape": [32], "access": "out"}},
    "launch": {"grid": 1, "block": 32},
}


def sanitizer():
    """compute-sanitizer on the path, or of a toolkit."""
    places = [os.environ.get("CUDA_HOME", ""), *sorted(map(str, pathlib.Path("/usr/local").glob("cuda*")))]
    found = shutil.which("compute-sanitizer")
    for place in filter(None, places):
        candidate = pathlib.Path(place) / "bin" / "compute-sanitizer"
        found = found or (str(candidate) if candidate.exists() else None)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--command", required=True)
    command = parser.parse_args().command
    tool = sanitizer()
    if tool is None:
        print("skipped: compute-sanitizer is not installed")
        return SKIPPED
    doctor = json.loads(subprocess.run([command, "doctor", "--json"], capture_output=True, text=True).stdout)
    if not doctor["driver"].get("devices"):
        print("skipped: no GPU")
        return SKIPPED
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "beyond.cu").write_text(SOURCE)
        (folder / "store.cuh").write_text(HEADER)
        (folder / "beyond.json").write_text(json.dumps(SPEC))
        said = subprocess.run(
            [tool, "--tool", "memcheck", command, "run", "--allow-source", str(folder / "beyond.json")],
            env={**os.environ, "TILEJIT_LINE_INFO": "1", "TILEJIT_CACHE_DIR": "off"},
            capture_output=True, text=True, timeout=300,
        )  # fmt: skip
    text = said.stdout + said.stderr
    for wanted in ("Invalid __global__ write of size 4", "store.cuh:3"):
        if wanted not in text:
            print(f"not found: {wanted}\n{text}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
