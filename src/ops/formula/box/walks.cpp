#include "box/walks.hpp"

#include <algorithm>

#include "core/integer.hpp"

namespace tilejit::plan {
namespace {

constexpr std::int64_t kMostRepeats = 4;  // of an operand whose runs count

}  // namespace

std::int64_t stride_of(const Operand& operand, std::size_t m) {
  return operand.modes[m][0].stride.value();
}

Modes order_of(const Operand& operand) {
  Modes order;
  for (std::size_t m = 0; m < operand.modes.size(); ++m) {
    if (stride_of(operand, m) != 0) order.push_back(m);
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t m) { return stride_of(operand, m); });
  return order;
}

const Transposed* transposed_of(const Box& box, const Operand& operand) {
  const auto transposed = std::ranges::find(box.transposed, operand.tensor, &Transposed::tensor);
  return transposed == box.transposed.end() ? nullptr : &*transposed;
}

const Operand& operand_of(const Plan& plan, const Transposed& transposed) {
  return plan.operands[static_cast<std::size_t>(transposed.tensor)];
}

Walk walk_along(const Box& box, const Modes& order, std::int64_t threads, std::int64_t vector) {
  Walk walk{.vector = vector};
  for (const std::size_t m : order) {
    const std::int64_t extent = box.extents[m] / (walk.modes.empty() ? vector : 1);
    if (box.extents[m] == 1) continue;
    const std::int64_t steps = core::ceil_div(extent, std::min(extent, threads));
    walk.modes.push_back(m);
    walk.threads.push_back(core::ceil_div(extent, steps));
    threads /= walk.threads.back();
  }
  return walk;
}

bool is_small_part(const Plan& plan, const Operand& operand) {
  std::int64_t times = 1;
  for (std::size_t m = 0; m < plan.extents.size(); ++m) {
    if (stride_of(operand, m) == 0) times *= plan.extents[m].value();
  }
  return times >= kMostRepeats;
}

}  // namespace tilejit::plan
