"""Together with PyTorch in one process: its tensors and allocator, streams and events, captures.

By examples/python/tilejit_ctypes.py alone. tests/torch/run sets what this needs; what needs a GPU or
PyTorch skips without.
"""

import gc
import importlib.util
import os
import pathlib
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples" / "python"))
import tilejit_ctypes as tilejit  # noqa: E402

torch = None
if importlib.util.find_spec("torch"):
    import torch


def op(formula, dtype="f32", **layouts):
    tensors = {name: {"dtype": dtype, "layout": layout} for name, layout in layouts.items()}
    return {"name": "beside", "tensors": tensors, "formula": formula}


ROWS = "(M,N):(N,1)"
ADD = op("c = a + b", a=ROWS, b=ROWS, c=ROWS)
SPECS = {
    "add": ADD,
    "add in f16": op("c = a + b", "f16", a=ROWS, b=ROWS, c=ROWS),
    "add in bf16": op("c = a + b", "bf16", a=ROWS, b=ROWS, c=ROWS),
    "double": op("y = x * 2", x="K:1", y="K:1"),
    "triple in place": op("x = x * 3", x="K:1"),
    "transposed": op("c = a + b", a=ROWS, b="(M,N):(1,M)", c=ROWS),
    "strided": op("y = x + 1", x="(M,N):(P,S)", y=ROWS),
    "repeated": op("c = a + b", a=ROWS, b="(M,N):(0,1)", c=ROWS),
    "softmax": op("e = exp(x - max(x)); y = e / sum(e)", x="(M,1024):(1024,1)", y="(M,1024):(1024,1)"),
    "in a capture": op("y = x + 41", x="K:1", y="K:1"),
}  # fmt: skip
SPECS["triple in place"]["tensors"]["x"]["access"] = "inout"
SPECS["strided"]["tensors"]["x"]["align"] = 4  # views begin anywhere


class WithoutAGpu(unittest.TestCase):
    def test_the_specs_of_this_file_compile(self):
        with tempfile.TemporaryDirectory() as folder:
            compiler = tilejit.Compiler({"cache_folder": folder, "tuning_file": None})
            try:
                compiler.nvrtc()
            except tilejit.Error as error:
                self.skipTest(f"NVRTC is not installed: {error}")
            for name, spec in SPECS.items():
                with self.subTest(name):
                    self.assertGreater(len(compiler.compile(spec, "sm_90a").cubin), 0)


def reason_to_skip():
    if torch is None:
        return "PyTorch is not installed"
    if not torch.cuda.is_available():
        return "PyTorch sees no GPU"
    return None


@unittest.skipIf(reason_to_skip(), reason_to_skip())
class BesideTorch(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        torch.manual_seed(0)
        options = {"device": torch.cuda.current_device(), "cache_folder": None, "tuning_file": None}
        cls.runtime = tilejit.Runtime(options)
        cls.kernels = {}

    @classmethod
    def tearDownClass(cls):
        cls.kernels.clear()
        del cls.runtime
        gc.collect()
        # PyTorch keeps working without us.
        assert torch.ones(8, device="cuda").sum().item() == 8

    def kernel(self, name, written=None):
        if name not in self.kernels:
            last = len(SPECS[name]["tensors"]) - 1
            self.kernels[name] = self.runtime.compile(
                SPECS[name], written={last} if written is None else written
            )
        return self.kernels[name]

    def launch(self, name, *arguments):
        self.kernel(name).launch(*arguments, stream=torch.cuda.current_stream().cuda_stream)

    def equal(self, got, want):
        torch.testing.assert_close(got, want, rtol=0, atol=0)

    def test_dtypes(self):
        for name, dtype in (
            ("add", torch.float32),
            ("add in f16", torch.float16),
            ("add in bf16", torch.bfloat16),
        ):
            a, b = (torch.randn(129, 264, device="cuda").to(dtype) for _ in range(2))
            c = torch.empty_like(a)
            self.launch(name, a, b, c)
            self.equal(c, a + b)

    def test_views(self):
        base = torch.randn(64, 96, device="cuda")
        for x in (base, base[:, ::2], base.t(), base[3:, 5:], base[::3]):
            y = torch.empty(x.shape, device="cuda")
            self.launch("strided", x, y)
            self.equal(y, x + 1)
        a, b = torch.randn(64, 96, device="cuda"), torch.randn(96, 64, device="cuda").t()
        c = torch.empty_like(a)
        self.launch("transposed", a, b, c)
        self.equal(c, a + b)
        row = torch.randn(96, device="cuda").expand(64, 96)
        self.launch("repeated", a, row, c)
        self.equal(c, a + row)

    def test_in_place_and_softmax(self):
        x = torch.randn(10_000, device="cuda")
        want = x * 3
        self.kernel("triple in place", {0}).launch(
            x, stream=torch.cuda.current_stream().cuda_stream
        )
        self.equal(x, want)
        rows = torch.randn(33, 1024, device="cuda")
        out = torch.empty_like(rows)
        self.launch("softmax", rows, out)
        torch.testing.assert_close(out, torch.softmax(rows, dim=1), rtol=1e-5, atol=1e-7)

    def test_its_current_stream_orders_our_launches(self):
        x, y = (torch.zeros(1 << 16, device="cuda") for _ in range(2))
        self.kernel("double")  # compiled before
        torch.cuda.synchronize()
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(20_000_000)  # about 10 ms: code that did not wait would read zeros
            x.fill_(7)
            self.launch("double", x, y)
            z = y + 1
        stream.synchronize()
        self.equal(z, torch.full_like(z, 15))

    def test_its_events_order_two_streams(self):
        x, y = (torch.zeros(1 << 16, device="cuda") for _ in range(2))
        self.kernel("double")
        torch.cuda.synchronize()
        first, second = torch.cuda.Stream(), torch.cuda.Stream()
        with torch.cuda.stream(first):
            torch.cuda._sleep(20_000_000)
            x.fill_(4)
            self.launch("double", x, y)
            done = first.record_event()
        with torch.cuda.stream(second):
            second.wait_event(done)
            self.launch("double", y, x)
        second.synchronize()
        self.equal(x, torch.full_like(x, 16))

    def test_its_default_stream(self):
        x = torch.full((1000,), 2.0, device="cuda")
        y = torch.empty_like(x)
        self.kernel("double").launch(x, y)  # None: the legacy default stream, which is torch's
        self.equal(y, x * 2)

    def test_its_allocator(self):
        """Temporaries that return to it at once, on a stream that it shares with us."""
        self.kernel("double")
        torch.cuda.synchronize()
        gc.collect()
        before = torch.cuda.memory_allocated()
        stream = torch.cuda.Stream()
        results = []
        with torch.cuda.stream(stream):
            for i in range(200):
                x = torch.full((50_000 + i,), float(i), device="cuda")
                y = torch.empty_like(x)
                self.launch("double", x, y)
                results.append(y.sum() / y.numel())
                del x, y
        stream.synchronize()
        for i, result in enumerate(results):
            self.assertAlmostEqual(result.item(), 2.0 * i, delta=1e-3 * (i + 1))
        del results, result
        gc.collect()
        self.assertEqual(torch.cuda.memory_allocated(), before)

    def test_its_capture_takes_our_launches(self):
        x = torch.ones(4096, device="cuda")
        y = torch.zeros_like(x)
        self.launch("double", x, y)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.launch("double", x, y)
            z = y + 1  # from the graph's own pool
            w = torch.empty_like(z)
            self.launch("double", z, w)
        for value in (3.0, -5.0):
            x.fill_(value)
            graph.replay()
            torch.cuda.synchronize()
            self.equal(w, torch.full_like(w, 2 * (2 * value + 1)))

    def test_a_kernel_is_compiled_and_loaded_in_its_capture(self):
        x = torch.ones(4096, device="cuda")
        y = torch.zeros_like(x)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.launch("in a capture", x, y)
        graph.replay()
        torch.cuda.synchronize()
        self.equal(y, x + 41)

    def test_threads(self):
        self.kernel("double")
        failures = []

        def work(number):
            try:
                stream = torch.cuda.Stream()
                with torch.cuda.stream(stream):
                    for i in range(50):
                        x = torch.full((3000 + number,), float(i), device="cuda")
                        y = torch.empty_like(x)
                        self.launch("double", x, y)
                        stream.synchronize()
                        self.equal(y, x * 2)
            except BaseException as error:  # any kind: a thread has nobody to report to
                failures.append(error)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_an_error_of_ours_is_none_of_its(self):
        a, short = torch.ones(8, 4, device="cuda"), torch.ones(7, 4, device="cuda")
        with self.assertRaises(tilejit.Error) as caught:
            self.launch("add", a, short, torch.empty_like(a))
        self.assertEqual(caught.exception.status, "invalid_argument")
        self.equal(a + a, 2 * a)
        torch.cuda.synchronize()

    def test_its_device_stays_current(self):
        device = torch.cuda.current_device()
        other = tilejit.Runtime({"device": device, "cache_folder": None, "tuning_file": None})
        kernel = other.compile(SPECS["double"], written={1})
        x = torch.ones(100, device="cuda")
        y = torch.empty_like(x)
        kernel.launch(x, y, stream=torch.cuda.current_stream().cuda_stream)
        del kernel, other
        gc.collect()
        self.equal(y, x * 2)
        self.assertEqual(torch.cuda.current_device(), device)


if __name__ == "__main__":
    unittest.main(verbosity=2)
