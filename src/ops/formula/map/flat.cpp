#include "map/flat.hpp"

#include <algorithm>

#include "box/requests.hpp"
#include "plan/launch_shape.hpp"
#include "plan/vectors.hpp"

namespace tilejit::plan {
namespace {

constexpr std::int64_t kLeastRepeats = 4;
constexpr int kNarrowAccess = 8;  // bytes
// If large inputs are read element by element, of wide elements' maps nothing is gained, and wider
// vectors of others leave less of the L1 cache to each other.
constexpr int kVectorWithLarge = 4, kMostBytesWithLarge = 2;
constexpr std::int64_t kLeastWithLarge = 1 << 18;              // elements
constexpr std::size_t kMostLeaves = 2;                         // of a large input: a division each
constexpr std::int64_t kMostElements = std::int64_t{1} << 31;  // numbered by 32 bits

bool is_known(const OperandMode& leaves) {
  return leaves.size() == 1 && leaves[0].stride.is_known();
}

bool is_narrow(const Plan& plan) {
  int bytes = 0;
  for (const Operand& operand : plan.operands) {
    if (operand.reach == Reach::contiguous)
      bytes = std::max(bytes, plan.vector * size_bytes(operand.dtype));
  }
  return bytes < kNarrowAccess;
}

bool can_be_flat(const Plan& plan) {
  const auto* const map = std::get_if<Map>(&plan.family);
  if (map == nullptr || map->light || plan.peeled || !plan.places.empty() || !is_narrow(plan))
    return false;
  if (plan.extents.size() == 1 || !std::ranges::all_of(plan.extents, &Dim::is_known)) return false;
  std::int64_t elements = 1;
  for (const Dim& extent : plan.extents) {
    if (__builtin_mul_overflow(elements, extent.value(), &elements)) return false;
  }
  return elements < kMostElements && std::ranges::all_of(plan.operands, [](const Operand& operand) {
           return std::ranges::all_of(operand.modes, is_known) &&
                  (!operand.written || operand.reach == Reach::contiguous);
         });
}

/// The operand's share of the first `count` modes as one mode.
OperandMode merged(const Operand& operand, std::size_t count, const std::vector<Dim>& extents) {
  OperandMode leaves;
  for (std::size_t m = 0; m < count; ++m) {
    const Mode next{extents[m], operand.modes[m][0].stride};
    const bool goes_on = !leaves.empty() && next.stride.value() == leaves.back().stride.value() *
                                                                       leaves.back().extent.value();
    if (goes_on) {
      leaves.back().extent = leaves.back().extent * next.extent;
    } else {
      leaves.push_back(next);
    }
  }
  return leaves;
}

/// Whether the operand is so much smaller than the space that the L1 cache has what neighbours
/// read.
bool repeats(const Operand& operand, const std::vector<Dim>& extents) {
  std::int64_t times = 1;
  for (std::size_t m = 0; m < extents.size(); ++m) {
    if (operand.modes[m][0].stride.is(0)) times *= extents[m].value();
  }
  return times >= kLeastRepeats;
}

/// The plan with its first `count` modes as one; nothing if an output does not go on.
std::optional<Plan> with_merged(const Plan& plan, std::size_t count) {
  Plan flat = plan;
  std::get<Map>(flat.family).flat = true;
  flat.extents.front() = 1;
  for (std::size_t m = 0; m < count; ++m) {
    flat.extents.front() = flat.extents.front() * plan.extents[m];
  }
  const auto merged_end = static_cast<std::ptrdiff_t>(count);
  flat.extents.erase(flat.extents.begin() + 1, flat.extents.begin() + merged_end);
  for (std::size_t k = 0; k < flat.operands.size(); ++k) {
    Operand& operand = flat.operands[k];
    operand.modes.front() = merged(operand, count, plan.extents);
    operand.modes.erase(operand.modes.begin() + 1, operand.modes.begin() + merged_end);
    if (operand.modes.front().size() == 1) continue;
    if (operand.written) return std::nullopt;
    operand.reach = Reach::strided;
  }
  return flat;
}

/// Whether the modes that `flat` has merged are not one in an input that does not repeat.
bool breaks_large(const Plan& plan, const Plan& flat) {
  for (std::size_t k = 0; k < plan.operands.size(); ++k) {
    const bool breaks = flat.operands[k].modes.front().size() > 1;
    if (breaks && !repeats(plan.operands[k], plan.extents)) return true;
  }
  return false;
}

/// Whether it pays to read large inputs element by element.
bool gains_with_large(const Plan& plan, const Plan& flat) {
  int widest = 0;
  for (const Operand& operand : plan.operands) {
    if (operand.reach == Reach::contiguous && !repeats(operand, plan.extents))
      widest = std::max(widest, size_bytes(operand.dtype));
  }
  std::int64_t elements = 1;
  for (const Dim& extent : plan.extents) elements *= extent.value();
  const bool few_leaves = std::ranges::none_of(flat.operands, [&](const Operand& operand) {
    return operand.modes.front().size() > kMostLeaves && !plan::repeats(operand);
  });
  return few_leaves && widest <= kMostBytesWithLarge && elements >= kLeastWithLarge &&
         plan.vector < kVectorWithLarge && flat.vector >= kVectorWithLarge;
}

}  // namespace

std::optional<Plan> flattened(const Fused& op, const formula::Analysis& analysis,
                              const Plan& plan) {
  if (op.tuning.vector || !can_be_flat(plan)) return std::nullopt;
  std::optional<Plan> best, with_large;
  for (std::size_t count = 2; count <= plan.extents.size(); ++count) {
    std::optional<Plan> flat = with_merged(plan, count);
    if (!flat) break;
    choose_vector(op, analysis, std::nullopt, false, *flat);
    if (flat->peeled) continue;
    if (breaks_large(plan, *flat)) {
      if (gains_with_large(plan, *flat))
        with_large = with_vector(*std::move(flat), kVectorWithLarge);
    } else if (flat->vector > (best ? best->vector : plan.vector)) {
      best = std::move(flat);
    }
  }
  const auto chosen = [&](std::optional<Plan> flat) {
    std::get<Map>(flat->family).choose_launch(*flat, op.tuning);
    return flat;
  };
  if (best) best = chosen(std::move(best));
  if (best && cycles_per_element(*best) < cycles_per_element(plan)) return best;
  if (with_large) return chosen(std::move(with_large));
  return std::nullopt;
}

}  // namespace tilejit::plan
