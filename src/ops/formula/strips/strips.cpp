// Odd columns that several passes read, in strips that go through shared memory.
#include <algorithm>

#include "core/integer.hpp"
#include "device/access.hpp"
#include "device/device.hpp"
#include "device/scale.hpp"
#include "plan/plan.hpp"
#include "plan/sectors.hpp"
#include "rows/rows.hpp"
#include "strips/strips.hpp"

namespace tilejit::plan {
namespace {

using core::ceil_div;

constexpr int kThreads = 512;
constexpr int kWarps = kThreads / kWarp;
constexpr int kMostElements = 8;  // of a vector
constexpr int kLeastSteps = 8;    // of a lane
constexpr int kMostSteps = 16;
constexpr int kHeldBytes = 256;      // of a lane in registers, half of it beside wide vectors
constexpr int kBytesBesides = 1024;  // of shared memory, for each block
constexpr int kNarrowestCopy = 4;    // of cp.async, in bytes
constexpr double kLeastBusy = 0.75;  // of the lanes, and of the clusters

/// Whether all operands are laid out alike, in memory that is aligned to 16 bytes.
bool are_alike(const Plan& plan, const Rows& rows) {
  const Operand& first = plan.operands.front();
  return std::ranges::all_of(plan.operands, [&](const Operand& operand) {
    const Tensor& tensor = plan.signature.tensors[static_cast<std::size_t>(operand.tensor)];
    return spans_space(operand, rows) && operand.reach == Reach::contiguous &&
           operand.modes == first.modes && tensor.align % device::kWidestAccess == 0;
  });
}

/// Whether rows of a large output begin anywhere within vectors.
bool are_odd(const Plan& plan, const Rows& rows) {
  return std::ranges::any_of(plan.operands, [&](const Operand& operand) {
    const OperandMode& along = operand.modes[rows.first];
    return operand.written && along.size() == 1 && cuts_sectors(plan, operand) &&
           along[0].stride.value() * size_bytes(operand.dtype) % device::kWidestAccess != 0;
  });
}

/// Columns of a strip that fill lanes, and clusters that run at once.
int columns_of(const Plan& plan, std::int64_t others, std::int64_t at_once) {
  const std::int64_t extent = plan.extents.front().value();
  const std::int64_t widest =
      std::int64_t{kWarp} * plan.vector - (plan.vector - 1) - (columns_of_sector(plan) - 1);
  const std::int64_t parts = ceil_div(extent, widest);
  const std::int64_t count = parts * others, turns = ceil_div(count, at_once);
  const std::int64_t columns = ceil_div(extent, parts);
  const auto busy = [](std::int64_t some, std::int64_t all) {
    return static_cast<double>(some) >= kLeastBusy * static_cast<double>(all);
  };
  return busy(columns, widest) && busy(count, turns * at_once) ? static_cast<int>(columns) : 0;
}

/// `plan` with vectors of 16 bytes of the widest elements, for blocks of kThreads; nothing if
/// copies of the narrowest ones would be of less than 4 bytes.
std::optional<Plan> with_whole_vectors(const Plan& plan) {
  int widest = 1, narrowest = device::kWidestAccess;
  for (const Operand& operand : plan.operands) {
    widest = std::max(widest, size_bytes(operand.dtype));
    narrowest = std::min(narrowest, size_bytes(operand.dtype));
  }
  Plan found = plan;
  found.vector = found.unroll = std::min(kMostElements, device::kWidestAccess / widest);
  if (found.vector * narrowest < kNarrowestCopy) return std::nullopt;
  found.threads = kThreads;
  found.ragged = found.peeled = false;
  for (Operand& operand : found.operands) {
    operand.shifted = false;
    operand.access_bytes = found.vector * size_bytes(operand.dtype);
  }
  return found;
}

/// Shares columns of `length` among the warps of a cluster. Returns false if a lane would have too
/// few or too many elements of each.
bool share_columns(std::int64_t length, Strips& strips) {
  strips.row_threads = kWarps;
  strips.splits = strips.alike = 1;
  strips.abreast = strips.atomics = false;
  strips.ahead = true;
  strips.cluster = 2;
  while (strips.cluster < device::kMaxCluster && length > strips.cluster * kWarps * kMostSteps)
    strips.cluster *= 2;
  strips.register_vectors =
      static_cast<int>(ceil_div(length, std::int64_t{strips.cluster} * kWarps));
  return strips.register_vectors >= kLeastSteps && strips.register_vectors <= kMostSteps;
}

}  // namespace

int columns_of_sector(const Plan& plan) {
  int columns = 1;
  for (const Operand& operand : plan.operands) {
    if (operand.written)
      columns = std::max(columns, device::kSectorBytes / size_bytes(operand.dtype));
  }
  return columns;
}

std::int64_t held_place(const Plan& plan, const Strips& strips, const Operand& operand) {
  std::int64_t bytes = 0;
  for (const Operand& before : plan.operands) {
    if (before.tensor == operand.tensor) break;
    if (before.read) bytes += plan.vector * size_bytes(before.dtype);
  }
  return bytes * strips.register_vectors * plan.threads;
}

std::int64_t held_bytes(const Plan& plan, const Strips& strips) {
  std::int64_t bytes = 0;
  for (const Operand& operand : plan.operands) {
    if (operand.read) bytes += plan.vector * size_bytes(operand.dtype);
  }
  return bytes * strips.register_vectors * plan.threads;
}

std::int64_t exchanged_bytes(const Plan& plan, const Strips& strips) {
  const std::int64_t slots = kWarp * plan.vector, padded = slots + kWarp;
  const std::int64_t values =
      padded * (strips.row_threads + 1) + (strips.cluster > 1 ? 2 * strips.cluster * slots : 0);
  constexpr std::int64_t kBarriers = 32;
  return values * accumulator_bytes(plan) + kBarriers;
}

std::int64_t strip_bytes(const Plan& plan, const Strips& strips) {
  return held_bytes(plan, strips) + exchanged_bytes(plan, strips);
}

std::optional<Plan> plan_by_strips(const Plan& plan) {
  const auto* const rows = std::get_if<Rows>(&plan.family);
  if (rows == nullptr || plan.target.major < 9 || rows->along() || rows->count != 1 ||
      rows->register_vectors == 0 || rows->cluster == 1 || !plan.places.empty() ||
      !std::ranges::all_of(plan.extents, &Dim::is_known))
    return std::nullopt;
  if (!are_alike(plan, *rows) || !are_odd(plan, *rows)) return std::nullopt;
  std::optional<Plan> found = with_whole_vectors(plan);
  if (!found) return std::nullopt;
  Strips strips{*rows};
  if (!share_columns(plan.extents[rows->first].value(), strips)) return std::nullopt;
  std::int64_t others = 1;
  for (std::size_t m = 1; m < plan.extents.size(); ++m) {
    if (!rows->reduces(m)) others *= plan.extents[m].value();
  }
  const device::Device& device = device::device_of(plan.target);
  strips.columns = columns_of(*found, others, device.multiprocessors / strips.cluster);
  if (strips.columns == 0 || strip_bytes(*found, strips) + kBytesBesides > device.shared_bytes)
    return std::nullopt;
  const std::int64_t bytes = held_bytes(*found, strips) / (kThreads * strips.register_vectors);
  const int room = found->vector < kMostElements ? kHeldBytes : kHeldBytes / 2;
  strips.held = static_cast<int>(std::min<std::int64_t>(strips.register_vectors, room / bytes));
  found->family = strips;
  return found;
}

}  // namespace tilejit::plan
