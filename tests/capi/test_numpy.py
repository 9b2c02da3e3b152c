"""The ctypes module with arrays of another library: NumPy, by its own DLPack."""

import gc
import sys
import unittest

from support import spec, tilejit

try:
    import numpy
except ImportError:
    numpy = None


@unittest.skipIf(numpy is None or not hasattr(numpy, "from_dlpack"), "NumPy 1.23 is not there")
class NumPy(unittest.TestCase):
    def test_every_common_dtype_and_stride(self):
        names = {"i8": "int8", "u16": "uint16", "i64": "int64", "f16": "float16", "f64": "float64"}
        for dtype, name in names.items():
            with self.subTest(dtype=dtype):
                a = numpy.arange(24, dtype=name).reshape(4, 6)
                b = numpy.arange(24, dtype=name).reshape(6, 4).T
                c = numpy.zeros((4, 12), dtype=name)[:, ::2]
                layouts = {"a": "(4,6):(6,1)", "b": "(4,6):(1,4)", "c": "(4,6):(12,2)"}
                op = spec(dtype=dtype)
                for tensor, layout in layouts.items():
                    op["tensors"][tensor]["layout"] = layout
                tilejit.evaluate(op, a, b, c)
                numpy.testing.assert_array_equal(c, a + b)

    def test_the_array_is_given_back(self):
        a, b, c = (numpy.ones((2, 3), dtype="float32") for _ in range(3))
        before = sys.getrefcount(a)
        tilejit.evaluate(spec(), a, b, c)
        gc.collect()
        self.assertEqual(sys.getrefcount(a), before)

    def test_a_negative_stride_is_refused(self):
        a = numpy.ones((2, 3), dtype="float32")
        with self.assertRaisesRegex(tilejit.Error, "stride -3 in mode 0"):
            tilejit.evaluate(spec(), a[::-1], a, a.copy())


if __name__ == "__main__":
    unittest.main()
