#!/usr/bin/env python3
"""Times the layout algebra beside cutegen and pycute, both of the CUTLASS repository.

    git clone https://github.com/NVIDIA/cutlass
    bench/layout_peers.py --cutlass cutlass --build build/release

Prints one row per case, in microseconds. pycute does not parse text, so its last row is empty.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import timeit

import script

HERE = pathlib.Path(__file__).resolve().parent


def google_benchmark(program):
    result = subprocess.run(
        [str(program), "--benchmark_format=json"], capture_output=True, text=True, check=True
    )
    return {
        entry["name"]: entry["real_time"] / 1000
        for entry in json.loads(result.stdout)["benchmarks"]
    }


def cutegen_times(cutlass):
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "cutegen_bench"
        subprocess.run(
            ["g++", "-std=c++20", "-O3", "-DNDEBUG", HERE / "cutegen_bench.cpp", "-o", program]
            + ["-I", cutlass / "cutlass_compiler" / "cutegen" / "include"]
            + ["-lbenchmark", "-lpthread"],
            check=True,
        )
        return google_benchmark(program)


def pycute_times(cutlass):
    sys.path.insert(0, str(cutlass / "python"))
    import pycute

    a = pycute.Layout((4, 8, 16, 32), (1, 64, 4, 512))
    b = pycute.Layout((2, 4, 8, 4), (4, 512, 32, 8))
    c = pycute.Layout((4, 8, 2), (2, 64, 16))
    d = pycute.Layout((4, 8, 16), (128, 1, 8))
    cases = {
        "composition_of_four_modes": lambda: pycute.composition(a, b),
        "complement_of_three_modes": lambda: pycute.complement(c, 4096),
        "right_inverse_of_three_modes": lambda: pycute.right_inverse(d),
    }
    runs = 2000
    return {
        name: min(timeit.repeat(case, number=runs, repeat=5)) / runs * 1e6
        for name, case in cases.items()
    }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--cutlass", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, default=HERE.parent / "build" / "release")
    arguments = parser.parse_args()
    ours = google_benchmark(arguments.build / "bench" / "layout_bench")
    cutegen, pycute = cutegen_times(arguments.cutlass), pycute_times(arguments.cutlass)
    print("| case | libtilejit | cutegen | pycute |\n|---|---|---|---|")
    for name, mine in ours.items():
        row = [f"{times[name]:.2f} us" if name in times else "" for times in (cutegen, pycute)]
        print(f"| {name.replace('_', ' ')} | {mine:.2f} us | {row[0]} | {row[1]} |")


if __name__ == "__main__":
    script.run(main)
