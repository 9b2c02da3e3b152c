"""The shared library exports what tilejit.h declares, the C++ interface, and nothing else."""

import os
import pathlib
import re
import subprocess
import unittest


def declared():
    text = pathlib.Path(os.environ["TILEJIT_HEADER"]).read_text()
    return set(re.findall(r"^TJ_API [^(]*?\b(tj_\w+)\(", text, re.MULTILINE))


def exported():
    listing = subprocess.run(
        [os.environ["TILEJIT_NM"], "-D", "--defined-only", os.environ["TILEJIT_LIBRARY"]],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return {line.split()[-1].split("@")[0] for line in listing.stdout.splitlines()}


class Exports(unittest.TestCase):
    def test_every_declared_function_and_no_other(self):
        self.assertGreater(len(declared()), 40)
        self.assertEqual({name for name in exported() if name.startswith("tj_")}, declared())

    def test_the_rest_is_the_cpp_interface(self):
        strangers = [n for n in exported() if not re.match(r"tj_|_Z.*7tilejit", n)]
        self.assertEqual(strangers, [])
        self.assertIn("_ZTIN7tilejit5ErrorE", exported())  # so that it can be caught outside


if __name__ == "__main__":
    unittest.main()
