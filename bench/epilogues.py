#!/usr/bin/env python3
"""Measures what the rest of a formula costs a product: bias and gelu against the plain product, and with a residual
against PyTorch's three kernels, in the same run. Prints one table.

    cmake --preset release && cmake --build --preset release
    bench/epilogues.py --build build/release

Needs a GPU and PyTorch. Values are random normal ones of bf16. All take turns in random order, each a CUDA graph of
8 ms or more after a replay that is not timed; the table has the medians of the rounds, and those of the rounds' ratios
with their intervals of 95 %. Results are checked against f32 of the first and the last rows.
"""

import ctypes
import random
import statistics

import rows as table
import script
import torch_timing

CHECKED_ROWS = 128  # at either end
ROUNDS = 15
AT_LEAST_US = 8000
ROWS = ((8192, 8192, 1024), (8192, 8192, 4096))  # M, N, K; weights have a row per column of the result
FORMULAS = {"plain": "d = a @ b", "gelu": "d = gelu(a @ b + c)", "residual": "d = gelu(a @ b + c) + r"}


class Case:
    """One row of the table."""

    def __init__(self, torch, row):
        self.torch, (self.m, self.n, self.k) = torch, row
        self.a, self.r = self.random(self.m, self.k), self.random(self.m, self.n)
        self.w, self.c = self.random(self.n, self.k) * self.k**-0.5, self.random(self.n)
        self.d = torch.empty_like(self.r)

    def random(self, *shape):
        return self.torch.randn(*shape, device="cuda").bfloat16()

    def tensors(self, formula):
        every = {"a": self.a, "b": self.w.T, "c": self.c, "r": self.r, "d": self.d}
        return {name: tensor for name, tensor in every.items() if name in formula.replace("gelu", "")}

    def spec(self, formula):
        def entry(tensor):
            layout = "({}):({})".format(*(",".join(map(str, part)) for part in (tensor.shape, tensor.stride())))
            return {"dtype": "bf16", "layout": layout}

        tensors = {name: entry(tensor) for name, tensor in self.tensors(formula).items()}
        return {"name": "epilogue", "tensors": tensors, "formula": formula}

    def ours(self, runtime, formula):
        kernel = runtime.compile(self.spec(formula))
        pointers = [ctypes.c_void_p(tensor.data_ptr()) for tensor in self.tensors(formula).values()]
        return lambda _: kernel.launch(*pointers, stream=self.torch.cuda.current_stream().cuda_stream)

    def value(self, name, a, r):
        functional = self.torch.nn.functional
        wide = [x.to(a.dtype) for x in (self.w, self.c)]
        if name == "plain":
            return a @ wide[0].T
        made = functional.gelu(functional.linear(a, *wide))
        return made + r if name == "residual" else made

    def is_right(self, name, run):
        self.d.fill_(-1)  # what is not written is wrong
        run(0)
        self.torch.cuda.synchronize()
        ends = self.torch.arange(self.m, device="cuda")
        ends = self.torch.cat([ends[:CHECKED_ROWS], ends[-CHECKED_ROWS:]])
        want = self.value(name, self.a[ends].float(), self.r[ends].float())
        return float((self.d[ends].float() - want).abs().max() / want.abs().max()) < 2**-6


def measure(torch, runtime, row, options):
    case = Case(torch, row)
    runs = {name: case.ours(runtime, formula) for name, formula in FORMULAS.items()}
    right = all([case.is_right(name, run) for name, run in runs.items()])
    runs["cublas"] = lambda _: case.value("plain", case.a, case.r)
    runs["kernels"] = lambda _: case.value("residual", case.a, case.r)
    graphs = {name: torch_timing.timed_graph(torch, run, at_least_us=AT_LEAST_US) for name, run in runs.items()}
    times = torch_timing.turns(torch, graphs, ROUNDS, random.Random(case.k))
    us = {name: statistics.median(samples) for name, samples in times.items()}
    ratios = {
        "plain": torch_timing.ratio_in_rounds(times["cublas"], times["plain"]),
        "gelu": torch_timing.ratio_in_rounds(times["plain"], times["gelu"]),
        "residual": torch_timing.ratio_in_rounds(times["kernels"], times["residual"]),
    }
    cells = [f"{case.m} x {case.n} x {case.k}"]
    for name, (ratio, (low, high)) in ratios.items():
        cells += [f"{us[name]:.1f}", f"{ratio:.3f} ({low:.3f} to {high:.3f})"]
    table.print_row(options, cells, right, {"product": cells[0], "us": us, "ratios": ratios})
    return right


def main():
    options = table.parser_of(__doc__).parse_args()
    import torch

    runtime = table.runtime_of(options)
    heads = ("plain, us", "of cuBLAS", "bias + gelu, us", "of plain", "and a residual, us", "of PyTorch's three", "right")
    table.print_head("bf16 M x N x K", *heads)
    rows = table.chosen(ROWS, options, lambda row: " x ".join(map(str, row)))
    return 0 if all([measure(torch, runtime, row, options) for row in rows]) else 1


if __name__ == "__main__":
    script.run(main)
