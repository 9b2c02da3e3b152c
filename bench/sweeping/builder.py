"""Makes cases step by step: inputs, operations whose types and magnitudes are legal, outputs."""

import dataclasses
import math

from .cases import BYTES, FLOATS, Case, Output, Statement, Tensor, row_major
from .ops import BINARY, OPS, PLACES, UNARY

LARGEST = 4096.0  # magnitude of values that are computed further
LARGEST_F16 = 30000.0
# Inputs are small numbers that every dtype holds exactly (see tensors.py).
BOUNDS = {"bool": 1.0, "i8": 8.0, "u8": 15.0, "i32": 100.0}
FLOAT_BOUND = 2.0


@dataclasses.dataclass(frozen=True)
class Value:
    """`axes`: along which it varies. `reduced`: the others, if reductions took them away. `exact`: no
    operation has rounded it."""

    name: str
    dtype: str
    axes: frozenset
    reduced: frozenset = frozenset()
    bound: float = FLOAT_BOUND
    exact: bool = False


def common_dtype(dtypes):
    floats = [dtype for dtype in dtypes if dtype in FLOATS]
    candidates = floats or [dtype for dtype in dtypes if dtype != "bool"] or list(dtypes)
    return max(candidates, key=lambda dtype: BYTES[dtype])


class Builder:
    """`real` is the dtype of most floats of the case, `seldom(p)` is true with that probability.
    Magnitudes are those for rows of `lengths`, which the extents may fall short of."""

    def __init__(self, rng, kind, extents, real, lengths):
        self.rng, self.kind, self.real = rng, kind, real
        self.extents, self.lengths = tuple(extents), tuple(lengths)
        self.inputs, self.statements, self.outputs = [], [], []
        self.all = tuple(range(len(extents)))

    def seldom(self, probability):
        return self.rng.random() < probability

    def input(self, axes=None, dtype=None, order=None, view="plain", letter="x"):
        """An input that varies along `axes` (all), stored in the order of the axes `order`."""
        axes = self.all if axes is None else tuple(axes)
        dtype = dtype or self.real
        name = f"{letter}{len(self.inputs)}"
        shown = tuple(range(min(axes), len(self.extents)))
        shape = tuple(self.extents[axis] if axis in axes else 1 for axis in shown)
        order = [axis for axis in (order or self.all) if axis in axes]
        by_axis, offset, elements = self._storage(order, view)
        strides = tuple(by_axis.get(axis, default) for axis, default in zip(shown, row_major(shape)))
        self.inputs.append(Tensor(name, dtype, shown, shape, strides, offset, elements))
        bound = BOUNDS.get(dtype, FLOAT_BOUND)
        return Value(name, dtype, frozenset(axes), frozenset(), bound, exact=True)

    def _storage(self, order, view):
        """Strides by axis, offset, elements."""
        extents = [self.extents[axis] for axis in order]
        pitched, step, offset = list(extents), 1, 0
        if view == "pitch":
            pad = self.rng.choice((1, 8, 64, extents[-1]))
            pitched[-1] += pad
            offset = self.rng.choice((0, pad))
        elif view == "step":
            step = 2
        elif view == "offset":
            offset = self.rng.randint(1, 8)
        strides = {axis: stride * step for axis, stride in zip(order, row_major(pitched))}
        if view == "repeat":
            strides[order[0]] = 0
        reached = sum((self.extents[axis] - 1) * strides[axis] for axis in order)
        return strides, offset, offset + reached + 1

    def apply(self, op, *args, axes=(), dtype=""):
        row = OPS[op]
        values = [arg for arg in args if isinstance(arg, Value)]
        axes = tuple(sorted(axes))
        bound = row.bound(*(arg.bound if isinstance(arg, Value) else abs(arg) for arg in args))
        if op in ("sum", "cumsum", "cumsum_reverse", "norm"):
            bound = values[0].bound * math.prod(self.lengths[axis] for axis in axes)
        varies = frozenset().union(*(value.axes for value in values))
        reduced = frozenset().union(*(value.reduced for value in values))
        if axes and not row.keeps:
            varies, reduced = varies - set(axes), reduced | set(axes)
        operands = values[1:] if op == "where" else values
        found = dtype or common_dtype([value.dtype for value in operands])
        if row.result == "wide" and found not in FLOATS:
            found = "i64"
        elif row.result not in ("same", "wide"):
            found = row.result
        name = f"v{len(self.statements)}"
        texts = tuple(arg.name if isinstance(arg, Value) else repr(arg) for arg in args)
        self.statements.append(Statement(name, op, texts, axes, dtype))
        return Value(name, found, varies, reduced - varies, bound)

    def real_of(self, value):
        """The value as a float: itself, or cast to what the case computes with."""
        return value if value.dtype in FLOATS else self.apply("cast", value, dtype=self.real)

    def unary(self, value):
        """A random function of a float, which stays within bounds."""
        value = self.real_of(value)
        while True:
            op = self.rng.choice(list(UNARY))
            if UNARY[op].bound(value.bound) <= LARGEST:
                return self.apply(op, value)

    def binary(self, a, b):
        if a.dtype not in FLOATS and b.dtype not in FLOATS:
            a = self.real_of(a)
        while True:
            op = self.rng.choice(list(BINARY))
            if BINARY[op].bound(a.bound, b.bound) <= LARGEST:
                return self.apply(op, a, b)

    def chain(self, value, count):
        for _ in range(count):
            value = self.unary(value)
        return value

    def output(self, value, dtype=None, order=None):
        """Stores the value as `dtype`: its own by default, or f32 if that might overflow f16."""
        dtype = dtype or value.dtype
        if dtype == "f16" and value.bound > LARGEST_F16:
            dtype = "f32"
        drops = self.seldom(0.5)
        axes = tuple(axis for axis in self.all if not (drops and axis in value.reduced))
        order = tuple(order or self.all)
        extents = {axis: 1 if axis in value.reduced else self.extents[axis] for axis in self.all}
        inner = [axis for axis in order if axis in axes]
        by_axis = dict(zip(inner, row_major([extents[axis] for axis in inner])))
        shape = tuple(extents[axis] for axis in axes)
        strides = tuple(by_axis[axis] for axis in axes)
        name = f"y{len(self.outputs)}"
        tensor = Tensor(name, dtype, axes, shape, strides, 0, math.prod(shape))
        of, of_axes = self._place(value)
        self.outputs.append(Output(tensor, value.name, order, of, of_axes))

    def _place(self, value):
        for statement in self.statements:
            if statement.name == value.name and statement.op in PLACES:
                return statement.args[0], statement.axes
        return "", ()

    def case(self, seed, index):
        return Case(
            seed, index, self.kind, self.extents, tuple(self.inputs), tuple(self.statements), tuple(self.outputs)
        )
