#!/usr/bin/env python3
"""Compares rows of odd length with aligned rows of nearly the same length: all families, four dtypes.
Prints one table.

    cmake --preset portable && cmake --build --preset portable
    bench/odd.py --build build/portable
    bench/odd.py --build build/portable --only softmax --specs /tmp/odd     # also writes the specs

Needs a GPU. A row has GB/s for the odd shape and the aligned one, and their ratio, which should be at least 0.88. Each is the
median of two measurements in turns, from memory. Exits with 1 if a ratio is below --least.
"""

import argparse
import datetime
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import script

ROOT = pathlib.Path(__file__).resolve().parents[1]
FLOATING = ("f32", "f16", "bf16")
ALL = (*FLOATING, "u8")
ROUNDS = 2
LONG, COLUMNS, SQUARE, INNER = (50257, 50256), (4095, 4096), ((8191, 8193), (8192, 8192)), (511, 512)


def tensor(dtype, *extents, strides=None):
    """Row-major unless strides are given."""
    if strides is None:
        strides, product = [], 1
        for extent in reversed(extents):
            strides.insert(0, product)
            product *= extent
    text = ["(" + ",".join(map(str, part)) + ")" for part in (extents, strides)]
    return {"dtype": dtype, "layout": ":".join(text)}


def total(dtype):
    return "i32" if dtype == "u8" else dtype


def value(dtype, name):
    return f"i32({name})" if dtype == "u8" else name


def long_rows(dtype, n):
    x, y = tensor(dtype, 2048, n), tensor(dtype, 2048, n)
    yield "bias", {"x": x, "b": tensor(dtype, 1, n, strides=(0, 1)), "y": y}, "y = x + b"
    yield "sum", {"x": x, "y": tensor(total(dtype), 2048, 1)}, f"y = sum({value(dtype, 'x')})"
    if dtype in FLOATING:
        yield "softmax", {"x": x, "y": y}, "e = exp(x - max(x)); y = e / sum(e)"
        yield "rmsnorm", {"x": x, "g": tensor(dtype, n), "y": y}, "y = x * rsqrt(mean(x * x) + 1e-5) * g"
        yield "cumsum", {"x": x, "y": y}, "y = cumsum(x)"


def middle_axes(dtype, n):
    x, y = tensor(dtype, 16, 2048, n), tensor(dtype, 16, 2048, n)
    row = tensor(total(dtype), 16, 1, n, strides=(n, 0, 1))
    yield "sum of a middle axis", {"x": x, "y": row}, f"y = sum({value(dtype, 'x')}, axis=1)"
    if dtype in FLOATING:
        softmax = "e = exp(x - max(x, axis=1)); y = e / sum(e, axis=1)"
        yield "softmax of a middle axis", {"x": x, "y": y}, softmax
        yield "cumsum of a middle axis", {"x": x, "y": y}, "y = cumsum(x, axis=1)"


def transposes(dtype, sides):
    m, n = sides
    x, y = tensor(dtype, m, n, strides=(1, m)), tensor(dtype, m, n)
    yield "transposed copy", {"x": x, "y": y}, "y = x"
    yield "sum with a transposed matrix", {"x": x, "z": y, "y": y}, "y = x + z"


def permutes(dtype, n):
    x = tensor(dtype, 64, 1024, n, strides=(n, 64 * n, 1))
    yield "permute", {"x": x, "y": tensor(dtype, 64, 1024, n)}, "y = x"


SHAPES = ((long_rows, LONG), (middle_axes, COLUMNS), (transposes, SQUARE), (permutes, INNER))


def pairs():
    """Yields the name of each row, and the specs of its odd and its aligned shape."""
    for make, (odd, aligned) in SHAPES:
        for dtype in ALL:
            for one, other in zip(make(dtype, odd), make(dtype, aligned), strict=True):
                title = f"{one[0]}, {dtype}"
                name = title.replace(",", "").replace(" ", "_")
                yield title, [
                    {"name": f"{name}_{side}", "tensors": tensors, "formula": formula}
                    for side, (_, tensors, formula) in (("odd", one), ("aligned", other))
                ]


def measure(command, specs, rounds):
    """Returns the median of so many rounds' GB/s for each spec. All are compiled first, in parallel."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({"kernels": specs}, file)
        file.flush()

        def run(*arguments):
            done = subprocess.run([command, arguments[0], file.name, *arguments[1:]], capture_output=True, check=True)
            return json.loads(done.stdout)

        run("warm", "--no-tuning", "--json")
        runs = [run("bench", "--json", "--no-tuning", "--max-time", "150") for _ in range(rounds)]
    return [
        statistics.median(row["gigabytes_per_second"] for row in rows)
        for rows in zip(*(one["rows"] for one in runs), strict=True)
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "portable")
    parser.add_argument("--only", default="", help="rows whose name has this")
    parser.add_argument("--least", type=float, default=0.88, help="of a ratio (0.88)")
    parser.add_argument("--specs", type=pathlib.Path, help="folder for the specs")
    options = parser.parse_args()
    command = options.build / "bin" / "tilejit"
    rows = [(title, specs) for title, specs in pairs() if options.only in title]
    if options.specs:
        options.specs.mkdir(parents=True, exist_ok=True)
        for spec in (spec for _, specs in rows for spec in specs):
            (options.specs / f"{spec['name']}.json").write_text(json.dumps(spec))
    print(f"{datetime.date.today()}; `bench/odd.py --build {options.build}`\n")
    speeds = iter(measure(command, [spec for _, specs in rows for spec in specs], ROUNDS))
    print("| kernel | odd, GB/s | aligned, GB/s | ratio |\n|---|---|---|---|")
    ratios = {}
    for title, _ in rows:
        odd, aligned = next(speeds), next(speeds)
        ratios[title] = odd / aligned
        print(f"| {title} | {odd:.0f} | {aligned:.0f} | {odd / aligned:.2f} |", flush=True)
    low = [title for title, ratio in ratios.items() if ratio < options.least]
    print(f"\ngeometric mean {statistics.geometric_mean(ratios.values()):.3f}, least {min(ratios.values()):.3f}")
    if low:
        sys.exit(f"odd.py: below {options.least}: " + "; ".join(low))


if __name__ == "__main__":
    script.run(main)
