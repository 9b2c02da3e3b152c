"""The formulas of examples/catalogue/ again, in NumPy and double precision, and the dtypes of their
files."""

import math

try:
    import numpy as np
except ImportError:
    np = None

# How NumPy stores each dtype in a file; dtypes that it does not know are stored as their bits.
STORED = {
    "bool": "?",
    "i8": "i1",
    "i32": "<i4",
    "i64": "<i8",
    "f16": "<f2",
    "bf16": "<u2",
    "f32": "<f4",
    "f8e4m3": "u1",
}
# The unit roundoff, and half the distance of the numbers next to 0. A tie may be rounded to either
# whole number: an x that is exactly amax / 2 is not so in single precision.
ROUNDING = {
    "f16": (2.0**-11, 2.0**-25),
    "bf16": (2.0**-8, 0),
    "f32": (2.0**-24, 0),
    "f8e4m3": (2.0**-4, 2.0**-10),
    "i8": (2.0**-20, 0.5),
}


def encode(values, dtype):
    if dtype == "f8e4m3":
        finite = [byte for byte in range(256) if byte & 127 != 127]
        table = np.array([f8e4m3(byte) for byte in finite])
        nearest = np.abs(np.asarray(values)[..., None] - table).argmin(axis=-1)
        return np.array(finite, "u1")[nearest]
    if dtype != "bf16":
        return values.astype(STORED[dtype])
    bits = values.astype("<f4").view("<u4")
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype("<u2")  # to nearest even


def decode(array, dtype):
    """Floats in double precision, anything else as it is."""
    if dtype == "bf16":
        return (array.view("<u2").astype("<u4") << 16).view("<f4").astype(float)
    if dtype == "f8e4m3":
        return np.array([f8e4m3(byte) for byte in range(256)])[array.view("u1")]
    return array.astype(float) if dtype in ROUNDING else array


def f8e4m3(byte):
    exponent, mantissa = byte >> 3 & 15, byte & 7
    size = math.ldexp(mantissa, -9) if exponent == 0 else math.ldexp(8 + mantissa, exponent - 10)
    return math.copysign(math.nan if byte & 127 == 127 else size, -(byte >> 7) or 1)


def stored(values, dtype):
    """What reading an output after assigning it gives."""
    return decode(encode(values, dtype), dtype)


# The formulas again. `t` has the inputs and the scalars; a row is along the last axis.


def row_max(x):
    return np.fmax.reduce(x, axis=-1, keepdims=True)


def row_sum(x):
    return np.sum(x, axis=-1, keepdims=True)


def softmax(x):
    e = np.exp(x - row_max(x))
    return e / row_sum(e)


def masked_softmax(t):
    hidden = np.where(t.mask, t.x, -np.inf)
    return np.where(np.all(hidden == -np.inf, axis=-1, keepdims=True), 0, softmax(hidden))


def log_softmax(t):
    return t.x - row_max(t.x) - np.log(row_sum(np.exp(t.x - row_max(t.x))))


def logsumexp(t):
    m = row_max(t.x)
    m = np.where(np.isfinite(m), m, 0)
    return (m + np.log(row_sum(np.exp(t.x - m))))[:, 0]


def standardised(x, eps, axis=-1):
    mean, var = np.mean(x, axis, keepdims=True), np.var(x, axis, keepdims=True)
    return (x - mean) / np.sqrt(var + eps)


def rms_scaled(x, eps):
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps)


def l2_normalise(t):
    return t.x / np.maximum(np.sqrt(row_sum(t.x * t.x)), t.eps)


def residual_rmsnorm(t):
    h = stored(t.x + t.residual, "bf16")
    return {"h": h, "y": rms_scaled(h, t.eps) * t.w}


def residual_layernorm(t):
    h = stored(t.x + t.residual, "f16")
    return {"h": h, "y": standardised(h, t.eps) * t.w + t.b}


def gelu(x):
    return 0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def rope(t):
    return {"y1": t.x1 * t.c - t.x2 * t.s, "y2": t.x2 * t.c + t.x1 * t.s}


def quantise(t, largest):
    scale = stored(np.fmax(row_max(np.abs(t.x)) / largest, 1e-10), "f32")
    return scale[:, 0], t.x * (1 / scale)


def quantise_rows_f8e4m3(t):
    scale, q = quantise(t, 448)
    return {"scale": scale, "q": np.clip(q, -448, 448)}


def quantise_rows_i8(t):
    scale, q = quantise(t, 127)
    return {"scale": scale, "q": np.nan_to_num(q, nan=0)}


def cross_entropy(t):
    right = np.take_along_axis(t.x, np.maximum(t.target, 0), axis=1)
    m = row_max(t.x)
    return np.where(t.target < 0, 0, m + np.log(row_sum(np.exp(t.x - m))) - right)[:, 0]


# A bare array is the only output.
FORMULAS = {
    "amax": lambda t: row_max(np.abs(t.x))[:, 0],
    "argmax_rows": lambda t: np.argmax(np.where(np.isnan(t.x), -np.inf, t.x), axis=1),
    "causal_softmax": lambda t: softmax(np.where(np.tri(256), t.x, -np.inf)),
    "cast": lambda t: t.x,
    "clamp": lambda t: np.clip(t.x, t.lo, t.hi),
    "cross_entropy": cross_entropy,
    "cumprod": lambda t: np.cumprod(t.x, axis=1),
    "cumsum": lambda t: np.cumsum(t.x, axis=1),
    "cumsum_exclusive": lambda t: np.cumsum(t.lengths) - t.lengths,
    "cumsum_reverse": lambda t: np.cumsum(t.x[::-1], axis=0)[::-1],
    "cumulative_softmax": lambda t: np.cumsum(softmax(t.x), axis=1),
    "fill": lambda t: np.full((128, 1024), t.value),
    "gelu_and_mul": lambda t: gelu(t.gate) * t.up,
    "group_norm": lambda t: standardised(t.x, t.eps, axis=(2, 3)) * t.w + t.b,
    "iota": lambda t: t.start + t.step * np.arange(4096),
    "l2_normalise": l2_normalise,
    "layernorm": lambda t: standardised(t.x, t.eps) * t.w + t.b,
    "log_softmax": log_softmax,
    "logsumexp": logsumexp,
    "masked_fill": lambda t: np.where(t.mask, t.value, t.x),
    "masked_softmax": masked_softmax,
    "mean_variance": lambda t: {"mu": np.mean(t.x, axis=1), "variance": np.var(t.x, axis=1)},
    "permute": lambda t: t.x,
    "quantise_rows_f8e4m3": quantise_rows_f8e4m3,
    "quantise_rows_i8": quantise_rows_i8,
    "residual_layernorm": residual_layernorm,
    "residual_rmsnorm": residual_rmsnorm,
    "rmsnorm": lambda t: rms_scaled(t.x, t.eps) * t.w,
    "rope": rope,
    "rope_interleaved": rope,
    "silu_and_mul": lambda t: t.gate / (1 + np.exp(-t.gate)) * t.up,
    "softmax": lambda t: softmax(t.x),
    "sum_all": lambda t: np.sum(t.x),
    "sum_columns": lambda t: np.sum(t.x, axis=0),
    "sum_rows": lambda t: np.sum(t.x, axis=1),
    "transpose": lambda t: t.x,
    "where": lambda t: np.where(t.c, t.a, t.b),
}
