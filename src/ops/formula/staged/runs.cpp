// The runs of staged operands: what a block has of them, and where in shared memory.
#include "staged/runs.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/integer.hpp"
#include "device/access.hpp"
#include "device/scale.hpp"
#include "plan/launch_shape.hpp"
#include "rows/rows.hpp"

namespace tilejit::plan {
namespace {

constexpr int kMostRegisters = 64;  // that hold vectors
constexpr std::int64_t kFewColumns = 32;
// Lines of an access, from which on copies take less time. They take place before threads compute,
// so it takes threads enough to hide them: such that hold few registers of their rows.
constexpr std::int64_t kManyLines = 16;
constexpr std::int64_t kFewRegisters = 24;

/// The modes of the space from the one whose elements are neighbours in staged runs on.
std::vector<std::size_t> order_in_memory(const Plan& plan) {
  std::vector<std::size_t> order(plan.extents.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto* const staged = std::get_if<StagedRows>(&plan.family);
  const std::int64_t columns =
      staged == nullptr ? 1 : std::max<std::int64_t>(staged->columns, staged->side);
  auto last = order.begin();
  for (std::int64_t inner = 1; inner < columns; inner *= plan.extents[*last].value()) ++last;
  std::rotate(order.begin(), order.begin() + 1, last + 1);
  return order;
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

/// Whether shared memory has an element for each element of a row.
bool is_full_there(const Plan& plan, const Rows& rows, const Operand& operand) {
  return shared_pitch(plan, rows, operand) == plan.extents.front().value();
}

/// The input whose place an output takes, or -1.
int lender_of(const Plan& plan, const Rows& rows, const Operand& output) {
  if (output.read || !output.written) return -1;
  std::vector<int> lent;
  for (const Operand& other : plan.operands) {
    if (!other.written || other.read || !is_full(plan, other)) continue;
    const auto lends = [&](const Operand& input) {
      return input.read && !input.written && input.dtype == other.dtype &&
             is_full_there(plan, rows, input) && std::ranges::count(lent, input.tensor) == 0;
    };
    const auto lender = std::ranges::find_if(plan.operands, lends);
    const int tensor = lender == plan.operands.end() ? -1 : lender->tensor;
    if (other.tensor == output.tensor) return tensor;
    lent.push_back(tensor);
  }
  return -1;
}

/// Lines in which a warp accesses a run of `elements` of each of its rows at a time, if it has 32.
std::int64_t lines_of_access(const Plan& plan, const Operand& operand, std::int64_t elements) {
  const std::int64_t bytes = size_bytes(operand.dtype);
  const auto lines_in = [](std::int64_t count, std::int64_t apart) {
    return core::ceil_div(count * apart, std::int64_t{device::kLineBytes});
  };
  const std::int64_t run = std::min<std::int64_t>(kWarp, elements), rows = kWarp / run;
  const std::int64_t of_run =
      std::min(run, lines_in(run, operand.modes[0][0].stride.value() * bytes));
  const std::int64_t all =
      plan.extents.size() > 1 ? lines_in(rows, operand.modes[1][0].stride.value() * bytes) : of_run;
  return std::min(rows * of_run, std::max(of_run, all));
}

/// Bytes of shared memory for a row of so many columns, which may begin anywhere within 16 bytes.
std::int64_t bytes_of_strip(int columns, const Operand& operand) {
  const std::int64_t bytes = std::int64_t{columns} * size_bytes(operand.dtype);
  const std::int64_t before = device::kWidestAccess - size_bytes(operand.dtype);
  return core::ceil_div(bytes + before, std::int64_t{device::kWidestAccess}) *
         device::kWidestAccess;
}

/// Bytes of a block's run, with what is left free.
std::int64_t run_bytes(const Plan& plan, const StagedRows& staged, const Operand& operand) {
  std::int64_t pitch = shared_pitch(plan, staged, operand).value_or(0);
  if (staged.stages > 0 && pitch > 0) pitch = staged.register_vectors;
  if (staged.side > 0 && pitch > 0) return pitch * bytes_of_strip(staged.columns, operand);
  const std::int64_t bytes = pitch * size_bytes(operand.dtype) * staged.units_per_block(plan);
  if (staged.columns == 1 || bytes == 0) return bytes;
  // Runs may begin within 16 bytes.
  const int pads = staged.slabs * staged_pad(plan, staged, operand);
  return (bytes / device::kWidestAccess + 2 + pads) * device::kWidestAccess;
}

/// Bytes of shared memory before the run of `end`, or of all runs if it is null.
std::int64_t bytes_before(const Plan& plan, const StagedRows& staged, const Operand* end) {
  std::int64_t bytes = 0;
  for (const Operand& operand : plan.operands) {
    if (end != nullptr && operand.tensor == end->tensor) break;
    if (lender_of(plan, staged, operand) < 0) bytes += run_bytes(plan, staged, operand);
  }
  return bytes;
}

}  // namespace

bool is_full(const Plan& plan, const Operand& operand) {
  return staged_pitch(plan, operand) == plan.extents.front().value();
}

int widest_vector(const Plan& plan) {
  int widest = 0;
  for (const Operand& operand : plan.operands) {
    if (is_full(plan, operand)) widest = std::max(widest, size_bytes(operand.dtype));
  }
  return widest * plan.vector;
}

std::int64_t most_held(const Plan& plan, const Rows& rows) {
  const std::int64_t of_code =
      std::max<std::int64_t>(1, 2 * elements_within_budget(plan) / plan.vector);
  return std::min<std::int64_t>(of_code, kMostRegisters / registers_of_held(plan, rows));
}

std::int64_t input_bytes_of_row(const Plan& plan, const Rows& rows) {
  std::int64_t bytes = 0;
  for (const Operand& operand : plan.operands) {
    if (operand.read)
      bytes += shared_pitch(plan, rows, operand).value_or(0) * size_bytes(operand.dtype);
  }
  return bytes;
}

std::int64_t shared_bytes_of_row(const Plan& plan, const Rows& rows) {
  std::int64_t bytes = 0;
  for (const Operand& operand : plan.operands) {
    if (lender_of(plan, rows, operand) < 0)
      bytes += shared_pitch(plan, rows, operand).value_or(0) * size_bytes(operand.dtype);
  }
  return bytes;
}

bool moves_little(const Plan& plan, const Rows& rows, std::int64_t elements) {
  std::int64_t bytes = 0;  // of an element
  for (const Operand& operand : plan.operands) {
    if (spans_space(operand, rows)) bytes += size_bytes(operand.dtype);
  }
  return elements * bytes < device::kBytesUnderWay;
}

std::optional<std::int64_t> staged_pitch(const Plan& plan, const Operand& operand) {
  const auto& tensor = plan.signature.tensors[static_cast<std::size_t>(operand.tensor)];
  if (operand.per_row || operand.every_row || tensor.align % device::kWidestAccess != 0)
    return std::nullopt;
  const bool repeats = operand.modes[0].size() == 1 && operand.modes[0][0].stride.is(0);
  const auto* const staged = std::get_if<StagedRows>(&plan.family);
  if (repeats && staged != nullptr && staged->stages > 0) return std::nullopt;
  Dim before = 1;  // elements of the row, or of the rows of the modes before
  for (const std::size_t m : order_in_memory(plan)) {
    if (operand.modes[m].size() != 1) return std::nullopt;
    if (m == 0 && repeats && !operand.written) continue;
    if (operand.modes[m][0].stride != before) return std::nullopt;
    before = before * plan.extents[m];
  }
  return repeats ? 1 : plan.extents[0].value();
}

bool is_gathered(const Plan& plan, const Rows& rows, const Operand& operand) {
  const auto* const staged = std::get_if<StagedRows>(&plan.family);
  const bool by_slabs = staged != nullptr && (staged->columns > 1 || staged->stages > 0);
  if (by_slabs || !operand.read || operand.written || operand.every_row ||
      !varies_in_row(operand, rows) || staged_pitch(plan, operand))
    return false;
  const auto is_plain = [](const OperandMode& mode) {
    return mode.size() == 1 && mode[0].stride.is_known();
  };
  if (!std::ranges::all_of(operand.modes, is_plain)) return false;
  const std::int64_t length = plan.extents.front().value();
  const std::int64_t held = core::ceil_div(length, std::int64_t{rows.row_threads} * plan.vector) *
                            registers_of_held(plan, rows);
  return held <= kFewRegisters && lines_of_access(plan, operand, rows.row_threads) >= kManyLines &&
         2 * lines_of_access(plan, operand, length) <= kManyLines;
}

std::optional<std::int64_t> shared_pitch(const Plan& plan, const Rows& rows,
                                         const Operand& operand) {
  if (is_gathered(plan, rows, operand)) return plan.extents[0].value();
  return staged_pitch(plan, operand);
}

int staged_pad(const Plan& plan, const StagedRows& staged, const Operand& operand) {
  const std::int64_t bytes =
      plan.extents[0].value() * staged.columns * size_bytes(operand.dtype);  // of a slab
  const bool few = staged.columns < kFewColumns && staged.slabs > 1 && is_full(plan, operand);
  return few && bytes % (2 * device::kWidestAccess) == 0 ? 1 : 0;
}

std::int64_t staged_place(const Plan& plan, const StagedRows& staged, const Operand& operand) {
  const int lender = lender_of(plan, staged, operand);
  const Operand& owner = lender < 0 ? operand : plan.operands[static_cast<std::size_t>(lender)];
  return bytes_before(plan, staged, &owner);
}

std::int64_t stage_bytes(const Plan& plan, const StagedRows& staged) {
  return bytes_before(plan, staged, nullptr);
}

std::int64_t staged_bytes(const Plan& plan, const StagedRows& staged) {
  return stage_bytes(plan, staged) * std::max(1, staged.stages);
}

bool is_static(const Plan& plan, const StagedRows& staged) {
  return staged_bytes(plan, staged) <= device::kStaticSharedBytes;
}

}  // namespace tilejit::plan
