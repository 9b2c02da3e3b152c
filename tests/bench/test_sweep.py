"""The cases of bench/sweep.py without a GPU: they are deterministic, they plan and render, and the CPU
reference agrees with NumPy."""

import os
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "examples" / "python")]

try:
    import numpy
except ImportError:
    numpy = None

import sweep  # noqa: E402
import tilejit_ctypes as tilejit  # noqa: E402
from sweeping.cases import OFF, Case, Output, Statement, Tensor  # noqa: E402
from sweeping.check import excess  # noqa: E402
from sweeping.recipes import RECIPES, case_of  # noqa: E402

if numpy:
    import numpy_case

SEED, COUNT = 1, 300


class Cases(unittest.TestCase):
    def test_depend_on_seed_and_index_alone(self):
        there = {index: case_of(SEED, index) for index in range(40)}
        self.assertEqual(there, {index: case_of(SEED, index) for index in reversed(range(40))})
        self.assertNotEqual(there[0].spec()["tensors"], case_of(SEED + 1, 0).spec()["tensors"])

    def test_have_all_kinds_and_sizes(self):
        cases = [case_of(SEED, index) for index in range(COUNT)]
        self.assertEqual({case.kind for case in cases}, {recipe.__name__ for recipe in RECIPES})
        self.assertLess(min(case.bytes for case in cases), 1 << 14)
        self.assertGreater(max(case.bytes for case in cases), 400 << 20)
        dtypes = {tensor.dtype for case in cases for tensor in case.tensors}
        self.assertEqual(dtypes, {"bool", "i8", "u8", "i32", "i64", "f16", "bf16", "f32"})
        self.assertTrue(any(len(case.outputs) > 1 for case in cases))
        self.assertTrue(any(tensor.align < 16 for case in cases for tensor in case.inputs))

    def test_plan_and_render(self):
        for index in range(COUNT):
            case = case_of(SEED, index)
            with self.subTest(index=index, case=case.title):
                self.assertIn(case.name, tilejit.render_source(case.spec(), "sm_90a"))

    def test_plans_have_predictions_and_the_bytes_of_the_case(self):
        families = set()
        for index in range(COUNT):
            case = case_of(SEED, index)
            plan = sweep.plan_of(os.environ["TILEJIT_COMMAND"], case.spec(), "sm_90a")
            with self.subTest(index=index, case=case.title):
                self.assertEqual(plan["figures"]["bytes_moved"], case.bytes)
                members = sweep.plan_members(plan, 2.0, "NVIDIA H200")
                self.assertGreater(members["predicted_us"], 0)
                self.assertAlmostEqual(members["predicted_error"], members["predicted_us"] / 2 - 1)
                families.add(members["family"])
        of_rows = {"fused_rows", "fused_staged", "fused_strips", "fused_scan", "fused_parts"}
        self.assertEqual(families, of_rows | {"fused_map", "fused_tile", "fused_sheared", "fused_box"})


@unittest.skipIf(numpy is None, "NumPy is not installed")
class Values(unittest.TestCase):
    def excesses(self, index, change):
        """For each output of a small case, after `change` of the CPU reference's result."""
        case = case_of(SEED, index, small=True)
        with numpy.errstate(all="ignore"):
            inputs, results = numpy_case.evaluate(tilejit, case, seed=index)
            wide, rough = (numpy_case.values_of(case, inputs, real) for real in (numpy.float64, numpy.float32))
        for output, got in zip(case.outputs, results):
            change(got)
            yield case, excess(output, got, numpy.float64, numpy.take_along_axis, wide, rough)

    def test_of_the_reference_are_numpys(self):
        for index in range(COUNT):
            for case, worst in self.excesses(index, lambda got: None):
                self.assertLessEqual(worst, 1, case.title)

    def test_that_are_wrong_are_found(self):
        def spoil(got):
            middle = got.size // 2
            far = numpy.float64(float(abs(got).max()) * 1.1 + 3).astype(got.dtype)  # bits of bf16 may wrap
            got.flat[middle] = ~got.flat[middle] if got.dtype == bool else far

        for index in range(COUNT):
            for case, worst in self.excesses(index, spoil):
                self.assertFalse(worst <= 1, case.title)

    def test_of_16_bits_may_be_off_by_what_approximations_are(self):
        x = numpy.linspace(-8, 8, 1001)
        tensor = Tensor("y", "f16", (0,), x.shape, (1,), 0, x.size)
        output = Output(tensor, "v", (0,))
        wide = {"v": numpy_case.FUNCTIONS["gelu"](x, ())}
        off = {"v": wide["v"] + 2.0**-11 * abs(x)}

        def found(got, *approximate):
            rough = {"v": wide["v"].astype(numpy.float32)}
            return excess(output, got, numpy.float64, numpy.take_along_axis, wide, rough, *approximate)

        self.assertLessEqual(found(off["v"], off), 1)
        self.assertGreater(found(off["v"]), 1)
        self.assertGreater(found(wide["v"] + 2.0**-9 * abs(x), off), 1)
        self.assertLessEqual(found(off["v"], {"v": wide["v"]}, off), 1)
        self.assertLessEqual(found(off["v"], off, {"v": wide["v"]}), 1)

    def test_of_16_bits_is_written_with_what_approximations_may_be_off_by(self):
        case = next(case for case in (case_of(SEED, index) for index in range(COUNT)) if case.is_approximate)
        sources = [case.torch_source("f64", off) for off in ("", *OFF)]
        self.assertEqual(len(set(sources)), len(sources))
        for source in sources:
            compile(source, case.name, "exec")

    def test_that_casts_to_16_bits_may_be_off_as_much(self):
        def is_approximate(dtype):
            x = Tensor("x", "i8", (0,), (9,), (1,), 0, 9)
            statements = (Statement("v", "cast", ("x",), dtype=dtype), Statement("w", "tanh", ("v",)))
            return Case(SEED, 0, "reduce", (9,), (x,), statements, ()).is_approximate

        self.assertTrue(is_approximate("bf16"))
        self.assertFalse(is_approximate("f32"))

    def test_whose_places_are_asked_may_be_off_as_much(self):
        values = numpy.array([[-1.1e-6, -3e-6], [-1e-3, -5e-3]])
        output = Output(Tensor("y", "i64", (0, 1), (2, 1), (1, 1), 0, 2), "place", (0, 1), place_of="v", place_axes=(1,))
        wide = {"v": values, "place": values.argmin(axis=1, keepdims=True)}
        off = {"v": values + 2e-6}

        def found(row_0, row_1, *approximate):
            got = numpy.array([[row_0], [row_1]])
            return excess(output, got, numpy.float64, numpy.take_along_axis, wide, wide, *approximate)

        self.assertLessEqual(found(1, 1), 1)
        self.assertLessEqual(found(0, 1, off), 1)
        self.assertGreater(found(1, 0, off), 1)

    def test_are_copied_by_pytorch_where_they_are_inputs_too(self):
        cases = [case for case in map(lambda index: case_of(SEED, index), range(COUNT)) if stores_an_input(case)]
        self.assertTrue(cases)
        for case in cases:
            self.assertIn(".clone(", case.torch_source(), case.title)


def stores_an_input(case):
    return bool({output.value for output in case.outputs} & {tensor.name for tensor in case.inputs})


if __name__ == "__main__":
    unittest.main()
