#include "map/family.hpp"

#include <algorithm>

#include "core/json_line.hpp"
#include "device/scale.hpp"
#include "plan/launch_shape.hpp"

namespace tilejit::plan {
namespace {

constexpr int kThreads = 256;            // per block
constexpr int kBytesOfBlock = 8 * 1024;  // that it reads and writes: more gain no more
// Threads that a heavy formula should have before each takes several vectors, if there are so many.
constexpr std::int64_t kThreadsOfHeavy = 4 * device::kThreadsAtOnce;
constexpr std::int64_t kHeavyWeight = 32;

/// Vectors of a thread: as many as its formula and registers allow, until a block moves enough
/// bytes; fewer if there is room on the device for more threads.
int unroll_of(const Plan& plan) {
  int bytes = 0;
  for (const Operand& operand : plan.operands) {
    const int times = (operand.read ? 1 : 0) + (operand.written ? 1 : 0);
    if (operand.reach == Reach::contiguous && !repeats(operand))
      bytes += times * plan.vector * size_bytes(operand.dtype);
  }
  int unroll = vectors_in_flight(plan);
  while (unroll > 1 && unroll / 2 * bytes * kThreads >= kBytesOfBlock) unroll /= 2;
  if (!std::ranges::all_of(plan.extents, &Dim::is_known)) return unroll;
  const std::int64_t vectors = total_units(plan, {});
  while (unroll > 1 && vectors <= unroll / 2 * 2 * device::kThreadsAtOnce) unroll /= 2;
  return unroll;
}

}  // namespace

void spread_heavy(Plan& plan) {
  if (!std::ranges::all_of(plan.extents, &Dim::is_known)) return;
  const std::int64_t vectors = total_units(plan, {}),
                     weight = plan.vector * expr::weight(plan.program);
  while (plan.unroll > 1 && plan.unroll * weight > kHeavyWeight && vectors >= kThreadsOfHeavy &&
         vectors < plan.unroll * kThreadsOfHeavy)
    plan.unroll /= 2;
}

std::string_view to_string(IndexWidth width) noexcept {
  switch (width) {
    case IndexWidth::narrow: return "narrow";
    case IndexWidth::wide: return "wide";
    case IndexWidth::both: return "both";
  }
  return "unknown";
}

void Map::choose_launch(Plan& plan, const Tuning& tuning) {
  if (light) return;
  plan.unroll = tuning.unroll.value_or(unroll_of(plan));
  plan.threads = tuning.threads.value_or(kThreads);
}

std::int64_t Map::unit_extent(const Plan& plan, std::size_t m) const noexcept {
  return m == 0 ? plan.vector : 1;
}

std::int64_t Map::units_per_block(const Plan& plan) const noexcept {
  return std::int64_t{plan.threads} * plan.unroll;
}

std::vector<Dim> Map::compared_extents(const Plan& plan) const {
  if (!plan.ragged) return {};
  return {plan.extents.front()};
}

bool Map::has_light(const Plan&) const {
  return false;
}

void Map::write_json(core::JsonLine& line) const {
  if (flat) line.key("flat").raw("true");
}

}  // namespace tilejit::plan
