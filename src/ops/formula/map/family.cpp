#include "map/family.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/integer.hpp"
#include "core/json_line.hpp"
#include "device/access.hpp"
#include "device/scale.hpp"
#include "plan/launch_shape.hpp"
#include "plan/sectors.hpp"

namespace tilejit::plan {
namespace {

constexpr int kThreads = 256;            // per block
constexpr int kBytesOfBlock = 8 * 1024;  // that it reads and writes: more gain no more
// The same of blocks of half the threads, which the device still starts as fast as memory is.
constexpr int kBytesOfHalf = 4 * 1024;
// Threads that a heavy formula should have before each takes several vectors.
constexpr std::int64_t kThreadsOfHeavy = 4 * device::kThreadsAtOnce;
constexpr std::int64_t kHeavyWeight = 32;   // expr::weight of a thread
constexpr std::int64_t kHeavyElement = 24;  // of an element: three functions
constexpr int kBytesOfHeavy = 12;           // that are under way while a thread computes these
constexpr std::int64_t kLightWeight = 8;    // of an element, whose formula calls no function
// Of loads: of 32 registers, as many as each has if all threads are resident at once.
constexpr int kBytesOfResident = 20 * 4;
constexpr int kMostVectors = 8;                    // of a thread
constexpr double kBytesBetween = double{6 << 20};  // after which sectors are no longer in L1 caches
constexpr std::int64_t kFewRead = std::int64_t{4} << 20;  // bytes, of which L2 caches have all
constexpr std::int64_t kManyWritten = std::int64_t{32} << 20;

/// Bytes that a thread reads and writes with a vector, without those that caches have.
int bytes_of_vector(const Plan& plan) {
  int bytes = 0;
  for (const Operand& operand : plan.operands) {
    const int times = (operand.read ? 1 : 0) + (operand.written ? 1 : 0);
    if (operand.reach == Reach::contiguous && !repeats(operand))
      bytes += times * plan.vector * size_bytes(operand.dtype);
  }
  return bytes;
}

/// Bytes that memory reads, in whole bursts, of an element of an input with gaps.
double bytes_with_gaps(const Operand& operand) {
  Steps steps;
  for (const OperandMode& leaves : operand.modes) {
    for (const Mode& leaf : leaves) {
      if (!leaf.extent.is_known() || !leaf.stride.is_known()) return size_bytes(operand.dtype);
      if (leaf.extent.value() > 1) steps.emplace_back(leaf.stride.value(), leaf.extent.value());
    }
  }
  return bytes_in_units(std::move(steps), size_bytes(operand.dtype), device::kBurstBytes);
}

/// Bytes that pass through memory for a vector: what a thread reads and writes, and what lies
/// between in bursts.
int bytes_passed(const Plan& plan) {
  double bytes = 0;
  for (const Operand& operand : plan.operands) {
    if (repeats(operand)) continue;
    if (operand.read) bytes += plan.vector * bytes_with_gaps(operand);
    if (operand.written && operand.reach == Reach::contiguous)
      bytes += plan.vector * size_bytes(operand.dtype);
  }
  return static_cast<int>(bytes);
}

/// Threads of a block. Those at the ends of peeled rows take longer, and the block's other threads
/// leave their places to others only when it ends.
int threads_of(const Plan& plan) {
  const bool small = plan.peeled && bytes_of_vector(plan) * kThreads / 2 >= kBytesOfHalf;
  return small ? kThreads / 2 : kThreads;
}

/// Bytes of a tensor of known extents, without those that the operand repeats.
std::int64_t bytes_without_repeats(const Operand& operand) {
  std::int64_t elements = 1;
  for (const OperandMode& leaves : operand.modes) {
    for (const Mode& leaf : leaves) {
      if (!leaf.stride.is(0)) elements *= leaf.extent.value();
    }
  }
  return elements * size_bytes(operand.dtype);
}

/// Whether caches have all that is read, and much is written, so that no load is worth waiting for.
bool only_stores(const Plan& plan) {
  std::int64_t read = 0, written = 0;
  for (const Operand& operand : plan.operands) {
    const std::int64_t bytes = bytes_without_repeats(operand);
    if (operand.read) read += bytes;
    if (operand.written) written += bytes;
  }
  return read <= kFewRead && written >= kManyWritten;
}

/// Vectors of a thread: as many as its formula and registers allow, until a block moves enough
/// bytes; fewer if there is room on the device for more threads.
int unroll_of(const Plan& plan) {
  if (plan.peeled && std::ranges::any_of(plan.operands, &Operand::shifted)) return 1;
  const int bytes = bytes_passed(plan);
  int unroll = vectors_in_flight(plan);
  while (unroll > 1 && unroll / 2 * bytes * kThreads >= kBytesOfBlock) unroll /= 2;
  if (!std::ranges::all_of(plan.extents, &Dim::is_known)) return unroll;
  if (only_stores(plan)) return 1;
  const std::int64_t vectors = total_units(plan);
  while (unroll > 1 && vectors <= unroll / 2 * 2 * device::kThreadsAtOnce) unroll /= 2;
  return unroll;
}

/// Whether the operand's neighbours along a mode lie between those along mode 0, which is `inner`,
/// and several in a sector.
bool lies_within(const Operand& operand, const Mode& mode, const Mode& inner) {
  if (!mode.stride.is_known() || !inner.stride.is_known()) return false;
  const std::int64_t step = mode.stride.value();
  return step > 0 && step * size_bytes(operand.dtype) < device::kSectorBytes &&
         step * mode.extent.value() <= inner.stride.value();
}

/// The mode along which vectors are counted first: 0, unless the neighbours along another mode lie
/// between those along mode 0 in an input's sectors, and caches have lost these by the time that
/// the mode's next coordinate comes.
std::size_t first_of(const Plan& plan) {
  if (plan.peeled || !std::ranges::all_of(plan.extents, &Dim::is_known)) return 0;
  double bytes = 0;  // that pass through the caches, per coordinate of all modes
  for (const Operand& operand : plan.operands) {
    if (repeats(operand)) continue;
    bytes += operand.reach == Reach::strided ? device::kSectorBytes : size_bytes(operand.dtype);
  }
  for (const Operand& operand : plan.operands) {
    const OperandMode& inner = operand.modes.front();
    if (!operand.read || operand.reach != Reach::strided || inner.size() != 1) continue;
    double between = bytes;  // two coordinates of mode m
    for (std::size_t m = 1; m < plan.extents.size(); ++m) {
      between *= static_cast<double>(plan.extents[m - 1].value());
      const OperandMode& leaves = operand.modes[m];
      if (leaves.size() == 1 && lies_within(operand, leaves[0], inner[0]) &&
          between >= kBytesBetween)
        return m;
    }
  }
  return 0;
}

}  // namespace

void spread_heavy(Plan& plan) {
  if (!std::ranges::all_of(plan.extents, &Dim::is_known)) return;
  const std::int64_t vectors = total_units(plan), weight = expr::weight(plan.program);
  const auto is_enough = [&](int unroll) {
    return weight > kHeavyElement && unroll * bytes_of_loads(plan) >= kBytesOfHeavy;
  };
  const auto are_few = [&] {
    return plan.unroll * plan.vector * weight > kHeavyWeight &&
           vectors < plan.unroll * kThreadsOfHeavy;
  };
  while (plan.unroll > 1 && (is_enough(plan.unroll / 2) || are_few())) plan.unroll /= 2;
}

void gather_light(Plan& plan) {
  if (plan.ragged || expr::weight(plan.program) > kLightWeight ||
      !std::ranges::all_of(plan.extents, &Dim::is_known))
    return;
  const std::int64_t vectors = total_units(plan), threads = plan.threads,
                     resident =
                         device::kMultiprocessors * (device::kThreadsOfMultiprocessor / threads);
  int unroll = plan.unroll;
  const auto fits = [&] { return core::ceil_div(vectors, threads * unroll) <= resident; };
  while (!fits() && unroll < kMostVectors) unroll *= 2;
  if (fits() && unroll * bytes_of_loads(plan) <= kBytesOfResident) plan.unroll = unroll;
}

void load_repeated_by_elements(Plan& plan) {
  if (!plan.peeled || !std::holds_alternative<Map>(plan.family)) return;
  for (Operand& operand : plan.operands) {
    const int bytes = size_bytes(operand.dtype);
    if (!operand.shifted || !repeats(operand) || bytes < device::kLargeElement) continue;
    operand.shifted = false;
    operand.reach = Reach::strided;
    operand.access_bytes = bytes;
  }
}

std::vector<std::size_t> order_of_vectors(const Plan& plan) {
  std::vector<std::size_t> order(plan.extents.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::size_t first = std::get<Map>(plan.family).first;
  std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(first),
              order.begin() + static_cast<std::ptrdiff_t>(first) + 1);
  return order;
}

std::vector<bool> same_in_vectors(const Plan& plan) {
  const std::vector<expr::Node>& nodes = plan.program.nodes;
  std::vector<bool> same(nodes.size()), differs(nodes.size()), used(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const expr::Node& node = nodes[i];
    bool made_of_inputs = false;
    differs[i] = node.op == expr::Op::index;
    if (node.op == expr::Op::load) {
      const Operand& operand = plan.operands[static_cast<std::size_t>(node.source)];
      made_of_inputs = operand.reach == Reach::broadcast;
      differs[i] = !made_of_inputs;
    }
    for (const expr::NodeId arg : node.args) {
      if (arg == expr::kNoNode) continue;
      const auto a = static_cast<std::size_t>(arg);
      made_of_inputs = made_of_inputs || same[a];
      differs[i] = differs[i] || differs[a];
      used[a] = true;
    }
    same[i] = made_of_inputs && !differs[i];
  }
  for (std::size_t i = 0; i < nodes.size(); ++i)
    same[i] = same[i] && (used[i] || nodes[i].op != expr::Op::cast);
  return same;
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
  first = flat ? 0 : first_of(plan);
  plan.unroll = tuning.unroll.value_or(unroll_of(plan));
  plan.threads = tuning.threads.value_or(threads_of(plan));
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
  if (first != 0) line.member("first", static_cast<int>(first));
}

}  // namespace tilejit::plan
