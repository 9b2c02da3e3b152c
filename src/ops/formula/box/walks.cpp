#include "box/walks.hpp"

#include <algorithm>

#include "core/integer.hpp"
#include "device/access.hpp"

namespace tilejit::plan {
namespace {

constexpr std::int64_t kMostRepeats = 4;        // of an operand whose runs count
constexpr std::int64_t kFarApart = 128 * 1024;  // bytes: what an L1 cache has no more

/// The bytes that come from memory for an element in the outputs' order: a sector, if its
/// neighbours are so far away in the space that caches have lost it.
std::int64_t bytes_fetched(const Plan& plan, const Operand& operand) {
  const Modes order = order_of(operand);
  const std::int64_t bytes = size_bytes(operand.dtype);
  std::int64_t between = 0;  // that pass until the next coordinate of the operand's innermost mode
  for (const Operand& other : plan.operands) between += size_bytes(other.dtype);
  for (std::size_t m = 0; m < order.front(); ++m) between *= plan.extents[m].value();
  const std::int64_t apart = stride_of(operand, order.front()) * bytes;
  const bool lost = between >= kFarApart && apart < device::kSectorBytes;
  return lost ? std::max<std::int64_t>(bytes, device::kSectorBytes) : bytes;
}

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
  if (order_of(operand).empty()) return true;
  return times * size_bytes(operand.dtype) >= kMostRepeats * bytes_fetched(plan, operand);
}

}  // namespace tilejit::plan
