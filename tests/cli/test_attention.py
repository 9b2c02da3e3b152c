"""Every spec of examples/attention/: the command's numbers against NumPy's in double precision. Set
TILEJIT_TEST_SEED to repeat a run."""

import json
import os
import random
import types
import unittest

from catalogue import decode, encode, np, stored
from support import ROOT, CommandTest

ATTENTION = ROOT / "examples" / "attention"
SEED = int(os.environ.get("TILEJIT_TEST_SEED") or random.SystemRandom().randrange(2**32))
UNIT = 2.0**-8  # of bf16, to which weights and outputs are rounded


def scores(t):
    return t.q @ np.swapaxes(t.k, -1, -2) * t.scale


def places(t):
    """Numbers of queries, as a column, and of keys, as a row."""
    return np.arange(t.q.shape[-2])[:, None], np.arange(t.k.shape[-2])[None, :]


def weighted(t, score, sees=True, extra=0):
    """Softmax of the scores that are seen, times v. `extra` is added to the sums."""
    score = np.where(sees, score, -np.inf)
    most = np.max(score, axis=-1, keepdims=True)
    most = np.where(np.isfinite(most), most, 0)
    e = np.exp(score - most)
    total = np.sum(e, axis=-1, keepdims=True) + extra * np.exp(-most)
    weights = e / np.where(total > 0, total, 1)
    return {"y": weights @ t.v, "size": weights @ np.abs(t.v)}


def causal(t):
    query, key = places(t)
    return weighted(t, scores(t), key <= query + key.size - query.size)


def window(t):
    query, key = places(t)
    return weighted(t, scores(t), (query >= key) & (query - key < t.width))


def alibi(t):
    query, key = places(t)
    return weighted(t, scores(t) - t.slope * (query - key), key <= query)


def sink(t):
    query, key = places(t)
    return weighted(t, scores(t), key <= query, np.exp(t.sink))


def prefix(t):
    query, key = places(t)
    return weighted(t, scores(t), (key <= query) | (key < t.prefix))


def documents(t):
    query, key = places(t)
    return weighted(t, scores(t), (t.of_query == t.of_key) & (key <= query))


def log_sum_exp(t):
    score = scores(t)
    most = np.max(score, axis=-1, keepdims=True)
    lse = most + np.log(np.sum(np.exp(score - most), axis=-1, keepdims=True))
    return {**weighted(t, score), "lse": lse}


# The formulas again. `t` has the inputs and the scalars, as arrays of the tensors' shapes.
FORMULAS = {
    "alibi": alibi,
    "causal": causal,
    "cross": lambda t: weighted(t, scores(t), places(t)[1] < t.length),
    "documents": documents,
    "grouped": causal,
    "log_sum_exp": log_sum_exp,
    "plain": lambda t: weighted(t, scores(t)),
    "prefix": prefix,
    "relative_bias": lambda t: weighted(t, scores(t) + t.bias),
    "sink": sink,
    "soft_cap": lambda t: weighted(t, t.cap * np.tanh(scores(t) / t.cap)),
    "window": window,
}


def read_spec(name):
    return json.loads((ATTENTION / f"{name}.json").read_text())


class Attention(CommandTest):
    def test_every_spec_has_a_formula_here(self):
        names = sorted(path.stem for path in ATTENTION.glob("*.json"))
        self.assertEqual(names, sorted(FORMULAS))

    def test_every_spec_is_one_kernel(self):
        for name in FORMULAS:
            with self.subTest(spec=name):
                self.assertEqual(self.templates(name, "sm_90a"), ["attention_wgmma"])
                for target in ("sm_80", "sm_89", "sm_90", "sm_100a", "sm_120a"):
                    self.assertEqual(self.templates(name, target), ["attention_mma"])

    def templates(self, name, target):
        text = self.assert_ok("render", ATTENTION / f"{name}.json", "--plan", "--target", target)
        return [part["template"] for part in json.loads(text)["parts"]]

    @unittest.skipIf(np is None, "python3-numpy is not installed")
    def test_random_numbers(self):
        for name, formula in FORMULAS.items():
            with self.subTest(spec=name, seed=SEED):
                self.compare(name, formula)

    def compare(self, name, formula):
        spec = read_spec(name)
        inputs = self.inputs(spec["tensors"])
        files = []
        for tensor, values in inputs.items():
            path = self.folder / f"{tensor}.npy"
            np.save(path, encode(values, spec["tensors"][tensor]["dtype"]))
            files += ["--in", f"{tensor}={path}"]
        outputs = [tensor for tensor in spec["tensors"] if tensor not in inputs]
        for tensor in outputs:
            files += ["--out", f"{tensor}={self.folder / tensor}.npy"]
        self.assert_ok("run", ATTENTION / f"{name}.json", "--device", "cpu", *files)
        scalars = {n: stored(np.array(s["example"]), s["dtype"]) for n, s in spec.get("scalars", {}).items()}
        want = formula(types.SimpleNamespace(**inputs, **scalars))
        for tensor in outputs:
            got = decode(np.load(f"{self.folder / tensor}.npy"), spec["tensors"][tensor]["dtype"])
            if tensor == "lse":
                np.testing.assert_allclose(got, want[tensor], rtol=2.0**-20, atol=2.0**-20)
            else:  # a weight, and the output
                allowed = UNIT * (want["size"] + np.abs(want[tensor])) + 2.0**-20
                self.assertTrue(np.all(np.abs(got - want[tensor]) <= allowed), tensor)

    @staticmethod
    def inputs(tensors):
        rng = np.random.default_rng(SEED)
        values = {}
        for name, tensor in tensors.items():
            shape = tensor["shape"]
            if name in ("y", "lse"):
                continue
            if name == "of_key":
                values[name] = values["of_query"].reshape(shape)
            elif name == "of_query":
                values[name] = np.sort(rng.integers(0, 5, shape), axis=0)
            elif name == "length":
                values[name] = rng.permutation([0, 90]).reshape(shape)
            else:
                values[name] = stored(rng.standard_normal(shape), tensor["dtype"])
        return values


if __name__ == "__main__":
    unittest.main()
