#pragma once

#include "expr/program.hpp"

namespace tilejit::expr {

/// Functions of one argument in double precision: abs, exp to trunc, and relu. Constant folding and
/// the CPU reference use them. NaN for other operations.
[[nodiscard]] double real_function(Op op, double x) noexcept;

/// The result of a comparison (lt to gt) of two values of the same type.
template <typename T>
[[nodiscard]] bool compare(Op op, T a, T b) noexcept {
  switch (op) {
    case Op::lt: return a < b;
    case Op::le: return a <= b;
    case Op::eq: return a == b;
    case Op::ne: return a != b;
    case Op::ge: return a >= b;
    default: return a > b;
  }
}

}  // namespace tilejit::expr
