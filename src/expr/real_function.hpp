#pragma once

#include "expr/program.hpp"

namespace tilejit::expr {

/// Functions of one argument in double precision: abs, exp to trunc, and relu. Constant folding and
/// the CPU reference use them. NaN for other operations.
[[nodiscard]] double real_function(Op op, double x) noexcept;

}  // namespace tilejit::expr
