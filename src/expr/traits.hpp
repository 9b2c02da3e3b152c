#pragma once

#include <string_view>

#include "expr/program.hpp"

namespace tilejit::expr {

/// Largest error of an operation on the device, in units in the last place of its result in the
/// type it computes in, by the type of the value: `narrow` are floats of 16 bits and fewer, which
/// compute in f32. 0.5 is correct rounding. That of f64 includes the reference's own error.
///
/// Source: CUDA C++ Programming Guide, appendix "Mathematical Functions", tables of maximum ulp
/// errors for single and double precision, for the default -prec-div, -prec-sqrt and no
/// -use_fast_math; where releases differ, the largest. Those of f64 are raised by two ulps for the
/// C library, or by more where its manual says more (cbrt, erfc). Operations composed of several
/// (sigmoid ... gelu_tanh) have the sum of their parts. Of narrow floats: PTX ISA, ex2.approx and
/// div.full.
struct Accuracy {
  double f32 = 0.5;
  double f64 = 1;
  double narrow = f32;
};

/// Instructions of an element in single precision, after the PTX that NVRTC 13.0 makes of
/// kernels_templates/tile/math.cuh for sm_90a: moves left out, the usual path where it branches,
/// divisions and square roots as ptxas expands them. What is computed by approximations, for 16-bit
/// results, takes less.
struct Cost {
  int plain = 1;
  int special = 0;  ///< of special function units
};

/// What is known of an operation besides its value.
struct Traits {
  std::string_view name;
  /// What it costs the compiler, as a multiple of an addition: of the ratio of NVRTC's times for
  /// long sums of one function. Sine, cosine and tangent carry the reduction of large arguments,
  /// pow carries log and exp in double width.
  int weight = 1;
  Cost cost = {};
  bool counted = true;  ///< by DeclaredWork::operations
  bool light = false;   ///< an instruction or two, for numbers of every dtype
  // How CUDA spells it; where nothing is said the device library has a function of its name.
  std::string_view infix = {};    ///< between two operands
  std::string_view builtin = {};  ///< CUDA's function on double; that on float has an f behind it
  /// For floats of 16 bits and fewer, whose rounding hides its error.
  std::string_view approximation = {};
  Accuracy accuracy = {};
};
[[nodiscard]] const Traits& traits(Op op) noexcept;

}  // namespace tilejit::expr
