#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "formula/analysis.hpp"
#include "tilejit/fused.hpp"

namespace tilejit::plan {

/// A top-level mode of a tensor along which it has several elements.
struct AxisMode {
  std::size_t mode = 0;
  std::int64_t extent = 1;
  std::int64_t stride = 0;
};

/// All such modes of the tensor; nothing if one is nested or unknown.
[[nodiscard]] std::optional<std::vector<AxisMode>> modes_of(const Tensor& tensor);

/// Elements of a tensor with these modes.
[[nodiscard]] double elements_of(const std::vector<AxisMode>& modes);

/// `modes` of tensor `number`, innermost first, as their axes lie in tensor `leader`, whose modes
/// are all known. Those along which the leader does not vary come last.
[[nodiscard]] std::vector<AxisMode> ordered_as(const Fused& op, const formula::Analysis& analysis,
                                               std::size_t leader, std::size_t number,
                                               std::vector<AxisMode> modes);

}  // namespace tilejit::plan
