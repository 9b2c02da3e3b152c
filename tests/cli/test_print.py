"""tilejit run --print: tensors as CuTe prints them."""

import struct
import unittest

from support import CommandTest, write_npy


class Print(CommandTest):
    def run_copy(self, *arguments):
        write_npy(self.folder / "x.npy", "<f4", (4, 6), struct.pack("<24f", *range(24)))
        values = ("--in", f"x={self.folder / 'x.npy'}", "--device", "cpu")
        return self.assert_ok("run", self.spec(), *values, *arguments)

    def test_what_a_run_has_written(self):
        text = self.run_copy("--print", "y")
        self.assertRegex(text, r"\ny = tensor\(raw_ptr\(0x[0-9a-f]{16}: f32, generic, align<4>\) o "
                               r"\(4,6\):\(6,1\), data=\n       \[\[ 0\.000000,  1\.000000, ")
        self.assertTrue(text.endswith(" 22.000000,  23.000000, ]])\n"), text)
        self.assertNotIn("x = tensor", text)

    def test_every_element_on_a_line(self):
        text = self.run_copy("--print", "x", "--print", "y", "--verbose")
        self.assertEqual(text.count("\t(3,5)= 23.000000\n)\n"), 2)
        self.assertEqual(text.count("\n\t("), 48)

    def test_wrong_command_lines(self):
        spec = self.spec()
        self.assert_fails(2, "no tensor named z", "run", spec, "--print", "z")
        self.assert_fails(2, "use --out NAME=FILE", "run", spec, "--print", "y", "--json")


if __name__ == "__main__":
    unittest.main()
