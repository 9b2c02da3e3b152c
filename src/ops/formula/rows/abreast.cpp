// Rows of several modes that begin with a short run of neighbours: which threads share them.
#include <algorithm>
#include <bit>

#include "core/integer.hpp"
#include "device/access.hpp"
#include "device/scale.hpp"
#include "rows/row_shape.hpp"
#include "rows/row_threads.hpp"
#include "rows/rows.hpp"

namespace tilejit::plan {
namespace {

using core::ceil_div;
using core::power_of_two_from;

constexpr int kMostThreads = 512;  // of a block
// Rows side by side, of those that are held: four, or more of them until they have so many bytes,
// twice as many if these are no whole sectors and the device is full: fewer of their sectors are
// another block's, too.
constexpr int kFewRows = 4, kFewBytes = 48;
constexpr int kNarrowAccess = 2;        // bytes
constexpr int kMostBlocks = 8;          // of a cluster
constexpr int kRegistersOfThread = 16;  // that hold vectors, if rows are many

/// Bytes of the run with which a row begins, if the next row's run follows it in memory in every
/// operand that varies along it; else 0.
std::int64_t bytes_of_run(const Plan& plan, const Rows& rows) {
  if (rows.count < 2 || rows.count == plan.extents.size() || !plan.extents[0].is_known()) return 0;
  std::int64_t bytes = 0;
  for (const Operand& operand : plan.operands) {
    if (!spans_rows(operand, rows) || operand.every_row) continue;
    if (operand.reach != Reach::contiguous || !next_run_follows(plan, rows, operand)) return 0;
    bytes = std::max(bytes, plan.extents[0].value() * size_bytes(operand.dtype));
  }
  return bytes;
}

}  // namespace

std::optional<RowShape> shape_abreast(const Plan& plan, Rows rows, std::int64_t most_held) {
  const auto count = vectors_across_rows(plan, rows), vectors = vectors_in_row(plan, rows);
  if (!count || !vectors || plan.peeled) return std::nullopt;
  const std::int64_t run = bytes_of_run(plan, rows);
  if (run == 0 || run >= 2 * device::kSectorBytes) return std::nullopt;
  const int registers = registers_of_vector(plan, rows);
  const int most_blocks = plan.target.major >= 9 ? kMostBlocks : 1;
  rows.abreast = true;
  const auto share = [&](int side, int threads) {
    const std::int64_t wanted = ceil_div(*vectors * registers, std::int64_t{kRegistersOfThread});
    rows.row_threads = std::min(threads / side, power_of_two_from(wanted));
    while (2 * rows.row_threads <= std::min<std::int64_t>(threads / side, *vectors) &&
           *count * rows.row_threads < device::kThreadsAtOnce)
      rows.row_threads *= 2;
  };
  const auto side_by_side = [&](int bytes) {
    return power_of_two_from(
        std::min({ceil_div(std::int64_t{bytes}, run), *count, std::int64_t{kWarp}}));
  };
  // Of few elements, the blocks of a cluster take longer to wait for each other than to load
  // theirs.
  const bool tiny = *count * *vectors <= device::kThreadsAtOnce / 4;
  const auto holds = [&](int side, int threads, int most, int most_of_cluster) {
    share(side, threads);
    const std::int64_t blocks = ceil_div(*count, side);
    if (blocks * most_blocks < device::kManyBlocks) return false;
    for (rows.cluster = 1; rows.cluster <= most_of_cluster; rows.cluster *= 2) {
      const std::int64_t steps = ceil_div(*vectors, threads_of_row(rows));
      rows.register_vectors = static_cast<int>(steps);
      const bool many = tiny || blocks * rows.cluster >= device::kManyBlocks;
      if (many && steps * registers <= most && steps <= most_held) return true;
    }
    return false;
  };
  // A warp that has enough rows anyway accesses fewer sectors if a row's threads are neighbours.
  const std::int64_t of_run = plan.extents[0].value() / plan.vector;  // vectors
  const auto shape_of = [&](int side) {
    const int threads = rows.row_threads * side;
    rows.abreast = threads > kWarp || rows.row_threads > of_run || rows.cluster > 1;
    return RowShape{rows, threads};
  };
  // Blocks wait for their rows together: small ones, with a few rows each, wait for less.
  const int few = std::max(side_by_side(kFewBytes), std::min(kFewRows, power_of_two_from(*count)));
  const bool are_whole = few * run % device::kSectorBytes == 0;
  const int many = are_whole ? few : std::max(few, side_by_side(2 * kFewBytes));
  const auto held = [&]() -> std::optional<RowShape> {
    // A block of twice as many threads waits for less than two blocks of a cluster.
    for (const int threads : {kMostThreads / 2, kMostThreads}) {
      for (const int side : {many, few}) {
        if (!holds(side, threads, kFewRegisters, 1)) continue;
        const bool full = *count * rows.row_threads >= device::kThreadsAtOnce;
        if (full || side == few) return shape_of(side);
      }
    }
    for (const int most : {kFewRegisters, kManyRegisters}) {
      for (const int threads : {kMostThreads / 2, kMostThreads}) {
        for (const int side : {few, side_by_side(device::kSectorBytes)})
          if (holds(side, threads, most, most_blocks)) return shape_of(side);
      }
    }
    return std::nullopt;
  };
  if (!is_one_pass(plan)) return held();
  // Centres take longer to exchange than a second pass over registers.
  if (has_centres(plan)) {
    if (const auto shape = held()) return shape;
    rows.cluster = 1;
    rows.register_vectors = 0;
  }
  if (tiny) return std::nullopt;  // all is in caches, and other rows only keep a block waiting
  const int side = side_by_side(device::kLineBytes);
  share(side, kMostThreads);
  share_among_blocks(plan, ceil_div(*count, side), rows.row_threads * side,
                     *vectors / rows.row_threads, rows);
  if (rows.splits > 1 && least_access(plan, rows) <= kNarrowAccess) rows.splits *= 2;
  return shape_of(side);
}

}  // namespace tilejit::plan
