#!/usr/bin/env python3
"""Measures products of matrices against PyTorch's (cuBLAS), in the same run. Prints one table.

    cmake --preset release && cmake --build --preset release
    bench/products.py --build build/release
    bench/products.py --build build/release --only bf16
    bench/products.py --build build/release --only 4096 --without-pause 0.6
    bench/products.py --build build/release --random 60 --start 20 --count 20 --json products.jsonl

Needs a GPU and PyTorch. Values are random normal ones. Ours and PyTorch's take turns in random order, each a
CUDA graph of 8 ms or more after a replay that is not timed; the table has the medians of the rounds, and the median of
the rounds' ratios with its interval of 95 %. --without-pause adds the ratio of medians of four runs of that many seconds
each, without a pause between launches. TF32 is off for f32, and on for tf32. Results are checked against products in
f64 of the first and the last rows.
--random takes that many random products of bf16 instead, of which half have sides that are multiples of 64, and
half of 8, of --seed, and adds the geometric mean, the 5th percentile and the least of the ratios. --start and --count take
a part of the rows, for machines that end a command after some time; --json appends a line per row.
"""

import ctypes
import math
import random
import statistics

import rows as table
import script
import torch_timing

CHECKED_ROWS = 128  # at either end
SEED = 24  # of random products
TURN_MS = 8
ROUNDS = 15
# Operands, output, M, N, K, formula. "a.T" and "b.T" of the layouts: that operand lies along the other axis.
ROWS = (
    ("bf16", "bf16", 4096, 4096, 4096, "d = a @ b"),
    ("bf16", "bf16", 4096, 4096, 4096, "d = a @ b.T"),
    ("bf16", "bf16", 8192, 8192, 8192, "d = a @ b"),
    ("bf16", "bf16", 16384, 8192, 4096, "d = a @ b"),
    ("bf16", "bf16", 3072, 3072, 3072, "d = a @ b"),
    ("bf16", "bf16", 5000, 3000, 1000, "d = a @ b"),
    ("bf16", "bf16", 4096, 2112, 7168, "d = a @ b"),
    ("bf16", "bf16", 512, 8192, 8192, "d = a @ b"),
    ("bf16", "bf16", 8192, 1024, 1024, "d = a @ b"),
    ("bf16", "bf16", 8192, 8192, 512, "d = a @ b"),
    ("bf16", "bf16", 2048, 2048, 2048, "d = a @ b"),
    ("bf16", "bf16", 1024, 1024, 1024, "d = a @ b"),
    ("bf16", "bf16", 3000, 3000, 3000, "d = a @ b"),
    ("bf16", "bf16", 128, 4096, 4096, "d = a @ b"),
    ("bf16", "bf16", 16, 8192, 8192, "d = a @ b"),
    ("bf16", "bf16", 4096, 4096, 4096, "d = gelu(a @ b)"),
    ("bf16", "bf16", 1001, 1003, 1005, "d = a @ b"),
    ("bf16", "bf16", 300, 301, 303, "d = a @ b"),
    ("bf16", "bf16", 2000, 2001, 2000, "d = a @ b"),
    ("bf16", "bf16", 2047, 2049, 513, "d = a @ b"),
    ("bf16", "bf16", 4096, 4095, 4097, "d = a @ b.T"),
    ("f16", "f16", 4096, 4096, 4096, "d = a @ b"),
    ("f16", "f16", 8192, 8192, 8192, "d = a @ b"),
    ("tf32", "f32", 8192, 8192, 8192, "d = a @ b"),
    ("tf32", "f32", 4096, 4096, 4096, "d = a @ b"),
    ("tf32", "f32", 4096, 4096, 4096, "d = a @ b.T"),
    ("f32", "f32", 4096, 4096, 4096, "d = a @ b"),
    ("f32", "f32", 4096, 4096, 4096, "d = a @ b.T"),
    ("f32", "f32", 1000, 1000, 1000, "d = a @ b"),
    ("f64", "f64", 4096, 4096, 4096, "d = a @ b"),
    ("f64", "f64", 2048, 2048, 2048, "d = a @ b"),
    ("i8", "i32", 4096, 4096, 4096, "d = a @ b.T"),
    ("f8e4m3", "bf16", 4096, 4096, 4096, "d = a @ b.T"),
)
ROUNDING = {"bf16": 2.0**-8, "f16": 2.0**-11, "f32": 2.0**-24, "f64": 2.0**-53, "i32": 0.0}
OF_SUMS = {"f64": 2.0**-53, "i8": 0.0}  # f32 otherwise


def torch_type(torch, dtype):
    names = {"bf16": "bfloat16", "f16": "float16", "f64": "float64", "i8": "int8", "i32": "int32"}
    return getattr(torch, {**names, "f8e4m3": "float8_e4m3fn"}.get(dtype, "float32"))


def matrix(torch, dtype, rows, columns):
    if dtype == "i8":
        return torch.randint(-100, 101, (rows, columns), device="cuda", dtype=torch.int8)
    wide = torch.float64 if dtype == "f64" else torch.float32
    return torch.randn(rows, columns, device="cuda", dtype=wide).to(torch_type(torch, dtype))


def spec_of(dtype, output, m, n, k, formula):
    b = f"({n},{k}):({k},1)" if "b.T" in formula else f"({k},{n}):({n},1)"
    return {
        "name": "product",
        "tensors": {
            "a": {"dtype": dtype, "layout": f"({m},{k}):({k},1)"},
            "b": {"dtype": dtype, "layout": b},
            "d": {"dtype": output, "layout": f"({m},{n}):({n},1)"},
        },
        "formula": formula,
    }


class Case:
    """One row of the table."""

    def __init__(self, torch, row):
        self.torch, self.row = torch, row
        self.dtype, self.output, self.m, self.n, self.k, self.formula = row
        turned = "b.T" in self.formula
        self.a = matrix(torch, self.dtype, self.m, self.k)
        self.b = matrix(torch, self.dtype, *((self.n, self.k) if turned else (self.k, self.n)))
        self.right = self.b.T if turned else self.b
        self.d = torch.empty(self.m, self.n, device="cuda", dtype=torch_type(torch, self.output))

    def spec(self):
        return spec_of(*self.row)

    def peer(self):
        """PyTorch's function, or None if it has none that is alike."""
        torch = self.torch
        if self.dtype in ("i8", "f8e4m3"):
            return None
        if "gelu" in self.formula:
            return lambda _: torch.nn.functional.gelu(self.a @ self.right)
        out = torch.empty_like(self.d)
        return lambda _: torch.mm(self.a, self.right, out=out)

    def exact(self, x):
        if self.dtype != "tf32":
            return x.double()
        bits = x.contiguous().view(self.torch.int32)
        return ((bits + 0x1000) & ~0x1FFF).view(self.torch.float32).double()

    def is_right(self):
        torch = self.torch
        some = torch.arange(self.m, device="cuda")
        some = torch.cat([some[:CHECKED_ROWS], some[-CHECKED_ROWS:]])
        a, b = self.exact(self.a[some]), self.exact(self.right)
        want, size = a @ b, a.abs() @ b.abs()
        if "gelu" in self.formula:
            want = torch.nn.functional.gelu(want)
        off = (self.d[some].double() - want).abs()
        most = size * self.k * OF_SUMS.get(self.dtype, 2.0**-24) + want.abs() * ROUNDING[self.output]
        return bool((off <= 1.2 * most + (1e-3 if "gelu" in self.formula else 0)).all())

    def flop(self):
        return 2.0 * self.m * self.n * self.k

    def name(self):
        return f"{self.dtype} {self.m} x {self.n} x {self.k}, {self.formula}"


def random_rows(count, seed=SEED):
    """Products of bf16 with sides from 64 to 8192, at even distances of their logarithms."""
    order = random.Random(seed)
    rows = []
    for i in range(count):
        step = 64 if i % 2 == 0 else 8
        m, n, k = (max(step, round(2 ** order.uniform(6, 13) / step) * step) for _ in range(3))
        rows.append(("bf16", "bf16", m, n, k, order.choice(("d = a @ b", "d = a @ b.T"))))
    return rows


def print_summary(ratios):
    ratios = sorted(ratios)
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"{len(ratios)} ratios: geometric mean {mean:.3f}, 5th percentile {ratios[len(ratios) // 20]:.3f}, least {ratios[0]:.3f}")


def measure(torch, runtime, row, options):
    case = Case(torch, row)
    torch.backends.cuda.matmul.allow_tf32 = case.dtype == "tf32"
    kernel = runtime.compile(case.spec())
    pointers = [ctypes.c_void_p(tensor.data_ptr()) for tensor in (case.a, case.b, case.d)]
    case.d.fill_(-1)  # what is not written is wrong

    def ours(_):
        kernel.launch(*pointers, stream=torch.cuda.current_stream().cuda_stream)

    ours(0)
    torch.cuda.synchronize()
    right = case.is_right()
    runs = {"ours": ours}
    if peer := case.peer():
        runs["peer"] = peer
    graphs = {name: torch_timing.timed_graph(torch, run, at_least_us=options.turn_ms * 1e3) for name, run in runs.items()}
    times = torch_timing.turns(torch, graphs, options.rounds, random.Random(case.m))
    us = {name: statistics.median(samples) for name, samples in times.items()}
    speed = {name: f"{case.flop() / time / 1e6:.1f}" for name, time in us.items()}
    cells = [case.name(), speed["ours"], speed.get("peer", ""), "", ""]
    record = {"product": case.name(), "us": us}
    if peer:
        record["ratio"], between = torch_timing.ratio_in_rounds(times["peer"], times["ours"])
        cells[3:] = f"{record['ratio']:.3f}", f"{between[0]:.3f} to {between[1]:.3f}"
    if options.without_pause and not peer:
        cells.append("")
    elif options.without_pause:
        long = record["without_pause_us"] = without_pause(torch, graphs, options.without_pause)
        cells.append(f"{statistics.median(long['peer']) / statistics.median(long['ours']):.3f}")
    table.print_row(options, cells, right, record)
    return right, record.get("ratio")


def without_pause(torch, graphs, seconds):
    """Microseconds of each run of that many seconds, in the order ours, PyTorch's, PyTorch's, ours, twice."""
    us = {name: [] for name in graphs}
    for name in 2 * (*graphs, *reversed(graphs)):
        us[name].append(torch_timing.without_pause_us(torch, *graphs[name], seconds))
    return us


def main():
    parser = table.parser_of(__doc__)
    parser.add_argument("--random", type=script.count, help="that many random products instead")
    parser.add_argument("--seed", type=int, default=SEED, help="of the random products")
    parser.add_argument("--turn-ms", type=float, default=TURN_MS, help="of each turn, at least")
    parser.add_argument("--rounds", type=script.count, default=ROUNDS, help="turns of each")
    parser.add_argument("--without-pause", type=float, help="seconds of each without pause, for one more column")
    options = parser.parse_args()
    import torch

    runtime = table.runtime_of(options)
    more = ("without pause",) if options.without_pause else ()
    table.print_head("product", "TFLOP/s", "PyTorch", "ratio", "95 %", *more, "right")
    rows = random_rows(options.random, options.seed) if options.random else ROWS
    rows = table.chosen(rows, options, lambda row: f"{row[0]} {row[2]} x {row[3]} x {row[4]}, {row[5]}")
    results = [measure(torch, runtime, row, options) for row in rows]
    if options.random:
        print_summary([ratio for _, ratio in results if ratio])
    return 0 if all(right for right, _ in results) else 1


if __name__ == "__main__":
    script.run(main)
