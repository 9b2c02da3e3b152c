"""What the command's tests share: running it, and NumPy files without NumPy."""

import json
import os
import pathlib
import resource
import struct
import subprocess
import tempfile
import unittest

COMMAND = os.environ["TILEJIT_COMMAND"]
ROOT = pathlib.Path(__file__).resolve().parents[2]
SPECS = ROOT / "examples" / "specs"
CATALOGUE = ROOT / "examples" / "catalogue"


def run(*arguments, stdin=None, file_bytes=None, **environment):
    """Runs the command; `environment` overrides variables, `file_bytes` bounds each file that it
    writes. Text in, text out."""

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))

    return subprocess.run(
        [COMMAND, *map(str, arguments)],
        input=stdin,
        capture_output=True,
        text=isinstance(stdin, str) or stdin is None,
        timeout=120,
        preexec_fn=limit if file_bytes is not None else None,
        env={**os.environ, **environment},
        check=False,
    )


def write_npy(path, descr, shape, data):
    """A version 1.0 file, like the ones that numpy.save writes."""
    extents = ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "")
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({extents}), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def read_npy(path):
    """(descr, shape, data) of a version 1.0 file."""
    raw = path.read_bytes()
    (length,) = struct.unpack_from("<H", raw, 8)
    header = eval(raw[10 : 10 + length], {"__builtins__": {}})  # a dict literal that we wrote
    assert header["fortran_order"] is False
    return header["descr"], header["shape"], raw[10 + length :]


class CommandTest(unittest.TestCase):
    """Each test gets its own folder and its own cache."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.cache = self.folder / "cache"

    def run_command(self, *arguments, **options):
        return run(*arguments, **{"TILEJIT_CACHE_DIR": str(self.cache), **options})

    def assert_ok(self, *arguments, **options):
        result = self.run_command(*arguments, **options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def assert_json(self, *arguments, **options):
        return json.loads(self.assert_ok(*arguments, **options))

    def assert_fails(self, code, message, *arguments, **options):
        """Exit code, one `tilejit: ...` sentence with `message` on stderr, and no crash."""
        result = self.run_command(*arguments, **options)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertTrue(result.stderr.startswith("tilejit: "), result.stderr)
        self.assertIn(message, result.stderr)
        self.assertNotIn("terminate called", result.stderr)
        return result

    def spec(self, **fields):
        """Writes a spec; fields of value None are left out."""
        base = {
            "name": "copy",
            "tensors": {
                "x": {"dtype": "f32", "shape": [4, 6]},
                "y": {"dtype": "f32", "shape": [4, 6]},
            },
            "formula": "y = x",
        }
        path = self.folder / "spec.json"
        merged = {key: value for key, value in {**base, **fields}.items() if value is not None}
        path.write_text(json.dumps(merged))
        return path


class LayoutTest(CommandTest):
    """Of `tilejit layout`."""

    def layout(self, *arguments, **options):
        return self.assert_ok("layout", *arguments, **options)

    def refused(self, message, *arguments, **options):
        result = self.assert_fails(2, message, "layout", *arguments, **options)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
