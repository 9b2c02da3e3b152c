"""Every spec of examples/products/: the command's numbers against NumPy's in double precision. Set
TILEJIT_TEST_SEED to repeat a run."""

import json
import math
import os
import random
import types
import unittest

from catalogue import decode, encode, np, stored
from support import ROOT, CommandTest

PRODUCTS = ROOT / "examples" / "products"
SEED = int(os.environ.get("TILEJIT_TEST_SEED") or random.SystemRandom().randrange(2**32))
# The unit roundoff of what an output or an operand is rounded to.
UNIT = {"bf16": 2.0**-8, "f16": 2.0**-11, "f32": 2.0**-23}


def gelu(x):
    return 0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def turned(x):
    return np.swapaxes(x, -1, -2)


def qkv(t):
    h = stored(t.x / np.sqrt(np.mean(t.x * t.x, axis=-1, keepdims=True) + t.eps) * t.g, "bf16")
    return {"q": h @ t.wq, "k": h @ t.wk, "v": h @ t.wv}


def triangular(t):
    scores = t.q @ turned(t.k) * t.scale
    return {"s": np.where(np.tri(scores.shape[-1], dtype=bool), scores, -np.inf)}


def attention(t):
    e = np.exp(t.q @ turned(t.k) * t.scale)
    return {"y": stored(e / np.sum(e, axis=-1, keepdims=True), "bf16") @ t.v}


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def linear(activation):
    return lambda t: {"y": activation(t.x @ t.w + t.bias)}


def linear_amax(t):
    p = gelu(t.x @ t.w + t.bias)
    return {"y": p, "m": np.max(np.abs(p), axis=-1, keepdims=True)}


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


# The formulas again. `t` has the inputs and the scalars, as arrays of the tensors' shapes.
FORMULAS = {
    "attention": attention,
    "batched": lambda t: {"d": t.a @ turned(t.b)},
    "gated_mlp": lambda t: {"y": (t.x @ t.gate) * sigmoid(t.x @ t.gate) * (t.x @ t.up)},
    "linear_amax": linear_amax,
    "linear_gelu": linear(gelu),
    "linear_gelu_tanh": linear(gelu_tanh),
    "linear_relu": linear(lambda x: np.maximum(x, 0)),
    "linear_sigmoid": linear(sigmoid),
    "linear_silu": linear(lambda x: x * sigmoid(x)),
    "linear_tanh": linear(np.tanh),
    "low_rank": lambda t: {"y": t.x @ t.w + stored(t.x @ t.a, "bf16") @ t.b},
    "qkv": qkv,
    "rmsnorm_linear": lambda t: {"y": (t.x / np.sqrt(np.mean(t.x * t.x, axis=-1, keepdims=True) + t.eps)) @ t.w},
    "symbolic": lambda t: {"y": np.maximum(t.x @ t.w, 0)},
    "tiled": lambda t: {"c": t.a @ t.b},
    "triangular": triangular,
    "weights_f8": lambda t: {"y": t.x @ stored(t.w * t.scale, "bf16")},
}


def read_spec(name):
    return json.loads((PRODUCTS / f"{name}.json").read_text())


def extents(spec, tensor):
    """One extent for each top-level mode."""
    if "shape" in tensor:
        values = {name: s["example"] for name, s in spec.get("symbols", {}).items()}
        return [values.get(extent, extent) for extent in tensor["shape"]]
    shape = json.loads(tensor["layout"].split(":")[0].replace("(", "[").replace(")", "]"))
    return [math.prod(mode) if isinstance(mode, list) else mode for mode in shape]


class Products(CommandTest):
    def test_every_spec_has_a_formula_here(self):
        names = sorted(path.stem for path in PRODUCTS.glob("*.json"))
        self.assertEqual(names, sorted(FORMULAS))

    @unittest.skipIf(np is None, "python3-numpy is not installed")
    def test_random_numbers(self):
        for name, formula in FORMULAS.items():
            with self.subTest(spec=name, seed=SEED):
                self.compare(name, formula)

    def compare(self, name, formula):
        spec = read_spec(name)
        if any("((" in tensor.get("layout", "") for tensor in spec["tensors"].values()):
            inputs = {}  # nested modes have no array of their own: the command verifies itself
        else:
            inputs = self.inputs(spec, formula)
        files = []
        for tensor, values in inputs.items():
            path = self.folder / f"{tensor}.npy"
            np.save(path, encode(values, spec["tensors"][tensor]["dtype"]))
            files += ["--in", f"{tensor}={path}"]
        outputs = [line.split("=")[0].strip() for line in self.lines(spec)]
        outputs = [tensor for tensor in outputs if tensor in spec["tensors"]]
        flat = [tensor for tensor in outputs if "layout" not in spec["tensors"][tensor]]
        for tensor in flat if inputs else []:
            files += ["--out", f"{tensor}={self.folder / tensor}.npy"]
        self.assert_ok("run", PRODUCTS / f"{name}.json", "--device", "cpu", *files)
        if not inputs:
            return
        scalars = {n: stored(np.array(s["example"]), s["dtype"]) for n, s in spec.get("scalars", {}).items()}
        want = formula(types.SimpleNamespace(**inputs, **scalars))
        self.assertEqual(set(want), set(outputs))
        for tensor in flat:
            dtype = spec["tensors"][tensor]["dtype"]
            got = decode(np.load(f"{self.folder / tensor}.npy"), dtype)
            # An operand that is computed may be rounded to its neighbour.
            scale = np.max(np.abs(want[tensor][np.isfinite(want[tensor])]))
            np.testing.assert_allclose(got, want[tensor], rtol=UNIT[dtype], atol=2.0**-8 * scale / 3)

    @staticmethod
    def lines(spec):
        return [spec["formula"]] if isinstance(spec["formula"], str) else spec["formula"]

    def inputs(self, spec, formula):
        rng = np.random.default_rng(SEED)
        written = {line.split("=")[0].strip() for line in self.lines(spec)}
        return {
            name: stored(rng.standard_normal(extents(spec, tensor)) / 4, tensor["dtype"])
            for name, tensor in spec["tensors"].items()
            if name not in written
        }


if __name__ == "__main__":
    unittest.main()
