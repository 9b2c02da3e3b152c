"""The operations of random cases: one table, from which both the formula and the PyTorch source of a
case are written, so that they cannot differ."""

import dataclasses
import math
from collections.abc import Callable


@dataclasses.dataclass(frozen=True)
class Op:
    """`tilejit` and `torch` are expressions of the arguments {0}, {1}, ...; {axes} are the axes in both
    languages, {last} is how many there are, {dtype} is the dtype of a cast. Statements before the
    expression end in semicolons; their temporaries are named after the result, {out}. `bound` maps the
    arguments' largest magnitudes to the result's."""

    tilejit: str
    torch: str
    bound: Callable = lambda *bounds: max(bounds)
    result: str = "same"  # dtype: "same" as the arguments' common one, "wide" for sums, or a dtype
    keeps: bool = True  # whether the result still varies along {axes}
    may_add: str = ""  # to the PyTorch expression, or take from it: what the result may be off by where floats have 16 bits


def _at_most(limit):
    return lambda *_: limit


OF_ARGUMENT = "2**-11 * torch.abs({0})"  # docs/formulas.md, "Functions"

UNARY = {
    "relu": Op("relu({0})", "F.relu({0})"),
    "abs": Op("abs({0})", "torch.abs({0})"),
    "negate": Op("-{0}", "-{0}"),
    "sigmoid": Op("sigmoid({0})", "torch.sigmoid({0})", _at_most(1)),
    "tanh": Op("tanh({0})", "torch.tanh({0})", _at_most(1), may_add="2**-11 * torch.abs(torch.tanh({0}))"),
    "erf": Op("erf({0})", "torch.erf({0})", _at_most(1), may_add="2**-16 * torch.abs(torch.erf({0}))"),
    "sin": Op("sin({0})", "torch.sin({0})", _at_most(1)),
    "silu": Op("silu({0})", "F.silu({0})"),
    "gelu": Op("gelu({0})", "F.gelu({0})", may_add=OF_ARGUMENT),
    "gelu_tanh": Op("gelu_tanh({0})", "F.gelu({0}, approximate='tanh')", may_add=OF_ARGUMENT),
    "exp": Op("exp({0})", "torch.exp({0})", lambda b: math.exp(min(b, 50))),
    "log": Op("log(abs({0}) + 1)", "torch.log(torch.abs({0}) + 1)", may_add="2**-18 * torch.log(torch.abs({0}) + 1)"),
    "sqrt": Op("sqrt(abs({0}) + 0.5)", "torch.sqrt(torch.abs({0}) + 0.5)", lambda b: math.sqrt(b + 0.5)),
    "rsqrt": Op("rsqrt({0} * {0} + 0.5)", "torch.rsqrt({0} * {0} + 0.5)", _at_most(1.5)),
    "reciprocal": Op("1 / (abs({0}) + 1)", "1 / (torch.abs({0}) + 1)", _at_most(1)),
    "square": Op("{0} * {0}", "{0} * {0}", lambda b: b * b),
    "cube": Op("{0} ** 3", "{0} ** 3", lambda b: b**3),
    "softplus": Op("log(1 + exp({0}))", "torch.log(1 + torch.exp({0}))", lambda b: b + 1 if b < 50 else math.inf),
    "leaky_relu": Op("where({0} > 0, {0}, {0} * 0.0625)", "F.leaky_relu({0}, 0.0625)"),
    "hard_sigmoid": Op("clamp({0} / 6 + 0.5, 0, 1)", "F.hardsigmoid({0})", _at_most(1)),
    "elu": Op("where({0} > 0, {0}, exp({0}) - 1)", "F.elu({0})"),
    "clamp": Op("clamp({0}, -1, 1)", "torch.clamp({0}, -1, 1)", _at_most(1)),
    "half": Op("{0} * 0.5", "{0} * 0.5", lambda b: b / 2),
    "shift": Op("{0} + 0.25", "{0} + 0.25", lambda b: b + 0.25),
}

BINARY = {
    "add": Op("{0} + {1}", "{0} + {1}", lambda a, b: a + b),
    "subtract": Op("{0} - {1}", "{0} - {1}", lambda a, b: a + b),
    "multiply": Op("{0} * {1}", "{0} * {1}", lambda a, b: a * b),
    "minimum": Op("min({0}, {1})", "torch.minimum({0}, {1})"),
    "maximum": Op("max({0}, {1})", "torch.maximum({0}, {1})"),
    "divide": Op("{0} / (abs({1}) + 1)", "{0} / (torch.abs({1}) + 1)", lambda a, b: a),
}

OTHERS = {
    "cast": Op("{dtype}({0})", "{0}.to({dtype})"),
    "greater": Op("{0} > {1}", "{0} > {1}", _at_most(1), "bool"),
    "where": Op("where({0}, {1}, {2})", "torch.where({0}, {1}, {2})"),
    "round": Op("clamp(round({0}), -128, 127)", "torch.clamp(torch.round({0}), -128, 127)", _at_most(128)),
    "rsqrt_of_variance": Op("rsqrt({0} + 0.00001)", "torch.rsqrt({0} + 0.00001)", _at_most(320)),
    "scale_down": Op("{0} / {1}", "{0} / {1}", lambda a, b: 1),  # for a maximum {1} of {0}
    "causal": Op("where(iota({axes[0]}) >= iota({axes[1]}), {0}, -30)", "torch.where(torch.ones({0}.shape[-2:], dtype=torch.bool, device={0}.device).tril(), {0}, -30)"),
}  # fmt: skip

# Of one result per row; the row's length multiplies the bounds of sums.
REDUCTIONS = {
    "sum": Op("sum({0}, axis={axes})", "{0}.sum({axes}, keepdim=True)", result="wide", keeps=False),
    "mean": Op("mean({0}, axis={axes})", "{0}.mean({axes}, keepdim=True)", keeps=False),
    "amax": Op("max({0}, axis={axes})", "{0}.amax({axes}, keepdim=True)", keeps=False),
    "amin": Op("min({0}, axis={axes})", "{0}.amin({axes}, keepdim=True)", keeps=False),
    "var": Op("var({0}, axis={axes})", "{0}.var({axes}, correction=0, keepdim=True)", lambda b: b * b, keeps=False),
    "norm": Op("sqrt(sum({0} * {0}, axis={axes}))", "torch.linalg.vector_norm({0}, dim={axes}, keepdim=True)", keeps=False),
    "logsumexp": Op(
        "{out}m = max({0}, axis={axes}); {out}m + log(sum(exp({0} - {out}m), axis={axes}))",
        "torch.logsumexp({0}, {axes}, keepdim=True)", lambda b: b + 25, keeps=False,
    ),
}  # fmt: skip
PLACES = {
    "argmax": Op("argmax({0}, axis={axes})", "{0}.argmax({axes}, keepdim=True)", _at_most(0), "i64", False),
    "argmin": Op("argmin({0}, axis={axes})", "{0}.argmin({axes}, keepdim=True)", _at_most(0), "i64", False),
}

# Along one axis.
ALONG = {
    "softmax": Op(
        "{out}e = exp({0} - max({0}, axis={axes})); {out}e / sum({out}e, axis={axes})",
        "torch.softmax({0}, {axes})", _at_most(1),
    ),
    "log_softmax": Op(
        "{out}s = {0} - max({0}, axis={axes}); {out}s - log(sum(exp({out}s), axis={axes}))",
        "torch.log_softmax({0}, {axes})", lambda b: 2 * b + 25,
    ),
}  # fmt: skip
SCANS = {
    "cumsum": Op("cumsum({0}, axis={axes})", "torch.cumsum({0}, {axes})"),
    "cumsum_reverse": Op(
        "cumsum({0}, axis={axes}, reverse=true)", "torch.cumsum({0}.flip({axes}), {axes}).flip({axes})"
    ),
    "cummax": Op("cummax({0}, axis={axes})", "torch.cummax({0}, {axes}).values"),
}

# Over the last axes, with weights (and a bias) that have just these.
NORMS = {
    "layer_norm": Op(
        "{out}d = {0} - mean({0}, axis={axes}); {out}d * rsqrt(var({0}, axis={axes}) + 0.00001) * {1} + {2}",
        "F.layer_norm({0}, {0}.shape[-{last}:], {1}, {2}, 0.00001)", lambda x, w, b: 100 * w + b,
    ),
    "rms_norm": Op(
        "{0} * rsqrt(mean({0} * {0}, axis={axes}) + 0.00001) * {1}",
        "F.rms_norm({0}, {0}.shape[-{last}:], {1}, 0.00001)", lambda x, w: 100 * w,
    ),
}  # fmt: skip

OPS = {**UNARY, **BINARY, **OTHERS, **REDUCTIONS, **PLACES, **ALONG, **SCANS, **NORMS}
