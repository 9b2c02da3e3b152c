#include "plan/launch_shape.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "tilejit/error.hpp"

namespace tilejit::plan {
namespace {

constexpr std::int64_t kWeightOfThread = 2048;  // expr::weight; half a second of NVRTC

/// Throws if knobs that are only for reduced rows are pinned and the formula reduces no rows.
void check_row_knobs(const Plan& plan, const Tuning& tuning) {
  const char* knob = tuning.row_threads        ? "row_threads"
                     : tuning.cluster          ? "cluster"
                     : tuning.splits           ? "splits"
                     : tuning.register_vectors ? "register_vectors"
                     : tuning.atomics          ? "atomics"
                                               : nullptr;
  const auto* const staged = std::get_if<StagedRows>(&plan.family);
  const bool reduces =
      std::holds_alternative<Rows>(plan.family) || (staged != nullptr && !staged->direction);
  if (knob == nullptr || reduces) return;
  throw Error(ErrorCode::invalid_spec,
              std::string(knob) +
                  " says how rows are reduced, which this formula does not ask "
                  "for; remove it",
              std::string("/tuning/") + knob);
}

}  // namespace

std::int64_t elements_within_budget(const Plan& plan) {
  const std::int64_t budget =
      kWeightOfThread / std::max<std::int64_t>(1, expr::weight(plan.program));
  return static_cast<std::int64_t>(
      std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(1, budget))));
}

bool repeats(const Operand& operand) {
  return std::ranges::any_of(operand.modes, [](const OperandMode& leaves) {
    return std::ranges::any_of(leaves, [](const Mode& leaf) { return leaf.stride.is(0); });
  });
}

int bytes_of_loads(const Plan& plan) {
  int bytes = 0;
  for (const Operand& operand : plan.operands) {
    if (!operand.read || operand.reach == Reach::broadcast) continue;
    if (repeats(operand) && !operand.shifted) continue;
    bytes += plan.vector * size_bytes(operand.dtype);
  }
  return bytes;
}

int vectors_in_flight(const Plan& plan) {
  const int bytes = std::max(bytes_of_loads(plan), 1);
  int unroll = 1;
  while (unroll < 4 && unroll * bytes < 32 &&
         2 * unroll * plan.vector <= elements_within_budget(plan)) {
    unroll *= 2;
  }
  return unroll;
}

void choose_launch(Plan& plan, const Tuning& tuning) {
  if (!is_light(plan)) check_row_knobs(plan, tuning);
  std::visit([&](auto& family) { family.choose_launch(plan, tuning); }, plan.family);
}

}  // namespace tilejit::plan
