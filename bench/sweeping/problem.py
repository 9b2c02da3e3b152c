"""A case in PyTorch's tensors: inputs, outputs for our kernel, functions, and what results should be."""

import math

from .cases import BYTES, FLOATS, OFF, TORCH
from .check import excess

RANGES = {"bool": (0, 2), "i8": (-8, 9), "u8": (0, 16), "i32": (-100, 101)}
SMALL_BYTES = 1_000_000  # smaller cases are timed with their tensors in the L2 cache
MOST_SETS = 101
CHECKED = 1 << 24  # elements of the space that are computed in f64, about


def function_of(torch, case, wide="", off=""):
    """The PyTorch function of the case; `wide` and `off` as of Case.torch_source."""
    scope = {"torch": torch, "F": torch.nn.functional}
    name = f"<{case.name}{'_' + wide if wide else ''}>"
    exec(compile(case.torch_source(wide, off), name, "exec"), scope)
    return scope["case"]


def dtype_of(torch, name):
    return getattr(torch, TORCH[name].removeprefix("torch."))


def sets_of(case, l2_bytes):
    """How many copies of the tensors take turns: so many that the L2 cache has forgotten a copy when
    its turn comes again; one for small cases."""
    if case.bytes < SMALL_BYTES:
        return 1
    return min(MOST_SETS, 1 + math.ceil(2 * l2_bytes / case.bytes))


class Problem:
    """`sets` copies of the case's tensors on a device."""

    def __init__(self, torch, case, sets=1, device="cuda"):
        self.torch, self.case, self.device = torch, case, device
        first = self._inputs()
        self.inputs = [first] + [[storage.clone() for storage in first] for _ in range(sets - 1)]
        self.views = [
            [self.view(tensor, storage) for tensor, storage in zip(case.inputs, storages)] for storages in self.inputs
        ]
        outputs = [output.tensor for output in case.outputs]
        self.outputs = [
            [torch.zeros(t.elements, dtype=dtype_of(torch, t.dtype), device=device) for t in outputs]
            for _ in range(sets)
        ]

    def _inputs(self):
        """Small numbers that every dtype holds exactly, so that comparisons and sums are the same in
        all precisions."""
        torch = self.torch
        generator = torch.Generator(self.device).manual_seed(self.case.index)
        storages = []
        for tensor in self.case.inputs:
            low, high = RANGES.get(tensor.dtype, (-128, 128))
            numbers = torch.randint(
                low, high, (tensor.elements,), dtype=torch.int8, device=self.device, generator=generator
            )
            numbers = numbers.to(dtype_of(torch, tensor.dtype))
            storages.append(numbers.div_(64) if tensor.dtype in FLOATS else numbers)
        return storages

    def view(self, tensor, storage):
        return self.torch.as_strided(storage, tensor.shape, tensor.strides, tensor.offset)

    def pointers(self, index):
        """Addresses of the set's tensors, in the order of the spec."""
        pairs = zip(self.case.tensors, (*self.inputs[index], *self.outputs[index]))
        return [storage.data_ptr() + tensor.offset * BYTES[tensor.dtype] for tensor, storage in pairs]

    def in_space(self, number):
        """What our kernel stored in an output of the first set, with all axes of the space."""
        tensor = self.case.outputs[number].tensor
        kept = dict(zip(tensor.axes, tensor.shape))
        shape = [kept.get(axis, 1) for axis in range(len(self.case.extents))]
        return self.view(tensor, self.outputs[0][number]).reshape(shape)

    def pieces(self):
        """(axis, start, length) of parts of the space to check: the ends of an axis along which elements
        are independent, or all of it."""
        axis = self.case.free_axis
        total = math.prod(self.case.extents)
        if axis is None or total <= CHECKED:
            return [(0, 0, self.case.extents[0])]
        extent = self.case.extents[axis]
        length = max(1, extent * CHECKED // total // 2)
        return [(axis, 0, length), (axis, extent - length, length)]

    def narrowed(self, view, axes, piece):
        axis, start, length = piece
        if axis not in axes or view.shape[axes.index(axis)] == 1:
            return view
        return view.narrow(axes.index(axis), start, length)

    def excess(self):
        """The largest excess of the outputs of the first set (check.py); above 1, a result is wrong."""
        torch, case = self.torch, self.case
        functions = [(torch.float64, function_of(torch, case, "f64")), (torch.float32, function_of(torch, case, "f32"))]
        if case.is_approximate:
            functions += [(torch.float64, function_of(torch, case, "f64", off=way)) for way in OFF]
        space = tuple(range(len(case.extents)))
        worst = 0.0
        for piece in self.pieces():
            values = []
            for real, function in functions:
                views = [self.narrowed(view, tensor.axes, piece) for tensor, view in zip(case.inputs, self.views[0])]
                values.append(function(*(v.to(real) if v.is_floating_point() else v for v in views)))
            for number, output in enumerate(case.outputs):
                got = self.narrowed(self.in_space(number), space, piece)
                found = excess(output, got, torch.Tensor.double, torch.take_along_dim, *values)
                worst = found if math.isnan(found) else max(worst, found)
                if math.isnan(worst):
                    return worst
        return worst
