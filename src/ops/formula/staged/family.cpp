#include "staged/family.hpp"

#include <algorithm>

#include "core/integer.hpp"
#include "core/json_line.hpp"
#include "device/scale.hpp"
#include "plan/launch_shape.hpp"
#include "rows/rows.hpp"

namespace tilejit::plan {
namespace {

using core::ceil_div;

constexpr int kWidestAccess = 16;                       // bytes
constexpr std::int64_t kMostBytesOfRow = 512;           // of its widest element: four lines
constexpr int kThreads = 128;                           // of a block
constexpr int kMostRowThreads = 8;                      // 16 rows at a time or more, see below
constexpr int kWord = 4;                                // bytes
constexpr int kHeldWords = 16;                          // of a row, about, by a thread
constexpr int kHeldVectors = 36;                        // if they are smaller than a word
constexpr int kMostRegisters = 64;                      // that hold vectors
constexpr std::int64_t kBytesOfBlock = 5 * 1024;        // of inputs: more delays its outputs
constexpr std::int64_t kLeastOfBlock = 4 * 1024;        // if other operands are loaded, too
constexpr std::int64_t kMostBytesOfInputs = 16 * 1024;  // in 32 registers of a thread
constexpr std::int64_t kMostSharedBytes = 32 * 1024;    // of a block
// With fewer elements, the accesses of fused_rows.cu are as fast: rows of less take longer by the
// copies than by accesses of narrow vectors, or of words.
constexpr std::int64_t kLeastElements = std::int64_t{1} << 18;
constexpr std::int64_t kLeastElementsOfWords = std::int64_t{1} << 20;
constexpr std::int64_t kManyBlocks = 2 * device::kWantedBlocks;  // about as many as run at once

/// Whether the operand has an element for each element of a row.
bool is_full(const Plan& plan, const Operand& operand) {
  return staged_pitch(plan, operand) == plan.extents.front().value();
}

/// Bytes of a vector of the widest element that is staged.
int widest_vector(const Plan& plan) {
  int widest = 0;
  for (const Operand& operand : plan.operands) {
    if (is_full(plan, operand)) widest = std::max(widest, size_bytes(operand.dtype));
  }
  return widest * plan.vector;
}

/// Registers for one vector of each input: elements of less than 4 bytes have one each, unless a
/// vector holds several in a word.
int registers_of_held(const Plan& plan, const Rows& rows) {
  int registers = 0;
  for (const Operand& operand : plan.operands) {
    if (!operand.read || operand.every_row || !varies_in_row(operand, rows)) continue;
    registers += std::max(1, plan.vector * size_bytes(operand.dtype) / 4);
  }
  return std::max(1, registers);
}

std::int64_t most_held(const Plan& plan, const Rows& rows) {
  const std::int64_t of_code =
      std::max<std::int64_t>(1, 2 * elements_within_budget(plan) / plan.vector);
  return std::min<std::int64_t>(of_code, kMostRegisters / registers_of_held(plan, rows));
}

/// Bytes per row that a block copies to shared memory.
std::int64_t input_bytes_of_row(const Plan& plan) {
  std::int64_t bytes = 0;
  for (const Operand& operand : plan.operands) {
    if (operand.read) bytes += staged_pitch(plan, operand).value_or(0) * size_bytes(operand.dtype);
  }
  return bytes;
}

/// The input whose place an output takes, or -1.
int lender_of(const Plan& plan, const Operand& output) {
  if (output.read || !output.written) return -1;
  std::vector<int> lent;
  for (const Operand& other : plan.operands) {
    if (!other.written || other.read || !is_full(plan, other)) continue;
    const auto lends = [&](const Operand& input) {
      return input.read && !input.written && input.dtype == other.dtype && is_full(plan, input) &&
             std::ranges::count(lent, input.tensor) == 0;
    };
    const auto lender = std::ranges::find_if(plan.operands, lends);
    const int tensor = lender == plan.operands.end() ? -1 : lender->tensor;
    if (other.tensor == output.tensor) return tensor;
    lent.push_back(tensor);
  }
  return -1;
}

/// Bytes per row of shared memory before those of `end`, or of all operands if it is null. A run's
/// bytes are as many times those of a row as a block has rows.
std::int64_t bytes_of_row_before(const Plan& plan, const Operand* end) {
  std::int64_t bytes = 0;
  for (const Operand& operand : plan.operands) {
    if (end != nullptr && operand.tensor == end->tensor) break;
    if (lender_of(plan, operand) >= 0) continue;
    bytes += staged_pitch(plan, operand).value_or(0) * size_bytes(operand.dtype);
  }
  return bytes;
}

/// How many threads share a row: few, since a row takes them a fixed time, and since threads of
/// several rows would ask the same banks of shared memory for narrow elements. A row that is
/// scanned has one.
Rows share_rows(const Plan& plan, Rows rows, const std::optional<int>& pinned) {
  const std::int64_t vectors = plan.extents.front().value() / plan.vector;
  const std::int64_t most = most_held(plan, rows);
  const auto fits = [&](int row_threads) {
    const std::int64_t groups = kThreads / row_threads;
    return ceil_div(vectors, row_threads) <= most &&
           groups * input_bytes_of_row(plan) <= kMostBytesOfInputs &&
           groups * bytes_of_row_before(plan, nullptr) <= kMostSharedBytes;
  };
  const int held = widest_vector(plan) < kWord ? kHeldVectors : kHeldWords;
  rows.row_threads = direction_of(plan) ? 1 : kMostRowThreads;
  while (rows.row_threads > 1 && fits(rows.row_threads / 2) &&
         10 * vectors < std::int64_t{9} * held * rows.row_threads) {
    rows.row_threads /= 2;
  }
  rows.row_threads = pinned.value_or(rows.row_threads);
  rows.register_vectors =
      fits(rows.row_threads) ? static_cast<int>(ceil_div(vectors, rows.row_threads)) : 0;
  return rows;
}

/// Whether the kernel accesses an operand of many elements where it is.
bool is_direct(const Plan& plan, const Rows& rows, const Operand& operand) {
  return operand.read && varies_across_rows(operand, rows) && !staged_pitch(plan, operand);
}

int turns_of(const Plan& plan, const Rows& rows) {
  const std::int64_t groups = kThreads / rows.row_threads;
  const std::int64_t bytes = groups * std::max<std::int64_t>(1, input_bytes_of_row(plan));
  const std::int64_t shared = groups * bytes_of_row_before(plan, nullptr);
  std::int64_t turns = std::min(kBytesOfBlock / bytes, kMostSharedBytes / shared);
  const auto direct = [&](const Operand& operand) { return is_direct(plan, rows, operand); };
  // Loads of each turn wait for those of the one before, which costs less than small blocks.
  if (std::ranges::any_of(plan.operands, direct)) turns = std::min(turns, kLeastOfBlock / bytes);
  if (const auto count = vectors_across_rows(plan, rows))
    turns = std::min(turns, *count / (groups * kManyBlocks));
  return static_cast<int>(std::max<std::int64_t>(1, turns));
}

bool pins_other_knobs(const Tuning& tuning) {
  return tuning.threads || tuning.unroll || tuning.cluster || tuning.splits || tuning.atomics ||
         tuning.register_vectors || tuning.row_threads.value_or(1) > kMostRowThreads;
}

}  // namespace

std::optional<std::int64_t> staged_pitch(const Plan& plan, const Operand& operand) {
  const auto& tensor = plan.signature.tensors[static_cast<std::size_t>(operand.tensor)];
  if (operand.per_row || operand.every_row || tensor.align % kWidestAccess != 0)
    return std::nullopt;
  std::optional<std::int64_t> pitch;
  Dim before = 1;  // elements of the row, or of the rows of the modes before
  for (std::size_t m = 0; m < operand.modes.size(); ++m) {
    if (operand.modes[m].size() != 1) return std::nullopt;
    const Dim& stride = operand.modes[m][0].stride;
    if (m == 0 && stride.is(0) && !operand.written) {
      pitch = 1;
      continue;
    }
    if (stride != before) return std::nullopt;
    before = before * plan.extents[m];
    if (m == 0) pitch = before.value();
  }
  return pitch;
}

std::int64_t staged_place(const Plan& plan, const StagedRows& staged, const Operand& operand) {
  const int lender = lender_of(plan, operand);
  const Operand& owner = lender < 0 ? operand : plan.operands[static_cast<std::size_t>(lender)];
  return bytes_of_row_before(plan, &owner) * staged.units_per_block(plan);
}

std::int64_t staged_bytes(const Plan& plan, const StagedRows& staged) {
  return bytes_of_row_before(plan, nullptr) * staged.units_per_block(plan);
}

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
  if (bytes == 0 || bytes >= kWidestAccess || plan.vector != aligned || length < 2 ||
      length / aligned * bytes > kMostBytesOfRow) {
    return false;
  }
  const auto count = vectors_across_rows(plan, *rows);
  const bool narrow = bytes < kWord || direction_of(plan);
  if (count && *count * length < (narrow ? kLeastElements : kLeastElementsOfWords)) return false;
  return share_rows(plan, *rows, tuning.row_threads).register_vectors > 0;
}

void StagedRows::choose_launch(Plan& plan, const Tuning& tuning) {
  static_cast<Rows&>(*this) = share_rows(plan, *this, tuning.row_threads);
  turns = turns_of(plan, *this);
  plan.threads = kThreads;
  plan.unroll = 1;
  for (Operand& operand : plan.operands) {
    if (staged_pitch(plan, operand)) operand.access_bytes = kWidestAccess;
  }
}

std::int64_t StagedRows::units_per_block(const Plan& plan) const noexcept {
  return std::int64_t{turns} * (plan.threads / row_threads);
}

void StagedRows::write_json(core::JsonLine& line) const {
  Rows::write_json(line);
  line.key("staged").open('{').member("turns", turns).close('}');
  if (direction) write_scan(*direction, line);
}

}  // namespace tilejit::plan
