"""Random cases of the kinds that people write: a function each, which gets a Builder's ingredients."""

import random

from .builder import Builder
from .cases import BYTES, FLOATS
from .ops import ALONG
from .shapes import MANY_BYTES, random_bytes, random_extents

VIEWS = ("pitch", "pitch", "offset", "step", "repeat")


def view_of(rng, probability=0.15):
    return rng.choice(VIEWS) if rng.random() < probability else "plain"


def an_order(rng, axes):
    """An order of the axes that is not their own, if there is one."""
    order = list(axes)
    while len(order) > 1 and tuple(order) == tuple(axes):
        rng.shuffle(order)
    return tuple(order)


def reduced_axes(b):
    """The last axis, the first, one between, several, or all."""
    rank = len(b.extents)
    kinds = {
        "last": (rank - 1,),
        "first": (0,),
        "middle": (rank // 2,),
        "tail": tuple(range(rank // 2, rank)),
        "outer": (0, rank - 1),
        "all": b.all,
    }
    kind = b.rng.choices(list(kinds), (0.36, 0.18, 0.18, 0.12, 0.08, 0.08))[0]
    return tuple(sorted(set(kinds[kind])))


def one_axis(b):
    rank = len(b.extents)
    return b.rng.choices((rank - 1, 0, rank // 2), (0.6, 0.2, 0.2))[0]


def vector(b, dtype=None):
    """An input that varies along one axis, mostly the last, sometimes along two."""
    axes = [b.rng.choices(b.all, [1 + 2 * (axis == b.all[-1]) for axis in b.all])[0]]
    if len(b.all) > 2 and b.seldom(0.2):
        axes = sorted(b.rng.sample(b.all, 2))
    return b.input(axes, dtype, letter="w")


def prepared(b, value, most=2):
    """The value after a few operations, perhaps with a vector or a mask."""
    value = b.chain(value, b.rng.randint(0, most))
    if b.seldom(0.25):
        value = b.binary(value, vector(b))
    if b.seldom(0.12):
        mask = b.input(dtype="bool", letter="m")
        value = b.apply("where", mask, b.real_of(value), 0.0)
    return b.real_of(value)


def elementwise(b):
    values = [b.input(view=view_of(b.rng)) for _ in range(b.rng.choices((1, 2, 3), (0.35, 0.45, 0.2))[0])]
    if b.seldom(0.15):
        values.append(b.input(dtype=b.rng.choice(("i8", "u8", "i32")), letter="n"))
    for _ in range(b.rng.choices((0, 1, 2), (0.45, 0.4, 0.15))[0]):
        wide = b.seldom(0.2)  # parameters of f32 beside 16-bit data
        values.append(vector(b, "f32" if wide else None))
    first, *others = values
    result = b.chain(first, b.rng.randint(0, 2))
    stored = result
    for value in others:
        result = b.binary(result, value)
        result = b.chain(result, b.rng.randint(0, 1))
    if b.seldom(0.1):
        result = b.apply("where", b.input(dtype="bool", letter="m"), b.real_of(result), 0.0)
    b.output(b.chain(result, 1) if result is first else result, b.real)
    if stored is not result and stored.axes == frozenset(b.all) and b.seldom(0.25):
        b.output(stored)
    elif first.exact and first.dtype in FLOATS and b.seldom(0.1):
        b.output(b.apply("greater", first, 0.25))


def permute(b):
    """Copies, casts and sums of operands that are stored in other orders."""
    value = b.input(order=an_order(b.rng, b.all), view=view_of(b.rng, 0.1))
    value = b.chain(value, b.rng.choices((0, 1), (0.6, 0.4))[0])
    if b.seldom(0.35):
        value = b.binary(value, b.input(order=an_order(b.rng, b.all) if b.seldom(0.2) else None))
    if b.seldom(0.2):
        value = b.binary(value, vector(b))
    b.output(value, b.rng.choice(("f32", b.real)) if b.seldom(0.25) else None)
    if b.seldom(0.12):
        b.output(b.unary(value), order=an_order(b.rng, b.all))


def gated(b):
    """Two halves of one row, as gated activations have them."""
    x, gate = (b.input(view="pitch") for _ in range(2))
    b.output(b.apply("multiply", b.apply(b.rng.choice(("silu", "gelu", "sigmoid")), gate), x))


def reduce(b):
    axes = reduced_axes(b)
    order = an_order(b.rng, b.all) if b.seldom(0.12) else None
    x = b.input(
        order=order, view=view_of(b.rng, 0.1), dtype=b.rng.choice(("i32", "u8", "i8")) if b.seldom(0.12) else None
    )
    value = prepared(b, x) if x.dtype in FLOATS or b.seldom(0.5) else x
    ops = b.rng.sample(
        ("sum", "mean", "amax", "amin", "var", "norm", "logsumexp"), b.rng.choices((1, 2), (0.8, 0.2))[0]
    )
    for op in ops:
        if op == "logsumexp" and len(axes) > 2:
            op = "sum"
        of = value if op in ("sum", "amax", "amin") else b.real_of(value)
        result = b.apply(op, of, axes=axes)
        if result.dtype in FLOATS and b.seldom(0.2) and result.bound < 1e3:
            result = b.unary(result)
        b.output(result, "f32" if result.dtype in FLOATS and b.seldom(0.25) else None)


def loss(b):
    """One number from the results of rows: the rows' distances or likelihoods, and their mean."""
    row, others = (b.all[-1],), b.all[:-1]
    x = b.input(view=view_of(b.rng, 0.05))
    if b.seldom(0.5):
        distance = b.apply("subtract", x, b.input())
        of_row = b.apply(b.rng.choice(("norm", "mean")), b.apply("abs", distance), axes=row)
    else:
        of_row = b.apply("logsumexp", x, axes=row)
    b.output(b.apply("mean", of_row, axes=others), "f32")
    if b.seldom(0.2):
        b.output(of_row)


def places(b):
    axis = one_axis(b)
    x = b.input(view=view_of(b.rng, 0.1))
    value = b.chain(x, b.rng.randint(0, 1))
    op = b.rng.choice(("argmax", "argmin"))
    b.output(b.apply(op, value, axes=(axis,)))
    if b.seldom(0.3):
        b.output(b.apply({"argmax": "amax", "argmin": "amin"}[op], value, axes=(axis,)))


def norm(b):
    """Norms over the last axes with weights, perhaps of a residual sum that is stored, too."""
    rank = len(b.extents)
    axes = tuple(range(rank - b.rng.choices((1, min(2, rank)), (0.85, 0.15))[0], rank))
    x = b.input(view=view_of(b.rng, 0.1))
    if b.seldom(0.35):
        x = b.apply("add", x, b.input())
        if b.seldom(0.6):
            b.output(x)
    weight = b.input(axes, letter="w")
    if b.seldom(0.5):
        y = b.apply("layer_norm", x, weight, b.input(axes, letter="w"), axes=axes)
    else:
        y = b.apply("rms_norm", x, weight, axes=axes)
    if b.seldom(0.25):
        y = b.unary(y) if y.bound < 1e3 else b.apply("silu", y)
    b.output(y, "f32" if b.seldom(0.1) else b.real)


def standardise(b):
    """Instance, batch and channel norms: over any axes, by hand."""
    axes = reduced_axes(b)
    x = b.input(view=view_of(b.rng, 0.08))
    distance = b.apply("subtract", x, b.apply("mean", x, axes=axes))
    scale = b.apply("rsqrt_of_variance", b.apply("var", x, axes=axes))
    y = b.apply("multiply", distance, scale)
    if b.seldom(0.5):
        y = b.binary(y, vector(b))
    if b.seldom(0.3):
        y = b.unary(y)
    b.output(y, b.real)


def normalise(b):
    """Rows divided by their norms, sums or maxima."""
    axes = reduced_axes(b)
    x = prepared(b, b.input(view=view_of(b.rng, 0.1)), 1)
    positive = b.apply("abs", x)
    size = b.apply(b.rng.choice(("amax", "mean", "norm")), positive, axes=axes)
    y = b.apply("divide", x, size)
    b.output(y, b.real)
    if b.seldom(0.2):
        b.output(size)


def softmax(b):
    axis = one_axis(b)
    order = an_order(b.rng, b.all) if b.seldom(0.08) else None
    value = b.input(view=view_of(b.rng, 0.08), order=order)
    if b.seldom(0.4):
        value = b.apply("multiply", value, 0.125)
    extra = b.rng.random()
    if extra < 0.15:
        value = b.apply("add", value, vector(b))
    elif extra < 0.3:
        value = b.apply("where", b.input(dtype="bool", letter="m"), value, -30.0)
    elif extra < 0.4 and len(b.all) > 1:
        value = b.apply("causal", value, axes=b.all[-2:])
    kind = b.rng.choices((*ALONG, "logsumexp"), (0.55, 0.25, 0.2))[0]
    b.output(b.apply(kind, value, axes=(axis,)), "f32" if b.seldom(0.1) else b.real)


def scan(b):
    axis = one_axis(b)
    value = b.input(view=view_of(b.rng, 0.08))
    if b.seldom(0.4):
        value = prepared(b, value, 1)
    op = b.rng.choices(("cumsum", "cumsum_reverse", "cummax"), (0.7, 0.15, 0.15))[0]
    b.output(b.apply(op, value, axes=(axis,)))


def cast(b):
    """Conversions: of one tensor, with a scale per row or column, or by each row's maximum."""
    kind = b.rng.choice(("plain", "plain", "quantise", "by_maximum", "dequantise"))
    if kind == "plain":
        x = b.input(dtype=b.rng.choice(("f32", "f16", "bf16", "u8", "i8", "i32")), view=view_of(b.rng, 0.1))
        target = b.rng.choice([dtype for dtype in ("f32", "f16", "bf16") if dtype != x.dtype])
        value = b.apply("cast", x, dtype=target)
        b.output(b.apply("half", value) if b.seldom(0.3) else value)
    elif kind == "quantise":
        value = b.apply("multiply", b.input(view=view_of(b.rng, 0.1)), vector(b, "f32"))
        b.output(b.apply("round", b.apply("multiply", value, 31.0)), "i8")
    elif kind == "by_maximum":
        x = b.input()
        size = b.apply("shift", b.apply("amax", b.apply("abs", x), axes=(len(b.extents) - 1,)))
        b.output(b.apply("round", b.apply("multiply", b.apply("scale_down", x, size), 127.0)), "i8")
        b.output(size, "f32")
    else:
        x = b.apply("cast", b.input(dtype=b.rng.choice(("i8", "u8")), letter="n"), dtype=b.real)
        b.output(b.apply("multiply", x, vector(b)), b.real)


# Recipe: (weight, least and largest rank, tensors of a case, about)
RECIPES = {
    elementwise: (0.22, 1, 4, 3),
    permute: (0.15, 2, 5, 2.5),
    gated: (0.03, 2, 3, 3),
    reduce: (0.13, 1, 4, 1.2),
    loss: (0.04, 2, 3, 1.5),
    places: (0.05, 1, 3, 1.2),
    norm: (0.11, 2, 3, 2.3),
    standardise: (0.05, 2, 4, 2),
    normalise: (0.05, 2, 4, 2),
    softmax: (0.11, 1, 4, 2),
    scan: (0.07, 1, 3, 2),
    cast: (0.08, 1, 4, 1.8),
}


def shrunk(extent):
    """An extent below 16 that vectors divide alike."""
    return extent if extent < 16 else 8 + extent % 8


def attempt(rng, seed, index, small):
    recipe = rng.choices(list(RECIPES), [weight for weight, *_ in RECIPES.values()])[0]
    _, least, most, tensors = RECIPES[recipe]
    real = rng.choices(("f32", "f16", "bf16"), (0.38, 0.27, 0.35))[0]
    ranks = range(least, most + 1)
    rank = rng.choices(ranks, [0.4 if rank == 1 else 1 for rank in ranks])[0]
    lengths = random_extents(rng, rank, random_bytes(rng) / BYTES[real] / tensors)
    extents = [shrunk(extent) for extent in lengths] if small else lengths
    builder = Builder(rng, recipe.__name__, extents, real, lengths)
    recipe(builder)
    return builder.case(seed, index)


def case_of(seed, index, small=False):
    """Depends on nothing else than the two numbers. `small`: the same case with short extents."""
    rng = random.Random(f"{seed}/{index}")
    while True:
        state = rng.getstate()
        case = attempt(rng, seed, index, False)
        if case.bytes <= MANY_BYTES:
            break
    rng.setstate(state)
    return attempt(rng, seed, index, small)
