#!/usr/bin/env python3
"""The same work by PyTorch, Triton and CuPy, if installed: one line `what<TAB>measured` each.

`peers.py --first triton|cupy` prints the milliseconds to the first launch in this process.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

import script

ROWS, COLUMNS = 16384, 8192
WARMUP, ITERATIONS = 5, 50
NEW_PROCESSES = 5


def median_ms(torch, work):
    for _ in range(WARMUP):
        work()
    pairs = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(ITERATIONS)]
    for begin, end in pairs:
        begin.record()
        work()
        end.record()
    torch.cuda.synchronize()
    return statistics.median(begin.elapsed_time(end) for begin, end in pairs)


def pytorch_rows():
    import torch

    a = torch.randn(ROWS, COLUMNS, device="cuda", dtype=torch.float16)
    b, c = torch.randn_like(a), torch.empty_like(a)
    moved = 3 * a.numel() * a.element_size()
    # The copy moves as many bytes as the addition: half of them read, half written.
    source = torch.empty(moved // 2, device="cuda", dtype=torch.uint8)
    target = torch.empty_like(source)
    copy = median_ms(torch, lambda: target.copy_(source))
    add = median_ms(torch, lambda: torch.add(a, b, out=c))
    speed = f"{moved / add / 1e6:.0f} GB/s, {100 * copy / add:.1f} % of a copy"
    yield "PyTorch: add f16 (16384,8192)", speed


def first_triton():
    import torch
    import triton
    import triton.language as tl

    @triton.jit
    def add(x, y, out, n, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        inside = offsets < n
        total = tl.load(x + offsets, mask=inside) + tl.load(y + offsets, mask=inside)
        tl.store(out + offsets, total, mask=inside)

    x = torch.ones(1 << 20, device="cuda")
    out = torch.empty_like(x)
    torch.cuda.synchronize()
    start = time.perf_counter()
    add[(1024,)](x, x, out, x.numel(), BLOCK=1024)
    torch.cuda.synchronize()
    return (time.perf_counter() - start) * 1e3


def first_cupy():
    import cupy

    source = """extern "C" __global__ void add(const float* a, const float* b, float* c, int n) {
      int i = blockIdx.x * 256 + threadIdx.x;
      if (i < n) c[i] = a[i] + b[i];
    }"""
    a = cupy.ones(1 << 20, dtype=cupy.float32)
    c = cupy.empty_like(a)
    cupy.cuda.Device().synchronize()
    start = time.perf_counter()
    cupy.RawKernel(source, "add", backend="nvrtc")((4096,), (256,), (a, a, c, a.size))
    cupy.cuda.Device().synchronize()
    return (time.perf_counter() - start) * 1e3


FIRST = {"triton": first_triton, "cupy": first_cupy}


def first_rows(peer, label):
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "TRITON_CACHE_DIR": cache, "CUPY_CACHE_DIR": cache}
        times = [
            float(
                subprocess.run(
                    [sys.executable, __file__, "--first", peer],
                    env=environment,
                    capture_output=True,
                    text=True,
                    check=True,
                ).stdout
            )
            for _ in range(NEW_PROCESSES + 1)
        ]
    yield f"{label}: new process, first launch, nothing cached", f"{times[0]:.1f} ms"
    disk = statistics.median(times[1:])
    yield f"{label}: new process, first launch, from the disk", f"{disk:.2f} ms"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", choices=sorted(FIRST), help="only the first launch of this peer, in milliseconds")
    first = parser.parse_args().first
    if first:
        print(FIRST[first]())
        return
    for rows in (pytorch_rows(), first_rows("triton", "Triton"), first_rows("cupy", "CuPy")):
        try:
            for name, value in rows:
                print(f"{name}\t{value}")
        except (ImportError, RuntimeError, subprocess.CalledProcessError) as error:
            print(f"a peer was not measured: {script.sentence(error)}", file=sys.stderr)


if __name__ == "__main__":
    script.run(main)
