#include "map/flat.hpp"

#include <algorithm>

#include "box/boxing.hpp"
#include "box/requests.hpp"
#include "device/scale.hpp"
#include "expr/traits.hpp"
#include "map/strided.hpp"
#include "plan/launch_shape.hpp"
#include "plan/vectors.hpp"

namespace tilejit::plan {
namespace {

constexpr std::int64_t kLeastRepeats = 4;
constexpr int kNarrowAccess = 8, kWord = 4;  // bytes
// If large inputs are read element by element, of wide elements' maps nothing is gained, and wider
// vectors of others leave less of the L1 cache to each other.
constexpr int kVectorWithLarge = 4, kMostBytesWithLarge = 2;
constexpr std::int64_t kWaves = 4;  // of threads; where these are fewer, all end together
constexpr std::int64_t kLeastWithLarge = 1 << 18;              // elements
constexpr std::size_t kMostLeaves = 2;                         // of a large input: a division each
constexpr std::int64_t kMostElements = std::int64_t{1} << 31;  // numbered by 32 bits
// A multiprocessor issues four instructions of warps in a cycle.
constexpr double kCyclesOfInstruction = 1.0 / (4 * 32);
constexpr int kInstructionsOfAccess = 3, kInstructionsOfVector = 25;
// Of a box that is walked in order, and for the conversion of elements of one or two bytes.
constexpr int kInstructionsOfElement = 6, kInstructionsOfNarrow = 3;
constexpr double kLess = 0.9;               // of these cycles, at most
constexpr double kHidden = 0.5;             // of memory's cycles: so many of these cost no time
constexpr double kLessByApproximation = 3;  // instructions of functions of two bytes

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

/// Whether the map reads words of a large input, of which a flat one would read each element by a
/// request of its own, and requests count: blocks follow each other.
bool parts_words(const Plan& plan, const Plan& flat, std::int64_t elements) {
  for (std::size_t k = 0; k < plan.operands.size(); ++k) {
    const Operand& operand = plan.operands[k];
    if (flat.operands[k].modes.front().size() > 1 && operand.reach == Reach::contiguous &&
        !plan::repeats(operand) && operand.access_bytes >= kWord)
      return elements > kVectorWithLarge * device::kMostThreadsAtOnce;
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
  return few_leaves && !parts_words(plan, flat, elements) && widest <= kMostBytesWithLarge &&
         elements >= kLeastWithLarge && plan.vector < std::min(flat.vector, kVectorWithLarge);
}

/// Cycles per element to issue the accesses of vectors. What else an element of a flat map's input
/// takes is counted with its numbers.
double cycles_of_accesses(const Plan& plan) {
  int instructions = 0;
  for (const Operand& operand : plan.operands) {
    const int accesses = operand.reach == Reach::contiguous
                             ? plan.vector * size_bytes(operand.dtype) / operand.access_bytes
                         : operand.reach == Reach::broadcast ? 1
                                                             : plan.vector;
    const bool gathered = operand.modes.front().size() > 1;
    instructions += gathered ? plan.vector : kInstructionsOfAccess * accesses;
  }
  return kCyclesOfInstruction * instructions / plan.vector;
}

double cycles_of(const Plan& plan) {
  return cycles_per_element(plan) + cycles_of_numbers(plan) + cycles_of_accesses(plan);
}

/// Cycles per element to issue what a map does beside its formula.
double cycles_of_vectors(const Plan& plan) {
  return cycles_of_numbers(plan) + cycles_of_accesses(plan) +
         kInstructionsOfVector * kCyclesOfInstruction / plan.vector;
}

/// Whether a flat map has fewer instructions, and these count: memory hides its requests, and does
/// not hide the other map's instructions, which is so while threads follow each other.
bool is_issued_faster(const Plan& plan, const Plan& flat) {
  const double formula = cycles_of_formula(plan), memory = cycles_of_memory(plan),
               issued = formula + cycles_of_vectors(plan);
  return total_units(flat) >= kWaves * device::kMostThreadsAtOnce &&
         cycles_per_element(flat) < memory && issued > kHidden * memory &&
         formula + cycles_of_vectors(flat) < kLess * issued;
}

/// Whether boxes in the outputs' order take the map, and their instructions less time than those of
/// a flat one, which memory does not hide.
bool is_faster_in_order(const Plan& plan, const Plan& flat) {
  if (!plan_by_boxes_in_order(plan)) return false;
  const double formula = cycles_of_formula(plan), memory = cycles_of_memory(plan);
  const double vectors = cycles_of_vectors(flat);
  const auto narrow = std::ranges::count_if(plan.operands, [](const Operand& operand) {
    return size_bytes(operand.dtype) <= kMostBytesWithLarge;
  });
  const double elements =
      static_cast<double>(kInstructionsOfElement + kInstructionsOfNarrow * narrow) *
      kCyclesOfInstruction;
  return std::max(memory, formula + elements) < kLess * std::max(memory, formula + vectors);
}

}  // namespace

double cycles_of_formula(const Plan& plan) {
  double instructions = 0;
  for (const expr::Node& node : plan.program.nodes) {
    const expr::Traits& traits = expr::traits(node.op);
    const double own = traits.cost.plain + traits.cost.special;
    instructions += expr::approximation(node).empty() ? own : own / kLessByApproximation;
  }
  return kCyclesOfInstruction * instructions;
}

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
        with_large = with_vector(*flat, std::min(flat->vector, kVectorWithLarge));
    } else if (flat->vector > (best ? best->vector : plan.vector)) {
      best = std::move(flat);
    }
  }
  const auto chosen = [&](std::optional<Plan> flat) {
    std::get<Map>(flat->family).choose_launch(*flat, op.tuning);
    return flat;
  };
  if (best) best = chosen(std::move(best));
  if (best && cycles_of(*best) < cycles_of(plan))
    return is_faster_in_order(plan, *best) ? std::nullopt : best;
  if (best && is_issued_faster(plan, *best) && !plan_by_boxes_in_order(plan)) return best;
  if (with_large) return chosen(std::move(with_large));
  return std::nullopt;
}

}  // namespace tilejit::plan
