#pragma once

#include "expr/program.hpp"

namespace tilejit::reference {

/// Largest error of an operation on the device, in units in the last place of its result in the
/// type it computes in, by the type of the value: `narrow` are floats of 16 bits and fewer, which
/// compute in f32. 0.5 is correct rounding. That of f64 includes the reference's own error.
struct Accuracy {
  double f32 = 0.5;
  double f64 = 1;
  double narrow = f32;
};

/// Source: CUDA C++ Programming Guide, appendix "Mathematical Functions", tables of maximum ulp
/// errors for single and double precision, for the default -prec-div, -prec-sqrt and no
/// -use_fast_math; where releases differ, the largest. Those of f64 are raised by two ulps for the
/// C library, or by more where its manual says more (cbrt, erfc). Operations composed of several
/// (sigmoid ... gelu_tanh) have the sum of their parts. Of narrow floats: PTX ISA, ex2.approx and
/// div.full.
[[nodiscard]] constexpr Accuracy accuracy(expr::Op op) noexcept {
  using expr::Op;
  switch (op) {
    case Op::div: return {0.5, 1, 2};
    case Op::exp: return {2, 3};
    case Op::exp2: return {2, 3};
    case Op::log: return {1, 3};
    case Op::log2: return {1, 3};
    case Op::rsqrt: return {2, 3};
    case Op::sin: return {2, 4};
    case Op::cos: return {2, 4};
    case Op::tan: return {4, 4};
    case Op::tanh: return {2, 4};
    case Op::erf: return {2, 4};
    case Op::pow: return {8, 4};
    case Op::asin: return {4, 4};
    case Op::acos: return {3, 4};
    case Op::atan: return {2, 4};
    case Op::atan2: return {3, 4};
    case Op::sinh: return {3, 4};
    case Op::cosh: return {2, 4};
    case Op::log10: return {3, 3};
    case Op::log1p: return {2, 3};
    case Op::expm1: return {1, 3};
    case Op::cbrt: return {1, 5};
    case Op::erfc: return {6, 10};
    case Op::hypot: return {3, 4};
    case Op::sigmoid: return {4, 6, 5};
    case Op::silu: return {5, 7, 6};
    case Op::gelu: return {4, 8};
    case Op::gelu_tanh: return {4, 8};
    default: return {};
  }
}

}  // namespace tilejit::reference
