#include "staged/family.hpp"

#include <algorithm>
#include <vector>

#include "core/integer.hpp"
#include "core/json_line.hpp"
#include "device/access.hpp"
#include "device/scale.hpp"
#include "plan/sectors.hpp"
#include "rows/row_threads.hpp"
#include "rows/rows.hpp"
#include "scan/scan.hpp"
#include "staged/direct.hpp"
#include "staged/runs.hpp"

namespace tilejit::plan {
namespace {

using core::ceil_div;

constexpr std::int64_t kMostBytesOfRow = 512;  // of its widest element: four lines
constexpr int kThreads = 128;                  // of a block
constexpr int kMostRowThreads = 8;             // 16 rows at a time or more, see below
constexpr int kWord = 4;                       // bytes
constexpr int kFewVectors = 5;                 // of a thread, which not more of them share
constexpr int kFewOfOnePass = 16;
constexpr int kHeldWords = 16;    // of a row, about, by a thread
constexpr int kHeldVectors = 36;  // if they are smaller than a word
// Rows that meet weights are not staged if they have so many vectors, and one lane in 8 is idle:
// of 8 bytes, and of words.
constexpr std::int64_t kLeastOfFull = 14, kLeastOfFullWords = 112;
constexpr std::int64_t kLanesOfIdle = 8;
// Of a row that is scanned, at most, by a thread.
constexpr int kScannedWords = 24;
constexpr int kScannedAlone = 36;  // narrower ones, if it has the row to itself
constexpr int kScannedVectors = 20;
constexpr std::int64_t kBytesOfBlock = 5 * 1024;        // of inputs: more delays its outputs
constexpr std::int64_t kLeastOfBlock = 4 * 1024;        // if other operands are loaded, too
constexpr std::int64_t kLeastMoved = 2 * 1024;          // of inputs and outputs: more than that
constexpr std::int64_t kMostBytesOfInputs = 16 * 1024;  // in 32 registers of a thread
constexpr std::int64_t kMostSharedBytes = 32 * 1024;    // of a block
// With fewer elements, the accesses of fused_rows.cu are as fast: rows of less take longer by the
// copies than by accesses of narrow vectors, or of words.
constexpr std::int64_t kLeastElements = std::int64_t{1} << 18;
constexpr std::int64_t kLeastElementsOfWords = std::int64_t{1} << 20;
constexpr double kMostBySector = 2;  // bytes of sectors, for each that a warp reads directly
constexpr std::int64_t kScanningWarps = 48 * device::kMultiprocessors;  // by their registers
constexpr std::int64_t kStartedBlocks = 128 * device::kWantedBlocks;
constexpr std::int64_t kManyBlocks = 2 * device::kWantedBlocks;

/// Whether threads hold their rows, and a block what it has of them.
bool fits(const Plan& plan, Rows rows, int row_threads) {
  rows.row_threads = row_threads;
  const std::int64_t groups = kThreads / row_threads;
  return ceil_div(plan.extents.front().value(), std::int64_t{row_threads} * plan.vector) <=
             most_held(plan, rows) &&
         groups * input_bytes_of_row(plan, rows) <= kMostBytesOfInputs &&
         groups * shared_bytes_of_row(plan, rows) <= kMostSharedBytes;
}

/// Whether twice as many threads would reduce a row sooner: the device runs all of them at once,
/// and these have many vectors each.
bool takes_more_threads(const Plan& plan, const Rows& rows, int threads) {
  const auto count = vectors_across_rows(plan, rows);
  const std::int64_t few = is_one_pass_if_held(plan) ? kFewOfOnePass : kFewVectors;
  return count && 2 * *count * threads <= device::kMostThreadsAtOnce &&
         plan.extents.front().value() > few * plan.vector * threads;
}

/// How many threads reduce a row: few, since a row takes them a fixed time, and since threads of
/// several rows would ask the same banks of shared memory for narrow elements.
int reducing_threads(const Plan& plan, const Rows& rows) {
  const std::int64_t vectors = plan.extents.front().value() / plan.vector;
  const int held = widest_vector(plan) < kWord ? kHeldVectors : kHeldWords;
  int threads = kMostRowThreads;
  while (threads > 1 && fits(plan, rows, threads / 2) &&
         10 * vectors < std::int64_t{9} * held * threads)
    threads /= 2;
  while (threads < kMostRowThreads && takes_more_threads(plan, rows, threads)) threads *= 2;
  return threads;
}

/// Whether an operand of many elements is no run that blocks copy.
bool is_elsewhere(const Plan& plan, const Rows& rows, const Operand& operand) {
  return operand.read && varies_across_rows(operand, rows) && !staged_pitch(plan, operand);
}

/// Whether threads that lie along a row access it by 8 bytes, or by words in several steps, hardly
/// any of them is idle, and it meets weights, whose neighbours they load: threads that have rows in
/// shared memory are fewer a row, and load more of the weights each.
bool has_full_lanes_with_weights(const Plan& plan, std::int64_t vectors, int bytes) {
  const std::int64_t least = bytes == kWord ? kLeastOfFullWords : kLeastOfFull;
  const bool full = vectors >= least &&
                    kLanesOfIdle * vectors >= (kLanesOfIdle - 1) * core::power_of_two_from(vectors);
  return full && (bytes == kWord || bytes == device::kWidestAccess / 2) &&
         std::ranges::any_of(plan.operands, &Operand::every_row);
}

/// Whether threads that lie along a row, which is not scanned, are not idle in most of a sector,
/// and do not load it element by element alone.
bool has_wide_rows(const Plan& plan, std::int64_t vectors, int bytes) {
  return !direction_of(plan) && vectors * bytes >= device::kSectorBytes &&
         (plan.vector > 1 || writes_elements(plan));
}

/// How many threads scan a row: few, since several fold their vectors first.
int scanning_threads(const Plan& plan, const Rows& rows) {
  const std::int64_t vectors = plan.extents.front().value() / plan.vector;
  const int bytes = widest_vector(plan);
  const auto suits = [&](int threads) {
    const int most = bytes >= kWord ? kScannedWords
                     : threads == 1 ? kScannedAlone
                                    : kScannedVectors;
    return fits(plan, rows, threads) && vectors <= std::int64_t{most} * threads;
  };
  int threads = kMostRowThreads;
  while (threads > 1 && suits(threads / 2)) threads /= 2;
  const auto count = vectors_across_rows(plan, rows);
  while (count && threads < kMostRowThreads && *count * threads < device::kThreadsAtOnce &&
         vectors > 4 * threads)
    threads *= 2;
  // A warp asks all banks of shared memory for vectors of 16 bytes if threads have an odd number.
  while (bytes == device::kWidestAccess && threads < kMostRowThreads &&
         vectors % (2 * threads) == 0)
    threads *= 2;
  return threads;
}

/// Vectors of a row that each of its threads has. Of narrow elements that are scanned, these are no
/// even number of words, since a warp would ask few banks of shared memory for them.
std::int64_t held_of_row(const Plan& plan, const Rows& rows) {
  const std::int64_t vectors = plan.extents.front().value() / plan.vector;
  const std::int64_t held = ceil_div(vectors, rows.row_threads);
  const int bytes = widest_vector(plan);
  const bool meets = bytes < kWord && held * bytes % (2 * kWord) == 0;
  return direction_of(plan) && rows.row_threads > 1 && meets ? held + 1 : held;
}

Rows share_rows(const Plan& plan, Rows rows, const std::optional<int>& pinned) {
  rows.row_threads = pinned               ? *pinned
                     : direction_of(plan) ? scanning_threads(plan, rows)
                                          : reducing_threads(plan, rows);
  const std::int64_t held = held_of_row(plan, rows);
  const bool suits = fits(plan, rows, rows.row_threads) && held <= most_held(plan, rows);
  rows.register_vectors = suits ? static_cast<int>(held) : 0;
  return rows;
}

std::int64_t bytes_of_results(const Plan& plan) {
  std::int64_t bytes = 0;
  for (const Operand& operand : plan.operands) {
    if (operand.written) bytes += size_bytes(operand.dtype);
  }
  return bytes;
}

int turns_of(const Plan& plan, const Rows& rows) {
  const std::int64_t groups = kThreads / rows.row_threads;
  const std::int64_t read = groups * input_bytes_of_row(plan, rows);
  const std::int64_t bytes = std::max<std::int64_t>(1, read + direct_bytes(plan, rows, groups));
  const auto count = vectors_across_rows(plan, rows);
  // So many blocks are started one after another all the time.
  const bool many = count && *count >= groups * kStartedBlocks;
  std::int64_t turns = std::min((kBytesOfBlock + (many ? bytes / 2 : 0)) / bytes,
                                kMostSharedBytes / (groups * shared_bytes_of_row(plan, rows)));
  // Loads of each turn wait for those of the one before, which costs less than small blocks.
  const auto waits = [&](const Operand& operand) { return is_direct(plan, rows, operand); };
  if (std::ranges::any_of(plan.operands, waits)) turns = std::min(turns, kLeastOfBlock / bytes);
  if (count) turns = std::min(turns, *count / (groups * kManyBlocks));
  // Threads that only reduce take no turns while the device runs more of them at once, unless
  // blocks would move so little that they take longer to start.
  if (count && !writes_elements(plan)) {
    const std::int64_t least = kLeastMoved / (bytes + groups * bytes_of_results(plan)) + 1;
    turns =
        std::min(turns, std::max(least, *count * rows.row_threads / device::kMostThreadsAtOnce));
  }
  return static_cast<int>(std::max<std::int64_t>(1, turns));
}

/// Whether threads that only reduce wait for few bytes in shared memory, and then again for
/// elements that rows do not share: with so few, too little of other blocks is under way meanwhile.
bool waits_twice(const Plan& plan, const Rows& rows) {
  if (writes_elements(plan)) return false;
  const auto waits = [&](const Operand& operand) {
    return is_direct(plan, rows, operand) && varies_in_row(operand, rows);
  };
  const std::int64_t bytes =
      kThreads / rows.row_threads * turns_of(plan, rows) * input_bytes_of_row(plan, rows);
  return bytes > 0 && bytes < kLeastMoved && std::ranges::any_of(plan.operands, waits);
}

bool pins_other_knobs(const Tuning& tuning) {
  return tuning.threads || tuning.unroll || tuning.cluster || tuning.splits || tuning.atomics ||
         tuning.register_vectors || tuning.row_threads.value_or(1) > kMostRowThreads;
}

}  // namespace

bool suits_staging(const Plan& plan, const Tuning& tuning) {
  const Rows* const rows = rows_of(plan);
  if (rows == nullptr || is_light(plan) || !rows->along() || rows->count != 1 ||
      plan.extents.size() == 1)
    return false;
  if (plan.ragged || !plan.extents.front().is_known() || pins_other_knobs(tuning)) return false;
  const std::int64_t length = plan.extents.front().value();
  const auto in_place = [](const Operand& operand) { return operand.per_row && operand.read; };
  if (std::ranges::any_of(plan.operands, in_place)) return false;
  const std::int64_t aligned = length & -length;  // elements of a vector that divides rows
  const int bytes = widest_vector(plan);
  const auto count = vectors_across_rows(plan, *rows);
  const std::int64_t vectors = length / plan.vector;
  const bool suits = bytes < device::kWidestAccess
                         ? plan.vector == aligned
                         : direction_of(plan) && leaves_lanes_idle(vectors, count);
  if (bytes == 0 || !suits || length < 2 || vectors * bytes > kMostBytesOfRow) return false;
  // Copies of rows that are scanned take longer than they save while the device runs a warp for
  // each.
  const bool along = direction_of(plan) ? count && *count <= kScanningWarps
                                        : has_full_lanes_with_weights(plan, vectors, bytes) ||
                                              takes_more_threads(plan, *rows, kMostRowThreads);
  if (along) return false;
  const bool narrow = bytes < kWord || direction_of(plan);
  if (count && *count * length < (narrow ? kLeastElements : kLeastElementsOfWords)) return false;
  if (count && has_wide_rows(plan, vectors, bytes) && moves_little(plan, *rows, *count * length))
    return false;
  const Rows shared = share_rows(plan, *rows, tuning.row_threads);
  return shared.register_vectors > 0 && !waits_twice(plan, shared);
}

bool reads_side_by_side(const Plan& plan) {
  const auto* const staged = std::get_if<StagedRows>(&plan.family);
  if (staged == nullptr || staged->columns > 1 || staged->row_threads > 1) return false;
  std::vector<std::int64_t> warp(plan.extents.size(), 1);
  std::int64_t lanes = kWarp;
  for (std::size_t m = 1; m < plan.extents.size(); ++m) {
    if (!plan.extents[m].is_known()) return false;
    warp[m] = std::min(lanes, plan.extents[m].value());
    lanes = std::max<std::int64_t>(1, lanes / plan.extents[m].value());
  }
  return std::ranges::all_of(plan.operands, [&](const Operand& operand) {
    return !is_elsewhere(plan, *staged, operand) || bytes_of_element(operand, plan.extents, warp) <=
                                                        kMostBySector * size_bytes(operand.dtype);
  });
}

void StagedRows::choose_launch(Plan& plan, const Tuning& tuning) {
  if (columns > 1) return;  // plan_by_slabs has chosen
  static_cast<Rows&>(*this) = share_rows(plan, *this, tuning.row_threads);
  turns = turns_of(plan, *this);
  plan.threads = kThreads;
  plan.unroll = 1;
  for (Operand& operand : plan.operands) {
    if (staged_pitch(plan, operand)) operand.access_bytes = device::kWidestAccess;
    // Elements that have gaps in memory have none in shared memory.
    if (operand.reach == Reach::strided && is_gathered(plan, *this, operand)) {
      operand.reach = Reach::contiguous;
      operand.access_bytes = size_bytes(operand.dtype);
    }
  }
}

std::int64_t StagedRows::unit_extent(const Plan& plan, std::size_t m) const noexcept {
  return side > 0 && m == 1 ? columns : Rows::unit_extent(plan, m);
}

std::int64_t StagedRows::units_per_block(const Plan& plan) const noexcept {
  if (side > 0) return 1;
  if (columns > 1) return std::int64_t{slabs} * columns;
  return std::int64_t{turns} * (plan.threads / row_threads);
}

void StagedRows::write_json(core::JsonLine& line) const {
  Rows::write_json(line);
  line.key("staged").open('{').member("turns", turns);
  if (columns > 1) line.member("columns", columns).member("slabs", slabs);
  if (stages > 0) line.member("stages", stages);
  if (side > 0) line.member("side", side);
  line.close('}');
  if (direction) write_scan(*direction, line);
}

}  // namespace tilejit::plan
