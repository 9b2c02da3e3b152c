"""tilejit-worker on a command line, and compiles that the command delegates to it."""

import json
import pathlib
import subprocess
import unittest

from support import COMMAND, SPECS, CommandTest, run

WORKER = pathlib.Path(COMMAND).with_name("tilejit-worker")
HAVE_NVRTC = json.loads(run("doctor", "--json").stdout)["nvrtc"]["found"]


def run_worker(*arguments):
    return subprocess.run(
        [WORKER, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False
    )


class Worker(unittest.TestCase):
    def test_says_what_it_is(self):
        result = run_worker("--help")
        self.assertEqual(result.returncode, 0)
        self.assertIn("TILEJIT_WORKER", result.stdout)
        version = run("--version").stdout.split()[-1]
        self.assertEqual(run_worker("--version").stdout, f"tilejit-worker {version}\n")

    def test_does_nothing_on_a_command_line(self):
        for arguments in ((), ("spec.json",), ("--help", "--version")):
            with self.subTest(arguments=arguments):
                result = run_worker(*arguments)
                self.assertEqual(result.returncode, 2)
                self.assertIn("--help", result.stderr)
                self.assertEqual(result.stdout, "")


@unittest.skipUnless(HAVE_NVRTC, "NVRTC is not installed")
class Compile(CommandTest):
    SPEC = SPECS / "vector_add.json"

    def test_in_a_worker_makes_the_same_cubin(self):
        here, away = self.folder / "here.cubin", self.folder / "away.cubin"
        self.assert_ok("compile", self.SPEC, "--target", "sm_80", "-o", here)
        result = self.run_command(
            "compile", self.SPEC, "--target", "sm_80", "-o", away,
            TILEJIT_CACHE_DIR="off", TILEJIT_COMPILE_THREADS="0",
        )
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(here.read_bytes(), away.read_bytes())

    def test_goes_on_without_a_worker_after_one_warning(self):
        result = self.run_command(
            "compile", self.SPEC, "--target", "sm_80,sm_90",
            TILEJIT_COMPILE_THREADS="0", TILEJIT_WORKER=str(self.folder / "missing"),
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        self.assertIn("threads of this process alone", result.stderr)

    def test_refuses_settings_that_mean_nothing(self):
        self.assert_fails(2, "'fast'; set it to full, quick or tiered", "compile", self.SPEC,
                          TILEJIT_COMPILE_EFFORT="fast")


if __name__ == "__main__":
    unittest.main()
