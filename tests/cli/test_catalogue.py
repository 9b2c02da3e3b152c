"""Every spec of examples/catalogue/: the command's numbers against NumPy's in double precision, and
its row in docs/catalogue.md. Set TILEJIT_TEST_SEED to repeat a run."""

import ast
import json
import math
import os
import random
import types
import unittest

from catalogue import FORMULAS, ROUNDING, decode, encode, np, stored
from support import CATALOGUE, ROOT, CommandTest

PAGE = ROOT / "docs" / "catalogue.md"
SEED = int(os.environ.get("TILEJIT_TEST_SEED") or random.SystemRandom().randrange(2**32))

# Rows 0, 1, ... of each floating input become these: the value everywhere, and the one at the end.
EDGES = {
    "all -inf": (-math.inf, -math.inf),
    "all nan": (math.nan, math.nan),
    "all 0": (0, 0),
    "one nan": (None, math.nan),
    "one inf": (None, math.inf),
}

# What docs/catalogue.md promises for them: the output's whole row is that value.
PROMISES = [
    ("softmax", "y", "all -inf", math.nan),
    ("softmax", "y", "one nan", math.nan),
    ("softmax", "y", "one inf", math.nan),
    ("masked_softmax", "y", "all -inf", 0),
    ("log_softmax", "y", "all -inf", math.nan),
    ("logsumexp", "y", "all -inf", -math.inf),
    ("logsumexp", "y", "one inf", math.inf),
    ("logsumexp", "y", "one nan", math.nan),
    ("layernorm", "y", "one nan", math.nan),
    ("rmsnorm", "y", "one nan", math.nan),
    ("rmsnorm", "y", "all 0", 0),
    ("l2_normalise", "y", "all 0", 0),
    ("l2_normalise", "y", "one nan", math.nan),
    ("amax", "y", "all nan", math.nan),
    ("amax", "y", "one inf", math.inf),
    ("argmax_rows", "y", "all nan", 0),
    ("argmax_rows", "y", "one inf", 1023),
    ("cumsum", "y", "all 0", 0),
    ("cumsum", "y", "all -inf", -math.inf),
    ("cumsum", "y", "all nan", math.nan),
    ("cumulative_softmax", "y", "one nan", math.nan),
    ("quantise_rows_f8e4m3", "q", "all 0", 0),
    ("quantise_rows_f8e4m3", "q", "all nan", math.nan),
    ("quantise_rows_f8e4m3", "scale", "one inf", math.inf),
    ("quantise_rows_i8", "q", "all nan", 0),
    ("quantise_rows_i8", "q", "one inf", 0),
]


def plant_edges(x):
    for row, (everywhere, last) in zip(x, EDGES.values()):
        if everywhere is not None:
            row[...] = everywhere
        row[..., -1] = last


def random_input(rng, tensor, edges):
    shape, dtype = shape_of(tensor), tensor["dtype"]
    if dtype == "bool":
        return rng.integers(2, size=shape).astype(bool)
    if dtype == "i64":  # cross_entropy: columns, or none; cumsum_exclusive: any
        return rng.integers(-1, 1024, size=shape)
    values = rng.standard_normal(shape)
    if edges and len(shape) > 1:
        plant_edges(values)
    return values


def read_spec(name):
    return json.loads((CATALOGUE / f"{name}.json").read_text())


def statements(spec):
    return [spec["formula"]] if isinstance(spec["formula"], str) else spec["formula"]


def shape_of(tensor):
    if "shape" in tensor:
        return tensor["shape"]
    return ast.literal_eval(tensor["layout"].split(":")[0])


class Pages(CommandTest):
    def setUp(self):
        super().setUp()
        self.specs = {path.stem: read_spec(path.stem) for path in CATALOGUE.glob("*.json")}

    def test_every_spec_has_a_formula_here(self):
        self.assertEqual(sorted(self.specs), sorted(FORMULAS))

    def test_specs_are_named_as_their_files(self):
        for name, spec in self.specs.items():
            with self.subTest(spec=name):
                self.assertEqual(spec["name"], name)
                self.assertTrue(spec["description"].endswith("."))

    def test_every_spec_has_a_row_on_the_page(self):
        self.maxDiff = None
        rows = {}
        for line in PAGE.read_text().splitlines():
            if line.startswith("| ["):
                link, formula = (cell.strip() for cell in line.split("|")[1:3])
                rows[link] = formula
        expected = {
            f"[{name}](../examples/catalogue/{name}.json)": f"`{'; '.join(statements(spec))}`"
            for name, spec in self.specs.items()
        }
        self.assertEqual(rows, expected)


@unittest.skipIf(np is None, "python3-numpy is not installed")
class Values(CommandTest):
    @classmethod
    def setUpClass(cls):
        print(f"TILEJIT_TEST_SEED={SEED} repeats these inputs")

    def test_random_numbers(self):
        self.compare_all(edges=False)

    def test_infinities_and_nans(self):
        self.compare_all(edges=True)

    def test_promises_of_the_page(self):
        for name, output, edge, value in PROMISES:
            with self.subTest(spec=name, output=output, edge=edge, seed=SEED):
                spec = read_spec(name)
                got = self.outputs(name, spec, self.inputs(spec, edges=True))
                row = got[output][list(EDGES).index(edge)]
                np.testing.assert_array_equal(row, np.full(row.shape, value))

    def compare_all(self, edges):
        for name, formula in FORMULAS.items():
            with self.subTest(spec=name, seed=SEED):
                spec = read_spec(name)
                inputs = self.inputs(spec, edges)
                got = self.outputs(name, spec, inputs)
                with np.errstate(all="ignore"):
                    want = formula(types.SimpleNamespace(**inputs, **self.scalars(spec)))
                if not isinstance(want, dict):
                    (only,) = got
                    want = {only: want}
                self.assertEqual(set(got), set(want))
                for output, values in want.items():
                    self.assert_near(got[output], values, spec["tensors"][output]["dtype"])

    def inputs(self, spec, edges):
        """Fresh numbers, already rounded to their dtypes."""
        rng = np.random.default_rng(SEED)
        written = self.written(spec)
        return {
            name: stored(random_input(rng, tensor, edges), tensor["dtype"])
            for name, tensor in spec["tensors"].items()
            if name not in written
        }

    def outputs(self, name, spec, inputs):
        """What the command computes."""
        files = []
        for tensor, values in inputs.items():
            path = self.folder / f"{tensor}.npy"
            np.save(path, encode(values, spec["tensors"][tensor]["dtype"]))
            files += ["--in", f"{tensor}={path}"]
        paths = {tensor: self.folder / f"{tensor}.npy" for tensor in self.written(spec)}
        for tensor, path in paths.items():
            files += ["--out", f"{tensor}={path}"]
        self.assert_ok("run", CATALOGUE / f"{name}.json", "--device", "cpu", *files)
        return {
            tensor: decode(np.load(path), spec["tensors"][tensor]["dtype"])
            for tensor, path in paths.items()
        }

    @staticmethod
    def written(spec):
        assigned = [line.split("=")[0].strip() for line in statements(spec)]
        return [name for name in spec["tensors"] if name in assigned]

    @staticmethod
    def scalars(spec):
        return {
            name: stored(np.array(scalar["example"]), scalar["dtype"])
            for name, scalar in spec.get("scalars", {}).items()
        }

    @staticmethod
    def assert_near(got, want, dtype):
        """Within one rounding to the dtype, and NumPy's own error in a sum of about 0."""
        unit, tiny = ROUNDING.get(dtype, (0, 0))
        slack = 1e-12 if dtype in ROUNDING else 0
        np.testing.assert_allclose(got, want, rtol=1.01 * unit, atol=tiny + slack)


if __name__ == "__main__":
    unittest.main()
