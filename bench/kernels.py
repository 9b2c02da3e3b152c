#!/usr/bin/env python3
"""Compares kernels of bench/specs with the speed of the memory, and with PyTorch and Triton in the same
run. Prints one table.

    cmake --preset release && cmake --build --preset release
    bench/kernels.py --build build/release
    bench/kernels.py --build build/release --only softmax --compiled

Needs a GPU. Peers that are not installed are left out. `--compiled` adds torch.compile, which takes
minutes. GB/s count each element that is read or written once. The ceiling is a copy
that moves as many bytes. Both are medians of at least 50 launches, timed by events.
"""

import argparse
import datetime
import json
import pathlib
import statistics
import subprocess

import script

ROOT = pathlib.Path(__file__).resolve().parents[1]
SPECS = ("layouts.json", "rows.json", "scans.json")
LAUNCHES = 50


def ours(tilejit, spec, kernel):
    command = [tilejit, "run", ROOT / "bench" / "specs" / spec, "--kernel", kernel, "--bench", "--json"]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{kernel}: {done.stderr.strip()}")
    document = json.loads(done.stdout)
    return document["kernels"][0] if "kernels" in document else document


def kind_of(name):
    """The name without its sizes: softmax_8192x4096 is a softmax."""
    kind = name.rsplit("_", 1)[0] if "x" in name.rsplit("_", 1)[-1] else name
    return kind.removesuffix("_f32")


def triton_cell(torch, triton_kernels, name, tensors, moved):
    if triton_kernels is None:
        return ""
    kind = kind_of(name)
    run = triton_kernels.function_of(kind, tensors)
    if run is None:
        return ""
    if not triton_kernels.matches(kind, tensors, run):
        return "wrong"
    return f"{moved / torch_ms(torch, run) / 1e6:.0f}"


def function_of(torch, name, t):
    """PyTorch's equivalent of the kernel with this name, on the tensors `t`. It writes to the last one."""
    nn = torch.nn.functional
    kind = kind_of(name)
    row = (t["x"].shape[-1],) if "x" in t else None
    table = {
        "add": lambda: torch.add(t["a"], t["b"], out=t["c"]),
        "add_one_transposed": lambda: torch.add(t["a"], t["b"], out=t["c"]),
        "gelu_scale": lambda: nn.gelu(t["a"] * t["b"] + t["a"]) * 0.5,
        "softmax": lambda: torch.softmax(t["x"], -1),
        "layernorm": lambda: nn.layer_norm(t["x"], row, t["w"], t["b"], 1e-5),
        "rmsnorm": lambda: nn.rms_norm(t["x"], row, t["w"], 1e-5),
        "residual_rmsnorm": lambda: nn.rms_norm(t["x"] + t["r"], row, t["w"], 1e-5),
        "sum_rows": lambda: torch.sum(t["x"], 1),
        "sum_columns": lambda: torch.sum(t["x"], 0),
        "sum_all": lambda: torch.sum(t["x"]),
        "cumsum_rows": lambda: torch.cumsum(t["x"], 1, out=t["y"]),
        "cumsum_columns": lambda: torch.cumsum(t["x"], 0, out=t["y"]),
    }
    return table.get(kind, lambda: t["y"].copy_(t["x"]))


def tensors_of(torch, spec):
    """One tensor per descriptor, with its shape and strides. Layouts of the specs are flat."""
    dtypes = {"u8": torch.uint8, "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64}
    made = {}
    for name, tensor in spec["tensors"].items():
        shape, stride = (
            tuple(int(part) for part in side.strip("()").split(",")) for side in tensor["layout"].split(":")
        )
        size = 1 + sum((extent - 1) * step for extent, step in zip(shape, stride))
        flat = torch.randint(0, 2, (size,), device="cuda").to(dtypes[tensor["dtype"]])
        made[name] = torch.as_strided(flat, shape, stride)
    return made


def torch_ms(torch, run):
    for _ in range(5):
        run()
    torch.cuda.synchronize()
    times = []
    for _ in range(LAUNCHES):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        run()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--only", default="", help="kernels whose name has this")
    parser.add_argument("--compiled", action="store_true", help="also through torch.compile")
    options = parser.parse_args()
    try:
        import torch
    except ImportError:
        torch = None
    try:
        import triton_kernels
    except ImportError:
        triton_kernels = None
    print(f"{datetime.date.today()}; `bench/kernels.py --build {options.build}`\n")
    print("| kernel | GB/s | of a copy | NVRTC, ms | PyTorch | Triton |" + (" compiled |" if options.compiled else ""))
    print("|---|---|---|---|---|---|" + ("---|" if options.compiled else ""))
    for file in SPECS:
        for spec in json.loads((ROOT / "bench" / "specs" / file).read_text())["kernels"]:
            name = spec["name"]
            if options.only not in name:
                continue
            result = ours(options.build / "bin" / "tilejit", file, name)
            bench = result["benchmark"]
            nvrtc = result["artifact"]["milliseconds"].get("nvrtc", 0)
            row = f"| {name} | {bench['gigabytes_per_second']:.0f} | {bench['percent_of_copy']:.1f} % | {nvrtc:.0f} |"
            if torch is None:
                print(row + " | |")
                continue
            tensors = tensors_of(torch, spec)
            run = function_of(torch, name, tensors)
            row += f" {result['bytes_moved'] / torch_ms(torch, run) / 1e6:.0f} |"
            row += f" {triton_cell(torch, triton_kernels, name, tensors, result['bytes_moved'])} |"
            if options.compiled:
                row += f" {result['bytes_moved'] / torch_ms(torch, torch.compile(run)) / 1e6:.0f} |"
            print(row, flush=True)
            del tensors, run
            torch.cuda.empty_cache()


if __name__ == "__main__":
    script.run(main)
