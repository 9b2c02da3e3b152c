#!/usr/bin/env python3
"""Measures KernelBench's memory-bound problems of level 1 beside eager PyTorch and torch.compile; prints
one table.

    cmake --preset portable && cmake --build --preset portable
    bench/kernelbench.py --build build/portable
    bench/kernelbench.py --build build/portable --only softmax --dtype bf16 --scale 16

Needs a GPU and PyTorch. KernelBench (ScalingIntelligence/KernelBench, public) has 100 PyTorch problems of
that level. 43 of them are formulas here, in f32 and at its sizes. `--products` takes the 16 with matrix
products and attention instead; their rows show what formulas lack. A time is per launch, among others in a
CUDA graph of 4 ms or more: the median of 7 replays in turns. GB/s count each element once. The error is the
largest difference from eager PyTorch over a few million elements, divided by the largest value.
"""

import argparse
import ctypes
import dataclasses
import json
import math
import pathlib

import script

ROOT = pathlib.Path(__file__).resolve().parents[1]
BIG, SQUARE, IMAGES = (4096, 393216), (32768, 32768), (112, 64, 512, 512)
SLOWER = 0.98  # ratio of a peer's time to ours; rows below it are named
COMPARED = 4_000_000


@dataclasses.dataclass(frozen=True)
class Problem:
    """`inputs` and `output` are shapes, or (shape, dtype); an output may be an input's name."""

    number: int
    name: str
    inputs: dict
    output: tuple | str
    formula: str
    torch: str
    axis: list | None = None


PROBLEMS = (
    Problem(4, "matrix-vector", {"a": (2048, 1048576), "b": (1, 1048576)}, (2048, 1), "y = sum(a * b)", "a @ b.t()"),
    Problem(5, "matrix-scalar", {"x": (65536, 16384)}, "x", "y = x * 3.14", "x * 3.14"),
    Problem(12, "diagonal-matrix", {"a": (4096, 1), "b": (4096, 4096)}, "b", "y = a * b", "a * b"),
    Problem(19, "relu", {"x": BIG}, "x", "y = relu(x)", "F.relu(x)"),
    Problem(20, "leaky-relu", {"x": BIG}, "x", "y = where(x > 0, x, x * 0.01)", "F.leaky_relu(x, 0.01)"),
    Problem(21, "sigmoid", {"x": BIG}, "x", "y = sigmoid(x)", "torch.sigmoid(x)"),
    Problem(22, "tanh", {"x": BIG}, "x", "y = tanh(x)", "torch.tanh(x)"),
    Problem(23, "softmax", {"x": BIG}, "x", "e = exp(x - max(x)); y = e / sum(e)", "torch.softmax(x, 1)"),
    Problem(24, "log-softmax", {"x": BIG}, "x",
            "s = x - max(x); y = s - log(sum(exp(s)))", "torch.log_softmax(x, 1)"),
    Problem(25, "swish", {"x": BIG}, "x", "y = x * sigmoid(x)", "x * torch.sigmoid(x)"),
    Problem(26, "gelu", {"x": BIG}, "x", "y = gelu(x)", "F.gelu(x)"),
    Problem(27, "selu", {"x": BIG}, "x",
            "y = 1.0507009873554805 * where(x > 0, x, 1.6732632423543772 * (exp(x) - 1))", "torch.selu(x)"),
    Problem(28, "hard-sigmoid", {"x": BIG}, "x", "y = clamp(x / 6 + 0.5, 0, 1)", "F.hardsigmoid(x)"),
    Problem(29, "softplus", {"x": BIG}, "x", "y = where(x > 20, x, log(1 + exp(x)))", "F.softplus(x)"),
    Problem(30, "softsign", {"x": BIG}, "x", "y = x / (1 + abs(x))", "x / (1 + torch.abs(x))"),
    Problem(31, "elu", {"x": BIG}, "x", "y = where(x > 0, x, exp(x) - 1)", "F.elu(x)"),
    Problem(32, "hard-tanh", {"x": BIG}, "x", "y = clamp(x, -1, 1)", "F.hardtanh(x)"),
    Problem(33, "batch-norm", {"x": (64, 64, 512, 512)}, "x",
            "y = (x - mean(x)) * rsqrt(var(x) + 0.00001)", "F.batch_norm(x, None, None, training=True)", [0, 2, 3]),
    Problem(34, "instance-norm", {"x": IMAGES}, "x",
            "y = (x - mean(x)) * rsqrt(var(x) + 0.00001)", "F.instance_norm(x)", [2, 3]),
    Problem(35, "group-norm", {"x": (112, 8, 8, 512, 512)}, "x",
            "y = (x - mean(x)) * rsqrt(var(x) + 0.00001)",
            "F.group_norm(x.reshape(x.shape[0], 64, 512, 512), 8).reshape(x.shape)", [2, 3, 4]),
    Problem(36, "rms-norm over channels", {"x": IMAGES}, "x",
            "y = x / sqrt(mean(x * x) + 0.00001)", "x / torch.sqrt(torch.mean(x ** 2, 1, keepdim=True) + 1e-5)", [1]),
    Problem(37, "frobenius-norm", {"x": IMAGES}, "x", "y = x / sqrt(sum(x * x))", "x / torch.norm(x)", [0, 1, 2, 3]),
    Problem(38, "l1-norm", {"x": (32768, 65535)}, "x",
            "y = x / mean(abs(x))", "x / torch.mean(torch.abs(x), 1, keepdim=True)"),
    Problem(39, "l2-norm", {"x": (32768, 65535)}, "x",
            "y = x / sqrt(sum(x * x))", "x / torch.norm(x, p=2, dim=1, keepdim=True)"),
    Problem(40, "layer-norm", {"x": (16, 64, 256, 256), "w": (64, 256, 256), "b": (64, 256, 256)}, "x",
            "y = (x - mean(x)) * rsqrt(var(x) + 0.00001) * w + b", "F.layer_norm(x, (64, 256, 256), w, b)", [1, 2, 3]),
    Problem(47, "sum", {"x": (128, 4096, 4095)}, (128, 1, 4095), "y = sum(x)", "x.sum(1, keepdim=True)", [1]),
    Problem(48, "mean", {"x": (128, 4096, 4095)}, (128, 4095), "y = mean(x)", "x.mean(1)", [1]),
    Problem(49, "max", {"x": (128, 4096, 4095)}, (128, 4095), "y = max(x)", "x.amax(1)", [1]),
    Problem(51, "argmax", {"x": (128, 4096, 4095)}, ((128, 4095), "i64"), "y = argmax(x)", "x.argmax(1)", [1]),
    Problem(52, "argmin", {"x": (128, 4096, 4095)}, ((128, 4095), "i64"), "y = argmin(x)", "x.argmin(1)", [1]),
    Problem(53, "min", {"x": (128, 4096, 4095)}, (128, 4095), "y = min(x)", "x.amin(1)", [1]),
    Problem(88, "new-gelu", {"x": (8192, 8192)}, "x",
            "y = 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x ** 3)))",
            "0.5 * x * (1 + torch.tanh(0.7978845608028654 * (x + 0.044715 * torch.pow(x, 3.0))))"),
    Problem(89, "cumsum", {"x": SQUARE}, "x", "y = cumsum(x)", "torch.cumsum(x, 1)"),
    Problem(90, "cumprod", {"x": SQUARE}, "x", "y = cumprod(x)", "torch.cumprod(x, 1)"),
    Problem(91, "cumsum-reverse", {"x": SQUARE}, "x",
            "y = cumsum(x, reverse=true)", "torch.cumsum(x.flip(1), 1).flip(1)"),
    Problem(92, "cumsum-exclusive", {"x": SQUARE}, "x",
            "y = cumsum(x, exclusive=true)", "torch.cat((torch.zeros_like(x[:, :1]), torch.cumsum(x[:, :-1], 1)), 1)"),
    Problem(93, "masked-cumsum", {"x": SQUARE, "m": (SQUARE, "bool")}, "x",
            "y = cumsum(where(m, x, 0))", "torch.cumsum(x * m, 1)"),
    Problem(94, "mse-loss", {"p": SQUARE, "t": SQUARE}, (1, 1),
            "y = mean((p - t) ** 2)", "torch.mean((p - t) ** 2).reshape(1, 1)", [0, 1]),
    Problem(95, "cross-entropy", {"x": (32768, 4096), "t": ((32768, 1), "i64")}, (1, 1),
            "m = max(x, axis=1); r = sum(where(iota(1) == t, x, 0), axis=1); y = mean(m + log(sum(exp(x - m), "
            "axis=1)) - r, axis=0)",
            "F.cross_entropy(x, t[:, 0]).reshape(1, 1)"),
    Problem(96, "huber-loss", {"p": SQUARE, "t": SQUARE}, (1, 1),
            "d = abs(p - t); y = mean(where(d < 1, 0.5 * d * d, d - 0.5))",
            "F.smooth_l1_loss(p, t).reshape(1, 1)", [0, 1]),
    Problem(98, "kl-div-loss", {"p": (16384, 16384), "t": (16384, 16384)}, (1, 1),
            "y = sum(t * (log(t) - log(p))) / extent(0)",
            "F.kl_div(torch.log(p), t, reduction='batchmean').reshape(1, 1)", [0, 1]),
    Problem(99, "triplet-margin-loss", {"a": (32768, 8192), "p": (32768, 8192), "n": (32768, 8192)}, (1, 1),
            "dp = sqrt(sum((a - p + 0.000001) ** 2, axis=1)); dn = sqrt(sum((a - n + 0.000001) ** 2, axis=1)); y "
            "= mean(max(dp - dn + 1, 0), axis=0)",
            "F.triplet_margin_loss(a, p, n).reshape(1, 1)"),
    Problem(100, "hinge-loss", {"p": SQUARE, "t": (1, 32768)}, (1, 1),
            "y = mean(max(1 - p * t, 0))", "torch.mean(torch.clamp(1 - p * t, min=0)).reshape(1, 1)", [0, 1]),
)  # fmt: skip

PRODUCTS = (
    Problem(1, "matmul square", {"a": (4096, 4096), "b": (4096, 4096)}, (4096, 4096), "y = a @ b", "a @ b"),
    Problem(2, "matmul", {"a": (2048, 8192), "b": (8192, 4096)}, (2048, 4096), "y = a @ b", "a @ b"),
    Problem(3, "matmul batched", {"a": (128, 512, 1024), "b": (128, 1024, 2048)}, (128, 512, 2048),
            "y = a @ b", "torch.bmm(a, b)"),
    Problem(6, "matmul large K", {"a": (256, 524288), "b": (524288, 256)}, (256, 256), "y = a @ b", "a @ b"),
    Problem(7, "matmul small K", {"a": (32768, 64), "b": (64, 32768)}, SQUARE, "y = a @ b", "a @ b"),
    Problem(8, "matmul irregular", {"a": (8205, 2949), "b": (2949, 5921)}, (8205, 5921), "y = a @ b", "a @ b"),
    Problem(9, "matmul tall-skinny", {"a": (32768, 32), "b": (32, 32768)}, SQUARE, "y = a @ b", "a @ b"),
    Problem(10, "matmul 3-D", {"a": (16, 1024, 2048), "b": (2048, 768)}, (16, 1024, 768), "y = a @ b", "a @ b"),
    Problem(11, "matmul 4-D", {"a": (8, 256, 512, 256), "b": (256, 768)}, (8, 256, 512, 768), "y = a @ b", "a @ b"),
    Problem(13, "matmul symmetric", {"a": (4096, 4096), "b": (4096, 4096)}, (4096, 4096), "y = a @ b", "a @ b"),
    Problem(14, "matmul upper triangular", {"a": (4096, 4096), "b": (4096, 4096)}, (4096, 4096),
            "y = where(iota(0) <= iota(1), a @ b, 0)", "torch.triu(a @ b)"),
    Problem(15, "matmul lower triangular", {"a": (4096, 4096), "b": (4096, 4096)}, (4096, 4096),
            "y = where(iota(0) >= iota(1), a @ b, 0)", "torch.tril(a @ b)"),
    Problem(16, "matmul A transposed", {"a": (8192, 2048), "b": (8192, 4096)}, (2048, 4096),
            "y = a.T @ b", "a.T @ b"),
    Problem(17, "matmul B transposed", {"a": (2048, 8192), "b": (4096, 8192)}, (2048, 4096),
            "y = a @ b.T", "a @ b.T"),
    Problem(18, "matmul both transposed", {"a": (8192, 2048), "b": (4096, 8192)}, (2048, 4096),
            "y = a.T @ b.T", "a.T @ b.T"),
    Problem(97, "attention", {"q": (32, 32, 512, 1024), "k": (32, 32, 512, 1024), "v": (32, 32, 512, 1024)}, "q",
            "s = (q @ k.T) * 0.03125; e = exp(s - max(s)); y = (e / sum(e)) @ v",
            "F.scaled_dot_product_attention(q, k, v)"),
)  # fmt: skip


def spec_of(problem, dtype, scale):
    output = problem.inputs[problem.output] if isinstance(problem.output, str) else problem.output
    tensors = {}
    for name, entry in {**problem.inputs, "y": output}.items():
        shape, kind = entry if isinstance(entry[0], tuple) else (entry, dtype)
        first = shape[0] // scale if shape[0] > scale else shape[0]
        tensors[name] = {"dtype": kind, "shape": [first, *shape[1:]]}
    spec = {"name": f"kb_{problem.number}", "tensors": tensors, "formula": problem.formula.split("; ")}
    return spec if problem.axis is None else {**spec, "axis": problem.axis}


def tensor_of(torch, name, tensor):
    shape, dtype = tensor["shape"], tensor["dtype"]
    if dtype == "bool":
        return torch.rand(shape, device="cuda") < 0.5
    if dtype == "i64" and name != "y":
        return torch.randint(0, 4096, shape, device="cuda")
    dtypes = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16, "i64": torch.int64}
    if name == "y":
        return torch.empty(shape, dtype=dtypes[dtype], device="cuda")
    return torch.rand(shape, device="cuda").add_(0.001).to(dtypes[dtype])


def error_of(got, want):
    step = max(1, got.numel() // COMPARED)
    got, want = (t.reshape(-1)[::step].double() for t in (got, want.reshape(got.shape)))
    return ((got - want).abs().max() / want.abs().max().clamp_min(1e-30)).item()


def runs_of(torch, runtime, problem, spec, compiled):
    """Returns the tensors by name, and for each peer a function that takes a launch's number."""
    made = {name: tensor_of(torch, name, tensor) for name, tensor in spec["tensors"].items()}
    scope = {"torch": torch, "F": torch.nn.functional}
    names = [name for name in made if name != "y"]
    function = eval(f"lambda {', '.join(names)}: {problem.torch}", scope)  # source from the table above
    kernel = runtime.compile(spec)
    pointers = [ctypes.c_void_p(tensor.data_ptr()) for tensor in made.values()]
    arguments = [made[name] for name in names]
    current = torch.cuda.current_stream
    runs = {
        "ours": lambda _: kernel.launch(*pointers, stream=current().cuda_stream),
        "eager": lambda _: function(*arguments),
    }
    if compiled:
        torch._dynamo.reset()
        built = torch.compile(function, dynamic=False)
        built(*arguments)
        runs["compiled"] = lambda _: built(*arguments)
    return made, runs


def measure(torch, runtime, problem, spec, compiled):
    """Returns the row's cells and the ratios of times."""
    import torch_timing

    made, runs = runs_of(torch, runtime, problem, spec, compiled)
    runs["ours"](0)
    torch.cuda.synchronize()
    error = error_of(made["y"], runs["eager"](0))
    us = torch_timing.medians(torch, runs)
    moved = sum(tensor.numel() * tensor.element_size() for tensor in made.values())
    ratios = {name: time / us["ours"] for name, time in us.items() if name != "ours"}
    cells = [f"{us['ours']:.1f}", f"{moved / us['ours'] / 1e3:.0f}", f"{ratios['eager']:.2f} x"]
    return [*cells, f"{ratios['compiled']:.2f} x" if compiled else "", f"{error:.1e}"], ratios


def print_sums(rows):
    """`rows`: ratios by title."""
    for peer, label in (("eager", "eager PyTorch"), ("compiled", "torch.compile")):
        known = {title: ratios[peer] for title, ratios in rows.items() if peer in ratios}
        if not known:
            continue
        mean = math.exp(sum(map(math.log, known.values())) / len(known))
        slower = ", ".join(title for title, ratio in known.items() if ratio < SLOWER)
        print(f"{label} takes {mean:.2f} x as long (geometric mean of {len(known)}); less in: {slower or 'none'}")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "portable")
    parser.add_argument("--only", default="", help="problems whose name has this")
    parser.add_argument("--dtype", default="f32", choices=("f32", "bf16", "f16"))
    parser.add_argument("--scale", type=script.count, default=1, help="divides the first extent, for a quick look")
    parser.add_argument("--no-compile", action="store_true", help="without torch.compile, which takes minutes")
    parser.add_argument("--products", action="store_true", help="matrix products and attention instead")
    parser.add_argument("--list", action="store_true", help="only print the specs, as one spec file")
    return parser.parse_args()


def main():
    options = parse()
    chosen = [p for p in (PRODUCTS if options.products else PROBLEMS) if options.only in p.name]
    specs = [spec_of(problem, options.dtype, options.scale) for problem in chosen]
    if options.list:
        print(json.dumps({"kernels": specs}, indent=1))
        return
    import torch

    runtime = script.tilejit_of(options.build).Runtime({"device": 0, "tuning_file": None})
    print("| problem | us | GB/s | eager takes | compiled takes | error |\n|---|---|---|---|---|---|", flush=True)
    rows = {}
    for problem, spec in zip(chosen, specs):
        title = f"{problem.number} {problem.name}"
        torch.cuda.empty_cache()
        try:
            cells, rows[title] = measure(torch, runtime, problem, spec, not options.no_compile)
            print(f"| {title} | {' | '.join(cells)} |", flush=True)
        except Exception as error:  # any error: the other problems go on
            print(f"| {title} | failed: {type(error).__name__}: {' '.join(str(error).split())[:200]} |", flush=True)
    print_sums(rows)


if __name__ == "__main__":
    script.run(main)
