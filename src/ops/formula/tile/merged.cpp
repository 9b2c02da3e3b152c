#include "tile/merged.hpp"

#include <algorithm>

#include "device/access.hpp"
#include "layout/modes.hpp"
#include "plan/vectors.hpp"
#include "tile/tiling.hpp"

namespace tilejit::plan {
namespace {

constexpr int kLeastBytes = 8;  // of a vector

/// Whether the operand goes on from mode m to the next one in equal steps.
bool goes_on(const Operand& operand, std::size_t m) {
  const Mode &inner = operand.modes[m][0], &outer = operand.modes[m + 1][0];
  return layout::continues(inner, outer);
}

MergedModes columns_to_merge(const Plan& plan, const Sheared& sheared) {
  std::int64_t columns = plan.extents.front().value();
  for (std::size_t m = 0; m + 1 < sheared.mode; ++m) {
    if (!std::ranges::all_of(plan.operands, [&](const Operand& operand) {
          return operand.reach == Reach::transposed || goes_on(operand, m);
        }))
      return {};
    columns *= plan.extents[m + 1].value();
    if (columns % plan.vector == 0) return {.count = m + 2};
  }
  return {};
}

/// Whether lines of a tile's only input are short and go on along another mode than the output's.
bool goes_on_behind_line(const Plan& plan, const Tile& tile, const Operand& input) {
  const auto is_known = [](const OperandMode& leaves) {
    return leaves.size() == 1 && leaves[0].stride.is_known();
  };
  const Dim& line = plan.extents[tile.mode];
  if (!std::ranges::all_of(plan.extents, &Dim::is_known) ||
      !std::ranges::all_of(input.modes, is_known) ||
      line.value() * size_bytes(input.dtype) >= device::kLineBytes)
    return false;
  return std::any_of(input.modes.begin() + 1, input.modes.end(), [&](const OperandMode& leaves) {
    return leaves[0].stride == line && leaves[0].extent.value() > 1;
  });
}

MergedModes lines_to_merge(const Plan& plan, const Tile& tile) {
  const Operand* input = nullptr;
  for (const Operand& operand : plan.operands) {
    if (operand.reach == Reach::broadcast ||
        (operand.written && operand.reach != Reach::transposed))
      continue;
    if (input != nullptr || operand.written || operand.reach != Reach::transposed) return {};
    input = &operand;
  }
  if (input == nullptr || is_small(tile, plan.extents)) return {};
  if (!goes_on_behind_line(plan, tile, *input)) return {};
  return {.count = 2, .leader = static_cast<std::size_t>(input->tensor)};
}

}  // namespace

MergedModes modes_to_merge(const Plan& plan) {
  if (!plan.places.empty()) return {};
  if (const auto* const sheared = std::get_if<Sheared>(&plan.family))
    return columns_to_merge(plan, *sheared);
  if (const auto* const tile = std::get_if<Tile>(&plan.family)) return lines_to_merge(plan, *tile);
  return {};
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
