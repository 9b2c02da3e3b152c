#!/usr/bin/env python3
"""Measures products with the rest of their formula against torch.compile, in the same run. Prints one table.

    cmake --preset release && cmake --build --preset release
    bench/fused_products.py --build build/release

Needs a GPU, PyTorch and Triton. Values are random normal ones. Ours, torch.compile's and PyTorch's bare products
(cuBLAS) take turns in random order, each a CUDA graph of 8 ms or more after a replay that is not timed; the table
has the medians of the rounds. Results are checked against f32 of the first and the last rows.
"""

import argparse
import ctypes
import json
import pathlib
import random

import script
import torch_timing

ROOT = pathlib.Path(__file__).resolve().parents[1]
AT_LEAST_US = 8000
CHECKED_ROWS = 128  # at either end
EPS = 1e-5
# Name, M, N, K, and whether weights have a row per column of the result, as torch.nn.Linear has them.
ROWS = (
    ("gated", 8192, 14336, 4096, False),
    ("gated", 8192, 14336, 4096, True),
    ("gated", 4096, 4096, 4096, False),
    ("gated", 1024, 4096, 4096, False),
    ("gated", 512, 14336, 4096, False),
    ("gated", 128, 14336, 4096, False),
    ("gated", 16, 14336, 4096, False),
    ("norm_linear", 8192, 4096, 4096, False),
    ("norm_linear", 8192, 4096, 4096, True),
    ("norm_linear", 1024, 4096, 4096, False),
    ("norm_linear", 128, 4096, 4096, False),
    ("norm_linear", 16, 4096, 4096, False),
    ("norm_weight_linear", 8192, 4096, 4096, False),
    ("norm_gated", 8192, 14336, 4096, False),
)
FORMULAS = {
    "gated": "y = silu(x @ w0) * (x @ w1)",
    "norm_linear": "y = (x * rsqrt(mean(x * x) + eps)) @ w0",
    "norm_weight_linear": "y = bf16(x * rsqrt(mean(x * x) + eps) * g) @ w0",
    "norm_gated": "h = x * rsqrt(mean(x * x) + eps); y = silu(h @ w0) * (h @ w1)",
}


class Case:
    """One row of the table."""

    def __init__(self, torch, row):
        self.torch = torch
        self.kind, self.m, self.n, self.k, self.turned = row
        self.weights = 2 if "gated" in self.kind else 1
        self.x = torch.randn(self.m, self.k, device="cuda").bfloat16()
        shape = (self.n, self.k) if self.turned else (self.k, self.n)
        self.w = [(torch.randn(*shape, device="cuda") * self.k**-0.5).bfloat16() for _ in range(self.weights)]
        self.right = [w.T if self.turned else w for w in self.w]
        self.g = torch.randn(self.k, device="cuda").bfloat16()
        self.y = torch.empty(self.m, self.n, device="cuda", dtype=torch.bfloat16)

    def name(self):
        return f"{self.kind} {self.m} x {self.n} x {self.k}" + (", weights (N,K)" if self.turned else "")

    def tensors(self):
        own = {"x": self.x, **{f"w{i}": w for i, w in enumerate(self.right)}}
        if "weight" in self.kind:
            own["g"] = self.g
        return {**own, "y": self.y}

    def spec(self):
        def entry(tensor):
            layout = "({}):({})".format(*(",".join(map(str, part)) for part in (tensor.shape, tensor.stride())))
            return {"dtype": "bf16", "layout": layout}

        formula = FORMULAS[self.kind].replace("eps", str(EPS))
        tensors = {name: entry(tensor) for name, tensor in self.tensors().items()}
        return {"name": self.kind, "tensors": tensors, "formula": formula}

    def value(self, x, right):
        torch = self.torch
        if "norm" in self.kind:
            wide = x.float()
            wide = wide * torch.rsqrt((wide * wide).mean(-1, keepdim=True) + EPS)
            x = (wide * self.g if "weight" in self.kind else wide).to(x.dtype)
        if "gated" not in self.kind:
            return x @ right[0]
        return torch.nn.functional.silu(x @ right[0]) * (x @ right[1])

    def bare(self):
        for w in self.right:
            last = self.x @ w
        return last

    def error(self):
        """The largest one, relative to the largest value."""
        ends = self.torch.arange(self.m, device="cuda")
        ends = self.torch.cat([ends[:CHECKED_ROWS], ends[-CHECKED_ROWS:]])
        want = self.value(self.x[ends].float(), [w.float() for w in self.right])
        return float((self.y[ends].float() - want).abs().max() / want.abs().max())

    def tflop(self):
        return 2e-12 * self.m * self.n * self.k * self.weights


def measure(torch, runtime, row, file):
    case = Case(torch, row)
    kernel = runtime.compile(case.spec())
    pointers = [ctypes.c_void_p(tensor.data_ptr()) for tensor in case.tensors().values()]
    case.y.fill_(-1)  # what is not written is wrong

    def ours(_):
        kernel.launch(*pointers, stream=torch.cuda.current_stream().cuda_stream)

    ours(0)
    torch.cuda.synchronize()
    error = case.error()
    torch._dynamo.reset()  # it would stop compiling after some shapes
    compiled = torch.compile(case.value, dynamic=False)
    runs = {"ours": ours, "compiled": lambda _: compiled(case.x, case.right), "bare": lambda _: case.bare()}
    for run in runs.values():
        run(0)
    graphs = {name: torch_timing.timed_graph(torch, run, at_least_us=AT_LEAST_US) for name, run in runs.items()}
    us = torch_timing.in_turns(torch, graphs, order=random.Random(case.m))
    print(
        f"| {case.name()} | {us['ours']:.0f} | {us['compiled']:.0f} | {us['bare']:.0f} | "
        f"{us['compiled'] / us['ours']:.3f} | {us['bare'] / us['ours']:.3f} | {case.tflop() / us['ours'] * 1e6:.0f} | "
        f"{error:.1e} |",
        flush=True,
    )
    if file:
        with open(file, "a") as out:
            out.write(json.dumps({"product": case.name(), "us": us, "error": error}) + "\n")
    return error < 2**-6


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release", help="folder of a build")
    parser.add_argument("--only", default="", help="rows whose name has this text")
    parser.add_argument("--start", type=int, default=0, help="the first row, from 0")
    parser.add_argument("--count", type=script.count, help="how many rows")
    parser.add_argument("--json", type=pathlib.Path, help="file to which a line per row is appended")
    options = parser.parse_args()
    import torch

    tilejit = script.tilejit_of(options.build)
    runtime = tilejit.Runtime({"device": 0, "tuning_file": None})
    print("| formula | us | torch.compile | cuBLAS, products only | ratio | of the products | TFLOP/s | error |")
    print("|---|---|---|---|---|---|---|---|")
    rows = [row for row in ROWS if options.only in row[0]][options.start :][: options.count]
    return 0 if all([measure(torch, runtime, row, options.json) for row in rows]) else 1


if __name__ == "__main__":
    script.run(main)
