"""What a result may differ by from the same computation in f64."""

import math

from .cases import FLOATS

# Of the result: a unit in its last place. Results that lie between two numbers need half of it.
UNIT = {"f16": 2.0**-10, "bf16": 2.0**-7, "f32": 2.0**-22, "f64": 2.0**-22}
SMALLEST = {"f16": 2.0**-24}  # of numbers above 0; where units end
OF_LARGEST = 2.0**-19  # of the largest result: chains of roundings in f32, and approximations
TIMES_ROUGH = 8  # of the largest error that PyTorch or NumPy make in f32
APART = 0.01  # part of rounded whole numbers that may be the other neighbour


def excess_of_floats(dtype, got, wide, rough_error, off=0):
    allowed = TIMES_ROUGH * rough_error + OF_LARGEST * float(abs(wide).max()) + SMALLEST.get(dtype, 1e-30) + off
    return float((abs(got - wide) / (UNIT[dtype] * abs(wide) + allowed)).max())


def excess_of_integers(got, wide, exact):
    error = abs(got - wide)
    if float(error.max()) == 0:
        return 0.0
    if exact or not float(error.max()) <= 1:
        return math.inf
    return float(error.sum()) / (1 + APART * math.prod(error.shape))


def larger(one, other):
    """The larger ones of two arrays, NumPy's or PyTorch's, or of an array and 0."""
    return one + (other - one) * (other > one)


def excess(output, got, double, take, wide, rough, *approximate):
    """The largest error of an output as a multiple of what is allowed; above 1, or NaN, it is wrong.
    `got` is the output with its axes in the space's order, and with extent 1 those that were reduced.
    `wide` and `rough` have every value of the case, computed in f64 and in f32; each `approximate`, too,
    in f64 with functions that are off, in one way, by what the library's approximations may be. Arrays are
    NumPy's or PyTorch's: `double` converts them to f64, `take` is take_along_axis."""

    def rough_error(value):
        return float(abs(double(rough[value]) - double(wide[value])).max())

    if output.place_of:  # of equal values any place will do, and rounding makes values equal
        values, axis = double(wide[output.place_of]), output.place_axes[0]
        if int(got.min()) < 0 or int(got.max()) >= values.shape[axis]:
            return math.inf
        chosen, best = take(values, got, axis), take(values, wide[output.value], axis)
        off = 0
        for others in approximate:
            errors = abs(double(others[output.place_of]) - values)
            off = larger(take(errors, got, axis) + take(errors, wide[output.value], axis), off)
        return excess_of_floats("f32", chosen, best, rough_error(output.place_of), off)
    want = double(wide[output.value])
    if output.tensor.dtype in FLOATS:
        off = 0
        for values in approximate:
            off = larger(abs(double(values[output.value]) - want), off)
        return excess_of_floats(output.tensor.dtype, double(got), want, rough_error(output.value), off)
    return excess_of_integers(double(got), want, exact="float" not in str(wide[output.value].dtype))
