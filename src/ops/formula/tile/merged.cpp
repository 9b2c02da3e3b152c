#include "tile/merged.hpp"

#include <algorithm>

#include "layout/modes.hpp"
#include "plan/vectors.hpp"

namespace tilejit::plan {
namespace {

constexpr int kLeastBytes = 8;  // of a vector

/// Whether the operand goes on from mode m to the next one in equal steps.
bool goes_on(const Operand& operand, std::size_t m) {
  const Mode &inner = operand.modes[m][0], &outer = operand.modes[m + 1][0];
  return layout::continues(inner, outer);
}

}  // namespace

std::size_t modes_to_merge(const Plan& plan) {
  const auto* const sheared = std::get_if<Sheared>(&plan.family);
  if (sheared == nullptr || !plan.places.empty()) return 1;
  std::int64_t columns = plan.extents.front().value();
  for (std::size_t m = 0; m + 1 < sheared->mode; ++m) {
    if (!std::ranges::all_of(plan.operands, [&](const Operand& operand) {
          return operand.reach == Reach::transposed || goes_on(operand, m);
        }))
      return 1;
    columns *= plan.extents[m + 1].value();
    if (columns % plan.vector == 0) return m + 2;
  }
  return 1;
}

void merge_first(std::vector<IterationMode>& modes, std::size_t count) {
  IterationMode& first = modes.front();
  for (std::size_t m = 1; m < count; ++m) {
    first.extent = first.extent * modes[m].extent;
    for (std::size_t t = 0; t < first.operands.size(); ++t) {
      OperandMode& leaves = first.operands[t];
      for (const Mode& leaf : modes[m].operands[t]) {
        if (layout::continues(leaves.back(), leaf)) {
          leaves.back().extent = leaves.back().extent * leaf.extent;
        } else {
          leaves.push_back(leaf);
        }
      }
    }
  }
  modes.erase(modes.begin() + 1, modes.begin() + static_cast<std::ptrdiff_t>(count));
}

bool has_whole_vectors(const Plan& plan) {
  const auto* const tile = std::get_if<Tile>(&plan.family);
  if (tile == nullptr || tile->ragged || plan.ragged) return false;
  const auto is_whole = [&](const Operand& operand) {
    return operand.reach == Reach::broadcast ||
           (!operand.shifted && operand.access_bytes == plan.vector * size_bytes(operand.dtype));
  };
  return plan.vector * size_bytes(vector_leader(plan)->dtype) >= kLeastBytes &&
         std::ranges::all_of(plan.operands, is_whole);
}

}  // namespace tilejit::plan
