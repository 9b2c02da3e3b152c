"""A case: one computation, from which its spec, its PyTorch source and its tensors follow."""

import dataclasses
import math

from .ops import OPS

BYTES = {"bool": 1, "i8": 1, "u8": 1, "i32": 4, "i64": 8, "f16": 2, "bf16": 2, "f32": 4, "f64": 8}
TORCH = {
    "bool": "torch.bool", "i8": "torch.int8", "u8": "torch.uint8", "i32": "torch.int32", "i64": "torch.int64",
    "f16": "torch.float16", "bf16": "torch.bfloat16", "f32": "torch.float32", "f64": "torch.float64",
}  # fmt: skip
FLOATS = ("f16", "bf16", "f32", "f64")
WIDEST_ACCESS = 16
# What functions may give that are off by {1}: more, less, or farther from 0 or nearer to it, which is what
# variances and norms notice.
OFF = {
    "up": "{0} + {1}", "down": "{0} - {1}",
    "out": "{0} + torch.sign({0}) * {1}", "in": "{0} - torch.sign({0}) * {1}",
}  # fmt: skip


def row_major(extents):
    strides = [1]
    for extent in reversed(extents[1:]):
        strides.insert(0, strides[0] * extent)
    return tuple(strides[: len(extents)])


@dataclasses.dataclass(frozen=True)
class Tensor:
    """`axes[i]` is the axis of the space along which mode i lies. `offset` and `strides` count elements
    of the storage, which has `elements` of them."""

    name: str
    dtype: str
    axes: tuple
    shape: tuple
    strides: tuple
    offset: int
    elements: int

    @property
    def bytes(self):
        """Of the elements that the view reaches, each once."""
        pairs = zip(self.shape, self.strides)
        return BYTES[self.dtype] * math.prod(extent for extent, stride in pairs if stride != 0)

    @property
    def align(self):
        return math.gcd(WIDEST_ACCESS, self.offset * BYTES[self.dtype])

    def spec(self):
        spec = {"dtype": self.dtype, "shape": list(self.shape)}
        if self.strides != row_major(self.shape):
            spec["stride"] = list(self.strides)
        return spec if self.align == WIDEST_ACCESS else {**spec, "align": self.align}


@dataclasses.dataclass(frozen=True)
class Statement:
    """`name` = `op` of `args`, which are names of inputs and statements, or numbers."""

    name: str
    op: str
    args: tuple
    axes: tuple = ()
    dtype: str = ""

    def text(self, template, dtypes=None):
        axes = self.axes[0] if len(self.axes) == 1 else self.axes
        dtype = (dtypes or {}).get(self.dtype, self.dtype)
        return template.format(*self.args, out=self.name, axes=axes, last=len(self.axes), dtype=dtype)


@dataclasses.dataclass(frozen=True)
class Output:
    """What is stored of `value`: contiguous, its axes in the order `order`, outermost first. Axes that
    `tensor` lacks, or has with extent 1, were reduced."""

    tensor: Tensor
    value: str
    order: tuple
    place_of: str = ""  # the value whose places along `place_axes` these are
    place_axes: tuple = ()


@dataclasses.dataclass(frozen=True)
class Case:
    seed: int
    index: int
    kind: str
    extents: tuple
    inputs: tuple
    statements: tuple
    outputs: tuple

    @property
    def name(self):
        return f"sweep_{self.seed}_{self.index}"

    @property
    def tensors(self):
        return (*self.inputs, *(output.tensor for output in self.outputs))

    @property
    def bytes(self):
        """Each element that is read or written, once."""
        return sum(tensor.bytes for tensor in self.tensors)

    @property
    def title(self):
        formula = "; ".join(self.formula())
        inputs = ", ".join(
            f"{t.name} {t.dtype} {'x'.join(map(str, t.shape)) or '()'}"
            + (f":{','.join(map(str, t.strides))}" if t.strides != row_major(t.shape) else "")
            + (f"+{t.offset}" if t.offset else "")
            for t in self.inputs
        )
        outputs = ", ".join(f"{o.tensor.name} {o.tensor.dtype}" for o in self.outputs)
        return f"{self.kind}: {formula}; {inputs} -> {outputs}"

    def formula(self):
        lines = []
        for statement in self.statements:
            *before, last = statement.text(OPS[statement.op].tilejit).split("; ")
            lines += [*before, f"{statement.name} = {last}"]
        return lines + [f"{output.tensor.name} = {output.value}" for output in self.outputs]

    def spec(self):
        tensors = {tensor.name: tensor.spec() for tensor in self.tensors}
        return {"name": self.name, "tensors": tensors, "formula": self.formula()}

    def torch_source(self, wide="", off=""):
        """A function `case` of the inputs that returns a tuple. With `wide`, floats are of that dtype
        throughout, and a dict of the values is returned that `wanted` names: what results are
        compared with. With `off`, one of OFF, functions are off that way by what the library's approximations may be."""
        dtypes = {name: TORCH[wide] if wide and name in FLOATS else text for name, text in TORCH.items()}
        lines = [f"def case({', '.join(tensor.name for tensor in self.inputs)}):"]
        for number, statement in enumerate(self.statements):
            op = OPS[statement.op]
            lines.append(f"    {statement.name} = {statement.text(op.torch, dtypes)}")
            if off and op.may_add:
                lines.append(f"    {statement.name} = {OFF[off].format(statement.name, statement.text(op.may_add))}")
            if wide:
                lines += [f"    del {name}" for name in self._last_used_in(number)]
        if wide:
            values = ", ".join(f"{name!r}: {name}" for name in self.wanted)
            return "\n".join([*lines, f"    return {{{values}}}", ""])
        stored = []
        for output in self.outputs:
            text = f"{output.value}.to({TORCH[output.tensor.dtype]})"
            if output.order != tuple(sorted(output.order)):
                text += f".permute{output.order}"
            # An input that is an output, too, has to be copied by PyTorch as well.
            is_input = output.value in {tensor.name for tensor in self.inputs}
            stored.append(text + (".clone(memory_format=torch.contiguous_format)" if is_input else ".contiguous()"))
        return "\n".join([*lines, f"    return {', '.join(stored)},", ""])

    @property
    def is_approximate(self):
        """Whether the library computes with approximations for 16 bits that are off by more than rounding."""
        narrow = any(value.dtype in ("f16", "bf16") for value in (*self.inputs, *self.statements))
        return narrow and any(OPS[statement.op].may_add for statement in self.statements)

    @property
    def wanted(self):
        """The values that outputs are compared with."""
        return sorted({name for output in self.outputs for name in (output.value, output.place_of) if name})

    def _last_used_in(self, number):
        """Values that nobody needs after that statement; memory is scarce where all is in f64."""
        later = {arg for statement in self.statements[number + 1 :] for arg in statement.args}
        return sorted(set(self.statements[number].args) & self._names() - later - set(self.wanted))

    def _names(self):
        return {each.name for each in (*self.inputs, *self.statements)}

    @property
    def free_axis(self):
        """The longest axis along which no element depends on another; None if there is none."""
        bound = {axis for statement in self.statements for axis in statement.axes}
        free = [axis for axis in range(len(self.extents)) if axis not in bound]
        return max(free, key=lambda axis: self.extents[axis], default=None)
