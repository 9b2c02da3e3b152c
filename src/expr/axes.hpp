#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "expr/ast.hpp"
#include "expr/program.hpp"

namespace tilejit::expr {

/// The axes that a call names; those of the scope if it names none.
struct AxesNamed {
  std::optional<std::vector<AxisLiteral>> axes = {};
  std::string_view takes_one = {};  ///< a function that takes exactly one axis; empty: any number
};

/// The axes of the iteration space, as a formula names them. Every function throws Fault for an
/// axis that does not exist or is named twice. Keeps a view of the scope.
class AxisTable {
 public:
  explicit AxisTable(const Scope& scope) : scope_(scope) {}

  /// Bit i: axis i. Negative axes count from the last.
  [[nodiscard]] std::uint32_t mask(const AxesNamed& named) const;

 private:
  [[nodiscard]] std::uint32_t mask(std::span<const AxisLiteral> axes) const;
  [[nodiscard]] std::uint32_t by_default() const;
  [[nodiscard]] std::uint32_t bit(const AxisLiteral& axis) const;

  const Scope& scope_;
};

}  // namespace tilejit::expr
