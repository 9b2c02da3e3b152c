"""c = a + b, where b is transposed, on PyTorch tensors through DLPack, by ctypes alone.

Where there is no GPU, or no PyTorch, the kernel is compiled for an H100 all the same.
"""

import tilejit_ctypes as tilejit

M, N = 1024, 768
SPEC = {
    "name": "add",
    "tensors": {
        "a": {"dtype": "f16", "layout": f"({M},{N}):({N},1)"},
        "b": {"dtype": "f16", "layout": f"({M},{N}):(1,{M})"},
        "c": {"dtype": "f16", "layout": f"({M},{N}):({N},1)"},
    },
    "formula": "c = a + b",
}


def compile_only(reason):
    artifact = tilejit.Compiler().compile(SPEC, "sm_90a")
    print(f"not launched: {reason}")
    print(
        f"{artifact.kernel_name} for sm_90a: {len(artifact.cubin)} bytes, "
        f"{artifact.registers} registers ({artifact.tier})"
    )


def run_on_gpu(torch):
    runtime = tilejit.Runtime({"device": torch.cuda.current_device()})
    kernel = runtime.compile(SPEC, written={2})
    a = torch.randn(M, N, dtype=torch.float16, device="cuda")
    b = torch.randn(N, M, dtype=torch.float16, device="cuda").t()
    c = torch.empty(M, N, dtype=torch.float16, device="cuda")
    kernel.launch(a, b, c, stream=torch.cuda.current_stream().cuda_stream)
    torch.testing.assert_close(c, a + b, rtol=0, atol=0)
    print(f"{kernel.artifact().kernel_name} on {runtime.device()['name']}: equal to PyTorch's a + b")
    print(runtime.print_tensor(c, torch.cuda.current_stream().cuda_stream), end="")


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
