#pragma once

#include "expr/program.hpp"

namespace tilejit::expr {

/// Functions of one argument in double precision, abs and exp to trunc and relu: what constants are
/// folded with, and what the CPU reference computes. NaN for other operations.
[[nodiscard]] double real_function(Op op, double x) noexcept;

}  // namespace tilejit::expr
