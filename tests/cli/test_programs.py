"""Tile programs: .tl files wherever a spec goes, tilejit fmt, tilejit translate, run --trace."""

import json
import struct
import unittest

from support import CATALOGUE, ROOT, SPECS, CommandTest, run, write_npy

HAVE_NVRTC = json.loads(run("doctor", "--json").stdout)["nvrtc"]["found"]

PROGRAMS = ROOT / "examples" / "programs"
# tests/program/examples_test.cpp compares attention with sums in double.
WITHOUT_A_FORMULA = {"hello_world", "flash_attention"}
MATRICES = ("M=1,N=1", "M=65,N=257", "M=5,N=1024")
SIZES = {
    **dict.fromkeys(("add_naive", "add_vectorized", "add_thread_value", "add_block_order", "apply",
                     "list_of_inputs", "norm", "transpose", "softmax", "layernorm"), MATRICES),
    "vector_add": ("N=1", "N=1024", "N=1025"),
    "printing": ("N=1", "N=13"),
    "data_types": ("N=1", "N=257"),
    "tensors": ("M=3,N=5", "M=17,N=40"),
    "operators": ("M=1,N=1", "M=8,N=64", "M=9,N=63"),
    "sum_atomic": ("N=1", "N=2048", "N=10001"),
    "matmul": ("M=1,N=1,K=1", "M=129,N=70,K=65"),
    "gemm_bias_gelu": ("M=1,N=65,K=1", "M=130,N=70,K=33"),
    "batched_matmul": ("Z=1,M=1,N=1,K=1", "Z=3,M=65,N=65,K=33"),
}
PRINTED = {
    "hello_world": "Hello world\n",
    "printing": "a = 8, b = 2, N = 12\nlayout (8,2):(1,8)\nx is (12):(1)\n",
    "data_types": "i8(300) = [44], i32(3.14) = 3, f32(42) = 42\n",
    "tensors": "a[2, 4] = [[-0.790406]]\n",
}
SCAN = "it has a scan, cum"
OTHER_AXES = "along other axes than the last; write the program, or swap the axes"
WORD = "is a word of the language; choose another"
UNTRANSLATED = {
    "cumprod": SCAN, "cumsum": SCAN, "cumsum_exclusive": SCAN, "cumsum_reverse": SCAN,
    "cumulative_softmax": SCAN, "sum_all": OTHER_AXES, "sum_columns": OTHER_AXES,
    "group_norm": "its reductions take other axes than the last", "iota": WORD,
    "masked_fill": WORD, "masked_softmax": WORD,
}
HELLO = 'Kernel hello\nGrid (2)\nPrint "Hello from block {}", block_idx.x\n'


class Programs(CommandTest):
    def program(self, text, name="k.tl"):
        path = self.folder / name
        path.write_text(text)
        return path

    def test_examples_run_and_verify(self):
        for path in sorted(PROGRAMS.glob("*.tl")):
            with self.subTest(path.name):
                text = self.assert_ok("run", path, "--device", "cpu")
                self.assertIn("interpreted in ", text)
                verified = path.stem not in WITHOUT_A_FORMULA
                self.assertEqual("verified against its reference" in text, verified)

    def test_examples_verify_at_ragged_sizes(self):
        for name, sizes in SIZES.items():
            for dims in sizes:
                with self.subTest(f"{name} {dims}"):
                    text = self.assert_ok("run", PROGRAMS / f"{name}.tl", "--device", "cpu",
                                          "--dims", dims)
                    self.assertIn("verified against its reference", text)

    def test_examples_print(self):
        for name, printed in PRINTED.items():
            with self.subTest(name):
                text = self.assert_ok("run", PROGRAMS / f"{name}.tl", "--device", "cpu")
                self.assertIn(printed, text)

    def test_examples_say_what_does_not_fit(self):
        for name in ("norm", "softmax", "layernorm"):
            self.assert_fails(2, "a row is one tile; raise T", "run", PROGRAMS / f"{name}.tl",
                              "--device", "cpu", "--dims", "M=2,N=1025")

    def test_values_come_from_files(self):
        write_npy(self.folder / "a.npy", "<f4", (3,), struct.pack("<3f", 1, 2, 3))
        path = self.program(
            "Tensor A : f32 [N]\nTensor Y : f32 [N] out\n"
            "Copy A (4) at [0] from global to register as X\nCompute Z = X * 10\n"
            "Copy Z (4) at [0] from register to global as Y\n")
        text = self.assert_ok("run", path, "--in", f"A={self.folder / 'a.npy'}", "--print", "Y")
        self.assertRegex(text, r"(?s) 10\.000000, .* 20\.000000, .* 30\.000000, ")

    def test_a_wrong_verify_fails(self):
        path = self.program(
            "Tensor A : f32 [8]\nTensor Y : f32 [8] out\nVerify Y = A + 1\n"
            "Copy A (8) at [0] from global to register as X\n"
            "Copy X (8) at [0] from register to global as Y\n")
        result = self.run_command("run", path, "--device", "cpu")
        self.assertEqual(result.returncode, 1)
        self.assertIn("WRONG RESULT: 8 of 8 elements", result.stdout)

    def test_prints_and_traces(self):
        text = self.assert_ok("run", self.program(HELLO), "--device", "cpu")
        self.assertIn("Hello from block 0\nHello from block 1\n", text)
        path = self.program("Kernel k\nTensor Y : i32 [1] out\nAllocate n in register (1) : i32 = 7\n"
                            "Copy n (1) at [0] from register to global as Y\n")
        text = self.assert_ok("run", path, "--device", "cpu", "--trace", "0")
        self.assertIn("line 3: Allocate n in register (1) : i32 = 7\n    n: i32 (1) = [7]\n", text)
        self.assert_fails(2, "--trace would mix", "run", path, "--trace", "0", "--json")

    def test_faults_have_a_line_and_a_caret(self):
        path = self.program("Kernel k\nTensor Y : f32 [4] out\nCompute Y = A\n")
        self.assert_fails(2, "k.tl: program line 3: unknown name 'A'\n    Compute Y = A\n"
                          "                ^", "run", path)

    def test_kernels_are_made_shown_and_explained(self):
        path = PROGRAMS / "vector_add.tl"
        self.assertIn("tilejit_vector_add ", self.assert_ok("compile", path, "--target", "sm_80"))
        text = self.assert_ok("render", path, "--header", "--target", "sm_80")
        self.assertIn("load_neighbours<8>(&r0_A[i]", text)
        plan = self.assert_ok("render", path, "--plan", "--text", "--target", "sm_80")
        self.assertIn("A: f16 (1024): (128,8):(8,1)\n", plan)
        self.assertIn("tiles      A: f16 (1024): (128,8):(8,1)", self.assert_ok("explain", path, "--target", "sm_80"))
        path = self.program("Kernel k\nTensor Y : i32 [N] out\nGrid (1)\nBlock (N)\nAllocate n in register (1) "
                            ": i32 = 7\nCopy n (1) at [0] from register to global as Y\n")
        self.assert_fails(2, "the block has 'N' threads, which depends on symbols", "compile", path)

    def test_fmt_rewrites_and_checks(self):
        path = self.program("Kernel  k # name\nPrint   \"x\"\n")
        self.assert_fails(1, "not in the style of tilejit fmt: ", "fmt", "--check", path)
        self.assert_ok("fmt", path)
        self.assertEqual(path.read_text(), 'Kernel k  # name\n\nPrint "x"\n')
        self.assert_ok("fmt", "--check", path)
        self.assertEqual(self.assert_ok("fmt", "-", stdin="Kernel  k\n"), "Kernel k\n")
        self.assert_fails(2, "expected a statement", "fmt", self.program("Kernel k\nnonsense\n"))

    def test_translate_goes_both_ways(self):
        names = {path.stem for path in PROGRAMS.iterdir()}
        self.assertGreaterEqual(len(names), 21)
        for name in names:
            tl, as_json = PROGRAMS / f"{name}.tl", PROGRAMS / f"{name}.json"
            self.assertEqual(self.assert_ok("translate", tl), as_json.read_text())
            self.assertEqual(self.assert_ok("translate", as_json), tl.read_text())
            self.assertEqual(self.assert_ok("translate", "--to", "tl", tl), tl.read_text())

    def test_translates_formulas(self):
        for path in sorted([*CATALOGUE.glob("*.json"), *SPECS.glob("*.json")]):
            with self.subTest(path.stem):
                if path.stem in UNTRANSLATED:
                    self.assert_fails(2, UNTRANSLATED[path.stem], "translate", path)
                    continue
                text = self.assert_ok("translate", path)
                program = self.program(text)
                self.assert_ok("fmt", "--check", program)
                self.assertIn("verified against its reference",
                              self.assert_ok("run", program, "--device", "cpu"))
                self.assertEqual(self.assert_ok("translate", "--to", "json", path),
                                 self.assert_ok("translate", program))

    def test_translates_reductions_of_ragged_rows(self):
        path = self.spec(
            tensors={"x": {"dtype": "f16", "shape": ["M", "N"]},
                     "zero": {"dtype": "f16", "shape": ["M", 1]},
                     "m": {"dtype": "f32", "shape": ["M"]},
                     "y": {"dtype": "f32", "shape": ["M", "N"]}},
            formula=["m = mean(x)",
                     "s = var(x) + sum(zero) + sum(x, init=3) + max(x) + min(x - 3) + prod(x)",
                     "t = f32(argmax(x)) + f32(argmin(x)) + any(x) + all(x) + iota(-1) + extent(0)",
                     "y = (x - m) * s + max(x, t)"])
        program = self.program(self.assert_ok("translate", path))
        for dims in ("M=5,N=300", "M=1,N=1", "M=3,N=1024"):
            with self.subTest(dims):
                text = self.assert_ok("run", program, "--device", "cpu", "--dims", dims)
                self.assertIn("verified against its reference", text)

    def test_translates_long_rows_and_rows_of_nothing(self):
        for extent, threads in ((50000, "Block (1024)"), (0, "Grid (2)")):
            path = self.spec(tensors={"x": {"dtype": "f32", "shape": [2, extent]},
                                      "y": {"dtype": "f32", "shape": [2]}},
                             formula="y = prod(x * 2) + max(x)")
            text = self.assert_ok("translate", path)
            self.assertIn(threads, text)
            self.assertIn("verified against its reference",
                          self.assert_ok("run", self.program(text), "--device", "cpu"))

    def test_says_which_formulas_have_no_program(self):
        rows = {"x": {"dtype": "i32", "shape": ["M", "N"]}, "y": {"dtype": "i32", "shape": ["M"]}}
        for message, fields in {
            "it compares integers along an axis whose extent is not known":
                {"tensors": rows, "formula": "y = max(x)"},
            "it becomes too long; give parts of it names":
                {"formula": "y = " + "var(x + " * 20 + "x" + ")" * 20,
                 "tensors": {"x": {"dtype": "f32", "shape": ["N"]},
                             "y": {"dtype": "f32", "shape": ["N"]}}},
            "the function f has a reduction": {"formula": "y = f(x)",
                "functions": {"f": {"args": ["a"], "expr": "a - sum(a)"}}},
        }.items():
            with self.subTest(message):
                self.assert_fails(2, message, "translate", self.spec(**fields))


@unittest.skipUnless(HAVE_NVRTC, "NVRTC is not installed")
class Served(CommandTest):
    """Programs in the cache, in manifests, and when tuning. Their texts have quotes and lines."""

    def test_kernels_are_found_again(self):
        for name in ("printing", "softmax"):
            arguments = ("compile", PROGRAMS / f"{name}.tl", "--target", "sm_90a")
            self.assertIn("compiled by NVRTC", self.assert_ok(*arguments))
            self.assertIn("found on disk", self.assert_ok(*arguments))
            key = self.assert_json("cache", "explain", *arguments[1:], "--json")["key"]
            plan = self.assert_json("render", "--plan", *arguments[1:])
            self.assertEqual(plan["program"][0], f"Kernel {name}")
            self.assertTrue((self.cache / "v1" / key[:2]).exists())

    def test_warmed_from_a_record_bundled_and_sealed(self):
        record, bundle = self.folder / "record.jsonl", self.folder / "programs.bundle"
        specs = [PROGRAMS / "softmax.tl", PROGRAMS / "norm.json"]
        for spec in specs:
            self.assert_ok("compile", spec, TILEJIT_RECORD=str(record), TILEJIT_CACHE_DIR="off")
        warm = ("warm", record, "--target", "sm_80,sm_90a", "--json", "--quiet", "--bundle", bundle)
        self.assertEqual(self.assert_json(*warm)["compiled"], 4)
        self.assertEqual(self.assert_json(*warm)["compiled"], 0)
        sealed = {"TILEJIT_CACHE_DIR": str(self.folder / "empty"),
                  "TILEJIT_CACHE_PATH": str(bundle), "TILEJIT_MISS": "error"}
        for spec in specs:
            self.assert_ok("compile", spec, "--target", "sm_80", **sealed)
        self.assert_ok("coverage", record, "--target", "sm_90a", **sealed)
        self.assert_fails(1, "no kernel", "compile", PROGRAMS / "apply.tl", "--target", "sm_80", **sealed)

    def test_tune_lists_and_compiles_candidates(self):
        text = (PROGRAMS / "vector_add.tl").read_text()
        path = self.folder / "k.tl"
        path.write_text(text.replace("Constant T = 1024", "Constant T = 1024\nTune T in (512, 1024, 2048)"))
        kernel = self.assert_json("tune", path, "--dry-run", "--target", "sm_90a", "--json")["kernels"][0]
        self.assertEqual(kernel["class"], "program vector_add f16:/N f16:/N f16:/N")
        self.assertEqual([one["tuning"] for one in kernel["candidates"]],
                         [{}, {"constants": {"T": "512"}}, {"constants": {"T": "2048"}}])
        for candidate in kernel["candidates"]:
            self.assertGreater(candidate["artifact"]["metadata"]["registers"], 0)


if __name__ == "__main__":
    unittest.main()
