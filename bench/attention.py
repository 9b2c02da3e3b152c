#!/usr/bin/env python3
"""Measures attentions against PyTorch's back ends cuDNN and flash, compiled FlexAttention, and our own plain and causal
ones, in the same run. Prints one table.

    cmake --preset release && cmake --build --preset release
    bench/attention.py --build build/release
    bench/attention.py --build build/release --only causal --start 1 --count 2 --json attention.jsonl

Needs a GPU and PyTorch. Values are random normal ones, bf16. Ours and the peers take turns in random order, each a
CUDA graph of 8 ms or more after a replay that is not timed; the table has the medians of the rounds. `ratio` is the
time of the fastest peer, divided by ours; `must` what it should be. `own` compares with another attention of ours. Two
heads are checked against softmax in f32. NVRTC is the compiler's time, without any cache. --start and --count take a
part of the rows, for machines that end a command after some time; --json appends a line per row.
"""

import ctypes
import dataclasses
import math
import os
import random
import time

import rows as table
import script
import torch_timing

AT_LEAST_US = 8000
CAP, WIDTH, DOCUMENTS, SEED = 20.0, 1024, 12, 28
TOLERANCE = 2.0**-6  # of outputs, which are averages of normal values
KINDS = {
    "full": "t = s",
    "causal": "t = where(iota(-1) <= iota(-2), s, -inf)",
    "soft cap": "t = cap * tanh(s / cap)",
    "alibi": "t = s - slope * f32(iota(-2) - iota(-1))",
    "window": "t = where(iota(-1) <= iota(-2) and iota(-2) - iota(-1) < width, s, -inf)",
    "documents": "t = where(of_query == of_key and iota(-1) <= iota(-2), s, -inf)",
}


@dataclasses.dataclass
class Row:
    kind: str
    batch: int
    heads: int
    tokens: int
    columns: int
    must: float  # times the fastest peer
    own: str = ""  # another kind of ours
    own_must: str = ""

    def name(self):
        return f"{self.kind} {self.batch} x {self.heads} x {self.tokens}, {self.columns}"


ROWS = (
    Row("full", 4, 16, 4096, 128, 1.02),
    Row("causal", 4, 16, 4096, 128, 0.95),
    Row("full", 4, 48, 8192, 128, 1.02),
    Row("causal", 4, 48, 8192, 128, 0.95),
    Row("full", 16, 16, 1024, 128, 0.95),
    Row("causal", 16, 16, 1024, 128, 0.95),
    Row("full", 4, 16, 4096, 64, 0.95),
    Row("causal", 4, 16, 4096, 64, 0.95),
    Row("soft cap", 4, 16, 4096, 128, 1.05, "full", ">= 0.85"),
    Row("alibi", 4, 16, 4096, 128, 1.05, "full", ">= 0.85"),
    Row("window", 4, 16, 8192, 128, 1.05, "causal", ">= 2.86"),
    Row("documents", 4, 16, 8192, 128, 1.05),
)


def spec_of(row, kind):
    shape = [row.batch, row.heads, row.tokens, row.columns]
    tensors = {name: {"dtype": "bf16", "shape": shape} for name in "qkv"}
    scalars = {"scale": {"dtype": "f32", "example": 0.125}}
    if kind == "soft cap":
        scalars["cap"] = {"dtype": "f32", "example": CAP}
    if kind == "alibi":
        tensors["slope"] = {"dtype": "f32", "shape": [row.heads, 1, 1]}
    if kind == "window":
        scalars["width"] = {"dtype": "i32", "example": WIDTH}
    if kind == "documents":
        tensors["of_query"] = {"dtype": "i32", "shape": [row.batch, 1, row.tokens, 1]}
        tensors["of_key"] = {"dtype": "i32", "shape": [row.batch, 1, 1, row.tokens]}
    tensors["y"] = {"dtype": "bf16", "shape": shape}
    formula = ["s = (q @ k.T) * scale", KINDS[kind], "e = exp(t - max(t))", "y = bf16(e / sum(e)) @ v"]
    return {"name": "attention", "tensors": tensors, "scalars": scalars, "formula": formula}


class Case:
    """The tensors of a row."""

    def __init__(self, torch, row):
        self.torch, self.row = torch, row
        torch.manual_seed(SEED)
        shape = (row.batch, row.heads, row.tokens, row.columns)
        self.q, self.k, self.v = (torch.randn(shape, device="cuda", dtype=torch.bfloat16) for _ in range(3))
        self.y = torch.empty_like(self.q)
        self.scale = row.columns**-0.5
        self.slope = torch.tensor([2.0 ** (-8 * (h + 1) / row.heads) for h in range(row.heads)], device="cuda")
        order = random.Random(SEED)
        numbers = []
        for _ in range(row.batch):
            cuts = sorted(order.sample(range(1, row.tokens), DOCUMENTS - 1))
            numbers.append([sum(cut <= i for cut in cuts) for i in range(row.tokens)])
        self.documents = torch.tensor(numbers, device="cuda", dtype=torch.int32)

    def arguments(self, kind):
        made = [self.q, self.k, self.v]
        made += {"alibi": [self.slope], "documents": [self.documents] * 2}.get(kind, [])
        made = [ctypes.c_void_p(tensor.data_ptr()) for tensor in [*made, self.y]]
        return made + [self.scale] + {"soft cap": [CAP], "window": [WIDTH]}.get(kind, [])

    def peers(self):
        torch, row = self.torch, self.row
        if row.kind in ("full", "causal"):
            return {"cuDNN": self.sdpa("CUDNN_ATTENTION"), "flash": self.sdpa("FLASH_ATTENTION")}
        from torch.nn.attention.flex_attention import create_block_mask, flex_attention

        slope, documents = self.slope, self.documents
        score = {
            "soft cap": lambda s, b, h, q, k: CAP * torch.tanh(s / CAP),
            "alibi": lambda s, b, h, q, k: s - slope[h] * (q - k),
        }.get(row.kind)
        mask = {
            "window": lambda b, h, q, k: (k <= q) & (q - k < WIDTH),
            "documents": lambda b, h, q, k: (documents[b, q] == documents[b, k]) & (k <= q),
        }.get(row.kind)
        blocks = mask and create_block_mask(mask, row.batch, None, row.tokens, row.tokens, device="cuda")
        compiled = torch.compile(flex_attention, dynamic=False)
        return {"Flex": lambda _: compiled(self.q, self.k, self.v, score_mod=score, block_mask=blocks)}

    def sdpa(self, backend):
        torch = self.torch
        attention = torch.nn.attention

        def run(_):
            with attention.sdpa_kernel([getattr(attention.SDPBackend, backend)]):
                return torch.nn.functional.scaled_dot_product_attention(
                    self.q, self.k, self.v, is_causal=self.row.kind == "causal"
                )

        return run

    def want(self, kind, b, h):
        torch = self.torch
        i = torch.arange(self.row.tokens, device="cuda")
        distance = i[:, None] - i[None, :]
        s = (self.q[b, h].float() @ self.k[b, h].float().T) * self.scale
        if kind == "soft cap":
            s = CAP * torch.tanh(s / CAP)
        if kind == "alibi":
            s = s - self.slope[h] * distance
        if kind in ("causal", "window", "documents"):
            s = s.masked_fill(distance < 0, -math.inf)
        if kind == "window":
            s = s.masked_fill(distance >= WIDTH, -math.inf)
        if kind == "documents":
            s = s.masked_fill(self.documents[b][:, None] != self.documents[b][None, :], -math.inf)
        return torch.softmax(s, -1) @ self.v[b, h].float()

    def is_right(self, kind):
        some = ((0, 0), (self.row.batch - 1, self.row.heads - 1))
        return all(
            bool(((self.y[b, h].float() - self.want(kind, b, h)).abs() <= TOLERANCE).all()) for b, h in some
        )


def measure(torch, runtime, row, options):
    case = Case(torch, row)

    def made(kind):
        begin = time.perf_counter()
        kernel = runtime.compile(spec_of(row, kind))
        seconds = time.perf_counter() - begin
        arguments = case.arguments(kind)
        return (lambda _: kernel.launch(*arguments, stream=torch.cuda.current_stream().cuda_stream)), seconds

    ours, seconds = made(row.kind)
    case.y.fill_(-1)  # what is not written is wrong
    ours(0)
    torch.cuda.synchronize()
    right = case.is_right(row.kind)
    runs = {"ours": ours, **case.peers()}
    if row.own:
        runs["own"] = made(row.own)[0]
    graphs = {name: torch_timing.timed_graph(torch, run, at_least_us=AT_LEAST_US) for name, run in runs.items()}
    us = torch_timing.in_turns(torch, graphs, order=random.Random(row.tokens))
    best = min(us[name] for name in us if name not in ("ours", "own"))
    peers = ", ".join(f"{name} {us[name]:.0f}" for name in us if name not in ("ours", "own"))
    own = f"{us['own'] / us['ours']:.3f} of {row.own}, {row.own_must}" if row.own else ""
    cells = (row.name(), f"{us['ours']:.1f}", peers, f"{best / us['ours']:.3f}", row.must, own, f"{seconds:.2f}")
    table.print_row(options, cells, right, {"attention": row.name(), "us": us, "compile_s": seconds})
    return right


def main():
    options = table.parser_of(__doc__).parse_args()
    os.environ["TILEJIT_CACHE_DIR"] = "off"  # so that each kernel is compiled
    import torch

    runtime = table.runtime_of(options)
    table.print_head("B x H x tokens, columns", "us", "peers, us", "ratio", "must", "own", "compile, s", "right")
    results = [measure(torch, runtime, row, options) for row in table.chosen(ROWS, options, Row.name)]
    return 0 if all(results) else 1


if __name__ == "__main__":
    script.run(main)
