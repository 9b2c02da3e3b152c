#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "expr/ast.hpp"
#include "expr/program.hpp"

namespace tilejit::expr {

/// The axes of the iteration space, as a formula names them. Every function throws Fault for an
/// axis that does not exist or is named twice. Keeps a view of the scope.
class AxisTable {
 public:
  explicit AxisTable(const Scope& scope) : scope_(scope) {}

  /// Bit i: axis i. Negative axes count from the last.
  [[nodiscard]] std::uint32_t mask(std::span<const AxisLiteral> axes) const;
  /// The same for exactly one axis, which `function` takes.
  [[nodiscard]] std::uint32_t one(std::string_view function,
                                  std::span<const AxisLiteral> axes) const;
  /// The axes of a reduction that names none.
  [[nodiscard]] std::uint32_t by_default() const;
  /// The axis of a scan that names none.
  [[nodiscard]] std::uint32_t one_by_default(std::string_view function) const;

 private:
  [[nodiscard]] std::uint32_t bit(const AxisLiteral& axis) const;

  const Scope& scope_;
};

}  // namespace tilejit::expr
