#pragma once

#include <optional>
#include <string_view>

#include "expr/program.hpp"
#include "expr/weak.hpp"

namespace tilejit::expr {

/// Levels of precedence, loosest first, as in Python.
enum Level : int {
  kLowest = 1,
  kNot = 3,
  kComparison = 4,
  kUnary = 11,
  kPower = 12,
};

/// Stands behind the name of a tensor whose last two modes are swapped.
inline constexpr std::string_view kTransposed = ".T";

struct BinaryOperator {
  std::string_view spelling;
  int level;
  Op op;
};

/// nullptr if `spelling` is not a binary operator.
[[nodiscard]] const BinaryOperator* find_binary(std::string_view spelling) noexcept;

/// The value of true, false, inf, nan and pi.
[[nodiscard]] std::optional<Weak> find_constant(std::string_view name) noexcept;

}  // namespace tilejit::expr
