"""examples/python/tilejit_ctypes.py with the standard library alone; needs no GPU."""

import ctypes
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

from support import cache_folder, spec, tilejit

import cuda_kernel  # of examples/python, whose folder support adds


class _DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
        ("row_threads", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64),
    ]  # fmt: skip


_DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
        ("deleter", _DELETER), ("flags", ctypes.c_uint64), ("tensor", _DLTensor),
    ]  # fmt: skip


class _Old(ctypes.Structure):
    _fields_ = [("tensor", _DLTensor), ("context", ctypes.c_void_p), ("deleter", _DELETER)]


_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)


class Array:
    """f32 numbers on the host, exported by DLPack."""

    def __init__(self, numbers, shape=(2, 3), versioned=True, code=2, flags=0, device=tilejit.CPU):
        self.numbers = (ctypes.c_float * len(numbers))(*numbers)
        self.shape = (ctypes.c_int64 * len(shape))(*shape)
        self.given_back, self.versioned, self.flags, self.code = 0, versioned, flags, code
        self.device, self.handed_out = device, []

    def __dlpack_device__(self):
        return (self.device, 0)

    def __dlpack__(self, **arguments):
        if not self.versioned and "max_version" in arguments:
            raise TypeError("unexpected keyword argument 'max_version'")
        self.asked = arguments

        def count(_):
            self.given_back += 1

        managed = _Versioned(1, 0) if self.versioned else _Old()
        self.handed_out.append(managed)  # it lives as long as the array
        if self.versioned:
            managed.flags = self.flags
        managed.deleter = _DELETER(count)
        tensor = managed.tensor
        tensor.data = ctypes.addressof(self.numbers)
        tensor.device_type, tensor.ndim = self.device, len(self.shape)
        tensor.code, tensor.bits, tensor.row_threads = self.code, 32, 1
        tensor.shape = self.shape
        name = b"dltensor_versioned" if self.versioned else b"dltensor"
        return _new_capsule(ctypes.addressof(managed), name, None)


class Compiling(unittest.TestCase):
    def setUp(self):
        self.folder = cache_folder(self)
        self.compiler = tilejit.Compiler({"cache_folder": str(self.folder), "tuning_file": None})
        try:
            self.compiler.nvrtc()
        except tilejit.Error as error:
            self.skipTest(f"NVRTC is not installed: {error}")

    def test_a_cubin_with_what_is_known_of_it(self):
        artifact = self.compiler.compile(spec(), "sm_80")
        self.assertEqual(artifact.cubin[:4], b"\x7fELF")
        self.assertEqual(artifact.kernel_name, "tilejit_add_f32")
        self.assertEqual(artifact.tier, "compiled")
        self.assertGreater(artifact.registers, 0)
        self.assertEqual(artifact.metadata["registers"], artifact.registers)
        self.assertEqual(self.compiler.compile(spec(), "sm_80").tier, "memory")
        stats = self.compiler.cache_stats()
        self.assertEqual(stats["folder"], str(self.folder))
        self.assertEqual(stats["counters"]["made"], 1)
        self.assertEqual(stats["counters"]["memory"]["hits"], 1)

    @unittest.skipUnless("TILEJIT_COMMAND" in os.environ, "the command is not built")
    def test_its_key_is_the_commands(self):
        path = self.folder / "spec.json"
        path.write_text(json.dumps(spec()))
        said = subprocess.run(
            [os.environ["TILEJIT_COMMAND"], "cache", "explain", path, "--target", "sm_80", "--json"],
            env={**os.environ, "TILEJIT_CACHE_DIR": str(self.folder), "TILEJIT_TUNING": "off"},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        explained = self.compiler.explain(spec(), "sm_80")
        self.assertEqual(explained, json.loads(said.stdout))
        self.assertIsNone(explained["tier"])
        self.assertEqual(self.compiler.compile(spec(), "sm_80").key, explained["key"])

    def test_why_names_the_fields_that_differ(self):
        self.assertIsNone(self.compiler.why(spec(), "sm_80")["other"])
        made = self.compiler.compile(spec(), "sm_80")
        nearest = self.compiler.why(spec(), "sm_86")
        self.assertEqual(nearest["other"]["key"], made.key)
        self.assertIn("target", [row["field"] for row in nearest["differences"]])
        other = self.compiler.why(spec(), "sm_80", spec(formula="c = a - b"))
        self.assertNotEqual(other["differences"], [])
        same = self.compiler.why(spec(), "sm_80", spec())
        self.assertEqual(same["differences"], [])


    def test_source_needs_leave(self):
        own = cuda_kernel.SPEC
        for call in (self.compiler.compile, self.compiler.explain):
            with self.assertRaises(tilejit.Error) as caught:
                call(own, "sm_90a")
            self.assertEqual(caught.exception.status, "unsupported")
            self.assertIn("brings CUDA source", str(caught.exception))
        with self.assertRaises(tilejit.Error):
            tilejit.validate(own)
        allowed = tilejit.Compiler({"cache_folder": str(self.folder), "allow_source": True})
        self.assertEqual(allowed.compile(own, "sm_90a").kernel_name, "axpy")
        self.assertEqual(allowed.compile(own, "sm_90a").tier, "memory")

    def test_the_example_of_a_kernel_of_ones_own(self):
        said = subprocess.run(
            [sys.executable, cuda_kernel.__file__], env={**os.environ, "TILEJIT_CACHE_DIR": "off"},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        self.assertIn("axpy ", said.stdout)


class Errors(unittest.TestCase):
    def assert_error(self, status, message, call, *arguments):
        with self.assertRaises(tilejit.Error) as caught:
            call(*arguments)
        self.assertEqual(caught.exception.status, status)
        self.assertIn(message, str(caught.exception))
        return caught.exception

    def test_they_say_what_and_where(self):
        bad = spec()
        bad["tensors"]["a"]["dtype"] = "f12"
        error = self.assert_error("invalid_spec", "f12", tilejit.validate, bad)
        self.assertEqual(error.where, "/tensors/a/dtype")
        self.assert_error("invalid_formula", "d", tilejit.validate, spec("c = a + d"))
        self.assert_error("unsupported", "sm_12", tilejit.render_source, spec(), "sm_12")
        two = {"kernels": [spec(), {**spec(), "name": "b"}]}
        self.assert_error("invalid_spec", "2 kernels", tilejit.validate, two)

    def test_options(self):
        make = tilejit.Compiler
        error = self.assert_error("invalid_argument", "no option 'folder'", make, {"folder": 1})
        self.assertEqual(error.where, "/folder")
        self.assert_error("invalid_argument", "0 to 1023", make, {"device": -1})
        self.assert_error("invalid_argument", "source, ptx", make, {"cache_keep": ["all"]})
        self.assert_error("no_compiler", "", make({"nvrtc_path": "/none"}).nvrtc)

    def test_every_field_of_options_is_a_member(self):
        header = pathlib.Path(os.environ["TILEJIT_HEADER"]).with_name("options.hpp").read_text()
        struct = header[header.index("struct Options {"):]
        fields = set(re.findall(r"^  [\w:<>,() &]+ (\w+) = .*;$", struct, re.MULTILINE))
        self.assertIn("cache_folder", fields)
        self.assertIn("device", fields)
        fields.remove("on_slow_compile")  # a function
        error = self.assert_error("invalid_argument", "there are", tilejit.Compiler, {"none": 1})
        members = re.search(r"there are ([\w, ]*\w)", str(error))[1].split(", ")
        missing = {f for f in fields if not any(m == f or m.startswith(f + "_") for m in members)}
        self.assertEqual(missing, set())
        manual = pathlib.Path(__file__).parents[2] / "docs" / "c-api.md"
        self.assertEqual([m for m in members if f"`{m}`" not in manual.read_text()], [])


class Evaluating(unittest.TestCase):
    def test_arrays_by_both_kinds_of_dlpack(self):
        for versioned in (True, False):
            a, b, c = (Array(x, versioned=versioned) for x in ([1, 2, 3, 4, 5, 6], [10] * 6, [0] * 6))
            tilejit.evaluate(spec(), a, b, c)
            self.assertEqual(list(c.numbers), [11, 12, 13, 14, 15, 16])
            self.assertEqual([x.given_back for x in (a, b, c)], [1, 1, 1])
            self.assertNotIn("stream", a.asked)

    def test_scalars_and_symbols(self):
        scaled = spec("c = a * s", layout="M:1", names="ac", scalars={"s": "f32"})
        a, c = Array([1, 2, 3], shape=(3,)), Array([0] * 3, shape=(3,))
        tilejit.evaluate(scaled, a, c, 0.5, symbols={"M": 3})
        self.assertEqual(list(c.numbers), [0.5, 1, 1.5])

    def refused(self, status, message, *arguments, **options):
        with self.assertRaises(tilejit.Error) as caught:
            tilejit.evaluate(spec(), *arguments, **options)
        self.assertEqual(caught.exception.status, status)
        self.assertIn(message, str(caught.exception))

    def test_wrong_arguments(self):
        good = Array([0] * 6)
        self.refused("invalid_argument", "takes 3 arguments", good)
        self.refused("invalid_argument", "another shape", good, good, Array([0] * 6, (3, 2)))
        self.refused("invalid_argument", "has dtype i32", good, good, Array([0] * 6, code=0))
        self.refused("invalid_argument", "is a number", good, good, 1.0)
        self.refused("invalid_argument", "in device memory", good, good, Array([0] * 6, device=2))
        strange = Array([0] * 6, code=5)
        self.refused("unsupported", "dtype Complex of 32 bits", good, good, strange)
        self.assertEqual(strange.given_back, 0)  # the capsule still owns it
        with self.assertRaisesRegex(TypeError, "no DLPack capsule"):
            strange.__class__ = type("Strange", (Array,), {"__dlpack__": lambda *_, **__: 1})
            tilejit.evaluate(spec(), good, good, strange)

    def test_printing(self):
        text = tilejit.print_tensor(Array([0, 1, 2, 3, 4, 5]))
        self.assertRegex(
            text,
            r"^tensor\(raw_ptr\(0x[0-9a-f]{16}: f32, generic, align<4>\) o \(2,3\):\(3,1\), data=\n"
            r"       \[\[ 0\.000000,  1\.000000,  2\.000000, \],\n"
            r"        \[ 3\.000000,  4\.000000,  5\.000000, \]\]\)\n$",
        )


class WithoutAGpu(unittest.TestCase):
    def test_a_runtime_says_why_not(self):
        try:
            tilejit.Runtime()
        except tilejit.Error as error:
            self.assertIn(error.status, ("no_driver", "no_device"))
            self.assertIn("driver", str(error))
        else:
            self.assertGreater(len(tilejit.devices()["devices"]), 0)


if __name__ == "__main__":
    unittest.main()
