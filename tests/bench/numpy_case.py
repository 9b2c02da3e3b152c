"""Cases of bench/sweep.py in NumPy: their inputs, their values, and results of the CPU reference."""

import ctypes
import math

import numpy

from sweeping.cases import FLOATS

DTYPES = {
    "bool": numpy.bool_, "i8": numpy.int8, "u8": numpy.uint8, "i32": numpy.int32, "i64": numpy.int64,
    "f16": numpy.float16, "bf16": numpy.uint16, "f32": numpy.float32, "f64": numpy.float64,
}  # fmt: skip
RANGES = {"bool": (0, 2), "i8": (-8, 9), "u8": (0, 16), "i32": (-100, 101)}


def _sigmoid(x):
    return 1 / (1 + numpy.exp(-x))


def _erf(x):
    return numpy.vectorize(math.erf, otypes=[x.dtype])(x)


def _var(x, axis):
    return numpy.mean((x - numpy.mean(x, axis=axis, keepdims=True)) ** 2, axis=axis, keepdims=True)


def _log_softmax(x, axis):
    shifted = x - numpy.max(x, axis=axis, keepdims=True)
    return shifted - numpy.log(numpy.sum(numpy.exp(shifted), axis=axis, keepdims=True))


def _sum(x, axis):
    return numpy.sum(x, axis=axis, keepdims=True, dtype=None if x.dtype.kind == "f" else numpy.int64)


def _gelu_tanh(x):
    return 0.5 * x * (1 + numpy.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def _layer_norm(x, axis, w, b):
    return (x - numpy.mean(x, axis=axis, keepdims=True)) / numpy.sqrt(_var(x, axis) + 1e-5) * w + b


def _causal(x):
    return numpy.where(numpy.tril(numpy.ones(x.shape[-2:], bool)), x, -30)


# Keyed by the names of sweeping/ops.py; `a` is the axes as a tuple.
FUNCTIONS = {
    "relu": lambda x, a: numpy.maximum(x, 0),
    "abs": lambda x, a: abs(x),
    "negate": lambda x, a: -x,
    "sigmoid": lambda x, a: _sigmoid(x),
    "tanh": lambda x, a: numpy.tanh(x),
    "erf": lambda x, a: _erf(x),
    "sin": lambda x, a: numpy.sin(x),
    "silu": lambda x, a: x * _sigmoid(x),
    "gelu": lambda x, a: 0.5 * x * (1 + _erf(x / math.sqrt(2))),
    "gelu_tanh": lambda x, a: _gelu_tanh(x),
    "exp": lambda x, a: numpy.exp(x),
    "log": lambda x, a: numpy.log(abs(x) + 1),
    "sqrt": lambda x, a: numpy.sqrt(abs(x) + 0.5),
    "rsqrt": lambda x, a: 1 / numpy.sqrt(x * x + 0.5),
    "reciprocal": lambda x, a: 1 / (abs(x) + 1),
    "square": lambda x, a: x * x,
    "cube": lambda x, a: x * x * x,
    "softplus": lambda x, a: numpy.log(1 + numpy.exp(x)),
    "leaky_relu": lambda x, a: numpy.where(x > 0, x, x * 0.0625),
    "hard_sigmoid": lambda x, a: numpy.clip(x / 6 + 0.5, 0, 1),
    "elu": lambda x, a: numpy.where(x > 0, x, numpy.expm1(numpy.minimum(x, 0))),
    "clamp": lambda x, a: numpy.clip(x, -1, 1),
    "half": lambda x, a: x * 0.5,
    "shift": lambda x, a: x + 0.25,
    "add": lambda x, y, a: x + y,
    "subtract": lambda x, y, a: x - y,
    "multiply": lambda x, y, a: x * y,
    "minimum": lambda x, y, a: numpy.minimum(x, y),
    "maximum": lambda x, y, a: numpy.maximum(x, y),
    "divide": lambda x, y, a: x / (abs(y) + 1),
    "scale_down": lambda x, y, a: x / y,
    "rsqrt_of_variance": lambda x, a: 1 / numpy.sqrt(x + 1e-5),
    "greater": lambda x, y, a: x > y,
    "where": lambda c, x, y, a: numpy.where(c, x, y),
    "round": lambda x, a: numpy.clip(numpy.round(x), -128, 127),
    "causal": lambda x, a: _causal(x),
    "sum": lambda x, a: _sum(x, a),
    "mean": lambda x, a: numpy.mean(x, axis=a, keepdims=True),
    "amax": lambda x, a: numpy.max(x, axis=a, keepdims=True),
    "amin": lambda x, a: numpy.min(x, axis=a, keepdims=True),
    "var": lambda x, a: _var(x, a),
    "norm": lambda x, a: numpy.sqrt(numpy.sum(x * x, axis=a, keepdims=True)),
    "logsumexp": lambda x, a: numpy.log(numpy.sum(numpy.exp(x), axis=a, keepdims=True)),
    "argmax": lambda x, a: numpy.argmax(x, axis=a[0], keepdims=True),
    "argmin": lambda x, a: numpy.argmin(x, axis=a[0], keepdims=True),
    "softmax": lambda x, a: numpy.exp(_log_softmax(x, a)),
    "log_softmax": lambda x, a: _log_softmax(x, a),
    "cumsum": lambda x, a: numpy.cumsum(x, axis=a[0]),
    "cumsum_reverse": lambda x, a: numpy.flip(numpy.cumsum(numpy.flip(x, a), axis=a[0]), a),
    "cummax": lambda x, a: numpy.maximum.accumulate(x, axis=a[0]),
    "layer_norm": lambda x, w, b, a: _layer_norm(x, a, w, b),
    "rms_norm": lambda x, w, a: x / numpy.sqrt(numpy.mean(x * x, axis=a, keepdims=True) + 1e-5) * w,
}


def bf16_bits(values):
    """An array of f32 values that bf16 holds exactly."""
    return (values.astype(numpy.float32).view(numpy.uint32) >> 16).astype(numpy.uint16)


def floats_of(dtype, array):
    """The array as f64, or as integers if it has integers."""
    if dtype == "bf16":
        array = (numpy.array(array, numpy.uint32, ndmin=1) << 16).view(numpy.float32).reshape(array.shape)
    return array.astype(numpy.float64) if dtype in FLOATS else array


def storage_of(random, tensor):
    """Small numbers that every dtype holds exactly."""
    if tensor.dtype not in FLOATS:
        return random.integers(*RANGES[tensor.dtype], tensor.elements).astype(DTYPES[tensor.dtype])
    values = random.integers(-128, 128, tensor.elements) / 64
    return bf16_bits(values) if tensor.dtype == "bf16" else values.astype(DTYPES[tensor.dtype])


def view_of(tensor, storage):
    strides = [stride * storage.itemsize for stride in tensor.strides]
    return numpy.lib.stride_tricks.as_strided(storage[tensor.offset :], tensor.shape, strides)


def values_of(case, inputs, real):
    """Every value of the case, computed in the float type `real`."""
    found = {name: array.astype(real) if array.dtype == numpy.float64 else array for name, array in inputs.items()}
    for statement in case.statements:
        args = [found[arg] if arg in found else real(arg) for arg in statement.args]
        if statement.op == "cast":
            found[statement.name] = args[0].astype(real)
            continue
        result = FUNCTIONS[statement.op](*args, statement.axes)
        is_float = numpy.asarray(result).dtype.kind == "f"
        found[statement.name] = result.astype(real) if is_float else result
    return found


def evaluate(tilejit, case, seed=0):
    """The inputs by name, and the outputs of the CPU reference for the axes of `excess`."""
    random = numpy.random.default_rng(seed)
    storages = [storage_of(random, tensor) for tensor in case.inputs]
    results = [numpy.zeros(output.tensor.elements, DTYPES[output.tensor.dtype]) for output in case.outputs]
    sizes = [tensor.offset * storage.itemsize for tensor, storage in zip(case.inputs, storages)]
    pointers = [ctypes.c_void_p(s.ctypes.data + skip) for s, skip in zip(storages, sizes)]
    tilejit.evaluate(case.spec(), *pointers, *(ctypes.c_void_p(r.ctypes.data) for r in results))
    pairs = list(zip(case.inputs, storages))
    inputs = {tensor.name: floats_of(tensor.dtype, view_of(tensor, storage)) for tensor, storage in pairs}
    return inputs, [in_space(case, output, result) for output, result in zip(case.outputs, results)]


def in_space(case, output, result):
    tensor = output.tensor
    kept = dict(zip(tensor.axes, tensor.shape))
    shape = [kept.get(axis, 1) for axis in range(len(case.extents))]
    return floats_of(tensor.dtype, view_of(tensor, result)).reshape(shape)
