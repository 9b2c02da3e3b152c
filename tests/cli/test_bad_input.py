"""Wrong specs and files: the exit code is 2, and the sentence names the place."""

import json
import unittest

from support import CommandTest, write_npy

X = {"dtype": "f32", "shape": [4, 6]}


def tensors(**changed):
    return {"x": X, "y": X, **changed}


# name, fields of the spec, what the message must contain
SPECS = [
    ("unknown field", {"colour": "red"}, "colour"),
    ("unknown tensor field", {"tensors": tensors(x={**X, "stripe": 1})}, "/tensors/x"),
    ("wrong type", {"formula": 7}, "/formula"),
    ("tensor of the wrong type", {"tensors": tensors(x=[1])}, "/tensors/x"),
    ("no tensors", {"tensors": None}, "tensors"),
    ("no formula", {"formula": None}, "formula"),
    ("name that is no identifier", {"name": "a b"}, "/name"),
    (
        "tensor name that is no identifier",
        {"tensors": {"x-y": X, "y": X}, "formula": "y = 1.0"},
        "x-y",
    ),
    ("scalar named as a tensor", {"scalars": {"x": "f32"}}, "x"),
    (
        "unbalanced layout",
        {"tensors": tensors(x={"dtype": "f32", "layout": "(4,6:(6,1)"})},
        "layout",
    ),
    (
        "incongruent layout",
        {"tensors": tensors(x={"dtype": "f32", "layout": "(4,6):(6,1,2)"})},
        "layout",
    ),
    (
        "negative extent",
        {"tensors": tensors(x={"dtype": "f32", "shape": [-4]})},
        "/tensors/x/shape",
    ),
    ("neither layout nor shape", {"tensors": tensors(x={"dtype": "f32"})}, "/tensors/x"),
    ("both layout and shape", {"tensors": tensors(x={**X, "layout": "4:1"})}, "/tensors/x"),
    ("unknown dtype", {"tensors": tensors(x={**X, "dtype": "f12"})}, "unknown dtype 'f12'"),
    ("128-bit integer", {"tensors": tensors(x={**X, "dtype": "i128"})}, "unsupported"),
    ("unknown function", {"formula": "y = frobnicate(x)"}, "frobnicate"),
    ("unknown name", {"formula": "y = q"}, "q"),
    ("syntax", {"formula": "y = x +"}, "^"),
    ("type", {"formula": "y = x & x"}, "&"),
    ("shape mismatch", {"tensors": tensors(x={"dtype": "f32", "shape": [5, 6]})}, "x"),
    ("output used before assignment", {"formula": "y = y + x"}, "y"),
    ("output never assigned", {"formula": "t = x"}, "t"),
    (
        "recursion",
        {"functions": {"f": {"args": ["a"], "expr": "f(a)"}}, "formula": "y = f(x)"},
        "f",
    ),
    ("tuning", {"tuning": {"threads": 33}}, "threads"),
    ("tuning of rows", {"tuning": {"row_threads": 33}}, "row_threads"),
    ("vectors in registers", {"tuning": {"register_vectors": 65}}, "register_vectors"),
    ("tv without values", {"tv": {"thr": "(4,8):(8,1)"}}, "/tv"),
    ("tv of the wrong type", {"tv": {"thr": "32:1", "val": [8, 1]}}, "/tv/val"),
    ("tv that is no layout", {"tv": {"thr": "(4,8:(8,1)", "val": "8:1"}}, "/tv/thr"),
    ("tv of 40 threads", {"tv": {"thr": "(4,10):(10,1)", "val": "8:1"}}, "a multiple of 32 threads"),
    ("tv with gaps", {"tv": {"thr": "(4,8):(16,1)", "val": "8:1"}}, "not compact"),
    (
        "tv of a reduction",
        {
            "formula": "y = x - max(x)",
            "tv": {"thr": "(4,8):(8,1)", "val": "(1,1):(1,1)"},
        },
        "remove tv",
    ),
    ("no such axis", {"axis": 2}, "/axis"),
    ("axis of the wrong type", {"axis": "last"}, "/axis"),
    ("axis that the formula misnames", {"formula": "y = sum(x, axis=5)"}, "axis 5"),
    (
        "output that leaves the wrong axis out",
        {"formula": "y = sum(x)", "tensors": tensors(y={"dtype": "f32", "shape": [6]})},
        "value has shape (4,1)",
    ),
    ("a product whose extents do not meet", {"formula": "y = x @ x"}, "do not meet in (4,6) @ (4,6)"),
    ("a product of a literal", {"formula": "y = x @ 2"}, "a literal has no shape"),
    (
        "a product of one mode",
        {"tensors": tensors(x={"dtype": "f32", "shape": [6]}), "formula": "y = x @ x"},
        "give it the shape (1,6)",
    ),
    ("a transposed temporary", {"formula": "t = x; y = t.T"}, "'t' is no tensor"),
    ("nested 10,000 deep", {"formula": "y = " + "(" * 10000 + "x" + ")" * 10000}, "deep"),
    ("unary operators 10,000 deep", {"formula": "y = " + "-" * 10000 + "x"}, "deep"),
    ("1 MB long", {"formula": "y = x" + " + x" * 250000}, "formula"),
]

# name, bytes of the file, what the message must contain
FILES = [
    ("empty", b"", "is empty"),
    ("blank", b" \n\t\n", "is empty"),
    ("not UTF-8", b'{"name": "\xff\xfe"}', "UTF-8"),
    ("not JSON", b"y = a + b", "JSON"),
    ("truncated", b'{"name": "add", "tensors": {', "JSON"),
    ("not an object", b"[1, 2]", "object"),
    ("key twice", b'{"name": "a", "name": "b", "tensors": {}, "formula": "y = x"}', "twice"),
    ("JSON nested deep", b"[" * 100000, "nested"),
    ("no kernels", b'{"kernels": []}', "kernels"),
    ("NUL bytes", b"\0" * 64, "JSON"),
]


class BadInput(CommandTest):
    def assert_refused(self, message, path):
        for command in ("render", "compile", "run"):
            self.assert_fails(2, message, command, path)
        self.assertFalse(self.cache.exists() and any(self.cache.rglob("*.cubin")), "left a file")

    def test_specs(self):
        for name, fields, message in SPECS:
            with self.subTest(name):
                self.assert_refused(message, self.spec(**fields))

    def test_files(self):
        for name, content, message in FILES:
            with self.subTest(name):
                path = self.folder / "spec.json"
                path.write_bytes(content)
                self.assert_refused(message, path)

    def test_paths(self):
        missing = self.folder / "nothing" / "spec.json"
        self.assert_refused(f"{missing} does not exist", missing)
        self.assert_refused(f"{self.folder} is a folder", self.folder)

    def test_kernels_of_one_name(self):
        kernel = json.loads(self.spec().read_text())
        path = self.folder / "two.json"
        path.write_text(json.dumps({"kernels": [kernel, kernel]}))
        self.assert_fails(2, "copy", "run", path)

    def test_arrays(self):
        spec = self.spec()
        x = self.folder / "x.npy"
        cases = [
            ("dtype", "<f8", (4, 6), 192, "holds '<f8', but the tensor is f32"),
            ("shape", "<f4", (6, 4), 96, "has shape (6, 4), but the tensor is (4, 6)"),
            ("rank", "<f4", (24,), 96, "has shape (24), but the tensor is (4, 6)"),
            ("big-endian", ">f4", (4, 6), 96, "big-endian"),
            ("truncated", "<f4", (4, 6), 95, "holds 95 bytes of data"),
            ("rank 0", "<f4", (), 4, "has shape (), but the tensor is (4, 6)"),
        ]
        for name, descr, shape, size, message in cases:
            with self.subTest(name):
                write_npy(x, descr, shape, bytes(size))
                self.assert_fails(2, message, "run", spec, "--device", "cpu", "--in", f"x={x}")
        # An array for a pure output was accepted and lost.
        write_npy(x, "<f4", (4, 6), bytes(96))
        self.assert_fails(
            2, "--in y: y is an output that the formula never reads", "run", spec, "--in", f"y={x}"
        )
        x.write_bytes(b"")
        self.assert_fails(2, "not a NumPy file", "run", spec, "--in", f"x={x}")
        self.assert_fails(2, "does not exist", "run", spec, "--in", "x=/nowhere/x.npy")
        self.assert_fails(2, "is a folder", "run", spec, "--in", f"x={self.folder}")

    def test_arrays_that_a_stride_of_0_contradicts(self):
        # The last row used to win.
        x = self.folder / "x.npy"
        cases = [
            ("(2,3):(0,1)", (2, 3), bytes(20) + b"\1\0\0\0", "another value at (1, 2) than before"),
            ("(3,2):(1,1)", (3, 2), bytes(range(24)), "another value at (1, 0) than before"),
            ("((2,2),3):((3,0),1)", (4, 3), bytes(24) + b"\1" + bytes(23), "at (2, 0) than before"),
            ("(2,3):(0,1)", (2, 3), 2 * bytes(range(12)), None),
        ]
        for layout, shape, data, message in cases:
            with self.subTest(layout=layout, message=message):
                tensor = {"dtype": "f32", "layout": layout}
                spec = self.spec(tensors={"x": tensor, "y": {"dtype": "f32", "shape": list(shape)}})
                write_npy(x, "<f4", shape, data)
                arguments = ("run", spec, "--device", "cpu", "--in", f"x={x}")
                if message is None:
                    self.assert_ok(*arguments)
                else:
                    self.assert_fails(2, message, *arguments)

    def test_symbols(self):
        shape = {"dtype": "f32", "shape": ["M", {"N": {"divisible_by": 8}}]}
        spec = self.spec(tensors={"x": shape, "y": shape})
        self.assert_fails(2, "symbol M of kernel copy has no value; pass --dims M=", "run", spec)
        self.assert_fails(2, "a multiple of 8", "run", spec, "--dims", "M=3,N=12")
        self.assert_fails(2, "GiB of host memory", "run", spec, "--dims", "M=1000000,N=8000000")
        self.assert_fails(2, "--dims M is '-1'", "run", spec, "--dims", "M=-1,N=8")

    def test_scalars(self):
        spec = self.spec(
            scalars={"h": "f16", "n": {"dtype": "i64", "example": 3}}, formula="y = x * h + n"
        )
        run = ("run", spec, "--device", "cpu")
        self.assert_fails(2, "--scalars n is '1.5'; i64 takes a whole", *run, "--scalars", "n=1.5")
        self.assert_fails(2, "--scalars h is '1e9', which is beyond", *run, "--scalars", "h=1e9")
        spec = self.spec(scalars={"n": {"dtype": "i8", "example": 300}}, formula="y = x + n")
        self.assert_fails(2, "the spec's example of n is '300'; i8 takes", "run", spec)

    def test_outputs_that_cannot_be_written(self):
        spec = self.spec()
        target = self.folder / "nowhere" / "y.npy"
        self.assert_fails(
            1, "could not be written", "run", spec, "--device", "cpu", "--out", f"y={target}"
        )
        self.assert_fails(1, "could not be written", "render", spec, "-o", self.folder)
        self.assert_fails(1, "/dev/full could not be written", "render", spec, "-o", "/dev/full")
        self.assertEqual(sorted(path.name for path in self.folder.glob("*.tmp")), [])

    def test_settings(self):
        self.assert_fails(2, "TILEJIT_DEVICE", "run", self.spec(), TILEJIT_DEVICE="first")


if __name__ == "__main__":
    unittest.main()
