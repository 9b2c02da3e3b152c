"""Tile programs: .tl files wherever a spec goes, tilejit fmt, tilejit translate, run --trace."""

import struct
import unittest

from support import ROOT, CommandTest, write_npy

PROGRAMS = ROOT / "examples" / "programs"
# Products have no formula: tests/program/examples_test.cpp compares them with sums in double.
WITHOUT_A_FORMULA = {"hello_world", "matmul", "batched_matmul", "gemm_bias_gelu", "flash_attention"}
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
}
PRINTED = {
    "hello_world": "Hello world\n",
    "printing": "a = 8, b = 2, N = 12\nlayout (8,2):(1,8)\n",
    "data_types": "i8(300) = [44], i32(3.14) = 3, f32(42) = 42\n",
    "tensors": "a[2, 4] = [[-0.790406]]\n",
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

    def test_planning_is_refused(self):
        path = PROGRAMS / "vector_add.tl"
        for command in ("compile", "render"):
            self.assert_fails(2, "programs are interpreted only", command, path)
        self.assertIn("a tile program of 7 steps, interpreted only", self.assert_ok("explain", path))

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


if __name__ == "__main__":
    unittest.main()
