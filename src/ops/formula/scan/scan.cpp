#include "scan/scan.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "core/integer.hpp"
#include "device/access.hpp"
#include "device/scale.hpp"
#include "plan/launch_shape.hpp"
#include "plan/sectors.hpp"
#include "rows/column_shape.hpp"
#include "rows/rows.hpp"
#include "tilejit/error.hpp"

namespace tilejit::plan {
namespace {

using core::ceil_div;
using core::power_of_two_from;

constexpr int kWarp = 32;
constexpr int kThreads = 256;          // per block
constexpr int kFewThreads = 128;       // per block if rows are short
constexpr int kManyThreads = 512;      // per block if rows are few, or better held
constexpr int kMostThreads = 1024;     // per block if these hold one of few rows
constexpr int kStepsOfMost = 3;        // vectors that each of them has, at most
constexpr int kMostSteps = 4;          // vectors that a thread has of a chunk
constexpr int kMostOfChunk = 32;       // elements of these along a row: they are summed in a chain
constexpr int kRegistersOfChunk = 16;  // the next chunk takes as many again
constexpr int kRegistersOfOnly = 24;   // of a row's only chunk
// Of half as many threads, four lanes do the work of five.
constexpr std::int64_t kLanesOfFull = 4, kLanesOfHalf = 5;
constexpr std::int64_t kManyThreadsOfRows = 4 * device::kMostThreadsAtOnce;
constexpr std::int64_t kRegistersBesides = 32;  // of a thread, those of vectors and sums
// Of a thread that has a column to itself; half of them of a few columns, which are better spread
// over many blocks.
constexpr int kRegistersOfAlone = 32;
constexpr int kMostGroups = 16;             // rows side by side: 256 bytes with vectors of 16 bytes
constexpr double kGainOfEven = 1.15;        // in what the multiprocessor with the most strips has
constexpr int kStepsOfShifted = 2;          // of vectors of large elements: shifts take registers
constexpr std::int64_t kLanesOfRow = 5;     // one of six is idle
constexpr std::int64_t kVectorsOfMany = 4;  // a thread that is resident
constexpr int kBytesSideBySide = 64;        // of a thread's accumulators
constexpr std::int64_t kColumnsOfElement = 4096;  // of a vector, if columns are odd
// With fewer blocks, so many multiprocessors are idle that sharing rows pays, although shared rows
// are read twice.
constexpr std::int64_t kFewBlocks = 88;
constexpr std::int64_t kManyBlocks = 2 * device::kWantedBlocks;
constexpr std::int64_t kBytesOfBlock = 4 * 1024;  // multiprocessors start larger blocks in time
// Rows of as many chunks are worth a second kernel. So are shorter ones, if chunks take longer one
// after another: in microseconds, a chunk, a second kernel, the same of columns, whose warps
// exchange more, and to read a megabyte again.
constexpr std::int64_t kManyChunks = 16;
constexpr double kUsOfChunk = 0.9, kUsOfSharing = 2.3, kUsOfSharingColumns = 4.3;
constexpr double kUsOfMegabyte = 0.45;
// Blocks that have a chunk each, rather than half as many chunks that are twice as long.
constexpr std::int64_t kMostOfOneChunk = 3 * device::kMultiprocessors;
constexpr double kGainOfTurns = 1.5;  // in sectors, which more exchanges are worth
constexpr int kValuesOfByte = 2;      // that a thread exchanges, for a byte of an element

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorCode::unsupported,
              what +
                  " cannot be planned for the GPU yet; run the operation on the CPU reference, "
                  "or split it",
              "/formula");
}

/// Whether the device loads the whole input at once if each thread has `steps` vectors.
bool is_small(const Plan& plan, int steps) {
  const Rows& rows = *rows_of(plan);
  const auto length = vectors_in_row(plan, rows), count = vectors_across_rows(plan, rows);
  return length && count && (*count == 0 || *length <= steps * device::kThreadsAtOnce / *count);
}

/// Whether warps that store neighbours along an output's columns, of which `groups` groups of
/// threads have some side by side, touch more sectors than warps that store one row after another,
/// so that it pays that threads exchange a value for each of their elements.
bool touches_fewer_in_turns(const Plan& plan, const Rows& rows, int steps, std::int64_t groups) {
  if (groups > kLeastGroups) return false;  // a warp would have fewer lanes of a group than warps
  std::int64_t run = groups * plan.vector;
  if (plan.extents.front().is_known()) run = std::min(run, plan.extents.front().value());
  return std::ranges::any_of(plan.operands, [&](const Operand& operand) {
    if (!operand.written || operand.per_row || operand.modes[rows.first].size() != 1 ||
        operand.modes[0].size() != 1 || !operand.modes[0][0].stride.is(1))
      return false;
    const Dim& stride = operand.modes[rows.first][0].stride;
    if (!stride.is_known()) return false;
    constexpr std::int64_t kSector = device::kSectorBytes;
    const std::int64_t bytes = size_bytes(operand.dtype), pitch = stride.value() * bytes;
    if (steps * plan.vector > kValuesOfByte * bytes) return false;
    const std::int64_t touched = pitch % kSector == 0 ? ceil_div(run * bytes, kSector) * kSector
                                                      : (run - 1) * bytes + kSector;
    return pitch > 0 && kGainOfTurns * static_cast<double>(pitch) <= static_cast<double>(touched);
  });
}

/// Registers for a thread's vectors of a column, if they are `vector` elements wide.
std::int64_t registers_of_column(const Plan& plan, std::int64_t length, int vector) {
  const int bytes = loaded_bytes(plan, *rows_of(plan)) / plan.vector * vector;
  return length * std::max(1, bytes / 4);
}

/// Chooses step by step. Sizes that are known only at launch are assumed to be large.
class Chooser {
 public:
  Chooser(const Plan& plan, const Tuning& tuning, std::int64_t most_elements)
      : plan_(plan),
        rows_(*rows_of(plan)),
        length_(vectors_in_row(plan, rows_)),
        count_(vectors_across_rows(plan, rows_)),
        reduces_(formula::has_reductions(plan.program)),
        pins_threads_(tuning.threads.has_value()),
        pins_steps_(tuning.unroll.has_value()) {
    const int most = rows_.along() ? kMostOfChunk / plan.vector : kMostOfChunk;
    const bool one = rows_.along() && length_ && *length_ <= kThreads && is_small(plan, 1);
    const std::int64_t fitting =
        std::min<std::int64_t>({one            ? 1
                                : is_shifted() ? kStepsOfShifted
                                               : kMostSteps,
                                most, 2 * most_elements / plan.vector,
                                kRegistersOfChunk / registers_of_vector(plan, rows_)});
    alone_ = !tuning.unroll && scans_alone(plan);
    steps_ = alone_ ? static_cast<int>(*length_)
                    : tuning.unroll.value_or(static_cast<int>(std::max<std::int64_t>(1, fitting)));
    if (steps_ <= most) return;
    throw Error(ErrorCode::invalid_spec,
                "a scan takes at most " + std::to_string(most) + " vectors of " +
                    std::to_string(plan.vector) + " elements at once, not " +
                    std::to_string(steps_) + "; lower it",
                "/tuning/unroll");
  }

  void choose() {
    if (alone_) {
      choose_threads_alone();
    } else if (rows_.along()) {
      choose_threads_along();
    } else {
      choose_threads_across();
    }
    while (threads_ > std::max(rows_.row_threads, kWarp) &&
           shared_bytes() > device::kStaticSharedBytes)
      threads_ /= 2;
    if (shared_bytes() > device::kStaticSharedBytes) refuse("so many scans in one formula");
    if (!hold()) share();
  }

  [[nodiscard]] const Rows& rows() const noexcept { return rows_; }
  [[nodiscard]] int threads() const noexcept { return threads_; }
  [[nodiscard]] int steps() const noexcept { return steps_; }

 private:
  [[nodiscard]] bool fits() const {
    return length_ && *length_ <= std::int64_t{rows_.row_threads} * steps_;
  }

  void choose_threads_along() {
    rows_.row_threads = kThreads;
    if (length_) {
      rows_.row_threads =
          *length_ <= kWarp
              ? power_of_two_from(leaves_lanes_idle(*length_, count_) ? ceil_div(*length_, steps_)
                                                                      : *length_)
              : std::clamp(power_of_two_from(ceil_div(*length_, steps_)), kWarp, kThreads);
    }
    if (length_ && !fits() && (reduces_ || fills_few_blocks())) rows_.row_threads = kManyThreads;
    fill_lanes();
    const bool few = count_ && *count_ < kFewBlocks && !reduces_ && !pins_threads_;
    if (few && !fits() && *length_ <= std::int64_t{kMostThreads} * std::min(steps_, kStepsOfMost))
      rows_.row_threads = kMostThreads;
    threads_ = std::max(rows_.row_threads, kFewThreads);
    // Multiprocessors take small blocks more slowly than these run.
    const std::int64_t bytes = bytes_of_row() * (threads_ / rows_.row_threads);
    if (count_ && *count_ * rows_.row_threads >= kManyBlocks * threads_ && bytes < kBytesOfBlock)
      threads_ = std::max(threads_, kThreads);
  }

  /// Half as many threads for rows of one chunk, if their steps then leave fewer lanes idle and
  /// rows are so many that instructions, rather than latencies, take the time.
  void fill_lanes() {
    if (!fits() || pins_threads_ || pins_steps_ || rows_.row_threads < kWarp || !count_ ||
        *count_ * rows_.row_threads < kManyThreadsOfRows)
      return;
    const int half = rows_.row_threads / 2;
    const std::int64_t steps = ceil_div(*length_, half);
    const std::int64_t before = rows_.row_threads * ceil_div(*length_, rows_.row_threads);
    if (kLanesOfFull * before < kLanesOfHalf * half * steps ||
        steps * plan_.vector > kMostOfChunk ||
        steps * registers_of_vector(plan_, rows_) > kRegistersOfOnly)
      return;
    rows_.row_threads = half;
    steps_ = static_cast<int>(steps);
  }

  /// Bytes of a row that memory reads and writes.
  [[nodiscard]] std::int64_t bytes_of_row() const {
    std::int64_t bytes = 0;
    for (const Operand& operand : plan_.operands) {
      const int times = (operand.read ? 1 : 0) + (operand.written ? 1 : 0);
      if (!operand.per_row && !repeats(operand) && varies_in_row(operand, rows_))
        bytes += times * length_.value_or(kThreads) * plan_.vector * size_bytes(operand.dtype);
    }
    return bytes;
  }

  /// Whether rows are few but are better not shared.
  [[nodiscard]] bool fills_few_blocks() const {
    return count_ && *count_ < device::kWantedBlocks &&
           (*count_ >= kFewBlocks || *length_ <= std::int64_t{kManyThreads} * steps_);
  }

  void choose_threads_alone() {
    rows_.row_threads = 1;
    while (threads_ > 2 * kWarp && count_ && *count_ < 2 * device::kMultiprocessors * threads_)
      threads_ /= 2;
  }

  void choose_threads_across() {
    int groups = most_side_by_side();
    while (count_ && groups > kLeastGroups && ceil_div(*count_, groups) < device::kManyBlocks)
      groups /= 2;
    while (count_ && groups > 1 && *count_ <= groups / 2) groups /= 2;  // rather than idle ones
    const auto gains_by_turns = [&](int steps) {
      return touches_fewer_in_turns(plan_, rows_, steps, std::min(groups, kLeastGroups));
    };
    // Half as many steps leave fewer values to exchange; neighbours store whole rows of a vector.
    const bool many = groups > 1 && count_ && *count_ >= kFewBlocks * groups;
    if (many && steps_ > 1 && !pins_steps_ && !gains_by_turns(steps_) && gains_by_turns(steps_ / 2))
      steps_ /= 2;
    const bool turns = gains_by_turns(steps_);
    if (turns) groups = std::min(groups, kLeastGroups);
    const std::int64_t blocks = count_ ? ceil_div(*count_, groups) : device::kWantedBlocks;
    const bool fills = blocks >= kFewBlocks && blocks < 2 * device::kManyBlocks;
    const bool wide = is_narrow() && groups > kMostGroups;
    threads_ = !turns && (fills || wide) ? kManyThreads : kThreads;
    if (!turns && blocks < kFewBlocks && *count_ >= 2 * groups && is_shared(kThreads / groups) &&
        (groups * stored_bytes() < device::kSectorBytes / 2 ||
         ceil_div(blocks, std::int64_t{2}) * chunks(kThreads / groups) >= device::kWantedBlocks)) {
      groups *= 2;  // since length gives enough blocks, each takes a wider strip
      threads_ *= 2;
    }
    rows_.row_threads = threads_ / groups;
    // Instructions take longer than memory, so the multiprocessor with the most strips is the last.
    while (!turns && blocks >= kFewBlocks && spreads_evenly(groups)) {
      groups /= 2;
      threads_ /= 2;
    }
    if (length_)
      rows_.row_threads =
          std::min(rows_.row_threads, power_of_two_from(ceil_div(*length_, steps_)));
  }

  /// Whether strips half as wide leave the multiprocessor with the most of them less to do. They
  /// are lines, or half of them if vectors of small elements are shifted: these take more
  /// instructions. Shifted ones cut sectors, for which light formulas would wait.
  [[nodiscard]] bool spreads_evenly(int groups) const {
    const auto most_by = [&](int side) {
      return static_cast<double>(ceil_div(ceil_div(*count_, side), device::kMultiprocessors) *
                                 side);
    };
    const bool shifts = std::ranges::any_of(plan_.operands, &Operand::shifted);
    if (!count_ || (shifts && !has_heavy_values(plan_))) return false;
    const int strip = groups / (shifts && !is_shifted() ? 1 : 2) * stored_bytes();
    return strip >= device::kLineBytes && kGainOfEven * most_by(groups / 2) <= most_by(groups);
  }

  /// Bytes of a vector where it is stored.
  [[nodiscard]] int stored_bytes() const {
    int bytes = 0;
    for (const Operand& operand : plan_.operands) {
      if (operand.written) bytes = std::max(bytes, plan_.vector * size_bytes(operand.dtype));
    }
    return bytes;
  }

  /// Whether strips would be lines at most, of vectors that are aligned.
  [[nodiscard]] bool is_narrow() const {
    return kMostGroups * stored_bytes() <= device::kLineBytes &&
           std::ranges::none_of(plan_.operands, &Operand::shifted);
  }

  /// Whether columns of large elements are shifted.
  [[nodiscard]] bool is_shifted() const {
    return std::ranges::any_of(plan_.operands, [](const Operand& operand) {
      return operand.shifted && operand.written &&
             size_bytes(operand.dtype) >= device::kLargeElement;
    });
  }

  /// Neighbours along the innermost of several kept modes: the next mode's columns are far away.
  /// Wide strips of shifted vectors, or where others are narrow, cut fewer sectors of large
  /// outputs.
  [[nodiscard]] int most_side_by_side() const {
    const bool cuts = std::ranges::any_of(plan_.operands, [&](const Operand& operand) {
      return operand.written && (operand.shifted || is_narrow()) && cuts_sectors(plan_, operand);
    });
    const bool many = count_ && *count_ / (2 * kMostGroups) >= 2 * device::kManyBlocks;
    const int most = cuts && many ? 2 * kMostGroups : kMostGroups;
    if (rows_.first < 2 || !plan_.extents[0].is_known()) return most;
    const std::int64_t vectors = vectors_in_sequence(plan_, rows_);
    return vectors < kLeastGroups ? power_of_two_from(vectors) : most;
  }

  /// Bytes of shared memory for what the warps of a row tell each other, in two buffers, and for
  /// what a row carries from chunk to chunk.
  [[nodiscard]] std::int64_t shared_bytes() const {
    const std::int64_t groups = threads_ / rows_.row_threads;
    const std::int64_t warps =
        rows_.along() ? std::max(1, rows_.row_threads / kWarp)
                      : ceil_div(rows_.row_threads, std::max<std::int64_t>(1, kWarp / groups));
    const bool by_steps = rows_.along() || touches_fewer_in_turns(plan_, rows_, 1, groups);
    const std::int64_t parts = by_steps ? steps_ : 1, across = rows_.along() ? 1 : plan_.vector;
    const std::int64_t bytes =
        std::max(accumulator_bytes(plan_), accumulator_bytes(plan_, expr::is_scan));
    return (2 * parts * warps + (fits() ? 0 : 5)) * groups * across * bytes;
  }

  bool hold() {
    if (!fits()) return false;
    steps_ = static_cast<int>(std::max<std::int64_t>(1, ceil_div(*length_, rows_.row_threads)));
    rows_.register_vectors = steps_;
    return true;
  }

  /// Whether rows are long enough to be shared by blocks, if they are few.
  [[nodiscard]] bool is_shared(int row_threads) const {
    if (!length_ || !count_ || reduces_) return false;
    const std::int64_t all = chunks(row_threads);
    const double megabytes = 1e-6 * static_cast<double>(*count_ * bytes_of_row());
    const double sharing = rows_.along() ? kUsOfSharing : kUsOfSharingColumns;
    return all >= kManyChunks ||
           kUsOfChunk * static_cast<double>(all) > sharing + kUsOfMegabyte * megabytes;
  }
  [[nodiscard]] std::int64_t chunks(int row_threads) const {
    return ceil_div(*length_, std::int64_t{row_threads} * steps_);
  }

  /// Shortens the chunks of rows that blocks share while each block still has one of them, and the
  /// device runs all at once: a block loads, folds and stores a thread's vectors one after another.
  void shorten_chunks(std::int64_t rows) {
    if (!rows_.along() || pins_steps_) return;
    const auto blocks_by = [&](int steps) {
      return rows * ceil_div(*length_, std::int64_t{rows_.row_threads} * steps);
    };
    while (steps_ > 1 && blocks_by(steps_ / 2) <= kMostOfOneChunk) steps_ /= 2;
  }

  /// Rows are shared by as many blocks as take the least time; by fewer rather than more.
  void share() {
    if (!is_shared(rows_.row_threads)) return;
    const std::int64_t blocks = ceil_div(*count_, threads_ / rows_.row_threads);
    if (blocks == 0 || blocks >= kFewBlocks) return;
    shorten_chunks(blocks);
    const std::int64_t all = chunks(rows_.row_threads);
    const std::int64_t most = std::min(device::kWantedBlocks / blocks, all);
    // In halves: what a block takes besides its chunks is about half a chunk.
    const auto cost_of = [&](std::int64_t splits) {
      return ceil_div(blocks * splits, blocks_at_once()) * (2 * ceil_div(all, splits) + 1);
    };
    std::int64_t best = most;
    for (std::int64_t each = ceil_div(all, most); each <= all; ++each) {
      const std::int64_t splits = ceil_div(all, each);
      if (cost_of(splits) <= cost_of(best)) best = splits;
    }
    rows_.splits = static_cast<int>(best);
  }

  /// Blocks of shared rows that the device runs at once. Columns take registers for the vectors of
  /// two chunks, half a register an element at least, and for what each has and what is before it.
  [[nodiscard]] std::int64_t blocks_at_once() const {
    if (rows_.along()) return device::kWantedBlocks;
    const int chunk = steps_ * std::max(registers_of_vector(plan_, rows_), plan_.vector / 2);
    const std::int64_t sums = plan_.vector * accumulator_bytes(plan_, expr::is_scan) / 4;
    const std::int64_t threads =
        std::min(device::kRegistersOfMultiprocessor / (kRegistersBesides + 2 * (chunk + sums)),
                 device::kThreadsOfMultiprocessor);
    return device::kMultiprocessors * std::max<std::int64_t>(1, threads / threads_);
  }

  const Plan& plan_;
  Rows rows_;
  std::optional<std::int64_t> length_, count_;  // vectors in a row; vectors across rows
  bool reduces_, pins_threads_, pins_steps_;
  int steps_ = 1;
  int threads_ = kThreads;
  bool alone_ = false;  // each thread has a column to itself
};

/// Whether the block divides evenly among its rows. If vectors lie across rows, the groups side by
/// side also fill whole warps, or a warp has as many threads of each group.
bool is_shared_evenly(const Rows& rows, int threads) {
  if (threads < rows.row_threads || threads % rows.row_threads != 0) return false;
  const int groups = threads / rows.row_threads;
  return rows.along() || (groups < kWarp ? kWarp % groups == 0 : groups % kWarp == 0);
}

}  // namespace

std::optional<Direction> direction_of(const expr::Program& program) noexcept {
  const auto found = std::ranges::find_if(
      program.nodes, [](const expr::Node& node) { return expr::is_scan(node.op); });
  if (found == program.nodes.end()) return std::nullopt;
  return found->reverse ? Direction::backward : Direction::forward;
}

bool leaves_lanes_idle(std::int64_t vectors, std::optional<std::int64_t> rows) {
  return kLanesOfRow * power_of_two_from(vectors) > vectors * (kLanesOfRow + 1) && rows &&
         *rows * vectors >= kVectorsOfMany * device::kThreadsAtOnce;
}

bool scans_alone(const Plan& plan) {
  const auto* const scan = std::get_if<Scan>(&plan.family);
  if (scan == nullptr || scan->along()) return false;
  const auto length = vectors_in_row(plan, *scan);
  const std::int64_t most = std::min<std::int64_t>(kMostOfChunk, 2 * elements_within_budget(plan));
  const auto columns = vectors_across_rows(plan, *scan);
  const bool few = columns && *columns * plan.vector < device::kManyBlocks * kLeastGroups;
  return length && *length > 0 && *length <= most &&
         registers_of_column(plan, *length, plan.vector) <=
             (few ? kRegistersOfAlone / 2 : kRegistersOfAlone);
}

bool takes_turns(const Plan& plan, const Rows& rows) {
  return !rows.along() && rows.row_threads > 1 && !is_light(plan) &&
         touches_fewer_in_turns(plan, rows, plan.unroll, plan.threads / rows.row_threads);
}

int most_scanned_at_once(const Plan& plan) {
  constexpr int kAnyNumber = 16;
  const auto* const scan = std::get_if<Scan>(&plan.family);
  if (scan == nullptr || scan->along()) return kAnyNumber;
  const auto most =
      static_cast<std::uint64_t>(kBytesSideBySide / accumulator_bytes(plan, expr::is_scan));
  int vector = static_cast<int>(std::bit_floor(std::max<std::uint64_t>(1, most)));
  const auto columns = vectors_across_rows(plan, *scan);  // vectors have one element here
  if (scans_alone(plan)) {
    const std::int64_t length = *vectors_in_row(plan, *scan);
    while (vector > 1 && (registers_of_column(plan, length, vector) > kRegistersOfAlone ||
                          !columns || *columns < vector * device::kThreadsAtOnce))
      vector /= 2;
    return vector;
  }
  // A few columns are better spread over many blocks than read by wide accesses.
  const Dim& side_by_side = plan.extents.front();
  const bool odd = side_by_side.is_known() && side_by_side.value() % 2 != 0;
  while (odd && columns && vector > 2 && *columns < vector * kColumnsOfElement) vector /= 2;
  // So are odd ones, whose vectors would be shifted.
  const std::int64_t across = odd ? vector : 1;
  const bool few = columns && *columns < across * device::kManyBlocks * kLeastGroups;
  return few && is_small(plan, kMostSteps) ? 1 : vector;
}

void choose_scan_launch(Plan& plan, const Tuning& tuning, std::int64_t most_elements) {
  Chooser chooser(plan, tuning, most_elements);
  chooser.choose();
  Rows& rows = std::get<Scan>(plan.family);
  rows = chooser.rows();
  plan.unroll = chooser.steps();
  plan.threads = tuning.threads.value_or(chooser.threads());
  if (is_shared_evenly(rows, plan.threads)) return;
  throw Error(ErrorCode::invalid_spec,
              std::to_string(plan.threads) + " threads cannot be shared by groups of " +
                  std::to_string(rows.row_threads) +
                  ", as a row takes; use a power of two that is a multiple",
              "/tuning/threads");
}

}  // namespace tilejit::plan
