#!/usr/bin/env python3
"""Tile programs beside the library's own formulas, and a product beside Triton's tutorial kernel, in turns.

    bench/programs.py --build build/ci --rounds 3

Prints for each the median of the rounds' median times, and how fast the program is relative to the other. Needs a GPU; the last
row also PyTorch and Triton.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys

import script

ROOT = pathlib.Path(__file__).resolve().parents[1]
FOLDER = pathlib.Path(__file__).resolve().parent / "programs"
AGAINST_FORMULAS = ("add", "transpose", "softmax", "layernorm")
SIZE = 4096  # of the product, along each axis


def median_of(document):
    """The first median time, in milliseconds, anywhere in what `tilejit bench --json` printed."""
    if isinstance(document, dict):
        if "median_ms" in document:
            return document["median_ms"]
        document = list(document.values())
    if isinstance(document, list):
        for one in document:
            found = median_of(one)
            if found is not None:
                return found
    return None


def measured(tilejit, *arguments):
    done = subprocess.run([tilejit, "bench", *map(str, arguments), "--max-time", "200", "--json"],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"programs.py: tilejit bench {arguments[0]} failed: {done.stderr.strip()[-500:]}")
    return median_of(json.loads(done.stdout))


def triton_product():
    """A call of the kernel of Triton's tutorial on matrix multiplication, with its usual block sizes."""
    import torch
    import triton
    import triton.language as tl

    configurations = [
        triton.Config({"BM": bm, "BN": bn, "BK": bk, "GROUP": 8}, num_stages=stages, num_warps=warps)
        for bm, bn, bk, stages, warps in ((128, 256, 64, 3, 8), (128, 128, 64, 4, 4), (128, 128, 32, 4, 4), (64, 256, 32, 4, 4))
    ]

    @triton.autotune(configs=configurations, key=["M", "N", "K"])
    @triton.jit
    def product(a, b, c, M, N, K, am, ak, bk, bn, cm, cn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                GROUP: tl.constexpr):
        block = tl.program_id(0)
        rows, columns = tl.cdiv(M, BM), tl.cdiv(N, BN)
        in_group = GROUP * columns
        first = block // in_group * GROUP
        height = min(rows - first, GROUP)
        row, column = first + block % in_group % height, block % in_group // height
        m, n, k = (row * BM + tl.arange(0, BM)) % M, (column * BN + tl.arange(0, BN)) % N, tl.arange(0, BK)
        pa, pb = a + m[:, None] * am + k[None, :] * ak, b + k[:, None] * bk + n[None, :] * bn
        total = tl.zeros((BM, BN), dtype=tl.float32)
        for step in range(0, tl.cdiv(K, BK)):
            left = K - step * BK
            total = tl.dot(tl.load(pa, mask=k[None, :] < left, other=0.0), tl.load(pb, mask=k[:, None] < left, other=0.0), total)
            pa += BK * ak
            pb += BK * bk
        m, n = row * BM + tl.arange(0, BM), column * BN + tl.arange(0, BN)
        tl.store(c + m[:, None] * cm + n[None, :] * cn, total.to(tl.bfloat16), mask=(m[:, None] < M) & (n[None, :] < N))

    a, b = (torch.randn(SIZE, SIZE, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    c = torch.empty_like(a)

    def call():
        grid = lambda meta: (triton.cdiv(SIZE, meta["BM"]) * triton.cdiv(SIZE, meta["BN"]),)  # noqa: E731
        product[grid](a, b, c, SIZE, SIZE, SIZE, *a.stride(), *b.stride(), *c.stride())

    call()
    torch.testing.assert_close(c.float(), (a.float() @ b.float()), rtol=2e-2, atol=1)
    return call


def triton_ms(call):
    import torch

    pairs = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(30)]
    for begin, end in pairs:
        begin.record()
        call()
        end.record()
    torch.cuda.synchronize()
    return statistics.median(begin.elapsed_time(end) for begin, end in pairs)


def show(name, ours, theirs, what):
    ours, theirs = statistics.median(ours), statistics.median(theirs)
    print(f"{name:<12} program {1000 * ours:9.1f} us   {what} {1000 * theirs:9.1f} us   {theirs / ours:5.2f} x", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release", help="folder of a build")
    parser.add_argument("--rounds", type=script.count, default=3, help="measurements of each (3)")
    parser.add_argument("--only", nargs="*", help="some of add, transpose, softmax, layernorm, matmul")
    options = parser.parse_args()
    tilejit = options.build / "bin" / "tilejit"
    if not tilejit.exists():
        raise RuntimeError(f"{tilejit} is not there; build it, or name another folder by --build")
    for name in AGAINST_FORMULAS:
        if options.only and name not in options.only:
            continue
        ours, theirs = [], []
        for _ in range(options.rounds):
            ours.append(measured(tilejit, FOLDER / f"{name}.tl"))
            theirs.append(measured(tilejit, FOLDER / "formulas.json", "--kernel", name))
        show(name, ours, theirs, "formula")
    if options.only and "matmul" not in options.only:
        return
    call = triton_product()
    ours, theirs = [], []
    for _ in range(options.rounds):
        ours.append(measured(tilejit, FOLDER / "matmul.tl", "--warm"))
        theirs.append(triton_ms(call))
    show("matmul", ours, theirs, "Triton ")


if __name__ == "__main__":
    script.run(main)
