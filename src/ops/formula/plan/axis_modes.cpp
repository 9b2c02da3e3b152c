#include "plan/axis_modes.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace tilejit::plan {

std::optional<std::vector<AxisMode>> modes_of(const Tensor& tensor) {
  std::vector<AxisMode> modes;
  for (std::size_t i = 0; i < rank(tensor.layout); ++i) {
    const Layout along = mode(tensor.layout, i);
    const auto leaves = along.leaves();
    if (leaves.size() != 1 || !leaves[0].extent.is_known() || !leaves[0].stride.is_known())
      return std::nullopt;
    if (leaves[0].extent.is(1) || leaves[0].stride.is(0)) continue;
    modes.push_back({i, leaves[0].extent.value(), leaves[0].stride.value()});
  }
  return modes;
}

double elements_of(const std::vector<AxisMode>& modes) {
  double elements = 1;
  for (const AxisMode& one : modes) elements *= static_cast<double>(one.extent);
  return elements;
}

std::vector<AxisMode> ordered_as(const Fused& op, const formula::Analysis& analysis,
                                 std::size_t leader, std::size_t number,
                                 std::vector<AxisMode> modes) {
  const std::vector<AxisMode> of_leader = *modes_of(op.tensors[leader]);
  const auto stride = [&](const AxisMode& one) {
    const int axis = analysis.axes[number][one.mode];
    const auto found = std::ranges::find_if(of_leader, [&](const AxisMode& other) {
      return analysis.axes[leader][other.mode] == axis;
    });
    return found == of_leader.end() ? std::numeric_limits<std::int64_t>::max() : found->stride;
  };
  std::ranges::stable_sort(modes, {}, stride);
  return modes;
}

}  // namespace tilejit::plan
