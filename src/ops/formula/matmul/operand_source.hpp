#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "atoms/shared_tile.hpp"
#include "formula/product.hpp"

namespace tilejit::plan {

/// How a kernel reads one operand of a product. Leaves are innermost first.
struct OperandSource {
  DType dtype = f32;                          ///< in which it is multiplied
  DType stored = f32;                         ///< in global memory
  expr::NodeId value = expr::kNoNode;         ///< as formula::ProductOperand::value
  std::vector<std::vector<Mode>> batch = {};  ///< per batch axis of the product's space
  std::vector<Mode> outer = {};               ///< along M of the left operand, N of the right one
  std::vector<Mode> inner = {};               ///< along K
  atoms::Major major = atoms::Major::k;       ///< along which runs lie
  /// Elements that a thread takes at once: side by side and aligned to all of them, at most 16
  /// bytes, before and after they are computed. 1 if the operand is contiguous in no direction.
  int run = 1;
  bool operator==(const OperandSource&) const = default;

  /// Whether elements are computed on their way to shared memory.
  [[nodiscard]] bool is_computed() const noexcept { return value != expr::kNoNode; }
  /// Whether elements lie one stride apart along either axis.
  [[nodiscard]] bool is_linear() const noexcept { return outer.size() <= 1 && inner.size() <= 1; }
  /// Every extent and stride from which places are computed.
  [[nodiscard]] std::vector<Dim> dims() const;
};

/// The longest runs that `align`, in bytes, and the strides allow.
[[nodiscard]] OperandSource source_of(const formula::ProductOperand& operand, int align,
                                      const std::map<std::string, std::int64_t>& symbols);

}  // namespace tilejit::plan
