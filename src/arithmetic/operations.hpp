#pragma once

#include <array>
#include <cstdint>

#include "expr/program.hpp"

namespace tilejit::arithmetic {

/// Operands of one element. Those that an operation does not have are ignored.
using Reals = std::array<double, 3>;
using Integers = std::array<std::int64_t, 3>;

/// `op` (neg .. pow, min .. clamp) on floating operands, in double. Does not round to a narrower
/// type.
[[nodiscard]] double apply(expr::Op op, const Reals& args) noexcept;
/// `op` on operands of the integer type (or bool) `type`, wrapped to that type.
[[nodiscard]] std::int64_t apply(expr::Op op, DType type, const Integers& args) noexcept;

[[nodiscard]] bool is_comparison(expr::Op op) noexcept;
/// `type` is that of the operands; u64 compares unsigned.
[[nodiscard]] bool compare(expr::Op op, DType type, std::int64_t a, std::int64_t b) noexcept;

}  // namespace tilejit::arithmetic
