"""A CUDA kernel of one's own, y = alpha * x + y, on PyTorch tensors through DLPack, by ctypes alone.

The source comes from this program, which may run what it likes: it says so by `allow_source`.
Where there is no GPU, or no PyTorch, the kernel is compiled for an H100 all the same.
"""

import tilejit_ctypes as tilejit

SOURCE = r"""
#include "plan.cuh"  // kThreads, Params

extern "C" __global__ void axpy(const __grid_constant__ Params p) {
  const i64 i = blockIdx.x * i64(kThreads) + threadIdx.x;
  if (i < p.N) p.y[i] = p.alpha * p.x[i] + p.y[i];
}
"""
SPEC = {
    "op": "cuda",
    "name": "axpy",
    "text": SOURCE,
    "tensors": {
        "x": {"dtype": "f32", "shape": ["N"]},
        "y": {"dtype": "f32", "shape": ["N"], "access": "inout"},
    },
    "scalars": {"alpha": "f32"},
    "constants": {"kThreads": 256},
    "launch": {"grid": "ceil_div(N, kThreads)", "block": "kThreads"},
    "reference": {"formula": "y = alpha * x + y"},
}


def compile_only(reason):
    artifact = tilejit.Compiler({"allow_source": True}).compile(SPEC, "sm_90a")
    print(f"not launched: {reason}")
    print(f"{artifact.kernel_name} for sm_90a: {artifact.registers} registers ({artifact.tier})")


def run_on_gpu(torch):
    runtime = tilejit.Runtime({"device": torch.cuda.current_device(), "allow_source": True})
    kernel = runtime.compile(SPEC, written={1})
    x = torch.randn(100_003, device="cuda")
    y = torch.randn(100_003, device="cuda")
    want = torch.addcmul(y, x, torch.full_like(x, 0.5))
    kernel.launch(x, y, 0.5, stream=torch.cuda.current_stream().cuda_stream)
    torch.testing.assert_close(y, want)
    print(f"{kernel.artifact().kernel_name} on {runtime.device()['name']}: equal to PyTorch's")


def main():
    try:
        import torch
    except ImportError as error:
        return compile_only(error)
    if not torch.cuda.is_available():
        return compile_only("PyTorch sees no GPU")
    return run_on_gpu(torch)


if __name__ == "__main__":
    main()
