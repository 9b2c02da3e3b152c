#!/usr/bin/env python3
"""Measures the errors of sums, means, variances, norms, softmax and scans against f64, beside PyTorch's.
Prints one table.

    cmake --preset portable && cmake --build --preset portable
    bench/accuracy.py --build build/portable
    bench/accuracy.py --build build/portable --only var --lengths 1000 1000000

Needs a GPU and PyTorch. The rows are f32, from ten seeds: normal around 0, normal around 10^4, and of
a single value each. An error is the root mean square over all results of all seeds, divided by that of
the results themselves. If the results are 0, as in variances of constant rows, the divisor is the
values' square (for a variance) or 1 (for a norm). A cell has our error and, in parentheses, its ratio
to PyTorch's; the aim is missed if the ratio is above 1.2. Rows of 10^7 elements and more give only ten
results, or errors, so their mean square is known only to a fifth.
"""

import argparse
import datetime
import math
import pathlib

import script

ROOT = pathlib.Path(__file__).resolve().parents[1]
LENGTHS = [10**digits for digits in range(3, 9)]
ELEMENTS = 4_000_000  # shorter rows: as many as have this many elements together
LARGEST = 1.2
EPS = 1e-5

# Functions of x along its last axis: the formula, whether it gives one value per row, and PyTorch's function.
FUNCTIONS = {
    "sum": ("y = sum(x)", True, lambda torch, x: torch.sum(x, 1)),
    "mean": ("y = mean(x)", True, lambda torch, x: torch.mean(x, 1)),
    "var": ("y = var(x)", True, lambda torch, x: torch.var(x, 1, correction=0)),
    "softmax": ("e = exp(x - max(x)); y = e / sum(e)", False, lambda torch, x: torch.softmax(x, 1)),
    "layernorm": (
        f"y = (x - mean(x)) * rsqrt(var(x) + {EPS})",
        False,
        lambda torch, x: torch.nn.functional.layer_norm(x, x.shape[1:], eps=EPS),
    ),
    "rmsnorm": (
        f"y = x * rsqrt(mean(x * x) + {EPS})",
        False,
        lambda torch, x: torch.nn.functional.rms_norm(x, x.shape[1:], eps=EPS),
    ),
    "cumsum": ("y = cumsum(x)", False, lambda torch, x: torch.cumsum(x, 1)),
}


def normal_around(center):
    return lambda torch, rows, length: center + torch.randn(rows, length, device="cuda")


def constant(torch, rows, length):
    values = 3e7 * torch.rand(rows, 1, device="cuda")
    if torch.initial_seed() == 0:
        values[0] = 3e7
    return values.expand(rows, length).contiguous()


DATA = {"around 0": normal_around(0), "around 10^4": normal_around(1e4), "constant": constant}


def spec_of(function, rows, length):
    formula, reduces, _ = FUNCTIONS[function]
    matrix = f"({rows},{length}):({length},1)"
    return {
        "name": f"{function}_{rows}x{length}",
        "tensors": {
            "x": {"dtype": "f32", "layout": matrix},
            "y": {"dtype": "f32", "layout": f"{rows}:1" if reduces else matrix},
        },
        "formula": formula,
    }


class Errors:
    """The sums of one cell, over all results of all seeds."""

    def __init__(self):
        self.ours = self.theirs = self.scale = self.fallback = 0.0

    def add(self, function, x, want, ours, theirs):
        self.ours += float(((ours.double() - want) ** 2).sum())
        self.theirs += float(((theirs.double() - want) ** 2).sum())
        self.scale += float((want**2).sum())
        square = float((x[:, :1].double() ** 4).sum()) if function == "var" else want.numel()
        self.fallback += square

    def ratios(self):
        scale = self.scale or self.fallback
        return math.sqrt(self.ours / scale), math.sqrt(self.theirs / scale)


def measure(torch, kernel, function, data, rows, length, seeds):
    _, reduces, peer = FUNCTIONS[function]
    errors = Errors()
    for seed in range(seeds):
        torch.manual_seed(seed)
        x = DATA[data](torch, rows, length)
        y = torch.empty((rows,) if reduces else x.shape, device="cuda")
        kernel.launch(x, y, stream=torch.cuda.current_stream().cuda_stream)
        errors.add(function, x, peer(torch, x.double()), y, peer(torch, x))
        del x, y
    return errors.ratios()


def cell(ours, theirs):
    if ours == theirs:
        return f"{ours:.1e} (1)" if ours else "0 (both)"
    ratio = ours / theirs if theirs else math.inf
    return f"{ours:.1e} ({ratio:.2f})" + (" missed" if not ratio <= LARGEST else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "portable")
    parser.add_argument("--only", default="", help="functions whose name has this")
    parser.add_argument("--lengths", type=script.count, nargs="+", default=LENGTHS, help="elements of a row")
    parser.add_argument("--seeds", type=script.count, default=10)
    options = parser.parse_args()
    import torch

    runtime = script.tilejit_of(options.build).Runtime({"cache_folder": None, "tuning_file": None})
    print(f"{datetime.date.today()}; `bench/accuracy.py`, {torch.cuda.get_device_name()}, PyTorch {torch.__version__}\n")
    print("| function | data |" + "".join(f" {length:.0e} |" for length in options.lengths))
    print("|---|---|" + "---|" * len(options.lengths))
    missed = 0
    for function in FUNCTIONS:
        if options.only not in function:
            continue
        rows = {length: max(1, ELEMENTS // length) for length in options.lengths}
        kernels = {n: runtime.compile(spec_of(function, rows[n], n), written={1}) for n in options.lengths}
        for data in DATA:
            line = f"| {function} | {data} |"
            for n in options.lengths:
                line += f" {cell(*measure(torch, kernels[n], function, data, rows[n], n, options.seeds))} |"
            missed += line.count("missed")
            print(line, flush=True)
            torch.cuda.empty_cache()
    print(f"\n{missed} missed")


if __name__ == "__main__":
    script.run(main)
