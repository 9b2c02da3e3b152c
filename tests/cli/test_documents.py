"""Examples of pages run, and scripts of bench/ end with a sentence if they cannot continue."""

import os
import re
import subprocess
import sys
import unittest

from support import ROOT, CommandTest

BENCH = ROOT / "bench"
MODULES = {"rows.py", "script.py", "torch_timing.py", "triton_kernels.py"}  # imported by the scripts


class SpecPage(CommandTest):
    def examples(self):
        """The descriptors of docs/spec.md."""
        page = (ROOT / "docs" / "spec.md").read_text()
        blocks = re.findall(r"^```json\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
        return [block for block in blocks if '"tensors"' in block]

    def test_examples_run(self):
        examples = self.examples()
        self.assertEqual(len(examples), 2)
        for text, kernels in zip(examples, (1, 4)):
            with self.subTest(text=text):
                path = self.folder / "example.json"
                path.write_text(text)
                report = self.assert_json("run", path, "--device", "cpu", "--json")
                self.assertEqual(len(report["kernels"]), kernels)


class Scripts(unittest.TestCase):
    def scripts(self):
        return sorted(path for path in BENCH.glob("*.py") if path.name not in MODULES)

    def run_script(self, path, *arguments):
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run(
            [sys.executable, path, *arguments],
            capture_output=True, text=True, check=False, timeout=60, env=environment,
        )  # fmt: skip

    def test_are_executable_and_have_help(self):
        self.assertGreater(len(self.scripts()), 8)
        for path in self.scripts():
            with self.subTest(path=path.name):
                self.assertTrue(os.access(path, os.X_OK))
                self.assertTrue(path.read_text().startswith("#!/usr/bin/env python3\n"))
                result = self.run_script(path, "--help")
                self.assertEqual(result.returncode, 0, result.stderr)

    def test_say_what_is_missing(self):
        arguments = {
            "cache.py": ["/nowhere/cache_bench"],
            "layout_peers.py": ["--build", "/nowhere", "--cutlass", "/nowhere"],
            "peers.py": ["--first", "cupy"],
            "same_sass.py": ["/nowhere", "/nowhere"],
            "same_speed.py": ["/nowhere", "/nowhere", "spec.json"],
            "versus.py": ["/nowhere", "/nowhere"],
        }
        for path in self.scripts():
            with self.subTest(path=path.name):
                result = self.run_script(path, *arguments.get(path.name, ["--build", "/nowhere"]))
                self.assertNotIn("Traceback", result.stderr)
                if path.name == "peers.py" and result.returncode == 0:
                    continue  # on a machine that has CuPy
                self.assertEqual(result.returncode, 1)
                self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
                self.assertTrue(result.stderr.startswith(path.name + ": "), result.stderr)

    def test_refuse_wrong_values(self):
        cases = [
            ("warm.py", ["--jobs", "1,two"], "'two' is not a whole number above 0"),
            ("warm.py", ["--present", "0"], "'0' is not a whole number above 0"),
            ("accuracy.py", ["--lengths", "1e3"], "'1e3' is not a whole number above 0"),
            ("peers.py", ["--first", "tensorflow"], "invalid choice"),
            ("run.py", ["--frobnicate"], "unrecognized arguments"),
        ]
        for name, arguments, message in cases:
            with self.subTest(name=name, arguments=arguments):
                result = self.run_script(BENCH / name, *arguments)
                self.assertEqual(result.returncode, 2)
                self.assertIn(message, result.stderr)
                self.assertNotIn("Traceback", result.stderr)


if __name__ == "__main__":
    unittest.main()
