#include "map/strided.hpp"

#include <algorithm>

#include "box/requests.hpp"
#include "core/integer.hpp"
#include "device/access.hpp"
#include "device/scale.hpp"
#include "plan/launch_shape.hpp"
#include "plan/vectors.hpp"

namespace tilejit::plan {
namespace {

constexpr double kLess = 0.9;         // of the cycles, at most, for which vectors are shorter
constexpr double kBytesOfCycle = 13;  // of memory, for each multiprocessor
constexpr double kGainOfCache = 1.5;  // in bytes a cycle, of what is in the L2 cache

bool has_gaps(const Operand& operand) {
  return operand.reach == Reach::strided;
}

/// Whether what lies between the operand's neighbours is read too, along other modes.
bool fills_gaps(const Operand& operand) {
  const std::int64_t apart = operand.modes.front()[0].stride.value();
  std::int64_t between = 1;
  for (const OperandMode& leaves : operand.modes) {
    for (const Mode& leaf : leaves) {
      if (!leaf.stride.is_known() || !leaf.extent.is_known()) return false;
      if (leaf.stride.value() > 0 && leaf.stride.value() < apart) between *= leaf.extent.value();
    }
  }
  return between == apart;
}

bool can_be_shorter(const Plan& plan) {
  const auto* const map = std::get_if<Map>(&plan.family);
  if (map == nullptr || map->light || map->flat || plan.peeled || plan.vector == 1) return false;
  const auto has_known_strides = [](const Operand& operand) {
    return std::ranges::all_of(operand.modes, [](const OperandMode& leaves) {
      return std::ranges::all_of(leaves, [](const Mode& leaf) { return leaf.stride.is_known(); });
    });
  };
  return std::ranges::all_of(plan.extents, &Dim::is_known) &&
         std::ranges::all_of(plan.operands, has_known_strides) &&
         std::ranges::any_of(plan.operands, has_gaps);
}

/// The cycles of a multiprocessor that has a block, or its share of many, for memory or for
/// requests.
double cycles_of_share(const Plan& plan) {
  double elements = 1;
  for (const Dim& extent : plan.extents) elements *= static_cast<double>(extent.value());
  const std::int64_t blocks = core::ceil_div(total_units(plan), units_per_block(plan));
  return elements / static_cast<double>(std::min(blocks, device::kMultiprocessors)) *
         std::max(cycles_of_memory(plan), cycles_per_element(plan) + cycles_of_numbers(plan));
}

}  // namespace

double cycles_of_memory(const Plan& plan) {
  const bool in_box = std::holds_alternative<Box>(plan.family);  // which reads what lies between
  double bytes = 0;
  for (const Operand& operand : plan.operands) {
    if (repeats(operand)) continue;
    const std::int64_t apart =
        !in_box && has_gaps(operand) ? operand.modes.front()[0].stride.value() : 1;
    const auto touched = static_cast<double>(
        std::min<std::int64_t>(device::kSectorBytes, apart * size_bytes(operand.dtype)));
    bytes += apart > 1 && fills_gaps(operand) ? touched / kGainOfCache : touched;
  }
  return bytes / kBytesOfCycle;
}

void suit_strided(Plan& plan) {
  if (!can_be_shorter(plan)) return;
  Plan best = plan;
  double least = cycles_of_share(plan);
  for (int vector = plan.vector / 2; vector >= 1; vector /= 2) {
    Plan shorter = with_vector(plan, vector);
    std::get<Map>(shorter.family).choose_launch(shorter, {});
    const double now = cycles_of_share(shorter);
    if (now >= kLess * least) continue;
    best = std::move(shorter);
    least = now;
  }
  plan = std::move(best);
}

}  // namespace tilejit::plan
