"""run: every example, NumPy files in and out, symbols, and what is reported."""

import json
import struct
import unittest

from support import ROOT, SPECS, CommandTest, read_npy, run, write_npy

HAVE_GPU = bool(json.loads(run("doctor", "--json").stdout)["driver"].get("devices"))


def floats(*values):
    return struct.pack(f"<{len(values)}f", *values)


class Run(CommandTest):
    def test_every_example(self):
        for spec in sorted(SPECS.glob("*.json")):
            with self.subTest(spec=spec.name):
                text = self.assert_ok("run", spec)
                expected = (
                    "verified against the CPU reference" if HAVE_GPU else "ran on the CPU reference"
                )
                self.assertIn(expected, text)

    def test_several_specs_are_one_run(self):
        specs = [SPECS / "vector_add.json", SPECS / "gelu_scale.json"]
        kernels = self.assert_json("run", *specs, "--json")["kernels"]
        self.assertEqual([kernel["name"] for kernel in kernels], ["vector_add", "gelu_scale"])
        text = self.assert_ok("run", *specs)
        self.assertEqual(text.count("inputs are random"), 1)

    def test_report_is_one_json_document(self):
        spec = SPECS / "gelu_scale.json"
        document = self.assert_json("run", spec, "--device", "cpu", "--seed", "7", "--json")
        self.assertEqual(document["seed"], 7)
        (kernel,) = document["kernels"]
        self.assertEqual((kernel["name"], kernel["ran_on"]), ("gelu_scale", "cpu"))
        self.assertEqual(kernel["tensors"]["y"]["access"], "out")
        self.assertEqual(kernel["bytes_moved"], 2 * 256 * 1024 * 2)

    def test_arrays_in_and_out(self):
        x, y = self.folder / "x.npy", self.folder / "y.npy"
        write_npy(x, "<f4", (4, 6), floats(*range(24)))
        spec = self.spec(formula="y = x * 2.0 + 1.0")
        self.assert_ok("run", spec, "--in", f"x={x}", "--out", f"y={y}")
        self.assertEqual(read_npy(y), ("<f4", (4, 6), floats(*(2 * i + 1 for i in range(24)))))

    def test_layouts_are_honoured(self):
        x, y = self.folder / "x.npy", self.folder / "y.npy"
        write_npy(x, "<f4", (4, 6), floats(*range(24)))
        strided = {
            "x": {"dtype": "f32", "layout": "(4,6):(1,5)"},
            "y": {"dtype": "f32", "layout": "((2,2),6):((6,12),1)"},
        }
        self.assert_ok("run", self.spec(tensors=strided), "--in", f"x={x}", "--out", f"y={y}")
        self.assertEqual(read_npy(y), ("<f4", (4, 6), floats(*range(24))))

    def test_reductions_run_on_the_cpu_reference(self):
        x, y, top = (self.folder / name for name in ("x.npy", "y.npy", "top.npy"))
        write_npy(x, "<f4", (2, 3), floats(1, 5, 2, 7, 3, 0))
        spec = self.spec(
            tensors={
                "x": {"dtype": "f32", "shape": [2, 3]},
                "y": {"dtype": "f32", "shape": [1, 3]},
                "top": {"dtype": "i64", "shape": [2]},
            },
            formula=["y = sum(x)", "top = argmax(x, axis=1)"],
            axis=0,
        )
        files = ("--in", f"x={x}", "--out", f"y={y}", "--out", f"top={top}")
        text = self.assert_ok("run", spec, "--device", "cpu", *files)
        self.assertIn("ran on the CPU reference", text)
        self.assertEqual(read_npy(y), ("<f4", (1, 3), floats(8, 8, 2)))
        self.assertEqual(read_npy(top), ("<i8", (2,), struct.pack("<2q", 1, 0)))
        text = self.assert_ok("render", spec, "--plan", "--text", "--target", "sm_90a")
        self.assertIn("fused_parts for sm_90a", text)
        self.assertIn("_part1: fused_rows", text)

    def test_in_place(self):
        x, y = self.folder / "x.npy", self.folder / "y.npy"
        write_npy(x, "<f4", (3,), floats(-1, 0, 2))
        spec = self.spec(
            tensors={"x": {"dtype": "f32", "shape": [3], "access": "inout"}}, formula="x = relu(x)"
        )
        self.assert_ok("run", spec, "--in", f"x={x}", "--out", f"x={y}")
        self.assertEqual(read_npy(y), ("<f4", (3,), floats(0, 0, 2)))

    def test_symbols_follow_the_arrays(self):
        shape = {"dtype": "f32", "shape": ["M", "N"]}
        spec = self.spec(tensors={"x": shape, "y": shape})
        x, y = self.folder / "x.npy", self.folder / "y.npy"
        write_npy(x, "<f4", (2, 3), floats(*range(6)))
        self.assert_ok("run", spec, "--in", f"x={x}", "--out", f"y={y}")
        self.assertEqual(read_npy(y)[1], (2, 3))

    def test_zero_sizes(self):
        shape = {"dtype": "f32", "shape": ["M", 3]}
        spec = self.spec(tensors={"x": shape, "y": shape})
        y = self.folder / "y.npy"
        self.assert_ok("run", spec, "--dims", "M=0", "--out", f"y={y}")
        self.assertEqual(read_npy(y), ("<f4", (0, 3), b""))

    def test_seed_decides_the_inputs(self):
        outputs = []
        for seed in ("1", "1", "2"):
            y = self.folder / "y.npy"
            self.assert_ok("run", self.spec(), "--device", "cpu", "--seed", seed, "--out", f"y={y}")
            outputs.append(y.read_bytes())
        self.assertEqual(outputs[0], outputs[1])
        self.assertNotEqual(outputs[0], outputs[2])

    def test_scalars(self):
        y = self.folder / "y.npy"
        spec = self.spec(
            tensors={"y": {"dtype": "f32", "shape": [2]}},
            scalars={"s": {"dtype": "f32", "example": 3}, "n": "i32"},
            formula="y = s + n",
        )
        for options, want in (((), 4), (("--scalars", "s=0.5,n=-2"), -1.5)):
            self.assert_ok("run", spec, "--out", f"y={y}", *options)
            self.assertEqual(read_npy(y), ("<f4", (2,), floats(want, want)))

    def test_integer_scalars_beyond_2_to_the_53(self):
        # The example was silently rounded, and the reference refused numbers that are not doubles.
        y = self.folder / "y.npy"
        for dtype, code, value in (
            ("i64", "<q", 2**53 + 1), ("i64", "<q", -(2**63)), ("i64", "<q", 2**63 - 1),
            ("u64", "<Q", 2**64 - 1), ("u64", "<Q", 2**53 + 1),
        ):  # fmt: skip
            with self.subTest(dtype=dtype, value=value):
                for example, options in ((value, ()), (1, ("--scalars", f"k={value}"))):
                    spec = self.spec(
                        tensors={"y": {"dtype": dtype, "shape": [1]}},
                        scalars={"k": {"dtype": dtype, "example": example}},
                        formula="y = k",
                    )
                    self.assert_ok("run", spec, "--device", "cpu", "--out", f"y={y}", *options)
                    self.assertEqual(struct.unpack(code, read_npy(y)[2]), (value,))

    def test_rank_0(self):
        # Arrays of shape () were refused, and returned as (1,).
        x, s, y, total = (self.folder / f"{name}.npy" for name in ("x", "s", "y", "total"))
        write_npy(x, "<f4", (3,), floats(1, 2, 3))
        one = {"dtype": "f32", "shape": []}
        three = {"dtype": "f32", "shape": [3]}
        spec = self.spec(
            tensors={"x": three, "s": one, "y": three, "total": one},
            formula=["y = x * s", "total = sum(x)"],
        )
        for shape in ((), (1,)):
            write_npy(s, "<f4", shape, floats(2))
            self.assert_ok(
                "run", spec, "--device", "cpu", "--in", f"x={x}", "--in", f"s={s}", "--out", f"y={y}",
                "--out", f"total={total}",
            )  # fmt: skip
            self.assertEqual(read_npy(y), ("<f4", (3,), floats(2, 4, 6)))
            self.assertEqual(read_npy(total), ("<f4", (), floats(6)))
        text = self.assert_ok(
            "run", spec, "--device", "cpu", "--in", f"x={x}", "--in", f"s={s}", "--print", "total"
        )
        self.assertTrue(text.endswith(" o 1:0, data=\n        6.000000)\n"), text)

    def test_more_kernels_than_a_formula_may_have(self):
        # It used to exit with 0.
        x, y = self.folder / "x.npy", self.folder / "y.npy"
        write_npy(x, "<f4", (2, 2), floats(1, 2, 3, 4))
        steps = [f"t{i + 1} = cumsum(t{i}, axis={i % 2})" for i in range(33)]
        tensor = {"dtype": "f32", "shape": [2, 2]}
        spec = self.spec(
            tensors={"x": tensor, "y": tensor}, formula=["t0 = x", *steps, "y = t33 * 0 + x"]
        )
        result = self.assert_fails(
            1, "copy has no kernel, only the CPU reference computes it: the formula takes more than 32",
            "run", spec, "--device", "cpu", "--in", f"x={x}", "--out", f"y={y}",
        )  # fmt: skip
        self.assertIn("not compiled: the formula takes more than 32 kernels", result.stdout)
        self.assertEqual(read_npy(y), read_npy(x))

    def test_several_kernels(self):
        path = self.folder / "two.json"
        kernel = json.loads(self.spec().read_text())
        path.write_text(json.dumps({"kernels": [kernel, {**kernel, "name": "other"}]}))
        names = [k["name"] for k in self.assert_json("run", path, "--json")["kernels"]]
        self.assertEqual(names, ["copy", "other"])
        self.assert_fails(2, "--in and --out need one kernel", "run", path, "--out", "y=y.npy")

    def test_without_nvrtc_the_reference_still_answers(self):
        result = self.run_command("run", self.spec(), "--device", "cpu", TILEJIT_NVRTC="/nowhere")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("not compiled: ", result.stdout)
        self.assertIn("ran on the CPU reference", result.stdout)

    def test_the_reference_has_nothing_to_verify(self):
        arguments = ("run", self.spec(), "--device", "cpu")
        nothing = "nothing to compare: this is the CPU reference"
        self.assertIn(nothing, self.assert_ok(*arguments, "--verify"))
        self.assertNotIn(nothing, self.assert_ok(*arguments))
        for options in ((), ("--verify",)):
            (kernel,) = self.assert_json(*arguments, "--json", *options)["kernels"]
            self.assertIsNone(kernel["verification"])

    @unittest.skipIf(HAVE_GPU, "there is a GPU")
    def test_without_a_gpu(self):
        text = self.assert_ok("run", self.spec())
        self.assertTrue(text.startswith("no GPU: "), text)
        self.assertLess(len(text.splitlines()[0]), 100, "the reason is a short sentence")
        self.assert_fails(1, "nothing was timed", "run", self.spec(), "--bench")
        self.assertEqual(self.run_command("run", self.spec(), "--device", "0").returncode, 1)

    @unittest.skipUnless(HAVE_GPU, "there is no GPU")
    def test_benchmark(self):
        (kernel,) = self.assert_json("run", SPECS / "vector_add.json", "--bench", "--json")[
            "kernels"
        ]
        self.assertGreater(kernel["benchmark"]["gigabytes_per_second"], 0)
        self.assertNotIn("verification", kernel)


class NumpyNames(CommandTest):
    """Each dtype under its name in NumPy or ml_dtypes, bit for bit through a copy."""

    NAMES = {
        "bool": ["|b1"],
        "i8": ["|i1"],
        "i16": ["<i2"],
        "i32": ["<i4"],
        "i64": ["<i8"],
        "u8": ["|u1"],
        "u16": ["<u2"],
        "u32": ["<u4"],
        "u64": ["<u8"],
        "f16": ["<f2"],
        "bf16": ["<V2", "bfloat16", "<u2"],
        "f32": ["<f4"],
        "f64": ["<f8"],
        "f8e4m3": ["|V1", "<V1", "float8_e4m3fn", "|u1"],
        "f8e5m2": ["|V1", "<f1", "float8_e5m2", "|u1"],
        "tf32": ["<f4"],
    }
    WIDTHS = {"1": 1, "2": 2, "4": 4, "8": 8}

    def test_copies(self):
        x, y = self.folder / "x.npy", self.folder / "y.npy"
        for dtype, names in self.NAMES.items():
            tensor = {"dtype": dtype, "shape": [5]}
            spec = self.spec(tensors={"x": tensor, "y": tensor})
            width = self.WIDTHS[names[0][-1]]
            data = (b"\x01" if dtype == "bool" else bytes(width - 1) + b"\x38") * 5
            for name in names:
                with self.subTest(dtype=dtype, name=name):
                    write_npy(x, name, (5,), data)
                    self.assert_ok(
                        "run", spec, "--device", "cpu", "--in", f"x={x}", "--out", f"y={y}"
                    )
                    self.assertEqual(read_npy(y), (names[0], (5,), data))

    def test_numpy_reads_what_is_written(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("python3-numpy is not installed")
        x, y = self.folder / "x.npy", self.folder / "y.npy"
        array = numpy.asfortranarray(numpy.arange(24, dtype=numpy.float16).reshape(4, 6))
        numpy.save(x, array)
        tensor = {"dtype": "f16", "shape": [4, 6]}
        spec = self.spec(tensors={"x": tensor, "y": tensor})
        self.assert_ok("run", spec, "--in", f"x={x}", "--out", f"y={y}")
        numpy.testing.assert_array_equal(numpy.load(y), array)


if __name__ == "__main__":
    unittest.main()
