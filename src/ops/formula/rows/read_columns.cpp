// Columns that are read once: their vectors, and how threads share short ones.
#include <algorithm>
#include <bit>

#include "core/integer.hpp"
#include "device/access.hpp"
#include "device/scale.hpp"
#include "rows/column_shape.hpp"
#include "rows/rows.hpp"

namespace tilejit::plan {
namespace {

using core::ceil_div;

constexpr int kMostOfBytes = 16;  // elements of a vector, if they are bytes
constexpr std::int64_t kLongColumnOfBytes = 1024;
// Fewer columns would be shared by clusters, to which shorter vectors leave more rows at once.
constexpr std::int64_t kManyColumnsOfBytes = kLeastGroups * kMostOfBytes * device::kManyBlocks;
// Elements of a short column, by a thread, and the fewest if these leave the device few threads.
constexpr std::int64_t kElementsShifted = 16, kFewestShifted = 8;
constexpr std::int64_t kLongShifted = 1024;    // columns that vectors of more than 4 elements suit
constexpr std::int64_t kMostAccumulated = 48;  // bytes of a vector's accumulators

/// Bytes of the widest element that columns have.
int widest_in_row(const Plan& plan, const Rows& rows) {
  int widest = 1;
  for (const Operand& operand : plan.operands) {
    if (operand.read && varies_in_row(operand, rows))
      widest = std::max(widest, size_bytes(operand.dtype));
  }
  return widest;
}

}  // namespace

int most_of_read_columns(const Plan& plan, const Rows& rows) {
  const auto length = vectors_in_row(plan, rows), count = vectors_across_rows(plan, rows);
  const bool of_bytes = std::ranges::all_of(plan.operands, [&](const Operand& operand) {
    return !varies_in_row(operand, rows) || size_bytes(operand.dtype) == 1;
  });
  int vector = kMostAcross;
  while (vector > 1 && vector * accumulator_bytes(plan) > kMostAccumulated) vector /= 2;
  // Of elements of one byte, several come in a word, and shifts are of whole vectors.
  if (of_bytes && accumulator_bytes(plan) <= 8 && length.value_or(0) >= kLongColumnOfBytes &&
      count.value_or(0) >= kManyColumnsOfBytes)
    vector = kMostOfBytes;
  if (!length || !count) return vector;
  // A thread's results of short columns are stored at once.
  for (const Operand& operand : plan.operands) {
    if (operand.per_row && *length <= kMostOfWhole)
      vector = std::min(vector, device::kWidestAccess / size_bytes(operand.dtype));
  }
  const std::int64_t sharing = *length <= kMostOfWhole ? 1 : ceil_div(*length, kStepsOfThread);
  while (vector > 1 && *count * sharing < vector * device::kThreadsAtOnce) vector /= 2;
  // Odd ones are shifted, two chunks of registers each. With what heavy formulas need, a block has
  // a multiprocessor to itself, which few columns have in two turns.
  const bool few = *count < kLeastGroups * kMostAcross * device::kManyBlocks;
  if (plan.extents[0].value() % 2 != 0 && (*length < kLongShifted || (few && is_heavy(plan, rows))))
    vector = std::min(vector, kMostElements);
  // Of three vectors that lie side by side, blocks would take two, and one with the next three's.
  vector = std::min(vector, device::kWidestAccess / widest_in_row(plan, rows));
  if (rows.first > 1 && plan.extents[0] == Dim(3 * vector)) vector = std::max(1, vector / 2);
  return vector;
}

bool has_short_columns(const Plan& plan) {
  const auto* const rows = std::get_if<Rows>(&plan.family);
  if (rows == nullptr || rows->along() || !is_one_pass(plan)) return false;
  const auto length = vectors_in_row(plan, *rows);
  return length && *length >= kFewestOfWhole && *length <= kMostOfWhole;
}

std::optional<RowShape> shape_whole(const Plan& plan, Rows rows, std::int64_t most_held) {
  const auto length = vectors_in_row(plan, rows), count = vectors_across_rows(plan, rows);
  if (!length || !count || *length < kFewestOfWhole || *length > kMostOfWhole ||
      !is_one_pass(plan) || *length > most_of_thread(plan, rows, most_held) ||
      *length * registers_of_held(plan, rows) > kRegistersHeld)
    return std::nullopt;
  rows.row_threads = 1;
  rows.register_vectors = static_cast<int>(*length);
  const std::int64_t bytes = *length * 4 * registers_of_held(plan, rows);  // of a thread
  const bool many = *count >= kThreadsOfShort * 2 * device::kWantedBlocks;
  const bool small = many && kThreadsOfStrip * bytes < kBytesOfBlock;
  return RowShape{rows, small ? kThreadsAcross : many ? kThreadsOfStrip : kThreadsOfShort};
}

std::optional<RowShape> shape_shifted(const Plan& plan, Rows rows) {
  const auto length = vectors_in_row(plan, rows), count = vectors_across_rows(plan, rows);
  const bool shifted = std::ranges::any_of(plan.operands, &Operand::shifted);
  if (!shifted || !length || !count || *length >= kLongShifted || !is_one_pass(plan))
    return std::nullopt;
  const std::int64_t wanted = std::max<std::int64_t>(1, *length / kElementsShifted);
  rows.row_threads = static_cast<int>(std::bit_floor(static_cast<std::uint64_t>(wanted)));
  while (*count * rows.row_threads < device::kThreadsAtOnce &&
         *length >= 2 * kFewestShifted * rows.row_threads)
    rows.row_threads *= 2;
  if (*count * rows.row_threads < device::kThreadsAtOnce) return std::nullopt;
  return RowShape{rows, kThreadsOfStrip};
}

}  // namespace tilejit::plan
