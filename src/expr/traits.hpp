#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "expr/program.hpp"

namespace tilejit::expr {

/// Largest error of an operation on the device, in units in the last place (ulps) of its result in
/// the type that it computes in, by the type of the value. `narrow` are floats of at most 16 bits,
/// which compute in f32. 0.5 is correct rounding. The f64 numbers include the error of the
/// reference itself.
///
/// Source: CUDA C++ Programming Guide, appendix "Mathematical Functions", tables of maximum ulp
/// errors for single and double precision, with default -prec-div and -prec-sqrt and without
/// -use_fast_math. If releases differ, the largest error is taken. The f64 numbers are raised by
/// two ulps for the C library, or by more if its manual says more (cbrt, erfc). Operations composed
/// of several (sigmoid ... gelu_tanh) have the sum of their parts. Numbers of narrow floats: PTX
/// ISA, ex2.approx, lg2.approx and div.full.
struct Accuracy {
  double f32 = 0.5;
  double f64 = 1;
  double narrow = f32;
};

/// Instructions per element in single precision, counted in the PTX that NVRTC 13.0 makes of
/// kernels_templates/tile/math.cuh for sm_90a. Moves are not counted, branches take the usual path,
/// and divisions and square roots count as ptxas expands them. Approximations, used for 16-bit
/// results, take a fifth about, or `narrow` plain ones.
struct Cost {
  int plain = 1;
  int special = 0;  ///< executed by special function units
  int narrow = 0;
};

/// Facts about an operation besides its value.
struct Traits {
  std::string_view name;
  /// The cost to the compiler, as a multiple of an addition: the ratio of NVRTC's times for long
  /// sums of one function. Sine, cosine and tangent include the reduction of large arguments; pow
  /// includes log and exp in double width.
  int weight = 1;
  Cost cost = {};
  bool counted = true;  ///< counts in DeclaredWork::operations
  // The CUDA spelling. If all are empty, the device library has a function of this name.
  std::string_view infix = {};    ///< between two operands
  std::string_view builtin = {};  ///< CUDA's function for double; that for float adds an f
  /// An approximation for floats of at most 16 bits, whose rounding hides its error.
  std::string_view approximation = {};
  Accuracy accuracy = {};
};

namespace detail {
inline constexpr std::size_t kOps = static_cast<std::size_t>(Op::matmul) + 1;
extern const std::array<Traits, kOps> kTraits;  // in the order of the enumeration
}  // namespace detail

[[nodiscard]] inline const Traits& traits(Op op) noexcept {
  return detail::kTraits[static_cast<std::size_t>(op)];
}

/// The device function that computes the node's value with an approximation, since it has at most
/// 16 bits; empty if none does. Means divide without one: the mean of a constant must be the
/// constant.
[[nodiscard]] inline std::string_view approximation(const Node& node) noexcept {
  const bool narrow = is_floating(node.type) && size_bytes(node.type) <= 2;
  return narrow ? traits(node.op).approximation : std::string_view();
}

/// The type of memory that holds the node's value as it is computed: f32 for narrower floats, but
/// for casts to these, which have rounded. A store whose memory is wider than a cast's type would
/// lose the rounding, since emit_cuda() leaves it to the store.
[[nodiscard]] inline DType held_type(const Node& node) noexcept {
  const bool wider = is_floating(node.type) && node.type != f64 && node.op != Op::cast;
  return wider ? f32 : node.type;
}

}  // namespace tilejit::expr
