// How many threads and blocks share a row, and what they hold of it.
#include <algorithm>
#include <bit>
#include <vector>

#include "core/integer.hpp"
#include "device/access.hpp"
#include "device/scale.hpp"
#include "expr/traits.hpp"
#include "rows/column_shape.hpp"
#include "rows/row_shape.hpp"
#include "rows/row_threads.hpp"
#include "rows/rows.hpp"

namespace tilejit::plan {
namespace {

using core::ceil_div;
using core::power_of_two_from;

constexpr int kMaxThreads = 1024;
constexpr int kRegistersOfThread = 8;  // the same limit if a vector has several inputs
// With at most this many threads, rows of twice as many still find room on the device.
constexpr std::int64_t kFewThreads = device::kThreadsAtOnce / 4;
constexpr int kRowThreadsOfSmall = 256;
constexpr int kManyVectorsOfThread = 5;
constexpr std::int64_t kMostOfShort = 16;  // vectors of a row
constexpr std::int64_t kManyBlocks = 4 * device::kWantedBlocks;
constexpr std::int64_t kBytesOfTiny = 2 * 1024;  // of a block that runs for less than others start
constexpr std::int64_t kWeightOfSmallThread = 320;  // expr::weight of its elements
constexpr int kFewRowThreads = 128;                 // the fewest threads of a block
constexpr std::int64_t kBytesOfAlone = 64 * 1024;   // of a row, which take longer than to exchange
// Limits for registers that hold vectors. With kFewRegisters, two blocks of 512 threads fit on a
// multiprocessor; kManyRegisters is for one such block. A thread of a block of 1024 threads has 64
// registers, of which kFewestRegisters can hold vectors.
constexpr int kFewRegistersOfCluster = 16;  // its blocks wait for each other
constexpr int kFewestRegistersOfCluster = 8;
// Single elements of a thread with which a multiprocessor still has three blocks of 256 threads.
constexpr int kMostByElements = 25;
constexpr int kFewElements = 4;       // per vector
constexpr int kLeastAccessAhead = 8;  // bytes
// What a thread holds of a row if its accesses are narrow. A row takes a warp, or its part of one,
// a fixed time, so that with half the threads twice as many rows are done in that time.
constexpr int kBytesOfThread = 16;
constexpr int kFewestRegisters = 24;
constexpr std::int64_t kLeastSplits = 8;   // fewer are not worth a second kernel
constexpr double kKernelsOfHeavy = 4;      // of whose time a second kernel takes a part
constexpr std::int64_t kLeastOfHeavy = 8;  // vectors of a thread of a split
constexpr double kGainOfSplits = 0.9;
constexpr std::int64_t kMostSplits = 8192;  // results that a second kernel combines at once
constexpr int kRowThreadsOfSplit = 256;
// Blocks of 1024 threads that hold rows, alone or by two, so many that multiprocessors take several
// each.
constexpr std::int64_t kManyOfBlock = 2 * device::kManyBlocks;
constexpr int kHeavyValues = 12;  // instructions of an element: a division
constexpr int kLeastRowThreadsOfRuns = 4;
constexpr int kThreadsOfRuns = 256;
constexpr std::int64_t kThreadsOfTwoTurns = 2 * device::kMostThreadsAtOnce;
// Vectors of a thread. A cluster saves the microsecond of a second kernel, but with four vectors
// NVRTC takes 3.4 times as long as for an empty kernel, and 2.7 times for both kernels.
constexpr int kMostOfClusterThread = 3;

/// Whether the blocks of a cluster have so few vectors per thread of a row that they should share
/// it.
bool fits_cluster(const Plan& plan, std::int64_t vectors) {
  return plan.target.major >= 9 &&
         vectors <= kMostOfClusterThread * device::kMaxCluster * kMaxThreads / 2;
}

/// Vectors of a thread if blocks share `count` rows of `vectors`: one if all blocks run at once,
/// two if their results are not too many. The fewer, the more threads load.
int vectors_of_split(std::int64_t count, std::int64_t vectors) {
  const std::int64_t blocks = count * ceil_div(vectors, std::int64_t{kRowThreadsOfSplit});
  if (blocks <= device::kWantedBlocks) return 1;
  return blocks <= 2 * kMostSplits ? 2 : kStepsOfThread;
}

/// Shares contiguous rows that are long enough among very many blocks, each of which holds its part
/// of a row. Multiprocessors take one block after another, so none works alone for long at the
/// end.
bool share_held(const Plan& plan, std::int64_t count, std::int64_t vectors, std::int64_t most_held,
                Rows& rows) {
  if (!leaves_results(plan, rows, count) || !is_one_pass_if_held(plan)) return false;
  if (rows.atomics) return false;     // so many blocks would wait for each other to count
  if (fits_cluster(plan, vectors)) {  // a second kernel would take longer
    rows.row_threads = kMaxThreads / 2;
    rows.cluster = device::kMaxCluster;
    return true;
  }
  const std::int64_t each = vectors_of_split(count, vectors) * kRowThreadsOfSplit;
  const std::int64_t splits = std::min(ceil_div(vectors, each), kMostSplits);
  if (splits < kLeastSplits) return false;
  const std::int64_t most = std::min<std::int64_t>(
      {kStepsOfThread, most_held, kFewRegisters / registers_of_vector(plan, rows)});
  for (const int row_threads : {kRowThreadsOfSplit, 2 * kRowThreadsOfSplit}) {
    const std::int64_t register_vectors = ceil_div(vectors, splits * row_threads);
    if (register_vectors > most) continue;
    rows.row_threads = row_threads;
    rows.splits = static_cast<int>(splits);
    rows.register_vectors = static_cast<int>(register_vectors);
    return true;
  }
  return false;
}

/// Blocks that share each of `count` rows that are read once, if these take as long to compute as
/// several kernels: two to four in all for each multiprocessor, as evenly as they can be. Blocks of
/// clusters are less so.
int splits_of_heavy(const Plan& plan, const Rows& rows, std::int64_t count, std::int64_t vectors) {
  if (leaves_results(plan, rows, count) || !is_one_pass(plan) ||
      !computes_longer(plan, rows, vectors) ||
      instructions_us(plan, rows, vectors) * static_cast<double>(count) <
          kKernelsOfHeavy * device::kKernelUs)
    return 1;
  const auto time_of = [&](std::int64_t splits) {
    return static_cast<double>(ceil_div(count * splits, device::kMultiprocessors)) /
           static_cast<double>(splits);
  };
  std::int64_t best = 1;
  for (std::int64_t splits = std::max<std::int64_t>(2, 2 * device::kMultiprocessors / count);
       splits * count <= device::kWantedBlocks &&
       vectors >= kLeastOfHeavy * splits * rows.row_threads;
       ++splits) {
    if (time_of(splits) < (best == 1 ? kGainOfSplits : 1) * time_of(best)) best = splits;
  }
  return static_cast<int>(best);
}

/// Whether the device loads all rows at once if each thread has `each` of the plan's vectors. Only
/// for rows that are read more than once.
bool is_small(const Plan& plan, const Rows& rows, int each) {
  const auto length = vectors_in_row(plan, rows), count = vectors_across_rows(plan, rows);
  return rows.along() && length && count && !is_one_pass_if_held(plan) &&
         (*count == 0 || *length <= each * kFewThreads / *count);
}

/// Bytes of the narrowest vector of a row's inputs, at most 16, however many accesses it takes: the
/// vectors of neighbouring threads lie so far apart.
int least_vector(const Plan& plan, const Rows& rows) {
  int bytes = device::kWidestAccess;
  for (const Operand& operand : plan.operands) {
    if (!operand.read || operand.every_row || !varies_in_row(operand, rows)) continue;
    const bool whole = operand.reach == Reach::contiguous;
    bytes = std::min(bytes, whole ? plan.vector * size_bytes(operand.dtype) : operand.access_bytes);
  }
  return bytes;
}

/// Whether all rows share an input that differs within them, such as weights.
bool shares_inputs(const Plan& plan, const Rows& rows) {
  return std::ranges::any_of(plan.operands, [&](const Operand& operand) {
    return operand.read && operand.every_row && varies_in_row(operand, rows);
  });
}

/// Threads of a block, more than a warp, that share a row if there are hardly any others. Up to
/// four warps, one for each scheduler of a multiprocessor, do so while the device has room.
int threads_of_tiny(const Plan& plan, const Rows& rows, std::int64_t vectors) {
  const auto count = vectors_across_rows(plan, rows);
  int threads = rows.row_threads;
  const auto inputs = std::ranges::count_if(plan.operands, [&](const Operand& operand) {
    return operand.read && !operand.every_row && varies_in_row(operand, rows);
  });
  // Heavy values are computed for what does not exist, too.
  const auto are_idle_by_twice = [&] {
    const std::int64_t now = ceil_div(vectors, threads) * threads;
    return has_heavy_values(plan) && ceil_div(vectors, 2 * threads) * 2 * threads > now;
  };
  const auto are_few = [&] {
    const std::int64_t all = 2 * threads * *count;
    // Steps of two threads are so short that those of a warp lie in twice as many lines.
    const bool more = plan.vector >= kFewElements && vectors > kVectorsOfThread * threads;
    const bool two = threads == 2 && plan.vector > 1 && vectors >= kVectorsOfThread * threads;
    const bool wanted = writes_elements(plan) && threads < kFewRowThreads && (more || two);
    if (wanted && all <= device::kThreadsAtOnce && !are_idle_by_twice()) return true;
    if (threads < kWarp / 2) return false;
    const bool gains = is_one_pass(plan) && gains_by_more(plan, rows, vectors, threads);
    const bool many = vectors > std::int64_t{kStepsOfThread} * threads;
    const bool loads_many = vectors * inputs > std::int64_t{kStepsOfThread} * threads;
    return all <= kFewThreads ? many || gains : all <= 2 * kFewThreads && loads_many && gains;
  };
  // A row's only thread exchanges nothing. Runs of several rows of a warp may share sectors.
  const int least = rows.count == 1 ? 2 : kWarp / 2;
  while (count && threads >= least && threads < kMaxThreads / 2 && are_few()) threads *= 2;
  return threads;
}

/// Threads of a warp that share a row if rows are so few that the device would not be full of
/// threads, and threads would have many vectors each.
int threads_of_few(const Plan& plan, const Rows& rows, std::int64_t vectors) {
  const auto count = vectors_across_rows(plan, rows);
  int threads = 1;
  const auto are_many = [&] {
    const bool tiny = 2 * threads * *count <= kFewThreads;
    const bool many = vectors > kMostOfShort && vectors > kVectorsOfThread * threads;
    return vectors > kManyVectorsOfThread * threads ||
           (tiny && (many || gains_by_more(plan, rows, vectors, threads)));
  };
  while (count && threads < kWarp && are_many() && 2 * threads * *count <= device::kThreadsAtOnce)
    threads *= 2;
  return threads;
}

/// Bytes of a row that are read and written.
std::int64_t bytes_of_row(const Plan& plan, const Rows& rows, std::int64_t vectors) {
  std::int64_t bytes = 0;
  for (const Operand& operand : plan.operands) {
    const int times = (operand.read ? 1 : 0) + (operand.written ? 1 : 0);
    if (!operand.every_row && !operand.per_row && varies_in_row(operand, rows))
      bytes += times * vectors * plan.vector * size_bytes(operand.dtype);
  }
  return bytes;
}

/// Threads of a block. Multiprocessors take small blocks more slowly than these run, and tiny ones
/// also where all of them could run at once.
int threads_of_block(const Plan& plan, const Rows& rows, std::int64_t vectors) {
  int threads = std::max(rows.row_threads, kFewRowThreads);
  const auto count = vectors_across_rows(plan, rows);
  const auto is_small = [&](std::int64_t groups) {
    const std::int64_t bytes = groups * bytes_of_row(plan, rows, vectors);
    return bytes < kBytesOfBlock &&
           *count >= groups * (bytes < kBytesOfTiny ? kManyBlocks / 2 : kManyBlocks);
  };
  while (count && threads < kMaxThreads / 2 && rows.cluster * rows.splits == 1 &&
         is_small(threads / rows.row_threads))
    threads *= 2;
  return threads;
}

/// Threads that hold about `register_vectors` each of a row of `vectors`, few of them idle.
int busy_threads(std::int64_t vectors, int register_vectors) {
  int threads = kMaxThreads / 2;
  while (threads > 1 && 10 * vectors < std::int64_t{9} * register_vectors * threads) threads /= 2;
  return threads;
}

/// Whether the run of neighbours with which a row of several modes begins is shorter than two
/// sectors, and the next row's run follows it in the widest input.
bool has_short_runs(const Plan& plan, const Rows& rows) {
  if (rows.count < 2 || rows.count == plan.extents.size() || !plan.extents[0].is_known())
    return false;
  const Operand* const widest = vector_leader(plan);
  if (widest == nullptr || widest->written) return false;
  return next_run_follows(plan, rows, *widest) &&
         plan.extents[0].value() * size_bytes(widest->dtype) < 2 * device::kSectorBytes;
}

/// Rows whose runs are below two sectors, and that are read once: few threads of a warp share a
/// row, so that its threads together access whole sectors, and more if there are few rows.
std::optional<RowShape> shape_of_runs(const Plan& plan, Rows rows) {
  const auto count = vectors_across_rows(plan, rows), vectors = vectors_in_row(plan, rows);
  if (!count || !vectors || !is_one_pass(plan) || !has_short_runs(plan, rows)) return std::nullopt;
  rows.row_threads = kLeastRowThreadsOfRuns;
  while (rows.row_threads < kWarp && *count * rows.row_threads < device::kThreadsAtOnce)
    rows.row_threads *= 2;
  if (rows.row_threads == kWarp || *vectors < std::int64_t{kStepsOfThread} * rows.row_threads)
    return std::nullopt;
  return RowShape{rows, kThreadsOfRuns};
}

/// Whether threads of a large block hold so many heavy values beside their vectors that registers
/// leave a multiprocessor half of its threads, and twice as many would share vectors evenly.
bool lacks_threads(const Plan& plan, const Rows& rows) {
  return rows.row_threads == kMaxThreads / 2 && rows.register_vectors % 2 == 0 &&
         !is_one_pass_if_held(plan) && has_heavy_values(plan) &&
         rows.register_vectors * (registers_of_vector(plan, rows) + plan.vector) >= kFewRegisters;
}

/// Whether vectors of rows of several modes shift what they meet, such as weights.
bool shifts_across_modes(const Plan& plan, const Rows& rows) {
  return plan.peeled && rows.count > 1 && std::ranges::any_of(plan.operands, &Operand::shifted);
}

/// Whether so few blocks of the largest size take turns on multiprocessors that half as large ones
/// would run at once, or in few rounds.
bool runs_by_rounds(std::int64_t blocks) {
  return blocks >= 2 * device::kMultiprocessors && blocks <= 8 * device::kMultiprocessors;
}

RowShape shape_along(const Plan& plan, Rows rows, std::int64_t most_held) {
  if (const auto shape = shape_of_runs(plan, rows)) return *shape;
  if (auto shape = shape_abreast(plan, rows, most_held)) {
    const std::int64_t length = *vectors_in_row(plan, shape->rows);
    shape->threads = std::max(shape->threads, threads_of_block(plan, shape->rows, length));
    const int groups = shape->threads / shape->rows.row_threads;
    if (slots_across(shape->threads, groups, shape->rows.cluster) * accumulator_bytes(plan) <=
        kMaxAccumulatorBytes)
      return *shape;
  }
  const auto vectors = vectors_in_row(plan, rows);
  if (!vectors) {
    rows.row_threads = 256;
    return {rows, 256};
  }
  const int registers = registers_of_vector(plan, rows);
  // More threads would cost more when they combine results than they gain. With one vector, they
  // load what all rows share at the same time, not when they need it.
  const bool holds_one = is_small(plan, rows, 2) && *vectors <= kRowThreadsOfSmall &&
                         (plan.vector >= kFewElements || shares_inputs(plan, rows));
  const int register_vectors =
      holds_one ? 1 : std::clamp(kRegistersOfThread / registers, 1, kVectorsOfThread);
  const int least = least_vector(plan, rows);
  int bytes = kBytesOfThread / least_access(plan, rows);
  // A thread that had the row alone would ask for elements far from those of its neighbours.
  if (*vectors > 1 && busy_threads(*vectors, std::max(register_vectors, bytes)) == 1)
    bytes = kBytesOfThread / least;
  rows.row_threads = holds_one ? power_of_two_from(*vectors)
                               : std::max(busy_threads(*vectors, std::max(register_vectors, bytes)),
                                          threads_of_few(plan, rows, *vectors));
  // Two vectors side by side are then whole sectors.
  if (*vectors == 2 && least == device::kWidestAccess && writes_elements(plan))
    rows.row_threads = std::max(rows.row_threads, 2);
  if (!holds_one) {
    rows.row_threads = threads_of_busy_device(plan, rows, *vectors, most_held);
    rows.row_threads = threads_of_stored_parts(plan, rows, *vectors);
    rows.row_threads = threads_of_odd_rows(plan, rows, *vectors);
    rows.row_threads = threads_of_narrow_stores(plan, rows, *vectors);
    rows.row_threads = threads_of_words(plan, rows, *vectors);
    rows.row_threads = threads_of_tiny(plan, rows, *vectors);
  }
  const auto holds = [&](int row_threads, int cluster, int most) {
    const std::int64_t steps =
        std::max<std::int64_t>(1, ceil_div(*vectors, std::int64_t{row_threads} * cluster));
    if (steps * registers > most || steps > most_held) return false;
    rows.row_threads = row_threads;
    rows.cluster = cluster;
    rows.register_vectors = static_cast<int>(steps);
    return true;
  };
  const auto by_cluster = [&](int row_threads, int most) {
    if (plan.target.major < 9) return false;
    for (int cluster = 2; cluster <= device::kMaxCluster; cluster *= 2) {
      if (holds(row_threads, cluster, most)) return true;
    }
    return false;
  };
  const int half = kMaxThreads / 2;
  // Measured on an H100 with 256 KB per row, as a share of the speed of a copy: with blocks of 1024
  // threads, f32 rows reach 96 to 98 % and bf16 rows 94 to 96 %; with blocks of 512 threads, they
  // reach 66 to 81 % and 95 to 96 %.
  const bool has_large_elements =
      plan.vector <= kFewElements && least_access(plan, rows) == device::kWidestAccess;
  const int threads_of_cluster = has_large_elements ? kMaxThreads : half;
  const auto by_block = [&] {
    for (int row_threads = rows.row_threads; row_threads < kMaxThreads; row_threads *= 2) {
      if (holds(row_threads, 1, kFewRegisters)) return true;
    }
    return false;
  };
  const std::int64_t count = vectors_across_rows(plan, rows).value_or(0);
  const auto is_held = [&] {
    if (by_block()) {
      const bool lacks = lacks_threads(plan, rows);
      holds(lacks ? kMaxThreads : threads_of_turns(plan, rows, *vectors), 1, kFewRegisters);
      return true;
    }
    if (is_one_pass(plan) && (!has_centres(plan) || is_heavy(plan, rows))) return false;
    // Blocks of 1024 threads lack registers for weights that are shifted in rows of several modes,
    // whose ends each vector asks for.
    const bool room = !shifts_across_modes(plan, rows);
    // Rows that no input tells apart are computed once, unless clusters share them.
    const int most = has_alike_rows(plan, rows) ? kFewRegisters : kFewestRegisters;
    if (room && plan.vector > 1 && count >= kManyOfBlock && holds(kMaxThreads, 1, most))
      return true;
    return (has_large_elements && by_cluster(kMaxThreads, kFewestRegistersOfCluster)) ||
           (!plan.peeled && by_cluster(threads_of_cluster, kFewRegistersOfCluster)) ||
           by_cluster(half, kFewRegisters) || (room && holds(kMaxThreads, 1, kFewestRegisters)) ||
           by_cluster(half, kManyRegisters);
  };
  // Of few rows that are read once, clusters take in one turn what a block would take several for.
  const auto is_shared = [&] {
    const int least = has_heavy_values(plan) ? 2 * kStepsOfThread : kMostOfTurns;
    return plan.target.major >= 9 && is_one_pass_if_held(plan) && count > 0 &&
           count < device::kManyBlocks && !leaves_results(plan, rows, count) &&
           rows.row_threads == half &&
           (*vectors >= std::int64_t{least} * half ||
            (2 * count <= device::kManyBlocks &&
             *vectors * loaded_bytes(plan, rows) >= kBytesOfAlone));
  };
  if (is_shared() || !is_held()) {
    rows.row_threads = is_one_pass(plan) || has_centres(plan) ? kMaxThreads / 2 : kMaxThreads;
    if (runs_by_rounds(count) && is_one_pass(plan) && computes_longer(plan, rows, *vectors))
      rows.row_threads /= 2;
    if (count > 0 && !share_held(plan, count, *vectors, most_held, rows)) {
      rows.splits = splits_of_heavy(plan, rows, count, *vectors);
      if (rows.splits == 1)
        share_among_blocks(plan, count, rows.row_threads, *vectors / rows.row_threads, rows);
    }
  } else if (rows.cluster > 2 && 2 * count >= kManyOfBlock && !has_heavy_values(plan)) {
    // The fewer blocks wait for each other, the better, if a thread has registers for the f32
    // values of its vectors, too. Weights that peeled rows shift stay in shared memory only while
    // registers hold the next row. Half as many of the largest blocks hold the next row, too.
    const int most = plan.peeled ? kFewRegistersOfCluster : kFewestRegisters;
    // Single elements of the next row do not come meanwhile. Smaller blocks of more elements have
    // more of them under way.
    if (plan.vector == 1)
      holds(half / 2, rows.cluster, kMostByElements);
    else if (!holds(kMaxThreads, 2, std::min(most, kFewestRegisters * registers / plan.vector)) &&
             rows.row_threads == kMaxThreads)
      holds(kMaxThreads, rows.cluster / 2, kFewRegistersOfCluster);
  }
  // One pass reads nothing twice, so a loop is as fast as holding rows, unless blocks are few, or
  // rows are peeled: a loop asks for the row's ends in each vector. Sums below a maximum take two
  // passes over rows that are held, but these scale nothing.
  const bool asks_less = plan.peeled && rows.count == 1 && rows.cluster == 1;
  if (is_one_pass_if_held(plan) && rows.splits == 1 && rows.register_vectors > kVectorsOfThread &&
      !asks_less && !waits_for_turns(plan, rows))
    rows.register_vectors = 0;
  rows.ahead = loads_ahead(plan, rows);
  return {rows, threads_of_block(plan, rows, *vectors)};
}

}  // namespace

bool has_heavy_values(const Plan& plan) {
  const std::vector<expr::Node>& nodes = plan.program.nodes;
  std::vector<bool> follows(nodes.size());  // from a result of a row
  int instructions = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    follows[i] = expr::is_reduction(nodes[i].op) ||
                 std::ranges::any_of(nodes[i].args, [&](expr::NodeId arg) {
                   return arg != expr::kNoNode && follows[static_cast<std::size_t>(arg)];
                 });
    const expr::Cost& cost = expr::traits(nodes[i].op).cost;
    if (!follows[i]) instructions += cost.plain + kPlainOfSpecial * cost.special;
  }
  return instructions >= kHeavyValues;
}

bool is_heavy(const Plan& plan, const Rows& rows) {
  return vectors_across_rows(plan, rows).value_or(0) >= device::kManyBlocks &&
         has_heavy_values(plan);
}

bool loads_ahead(const Plan& plan, const Rows& rows) {
  if (!rows.along() || rows.abreast || rows.cluster == 1 || rows.register_vectors == 0)
    return false;
  // With narrower loads, one block per multiprocessor has too few bytes under way.
  if (least_access(plan, rows) < kLeastAccessAhead) return false;
  const int room = rows.row_threads < kMaxThreads ? kManyRegisters : kManyRegisters / 2;
  return 2 * rows.register_vectors * registers_of_vector(plan, rows) <= room;
}

int most_of_small_rows(const Plan& plan) {
  constexpr int kAnyNumber = 16;
  const auto* const rows = std::get_if<Rows>(&plan.family);
  if (rows == nullptr) return kAnyNumber;
  const auto length = elements_in_row(plan, *rows);
  if (!length || *length > kAnyNumber * kRowThreadsOfSmall) return kAnyNumber;
  const int least = power_of_two_from(ceil_div(*length, std::int64_t{kRowThreadsOfSmall}));
  const std::int64_t light = kWeightOfSmallThread / expr::weight(plan.program);
  const int vector = std::max(static_cast<int>(std::bit_floor(
                                  static_cast<std::uint64_t>(std::max<std::int64_t>(1, light)))),
                              least);
  if (!is_small(plan, *rows, vector)) return kAnyNumber;
  // More threads combine as often as there are reductions.
  int few = vector;
  while (count_reductions(plan) == 1 && few > least && is_small(plan, *rows, few / 2)) few /= 2;
  return few;
}

int alike_rows(const Plan& plan, const Rows& rows) {
  const bool alone = rows.cluster == 1 && rows.splits == 1;
  const bool shifts = plan.peeled || std::ranges::any_of(plan.operands, &Operand::shifted);
  const auto count = vectors_across_rows(plan, rows);
  // What is loaded shifted lies otherwise in the next row.
  if (!alone || shifts || !count || !has_alike_rows(plan, rows)) return 1;
  const std::int64_t extent = plan.extents[*outermost_kept(plan, rows)].value();
  const std::int64_t threads = *count * rows.row_threads;
  std::int64_t most = threads / device::kThreadsAtOnce;
  // While the first blocks compute, nothing is stored, but other blocks store while those of a
  // second turn compute.
  if (most > 2 && stores_briefly(plan, rows))
    most = std::max<std::int64_t>(2, (threads + device::kMostThreadsAtOnce) / kThreadsOfTwoTurns);
  const std::int64_t groups = ceil_div(extent, std::clamp<std::int64_t>(most, 1, extent));
  return static_cast<int>(ceil_div(extent, groups));
}

std::int64_t shared_accumulator_bytes(const Plan& plan, int threads, int groups) {
  return slots_across(threads, groups, plan.target.major >= 9 ? device::kMaxCluster : 1) *
         accumulator_bytes(plan) * plan.vector;
}

RowShape choose_row_shape(const Plan& plan, Rows rows, std::int64_t most_held) {
  return rows.along() ? shape_along(plan, rows, most_held) : shape_across(plan, rows, most_held);
}

}  // namespace tilejit::plan
