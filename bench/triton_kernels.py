"""The operations of bench/specs as a user of Triton would write them: plain kernels with one program per
row or block, as in its tutorials. `function_of` returns one as a call on tensors, or None."""

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(a, b, c, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(c + at, tl.load(a + at, mask=inside) + tl.load(b + at, mask=inside), mask=inside)


@triton.jit
def softmax_kernel(x, y, columns, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    inside = at < columns
    row = tl.program_id(0).to(tl.int64) * columns
    v = tl.load(x + row + at, mask=inside, other=-float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + row + at, (e / tl.sum(e, axis=0)).to(y.dtype.element_ty), mask=inside)


@triton.jit
def layernorm_kernel(x, w, b, y, columns, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    inside = at < columns
    row = tl.program_id(0).to(tl.int64) * columns
    v = tl.load(x + row + at, mask=inside, other=0).to(tl.float32)
    d = tl.where(inside, v - tl.sum(v, axis=0) / columns, 0)
    scale = tl.rsqrt(tl.sum(d * d, axis=0) / columns + 1e-5)
    weight = tl.load(w + at, mask=inside, other=0).to(tl.float32)
    bias = tl.load(b + at, mask=inside, other=0).to(tl.float32)
    tl.store(y + row + at, (d * scale * weight + bias).to(y.dtype.element_ty), mask=inside)


@triton.jit
def rmsnorm_kernel(x, r, w, h, y, columns, RESIDUAL: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    inside = at < columns
    row = tl.program_id(0).to(tl.int64) * columns
    v = tl.load(x + row + at, mask=inside, other=0).to(tl.float32)
    if RESIDUAL:
        v += tl.load(r + row + at, mask=inside, other=0).to(tl.float32)
        tl.store(h + row + at, v.to(h.dtype.element_ty), mask=inside)
    scale = tl.rsqrt(tl.sum(v * v, axis=0) / columns + 1e-5)
    weight = tl.load(w + at, mask=inside, other=0).to(tl.float32)
    tl.store(y + row + at, (v * scale * weight).to(y.dtype.element_ty), mask=inside)


@triton.jit
def sum_rows_kernel(x, y, columns, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0).to(tl.int64) * columns
    v = tl.load(x + row + at, mask=at < columns, other=0).to(tl.float32)
    tl.store(y + tl.program_id(0), tl.sum(v, axis=0).to(y.dtype.element_ty))


def function_of(kind, t):
    """`t`: tensors by the names of the spec. Returns None if there is no kernel here, or if a row is longer
    than a Triton block's 2^20 elements allow at a sensible speed."""
    if kind == "add":
        n, block = t["a"].numel(), 1024
        grid = (triton.cdiv(n, block),)
        return lambda: add_kernel[grid](t["a"], t["b"], t["c"], n, BLOCK=block, num_warps=4)
    if "x" not in t or t["x"].dim() != 2 or not t["x"].is_contiguous():
        return None
    rows, columns = t["x"].shape
    block = triton.next_power_of_2(columns)
    warps = min(32, max(4, block // 1024))
    shape = {"BLOCK": block, "num_warps": warps}
    table = {
        "softmax": lambda: softmax_kernel[(rows,)](t["x"], t["y"], columns, **shape),
        "layernorm": lambda: layernorm_kernel[(rows,)](t["x"], t["w"], t["b"], t["y"], columns, **shape),
        "rmsnorm": lambda: rmsnorm_kernel[(rows,)](
            t["x"], t["x"], t["w"], t["y"], t["y"], columns, RESIDUAL=False, **shape
        ),
        "residual_rmsnorm": lambda: rmsnorm_kernel[(rows,)](
            t["x"], t["r"], t["w"], t["h"], t["y"], columns, RESIDUAL=True, **shape
        ),
        "sum_rows": lambda: sum_rows_kernel[(rows,)](t["x"], t["y"], columns, **shape),
    }
    return table.get(kind)


def matches(kind, t, run):
    """Whether the kernel's result equals PyTorch's within the rounding of bf16."""
    run()
    row = (t["x"].shape[-1],) if "x" in t else None
    nn = torch.nn.functional
    expected = {
        "add": lambda: t["a"] + t["b"],
        "softmax": lambda: torch.softmax(t["x"], -1),
        "layernorm": lambda: nn.layer_norm(t["x"], row, t["w"], t["b"], 1e-5),
        "rmsnorm": lambda: nn.rms_norm(t["x"], row, t["w"], 1e-5),
        "residual_rmsnorm": lambda: nn.rms_norm(t["x"] + t["r"], row, t["w"], 1e-5),
        "sum_rows": lambda: torch.sum(t["x"], 1),
    }[kind]()
    got = t["c"] if kind == "add" else t["y"]
    return torch.allclose(got.float(), expected.float(), rtol=2**-6, atol=2**-6)
