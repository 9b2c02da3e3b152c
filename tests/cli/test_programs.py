"""Tile programs: .tl files wherever a spec goes, tilejit fmt, tilejit translate, run --trace."""

import struct
import unittest

from support import ROOT, CommandTest, write_npy

PROGRAMS = ROOT / "examples" / "programs"
HELLO = 'Kernel hello\nGrid (2)\nPrint "Hello from block {}", block_idx.x\n'


class Programs(CommandTest):
    def program(self, text, name="k.tl"):
        path = self.folder / name
        path.write_text(text)
        return path

    def test_examples_run_and_verify(self):
        for path in sorted([*PROGRAMS.glob("*.tl"), *PROGRAMS.glob("*.json")]):
            with self.subTest(path.name):
                text = self.assert_ok("run", path, "--device", "cpu")
                self.assertIn("interpreted in ", text)
        text = self.assert_ok("run", PROGRAMS / "vector_add.tl", "--device", "cpu")
        self.assertIn("verified against its reference", text)

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
        for name in ("vector_add", "gemm_bias_gelu", "flash_attention"):
            tl, as_json = PROGRAMS / f"{name}.tl", PROGRAMS / f"{name}.json"
            self.assertEqual(self.assert_ok("translate", tl), as_json.read_text())
            self.assertEqual(self.assert_ok("translate", as_json), tl.read_text())
            self.assertEqual(self.assert_ok("translate", "--to", "tl", tl), tl.read_text())


if __name__ == "__main__":
    unittest.main()
