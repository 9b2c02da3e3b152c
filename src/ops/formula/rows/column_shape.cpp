// How threads share columns: rows whose vectors lie across, so that each element of a vector is
// another row's.
#include <algorithm>
#include <bit>

#include "core/integer.hpp"
#include "device/access.hpp"
#include "device/scale.hpp"
#include "rows/column_shape.hpp"
#include "rows/crossed.hpp"
#include "rows/row_shape.hpp"
#include "rows/rows.hpp"
#include "rows/turned.hpp"
#include "rows/turned_inputs.hpp"

namespace tilejit::plan {
namespace {

using core::ceil_div;
using core::power_of_two_from;

constexpr std::int64_t kManyOfShort = 4;   // the same of columns that are read once
constexpr std::int64_t kMostOfMany = 64;   // vectors of a thread if these are enough
constexpr int kGroupsOfLine = 8;           // 128 bytes
constexpr double kGainOfFull = 1.2;        // of blocks half as wide
constexpr double kGainOfHeavy = 1.1;       // the same if the formula is heavy
constexpr double kGainOfNarrow = 1.3;      // the same of blocks narrower than a line
constexpr double kBusyOfStrips = 0.55;     // least part of threads, of columns that splits share
constexpr std::int64_t kManyOfThread = 8;  // vectors, of columns that are read once
// Registers that hold all of a column, and those that hold a thread's part and what is made of it.
constexpr int kRegistersOfWhole = 64;
constexpr int kRegistersOfThread = 96;
constexpr std::int64_t kMostHeld = 64;  // elements of a column that a thread holds, at most
constexpr int kHeldByMany = 4;          // vectors of a thread, if there are enough for all threads
constexpr double kGainOfFewer = 1.1;    // elements of a heavy formula

/// Avoids blocks that each take less than a line of neighbouring columns: a cluster shares a wider
/// strip instead. A multiprocessor then has two blocks, or one larger block.
bool share_strips(const Plan& plan, std::int64_t count, std::int64_t length, RowShape& shape) {
  if (plan.target.major < 9) return false;
  const auto fits = [&](int threads, std::int64_t blocks) {
    int groups = kWarp;
    while (groups > kGroupsOfLine && ceil_div(count, groups) * device::kMaxCluster < blocks)
      groups /= 2;
    const int row_threads = threads / groups;
    if (ceil_div(count, groups) * device::kMaxCluster < blocks ||
        length / (row_threads * device::kMaxCluster) < 2 * kStepsOfThread ||
        shared_accumulator_bytes(plan, threads, groups) > kMaxAccumulatorBytes) {
      return false;
    }
    shape.rows.row_threads = row_threads;
    shape.rows.cluster = device::kMaxCluster;
    shape.threads = threads;
    return true;
  };
  return fits(kThreadsOfStrip, 2 * device::kManyBlocks) ||
         fits(kThreadsAcross, device::kManyBlocks);
}

/// How much of the device is busy on average, if all blocks run at once or a few times as many do:
/// multiprocessors with one block more than others keep these waiting.
double fullness(std::int64_t count, int groups) {
  const std::int64_t blocks = ceil_div(count, groups);
  if (blocks == 0 || blocks > 2 * device::kWantedBlocks) return 1;
  return static_cast<double>(blocks) /
         static_cast<double>(ceil_div(blocks, device::kMultiprocessors) * device::kMultiprocessors);
}

/// Vectors that fill a sector: what blocks have at least side by side of columns that are read
/// once, since long ones can be shared by more blocks. Fewer of short ones, if few blocks load all.
int least_groups(const Plan& plan, const Rows& rows, std::int64_t length, std::int64_t count) {
  const int all = std::min(power_of_two_from(count), kWarp);
  const int sector = device::kSectorBytes / bytes_of_vector(plan, rows);
  const bool is_short = length * sector < 2 * kStepsOfThread * kThreadsAcross;
  const bool is_tiny = is_short && length * count < kFewThreads;
  return std::min(is_tiny ? kLeastGroups : std::max(kLeastGroups, sector), all);
}

/// The same where multiprocessors have unlike numbers of blocks, and batches are too small to be
/// halved: a sector of the widest input. Of a narrower one, two blocks share a sector.
int least_of_uneven(const Plan& plan, const Rows& rows, std::int64_t length, std::int64_t count) {
  if (kBatchOfRows * loaded_bytes(plan, rows) >= kBytesOfLargeBatch)
    return least_groups(plan, rows, length, count);
  int widest = 1;
  for (const Operand& operand : plan.operands) {
    if (operand.read && spans_space(operand, rows))
      widest = std::max(widest, size_bytes(operand.dtype));
  }
  const int sector = device::kSectorBytes / (plan.vector * widest);
  return std::min(std::max(kLeastGroups, sector), power_of_two_from(count));
}

/// Whether blocks that have so many vectors side by side would be so few that others share their
/// columns through memory.
bool shares_through_memory(const Plan& plan, Rows rows, std::int64_t length, std::int64_t count,
                           int groups) {
  const int row_threads = kThreadsAcross / groups;
  share_among_blocks(plan, ceil_div(count, groups), kThreadsAcross, length / row_threads, rows);
  return rows.splits > 1;
}

/// Vectors side by side of such columns: other blocks fill the device anyway, and memory is faster
/// the longer the runs that a block reads. Most of them exist.
int groups_of_splits(std::int64_t count, int least, int most) {
  int groups = std::min(power_of_two_from(count), most);
  while (groups > least &&
         static_cast<double>(count) <
             kBusyOfStrips * static_cast<double>(ceil_div(count, groups) * groups))
    groups /= 2;
  return std::max(groups, least);
}

/// Elements for which the threads of a column that is held compute, in parts of those that it has;
/// 1 if it is not held.
double computed_of_held(const Plan& plan, const Rows& rows, std::int64_t length) {
  const auto shape = shape_held(plan, rows, kWarp);
  if (!shape) return 1;
  return static_cast<double>(shape->rows.register_vectors * threads_of_row(shape->rows)) /
         static_cast<double>(length);
}

/// Whether vectors half as wide, of which a thread holds twice as many, leave so much less that
/// does not exist that a heavy formula gains: it is computed for that, too.
bool computes_for_fewer(Plan plan, const Rows& rows, std::int64_t length) {
  if (plan.vector < 2 || !is_heavy(plan, rows)) return false;
  const double whole = computed_of_held(plan, rows, length);
  plan.vector /= 2;
  return whole >= kGainOfFewer * computed_of_held(plan, rows, length);
}

/// Whether threads load all that they have of a column at once. A loop would begin with its
/// weights, and load the column when these have come.
bool is_one_batch(const Plan& plan, const Rows& rows, std::int64_t length, std::int64_t most_held) {
  const std::int64_t steps = ceil_div(length, rows.row_threads);
  const int batch = plan.vector == 1 ? kBatchOfBytes : kBatchOfRows;
  return is_one_pass_if_held(plan) && steps <= batch && steps <= most_held &&
         steps * registers_of_held(plan, rows) <= kRegistersHeld;
}

}  // namespace

int bytes_of_vector(const Plan& plan, const Rows& rows) {
  int bytes = device::kWidestAccess;
  for (const Operand& operand : plan.operands) {
    if (spans_rows(operand, rows) && operand.reach == Reach::contiguous)
      bytes = std::min(bytes, plan.vector * size_bytes(operand.dtype));
  }
  return bytes;
}

std::int64_t vectors_in_sequence(const Plan& plan, const Rows& rows) {
  std::int64_t vectors = ceil_div(plan.extents[0].value(), plan.vector);
  Dim columns = plan.extents[0];
  const auto follows = [&](const Operand& operand, std::size_t m) {
    const bool full = operand.written ? !operand.per_row && !is_turned(plan, rows, operand)
                                      : varies_in_row(operand, rows);
    const OperandMode &first = operand.modes[0], &next = operand.modes[m];
    if (!full) return true;
    if (first.size() != 1 || next.size() != 1) return false;
    const Dim run = columns * first[0].stride, &stride = next[0].stride;
    const bool is_known = first[0].stride.is(1) && run.is_known() && stride.is_known();
    if (stride == run || operand.written || !is_known) return stride == run;
    const std::int64_t gap = (stride.value() - run.value()) * size_bytes(operand.dtype);
    return gap > 0 && gap <= device::kSectorBytes;
  };
  for (std::size_t m = 1; m < rows.first && vectors < kWarp; ++m) {
    const auto goes_on = [&](const Operand& operand) { return follows(operand, m); };
    if (!plan.extents[m].is_known() || !std::ranges::all_of(plan.operands, goes_on)) break;
    vectors *= plan.extents[m].value();
    columns = columns * plan.extents[m];
  }
  return vectors;
}

int groups_side_by_side(const Plan& plan, const Rows& rows) {
  const auto length = vectors_in_row(plan, rows);
  if (rows.first < 2 || !plan.extents[0].is_known() || !length) return kWarp;
  const std::int64_t vectors = vectors_in_sequence(plan, rows);
  // Runs of less than a sector would be cut in two, each of which reads all of it.
  const auto groups = vectors * bytes_of_vector(plan, rows) < device::kSectorBytes
                          ? power_of_two_from(vectors)
                          : static_cast<int>(std::bit_floor(static_cast<std::uint64_t>(
                                std::clamp<std::int64_t>(vectors, 1, kWarp))));
  const bool is_long = *length >= std::int64_t{kStepsOfThread} * kThreadsAcross / groups;
  return is_long || groups * bytes_of_vector(plan, rows) < device::kSectorBytes ? groups : kWarp;
}

bool has_last_turn(std::int64_t blocks) {
  return blocks > 2 * device::kMultiprocessors && blocks < 3 * device::kMultiprocessors;
}

bool are_odd_elements(const Plan& plan) {
  const auto is_odd = [](const Operand& operand) {
    if (!operand.read || operand.reach != Reach::contiguous) return false;
    return std::any_of(operand.modes.begin() + 1, operand.modes.end(), [](const OperandMode& mode) {
      return mode.size() == 1 && mode[0].stride.is_known() && mode[0].stride.value() % 2 != 0;
    });
  };
  return plan.vector == 1 && std::ranges::any_of(plan.operands, is_odd);
}

int registers_of_held(const Plan& plan, const Rows& rows) {
  int registers = 0;
  for (const Operand& operand : plan.operands) {
    if (!is_loaded_with_row(plan, rows, operand) || !varies_in_row(operand, rows)) continue;
    const int bytes = plan.vector * size_bytes(operand.dtype) * (operand.shifted ? 2 : 1);
    registers += ceil_div(bytes, 4);
  }
  return std::max(1, registers);
}

std::int64_t most_of_thread(const Plan& plan, const Rows& rows, std::int64_t most_held) {
  const std::int64_t reductions = count_reductions(plan);
  const std::int64_t others = plan.vector * (accumulator_bytes(plan) / 4 + reductions);
  const int each = registers_of_held(plan, rows);
  const std::int64_t room = std::min<std::int64_t>(kRegistersOfThread - others, kRegistersOfWhole);
  const std::int64_t whole =
      std::min({most_held, room / each, kMostHeld / plan.vector, std::int64_t{kWarp}});
  if (vectors_in_row(plan, rows).value_or(0) <= whole) return whole;
  return std::min(whole, std::int64_t{kRegistersHeld} / each);
}

std::int64_t held_shared_bytes(const Plan& plan, const Rows& rows, int threads) {
  if (threads_of_row(rows) == 1) return 0;
  return slots_across(threads, threads / rows.row_threads, rows.cluster) * accumulator_bytes(plan) *
         plan.vector;
}

int blocks_at_once(const Plan& plan) {
  const auto* const rows = std::get_if<Rows>(&plan.family);
  if (rows == nullptr || rows->along() || rows->register_vectors == 0 || plan.vector != 1 ||
      plan.threads != kThreadsAcross || threads_of_row(*rows) == 1)
    return 1;
  // While the threads of one block wait for each other, those of another one load.
  return rows->register_vectors * registers_of_held(plan, *rows) <= kRegistersOfBlock ? 2 : 1;
}

bool shares_sectors_along(const Plan& plan, const Rows& rows) {
  return std::ranges::any_of(plan.operands, [&](const Operand& operand) {
    if (!operand.read || operand.written || operand.reach != Reach::strided ||
        !varies_in_row(operand, rows) || is_turned_input(plan, rows, operand))
      return false;
    const OperandMode &along = operand.modes[rows.first], &across = operand.modes[0];
    return is_whole(along) && is_whole(across) && along[0].stride.is(1) &&
           across[0].stride.value() > 1 &&
           across[0].stride.value() * size_bytes(operand.dtype) < device::kSectorBytes;
  });
}

int most_of_columns(const Plan& plan) {
  constexpr int kAnyNumber = 16;
  const auto* const rows = std::get_if<Rows>(&plan.family);
  if (rows == nullptr || rows->along()) return kAnyNumber;
  if (is_one_pass(plan)) return most_of_read_columns(plan, *rows);
  const auto length = vectors_in_row(plan, *rows), count = vectors_across_rows(plan, *rows);
  if (!length || !count) return kMostAcross;
  // The threads of a cluster hold a strip of columns, or one vector's if there are few.
  constexpr std::int64_t kOfVector =
      kMostHeld / kMostElements * kThreadsAcross * device::kMaxCluster;
  if (*length > kOfVector / kLeastGroups)
    return *length <= kOfVector && *count <= kLeastGroups * kMostElements ? kMostElements
                                                                          : kMostAcross;
  int widest = 1;
  for (const Operand& operand : plan.operands) widest = std::max(widest, size_bytes(operand.dtype));
  // Rows side by side have own banks of shared memory, not those a vector apart.
  if (rows->turned_inputs > 0) return std::max(1, kNarrowestAccess / widest);
  // Sectors would wait in the L1 cache for each element of a vector, and further lanes'.
  if (rows->count == 1 && shares_sectors_along(plan, *rows))
    return std::max(1, kNarrowestAccess / widest);
  Plan wider = plan;
  for (int vector = std::min(kMostElements, device::kWidestAccess / widest);
       vector * widest > kNarrowestAccess; vector /= 2) {
    wider.vector = vector;
    const bool shifted = plan.extents.front().value() % vector != 0;
    for (Operand& operand : wider.operands) operand.shifted = shifted;
    const bool whole = *length > kMostOfWhole || *length <= most_of_thread(wider, *rows, *length);
    if (!whole || *length * *count < kHeldByMany * vector * device::kThreadsAtOnce) continue;
    return computes_for_fewer(wider, *rows, *length) ? vector / 2 : vector;
  }
  // With so few elements, threads count more than accesses.
  if (*length * *count < kFewThreads) return 1;
  return std::max(1, kNarrowestAccess / widest);
}

RowShape shape_across(const Plan& plan, Rows rows, std::int64_t most_held) {
  if (const auto shape = shape_whole(plan, rows, most_held)) return *shape;
  if (const auto shape = shape_held(plan, rows, most_held)) return *shape;
  if (const auto shape = shape_shifted(plan, rows)) return *shape;
  const auto length = vectors_in_row(plan, rows);
  const auto count = vectors_across_rows(plan, rows);
  const int side = groups_side_by_side(plan, rows);
  int groups = side;
  if (side >= kLeastGroups && count) {
    const int few = std::min(kLeastGroups, power_of_two_from(*count));
    const int least =
        is_one_pass(plan) ? least_groups(plan, rows, length.value_or(kThreadsAcross), *count) : few;
    while (groups > least && ceil_div(*count, groups) < device::kManyBlocks) groups /= 2;
    const double gain = is_heavy(plan, rows) ? kGainOfHeavy : kGainOfFull;
    while (groups > std::max(least, kGroupsOfLine) &&
           gain * fullness(*count, groups) < fullness(*count, groups / 2))
      groups /= 2;
  }
  // Odd columns by elements: a cluster's strips would be sectors, whose runs begin within others.
  const bool narrow = are_odd_elements(plan) && is_one_pass(plan);
  const bool splits = count && length &&
                      shares_through_memory(plan, rows, *length, *count, narrow ? kWarp : groups);
  // A wider strip is only read faster if its columns are neighbours.
  if (RowShape shape{rows}; count && length && !splits && side >= kGroupsOfLine &&
                            groups >= kLeastGroups && groups < kGroupsOfLine &&
                            share_strips(plan, *count, *length, shape)) {
    return shape;
  }
  if (splits) groups = groups_of_splits(*count, groups, side);
  int threads = kThreadsAcross;
  while (threads > groups &&
         shared_accumulator_bytes(plan, threads, groups) > kMaxAccumulatorBytes) {
    (groups > kGroupsOfLine ? groups : threads) /= 2;
  }
  rows.row_threads = std::max(1, threads / groups);
  if (length) {
    rows.row_threads =
        std::min(rows.row_threads, power_of_two_from(ceil_div(*length, kStepsOfThread)));
  }
  // Threads of so many short columns have more to load at once if fewer share one.
  const auto are_short = [&] {
    return *length < (rows.row_threads > 2 ? kMostOfMany : 2 * kFewOfThread) * rows.row_threads;
  };
  while (count && length && rows.row_threads > 1 && are_short() &&
         *count * rows.row_threads >= kManyOfShort * device::kThreadsAtOnce)
    rows.row_threads /= 2;
  if (count && length) {
    share_among_blocks(plan, ceil_div(*count, groups), rows.row_threads * groups,
                       *length / rows.row_threads, rows);
  }
  // Of blocks that are a few more than run at once, the last would run alone.
  if (count && length && rows.cluster * rows.splits == 1 && rows.row_threads > 1 &&
      rows.row_threads * groups == kThreadsAcross && *length < kManyOfThread * rows.row_threads) {
    if (has_last_turn(ceil_div(*count, groups))) rows.row_threads /= 2;
  }
  // Of blocks that are hardly more than multiprocessors, some of these would have two, most one.
  if (count && is_one_pass(plan) && rows.cluster * rows.splits == 1 &&
      rows.row_threads * groups == kThreadsAcross &&
      groups > least_of_uneven(plan, rows, length.value_or(kThreadsAcross), *count) &&
      kGainOfNarrow * fullness(*count, groups) < fullness(*count, groups / 2))
    groups /= 2;
  // Parts of few elements take less than their threads do to meet, warp after warp.
  while (length && rows.splits > 1 && has_centres(plan) && groups > kGroupsOfLine &&
         *length < kManyOfThread * rows.row_threads * rows.splits)
    groups /= 2;
  threads = std::max(kWarp, rows.row_threads * groups);
  if (rows.cluster * rows.splits == 1 && runs_at_once_by_half(plan, {rows, threads})) {
    rows.row_threads /= 2;
    threads /= 2;
  }
  groups = threads / rows.row_threads;
  // Multiprocessors take small blocks more slowly than these run.
  const auto is_small = [&] {
    const std::int64_t bytes =
        groups * length.value_or(kThreadsAcross) * std::int64_t{loaded_bytes(plan, rows)};
    return threads < kThreadsOfShort || (threads < kThreadsAcross && bytes < kBytesOfBlock);
  };
  while (is_small() && rows.cluster * rows.splits == 1 && count &&
         ceil_div(*count, 2 * groups) >= device::kWantedBlocks &&
         shared_accumulator_bytes(plan, 2 * threads, 2 * groups) <= kMaxAccumulatorBytes) {
    threads *= 2;
    groups *= 2;
  }
  if (rows.splits == 1 && threads == kThreadsAcross)
    rows.cluster = cluster_of_turns(plan, {rows, threads});
  if (length && rows.cluster * rows.splits == 1 && is_one_batch(plan, rows, *length, most_held))
    rows.register_vectors = static_cast<int>(ceil_div(*length, rows.row_threads));
  return {rows, threads};
}

}  // namespace tilejit::plan
