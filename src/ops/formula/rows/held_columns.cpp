// How threads share columns that they hold: each thread has a part of a column in registers, so
// that several passes read memory once.
#include <algorithm>
#include <bit>
#include <cstdlib>

#include "core/integer.hpp"
#include "device/access.hpp"
#include "device/scale.hpp"
#include "rows/column_shape.hpp"
#include "rows/crossed.hpp"
#include "rows/row_shape.hpp"
#include "rows/row_threads.hpp"
#include "rows/rows.hpp"
#include "rows/turned.hpp"
#include "rows/turned_inputs.hpp"

namespace tilejit::plan {
namespace {

using core::ceil_div;
using core::power_of_two_from;

constexpr int kThreadsOfLine = 1024;  // of a cluster's strip of large elements, for a whole line
constexpr std::int64_t kNearBytes = 4 * device::kLineBytes;
constexpr int kMostOfStrip = 4;            // blocks of a cluster, if strips can be narrower
constexpr std::int64_t kFewOfIdle = 4;     // the same if few threads have any
constexpr std::int64_t kFewHeld = 32;      // the same in large blocks of a cluster
constexpr std::int64_t kMostAlone = 12;    // elements of a full device's threads
constexpr std::int64_t kLongTurned = 512;  // elements of a column whose outputs lanes store

/// Whether lanes down long columns, in strips that are one sector wide, store runs of the outputs
/// that lie along these: turned ones would have blocks of a cluster wait once more.
bool lanes_store_runs(const Plan& plan, const Rows& rows) {
  if (vectors_in_row(plan, rows).value_or(0) < kLongTurned) return false;
  const int lanes = kWarp / std::max(1, device::kSectorBytes / bytes_of_vector(plan, rows));
  return std::ranges::any_of(plan.operands, [&](const Operand& operand) {
    return is_turned(plan, rows, operand) && lanes * size_bytes(operand.dtype) >= kRunOfLanes;
  });
}

/// Whether the sectors of an operand lie along the row, not across rows: threads of a warp then
/// access whole ones if they have neighbours along the row.
bool lies_along(const Plan& plan, const Rows& rows) {
  const bool by_lanes = lanes_store_runs(plan, rows);
  return std::ranges::any_of(plan.operands, [&](const Operand& operand) {
    const OperandMode &along = operand.modes[rows.first], &across = operand.modes[0];
    if (along.size() != 1 || across.size() != 1 || is_turned_input(plan, rows, operand))
      return false;
    if (operand.written) {
      return !operand.per_row && along[0].stride.is(1) &&
             (by_lanes || !is_turned(plan, rows, operand));
    }
    const Dim &near = along[0].stride, &far = across[0].stride;
    const std::int64_t bytes = size_bytes(operand.dtype);
    return near.is_known() && far.is_known() && near.value() > 0 &&
           2 * near.value() * bytes <= device::kSectorBytes &&
           far.value() * bytes >= device::kSectorBytes;
  });
}

/// Whether all outputs with an element for each one of a column lie along these: blocks store runs
/// of a column, however few columns they have. Lanes would store short ones of single large
/// elements if they had few columns.
bool stores_turned(const Plan& plan, const Rows& rows) {
  return writes_elements(plan) && std::ranges::all_of(plan.operands, [&](const Operand& operand) {
           return !operand.written || operand.per_row ||
                  (is_turned(plan, rows, operand) &&
                   (plan.vector > 1 || size_bytes(operand.dtype) < kNarrowestAccess));
         });
}

/// Bytes from an element of a column to its next one, the most of all operands; nothing if a column
/// has several modes, or if strides are unknown.
std::optional<std::int64_t> bytes_down(const Plan& plan, const Rows& rows) {
  std::int64_t most = 0;
  for (const Operand& operand : plan.operands) {
    const OperandMode& along = operand.modes[rows.first];
    if (operand.per_row || operand.reach != Reach::contiguous || !varies_in_row(operand, rows))
      continue;
    if (rows.count > 1 || along.size() != 1 || !along[0].stride.is_known()) return std::nullopt;
    most = std::max(most, std::abs(along[0].stride.value()) * size_bytes(operand.dtype));
  }
  return most > 0 ? std::optional(most) : std::nullopt;
}

/// How columns that threads hold are shared: by `sharing` threads of one or more blocks, and
/// `strip` vectors side by side.
struct Sharing {
  std::int64_t sharing = 1;
  int strip = 1;
  [[nodiscard]] std::int64_t threads() const { return sharing * strip; }
};

/// Strips are lines. They are narrower, half lines, or sectors if columns are few, if blocks or
/// clusters would not hold them, or if the threads of large blocks of a cluster would hold many
/// vectors. Where outputs lie along the row they are sectors, and threads many.
std::optional<Sharing> share_held(const Plan& plan, const Rows& rows, std::int64_t length,
                                  std::int64_t count, std::int64_t most) {
  const bool along = lies_along(plan, rows);
  const int bytes = bytes_of_vector(plan, rows);
  const auto vectors_of = [&](int all) { return std::clamp(all / bytes, 1, kWarp); };
  const std::int64_t blocks = plan.target.major >= 9 ? device::kMaxCluster : 1,
                     few = kFewHeld / plan.vector;
  if (const std::int64_t columns = columns_of_sectors(plan, rows); columns > kWarp) {
    Sharing crossed{
        power_of_two_from(ceil_div(length, most)),
        std::min(kThreadsAcross,
                 static_cast<int>(std::bit_floor(static_cast<std::uint64_t>(columns))))};
    if (has_crossed_columns(plan, rows)) {
      crossed.strip = std::max(crossed.strip / plan.vector, 1);
      if (crossed.strip <= kThreadsOfStrip && crossed.threads() <= kThreadsAcross * blocks)
        return crossed;
    }
    while (crossed.strip > kWarp && crossed.threads() > kThreadsAcross) crossed.strip /= 2;
    if (crossed.threads() <= kThreadsAcross) return crossed;
  }
  const int side = groups_side_by_side(plan, rows);
  const bool turned = stores_turned(plan, rows);
  const int widest = vectors_of(along || turned ? device::kSectorBytes : device::kLineBytes);
  Sharing chosen{power_of_two_from(ceil_div(length, most)), std::min(side, widest)};
  auto& [sharing, strip] = chosen;
  // A warp then has neighbours along the row, unless few lines have all that it reads.
  const auto down = bytes_down(plan, rows);
  const bool is_near = down && *down * length <= kNearBytes;
  const int wanted = along ? kThreadsOfShort : side < widest && !is_near ? kWarp : 1;
  while (sharing < length && chosen.threads() < wanted) sharing *= 2;
  const auto has_many = [&] {
    // Much of the device would be idle.
    const bool few =
        count * chosen.sharing < kFewThreads && 2 * chosen.threads() <= kThreadsOfStrip;
    if (is_near) return length > kFewOfIdle;
    return ceil_div(length, chosen.sharing) > (few ? kFewOfIdle : kFewOfThread);
  };
  while (2 * sharing < length && 2 * chosen.threads() <= kThreadsAcross * blocks && has_many() &&
         (is_near ? *down * sharing < device::kLineBytes || count * sharing < kFewThreads
                  : count * sharing < device::kThreadsAtOnce))
    sharing *= 2;
  // Single elements of two bytes: registers for as many threads again.
  const bool whole = sharing == 1 && length <= kFewHeld && registers_of_held(plan, rows) > 1;
  while (plan.vector == 1 && bytes < kNarrowestAccess && !whole &&
         2 * chosen.threads() <= kThreadsAcross && 2 * sharing < length && has_many() &&
         count * sharing < 2 * device::kThreadsAtOnce)
    sharing *= 2;
  // All threads of a multiprocessor would have more loads under way than it keeps up with.
  if (sharing == 1 && plan.vector == 1 && registers_of_held(plan, rows) == 1 && !along &&
      !is_near && writes_elements(plan) && length > kMostAlone && count >= device::kThreadsAtOnce)
    sharing = 2;
  if (count < kFewThreads && !along && takes_less_alone(plan, rows, length, sharing)) sharing = 1;
  const auto is_too_wide = [&] {
    const std::int64_t threads = chosen.threads();
    return threads > kThreadsAcross * blocks ||
           (threads > kThreadsAcross && count * chosen.sharing < 2 * device::kThreadsAtOnce) ||
           (threads > kThreadsOfStrip * blocks && length > few * chosen.sharing);
  };
  // The more blocks wait for each other, the longer. Of columns of bytes that leave only results,
  // they exchange about as much as they load.
  const bool small = bytes == plan.vector && !writes_elements(plan) && !is_heavy(plan, rows);
  const int most_threads = small ? kThreadsAcross : kMostOfStrip * kThreadsOfStrip;
  while (strip * plan.vector > kWarp && chosen.threads() > most_threads) strip /= 2;
  const int least = count <= kLeastGroups
                        ? 1
                        : vectors_of(count * sharing < 8 * kFewThreads ? device::kSectorBytes
                                                                       : device::kLineBytes / 2);
  while (strip > least && is_too_wide()) {
    strip /= 2;
    if (length > few * sharing && 2 * chosen.threads() <= kThreadsAcross * blocks) sharing *= 2;
  }
  const auto turns = [&](const Operand& operand) { return is_turned(plan, rows, operand); };
  while (std::ranges::any_of(plan.operands, turns) && strip > vectors_of(device::kSectorBytes) &&
         chosen.threads() > kThreadsAcross * blocks)
    strip /= 2;
  // Narrow strips of few columns have room for more threads.
  while (count * sharing < kFewThreads && ceil_div(length, sharing) > kFewOfThread &&
         2 * chosen.threads() <= kThreadsAcross * blocks)
    sharing *= 2;
  if (chosen.threads() > kThreadsAcross * blocks) return std::nullopt;
  return chosen;
}

/// Threads of one block that hold more of odd columns each, in strips of 64 bytes, or of a sector
/// if that is too much: while blocks of a cluster wait for each other, multiprocessors are idle.
/// Nothing if strips are few, or if what is stored wants wide ones.
std::optional<Sharing> share_in_block(const Plan& plan, const Rows& rows, std::int64_t length,
                                      std::int64_t count) {
  if (plan.vector != 1 || writes_elements(plan) || lies_along(plan, rows) ||
      columns_of_sectors(plan, rows) > 0)
    return std::nullopt;
  const int bytes = bytes_of_vector(plan, rows), each = registers_of_held(plan, rows);
  // What heavy values take beside them would be spilled.
  const int most = is_heavy(plan, rows) ? kRegistersOfBlock / 2 : kRegistersOfBlock;
  for (const int wide : {2 * device::kSectorBytes, device::kSectorBytes}) {
    const Sharing chosen{std::int64_t{kThreadsAcross} * bytes / wide, wide / bytes};
    if (ceil_div(length, chosen.sharing) * each <= most &&
        ceil_div(count, chosen.strip) >= 2 * device::kManyBlocks)
      return chosen;
  }
  return std::nullopt;
}

/// Whether strips of an output begin within sectors, or of an input of narrow elements if results
/// are all that is stored: runs of neighbours have a line or more, and those down a column lie no
/// whole sectors apart.
bool begin_within_sectors(const Plan& plan, const Rows& rows) {
  const auto is_apart = [](const Operand& operand, const Mode& leaf) {
    return leaf.stride.factor() * size_bytes(operand.dtype) % device::kSectorBytes != 0;
  };
  // Of what is only read, elements below a word come in as many accesses as they are.
  const bool reads = !writes_elements(plan) && bytes_of_vector(plan, rows) < kNarrowestAccess;
  const auto counts = [&](const Operand& operand) {
    return operand.written ? !operand.per_row : reads && varies_in_row(operand, rows);
  };
  return std::ranges::any_of(plan.operands, [&](const Operand& operand) {
    return counts(operand) && operand.reach == Reach::contiguous &&
           plan.extents[0].value() * size_bytes(operand.dtype) >= device::kLineBytes &&
           std::ranges::any_of(operand.modes[rows.first],
                               [&](const Mode& leaf) { return is_apart(operand, leaf); });
  });
}

/// Fewer vectors side by side, if few blocks hold columns: small blocks meet sooner, and of narrow
/// strips a multiprocessor stores so few lines that outputs are not turned.
int narrowed(Plan plan, const Rows& rows, std::int64_t count, int groups) {
  const auto meets_late = [&] {
    plan.threads = groups * rows.row_threads;
    return plan.threads > kThreadsOfShort || turned_vectors(plan, rows) > 0;
  };
  while (rows.cluster == 1 && groups > kLeastGroups &&
         ceil_div(count, groups / 2) <= device::kManyBlocks && meets_late())
    groups /= 2;
  return groups;
}

/// Whether one pass reads the columns, of `vectors` in all. Where few threads share them, to
/// rescale sums below a maximum as often as threads meet takes longer than a second pass over
/// registers.
bool is_read_once(const Plan& plan, std::int64_t vectors) {
  return is_one_pass(plan) && (is_one_pass_if_held(plan) || vectors > kFewThreads);
}

}  // namespace

std::optional<RowShape> shape_held(const Plan& plan, Rows rows, std::int64_t most_held) {
  const auto length = vectors_in_row(plan, rows), count = vectors_across_rows(plan, rows);
  if (!length || !count || *length == 0 || is_read_once(plan, *length * *count))
    return std::nullopt;
  const std::int64_t most = most_of_thread(plan, rows, 2 * most_held);
  if (most < 1) return std::nullopt;
  auto chosen = share_held(plan, rows, *length, *count, most);
  if (!chosen || chosen->threads() > kThreadsAcross) {
    if (const auto in_block = share_in_block(plan, rows, *length, *count)) chosen = in_block;
  }
  if (!chosen) return std::nullopt;
  // Blocks of a cluster wait for each other: small ones do so for fewer threads.
  const std::int64_t blocks = plan.target.major >= 9 ? device::kMaxCluster : 1;
  std::int64_t row_threads =
      std::min<std::int64_t>(chosen->sharing, kThreadsAcross / chosen->strip);
  if (chosen->sharing > row_threads && chosen->threads() <= kThreadsOfStrip * blocks)
    row_threads = kThreadsOfStrip / chosen->strip;
  rows.row_threads = static_cast<int>(row_threads);
  rows.cluster = static_cast<int>(chosen->sharing / row_threads);
  rows.register_vectors = static_cast<int>(ceil_div(*length, chosen->sharing));
  const int least_threads = lies_along(plan, rows) ? 2 * kWarp : kThreadsOfShort;
  int groups = std::max(chosen->strip, least_threads / rows.row_threads);
  const int least = stores_turned(plan, rows)
                        ? 1
                        : std::max(1, device::kSectorBytes / bytes_of_vector(plan, rows));
  while (groups > least && groups * rows.row_threads > 2 * kWarp && rows.cluster == 1 &&
         ceil_div(*count, groups) < device::kManyBlocks)
    groups /= 2;
  groups = narrowed(plan, rows, *count, groups);
  // Multiprocessors take small blocks more slowly than these run.
  const std::int64_t bytes = *length * 4 * registers_of_held(plan, rows);  // of a column
  while (rows.cluster == 1 && 2 * groups * rows.row_threads <= kThreadsAcross &&
         ceil_div(*count, 2 * groups) >= 2 * device::kWantedBlocks &&
         groups * bytes < kBytesOfBlock / 2)
    groups *= 2;
  // Blocks that finish with the sectors along their columns sooner need fewer lines of the cache.
  while (rows.cluster == 1 && rows.row_threads == 1 && shares_sectors_along(plan, rows) &&
         2 * groups <= kThreadsAcross && ceil_div(*count, 2 * groups) >= 2 * device::kWantedBlocks)
    groups *= 2;
  // Of strips that begin within sectors, wide ones share fewer of these with their neighbours. The
  // blocks of a cluster wait the longer for each other, the larger they are: those that a warp or
  // more goes down are a line, no wider.
  const int bytes_across = bytes_of_vector(plan, rows);
  const bool single = plan.vector == 1 && bytes_across >= kNarrowestAccess;
  while (rows.cluster > 1 && rows.row_threads >= kWarp && begin_within_sectors(plan, rows) &&
         groups * bytes_across < device::kLineBytes &&
         2 * groups * rows.row_threads <= (single ? kThreadsOfLine : kThreadsAcross) &&
         ceil_div(*count, 2 * groups) * rows.cluster >= device::kManyBlocks)
    groups *= 2;
  while (rows.cluster == 1 && begin_within_sectors(plan, rows) &&
         2 * groups * rows.row_threads <= kThreadsAcross &&
         ceil_div(*count, 2 * groups) >= 2 * device::kWantedBlocks)
    groups *= 2;
  // Blocks of so many threads of a column that they cannot be wider: two of them share a strip that
  // is stored with half as many parts of sectors.
  if (plan.target.major >= 9 && plan.vector == 1 && bytes_across < kNarrowestAccess &&
      rows.cluster == 1 && writes_elements(plan) && begin_within_sectors(plan, rows) &&
      groups * rows.row_threads == kThreadsAcross && groups * bytes_across == device::kLineBytes &&
      ceil_div(*count, groups) >= 2 * device::kWantedBlocks) {
    groups *= 2;
    rows.row_threads /= 2;
    rows.cluster = 2;
  }
  // Of blocks that are a few more than run at once, the last would run alone.
  if (plan.vector > 1 && rows.cluster == 1 && rows.row_threads > 1 &&
      2 * rows.register_vectors <= most && groups * rows.row_threads == kThreadsAcross &&
      has_last_turn(ceil_div(*count, groups))) {
    rows.row_threads /= 2;
    rows.register_vectors = static_cast<int>(ceil_div(*length, rows.row_threads));
  }
  const int threads = groups * rows.row_threads;
  if (threads < kWarp || held_shared_bytes(plan, rows, threads) > kMaxAccumulatorBytes)
    return std::nullopt;
  return RowShape{rows, threads};
}

}  // namespace tilejit::plan
