#include "plan/sliced.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "device/scale.hpp"
#include "plan/parts.hpp"
#include "plan/unrolled.hpp"
#include "rows/rows.hpp"

namespace tilejit::plan {
namespace {

constexpr double kLeastCut = 1.5;        // times the sectors of all elements
constexpr double kCutBytesOfUs = 1.6e6;  // of sectors that warps access in parts
// What slices take of the memory's time for all bytes, and microseconds beside it.
constexpr double kOfSlices = 1.15, kOfMore = 1.5;
constexpr double kGain = 1.15;  // that is worth it

/// Whether slices would take less time than the kernel, whose warps access parts of sectors.
bool gains(const Plan& plan, const Rows& rows) {
  const auto bytes = space_bytes(plan, rows);
  if (!bytes || bytes->written == 0) return false;
  const double once = bytes->read_once + bytes->written_once;
  const double now = bytes->read + bytes->written;
  return now >= kLeastCut * once &&
         now / kCutBytesOfUs >= kGain * (kOfSlices * once / device::kBytesOfUs + kOfMore);
}

/// Whether operands that lie in other orders pass through shared memory, and no other access is
/// strided.
bool reorders(const Plan& plan) {
  return std::holds_alternative<Tile>(plan.family) ||
         std::holds_alternative<Sheared>(plan.family) || std::holds_alternative<Box>(plan.family);
}

}  // namespace

std::optional<Plan> plan_sliced(const Fused& op, const formula::Analysis& analysis,
                                const Plan& plan, std::vector<formula::Analysis>* of_parts) {
  const auto* const rows = std::get_if<Rows>(&plan.family);
  if (rows == nullptr || rows->splits > 1 || !gains(plan, *rows) ||
      std::ranges::any_of(plan.operands, [](const Operand& o) { return o.read && o.written; }))
    return std::nullopt;
  auto split = unroll_reductions(op, analysis, Outputs::sliced);
  if (!split) return std::nullopt;
  std::vector<formula::Analysis> parts;
  Plan sliced = plan_parts(op, analysis, plan.target, *std::move(split), &parts);
  if (!reorders(std::get<Several>(sliced.family).parts.front())) return std::nullopt;
  if (of_parts != nullptr) std::ranges::move(parts, std::back_inserter(*of_parts));
  return sliced;
}

}  // namespace tilejit::plan
