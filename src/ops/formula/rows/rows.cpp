#include "rows/rows.hpp"

#include <algorithm>

#include "core/integer.hpp"
#include "device/access.hpp"
#include "device/device.hpp"
#include "device/scale.hpp"
#include "rows/column_shape.hpp"
#include "rows/row_threads.hpp"

namespace tilejit::plan {
namespace {

using core::ceil_div;

constexpr int kFieldsOfCentred = 4;                // tile/centred.cuh
constexpr std::int64_t kLongestHeldColumn = 8192;  // elements that a cluster holds
constexpr std::int64_t kLongestOfResults = 4096;   // of many that leave results, or several inputs
constexpr std::int64_t kManyColumns = 2048;
constexpr int kBulkAlignment = 16;
constexpr int kSharedBytesOfRest = 12 * 1024;  // per block, besides inputs kept for all rows
constexpr int kBytesOfRegister = 4;
constexpr int kRegistersOfShared = 64, kRegistersOfRest = 32;  // that hold vectors, and others
constexpr std::int64_t kRegistersOfDevice =
    device::kRegistersOfMultiprocessor * device::kMultiprocessors;
constexpr int kLoadsOfThread = 4;  // under way; fewer of heavy formulas
// In microseconds and bytes per microsecond: how long loads are under way, what one block loads,
// and what all of them do: in loops, whose threads wait for a batch before they ask for the next
// one, in such loops over strips narrower than a line, and in kernels of one pass each.
constexpr double kUnderWayUs = 0.8, kBytesOfBlockUs = 40e3;
constexpr double kBytesOfLoops = 2.6e6, kBytesOfNarrow = 2.1e6, kBytesOfAll = 3e6;

/// Vectors of `vector` elements along the modes for which `wanted` is true; nothing if one of their
/// extents is unknown.
template <class Wanted>
std::optional<std::int64_t> count_vectors(const Plan& plan, int vector, Wanted wanted) {
  Dim count = 1;
  for (std::size_t m = 0; m < plan.extents.size(); ++m) {
    if (!wanted(m)) continue;
    if (!plan.extents[m].is_known()) return std::nullopt;
    const Dim extent = vector > 1 ? counted_extent(plan, m) : plan.extents[m];
    count = count * Dim(ceil_div(extent.value(), m == 0 ? vector : 1));
  }
  return count.value();
}

bool varies(const Operand& operand, const Rows& rows, bool in_row) {
  for (std::size_t m = 0; m < operand.modes.size(); ++m) {
    if (rows.reduces(m) != in_row) continue;
    for (const Mode& leaf : operand.modes[m]) {
      if (!leaf.stride.is(0)) return true;
    }
  }
  return false;
}

/// Elements of a column that a cluster holds at most. Of many columns that only leave results, the
/// large blocks of such clusters are busy with what they exchange, and compute while they do not
/// load; and vectors of several inputs leave registers for fewer elements.
std::int64_t longest_held_column(const Plan& plan, const Rows& rows, bool only_results) {
  if (!only_results) return kLongestHeldColumn;
  const auto columns = count_vectors(plan, 1, [&](std::size_t m) { return !rows.reduces(m); });
  const auto inputs = std::ranges::count_if(plan.operands, [&](const Operand& operand) {
    return operand.read && !operand.every_row && varies_in_row(operand, rows);
  });
  return columns.value_or(0) >= kManyColumns || inputs > 1 ? kLongestOfResults : kLongestHeldColumn;
}

/// The sums that passes over rows that are not held fold together.
std::vector<expr::JoinedSum> sums_of_loops(const Plan& plan, bool only_results) {
  const auto* const rows = std::get_if<Rows>(&plan.family);
  const bool centres =
      rows != nullptr && (rows->along() || elements_in_row(plan, *rows).value_or(0) >
                                               longest_held_column(plan, *rows, only_results));
  return centres ? expr::joined_sums(plan.program) : expr::rescaled_sums(plan.program);
}

/// Whether the device has registers for all threads at once, with their vectors of a row and of
/// what all rows share. Loaded in the pass that needs them, each of these would wait for the one
/// before it, which is used and stored first.
bool has_room_for_shared(const Plan& plan, const Rows& rows) {
  const auto count = vectors_across_rows(plan, rows);
  if (!std::holds_alternative<Rows>(plan.family) || rows.register_vectors == 0 || !count)
    return false;
  std::int64_t registers = 0;
  for (const Operand& operand : plan.operands) {
    if (!operand.read || !varies_in_row(operand, rows)) continue;
    const int elements = operand.reach == Reach::broadcast ? 1 : plan.vector;
    const int bytes = elements * size_bytes(operand.dtype) * (operand.shifted ? 2 : 1);
    registers += ceil_div(bytes, kBytesOfRegister);
  }
  registers *= rows.register_vectors;
  return registers <= kRegistersOfShared &&
         *count * threads_of_row(rows) * (kRegistersOfRest + registers) <= kRegistersOfDevice;
}

/// Whether a block can copy its part of an input that all rows share in whole chunks.
bool can_be_kept(const Plan& plan, const Operand& operand, const Rows& rows) {
  return operand.every_row && varies_in_row(operand, rows) && operand.reach == Reach::contiguous &&
         operand.access_bytes == kBulkAlignment && operand.shifted == plan.peeled;
}

/// Bytes of the columns that a block has side by side, in the widest operand.
std::int64_t bytes_across(const Plan& plan, const Rows& rows) {
  std::int64_t widest = 1;
  for (const Operand& operand : plan.operands) {
    if (spans_rows(operand, rows))
      widest = std::max<std::int64_t>(widest, size_bytes(operand.dtype));
  }
  return plan.threads / rows.row_threads * plan.vector * widest;
}

/// Bytes that loops move in a microsecond, over strips of a line or along rows, and over narrower
/// ones: odd strips below a sector share each of theirs with others.
double bytes_of_loops(const Plan& plan, const Rows& rows) {
  const std::int64_t across = rows.along() ? device::kLineBytes : bytes_across(plan, rows);
  if (across >= device::kLineBytes) return kBytesOfLoops;
  if (across >= device::kSectorBytes || !are_odd_elements(plan)) return kBytesOfNarrow;
  return kBytesOfNarrow * static_cast<double>(2 * across) /
         static_cast<double>(across + device::kSectorBytes);
}

/// What a block goes through, pass by pass: their number, and the bytes per vector of the space in
/// all of them together. Passes that fold read the row, and the one that stores also reads what all
/// rows share.
struct PassesOfBlock {
  int count = 0;
  double bytes = 0;
};
PassesOfBlock passes_of_block(const Plan& plan, const Rows& rows) {
  const int folds = std::ranges::max(expr::passes_before(plan.program, joined_sums(plan)));
  int folded = 0, mapped = 0;
  for (const Operand& operand : plan.operands) {
    if (!spans_rows(operand, rows)) continue;
    const int bytes = plan.vector * size_bytes(operand.dtype);
    if (operand.read && !operand.every_row) folded += bytes;
    mapped += bytes * ((operand.read ? 1 : 0) + (operand.written ? 1 : 0));
  }
  if (!writes_elements(plan)) return {folds, static_cast<double>(folds * folded)};
  return {folds + 1, static_cast<double>(folds * folded + mapped)};
}

bool takes_one_pass(const Plan& plan, const std::vector<expr::JoinedSum>& sums) {
  const auto passes = expr::passes_before(plan.program, sums);
  return std::ranges::max(passes) == 1 && std::ranges::all_of(plan.operands, [](const Operand& o) {
           return !o.written || o.per_row;
         });
}

}  // namespace

bool varies_in_row(const Operand& operand, const Rows& rows) {
  return varies(operand, rows, true);
}

bool varies_across_rows(const Operand& operand, const Rows& rows) {
  return varies(operand, rows, false);
}

bool spans_rows(const Operand& operand, const Rows& rows) {
  return operand.written ? !operand.per_row : varies_in_row(operand, rows);
}

bool next_run_follows(const Plan& plan, const Rows& rows, const Operand& operand) {
  const OperandMode& next_row = operand.modes[rows.count];
  return next_row.size() == 1 && next_row[0].stride == plan.extents[0];
}

bool spans_space(const Operand& operand, const Rows& rows) {
  return operand.written ? !operand.per_row
                         : varies_in_row(operand, rows) && varies_across_rows(operand, rows);
}

bool is_loaded_with_row(const Plan& plan, const Rows& rows, const Operand& operand) {
  if (!operand.read || !operand.every_row) return operand.read;
  // Columns have one element of it for a vector, which is read once.
  if (!rows.along() && rows.register_vectors == 0 && is_one_pass(plan)) return true;
  return !rows.ahead && (rows.register_vectors == 1 || has_room_for_shared(plan, rows));
}

bool is_kept(const Plan& plan, const Rows& rows, const Operand& operand) {
  return can_be_kept(plan, operand, rows) && kept_bytes(plan, rows) > 0;
}

int kept_vectors(const Plan& plan, const Rows& rows) noexcept {
  return (rows.row_threads + (plan.peeled ? 1 : 0)) * rows.register_vectors;
}

int kept_bytes(const Plan& plan, const Rows& rows) {
  if (!rows.ahead || (plan.ragged && !plan.peeled) || rows.count > 1) return 0;
  int bytes = 0;  // of a vector
  for (const Operand& operand : plan.operands) {
    if (can_be_kept(plan, operand, rows)) bytes += plan.vector * size_bytes(operand.dtype);
  }
  bytes *= kept_vectors(plan, rows);
  return bytes <= device::device_of(plan.target).shared_bytes - kSharedBytesOfRest ? bytes : 0;
}

int shared_bytes_ahead(const Plan& plan, const Rows& rows) {
  return std::max(kept_bytes(plan, rows), device::device_of(plan.target).shared_bytes / 2);
}

std::optional<std::int64_t> vectors_in_row(const Plan& plan, const Rows& rows) {
  return count_vectors(plan, plan.vector, [&](std::size_t m) { return rows.reduces(m); });
}

std::optional<std::int64_t> elements_in_row(const Plan& plan, const Rows& rows) {
  return count_vectors(plan, 1, [&](std::size_t m) { return rows.reduces(m); });
}

std::optional<std::int64_t> vectors_across_rows(const Plan& plan, const Rows& rows) {
  return count_vectors(plan, plan.vector, [&](std::size_t m) { return !rows.reduces(m); });
}

std::optional<std::size_t> outermost_kept(const Plan& plan, const Rows& rows) {
  const std::size_t end = rows.along() ? plan.extents.size() : rows.first;
  if (rows.along() && end == rows.count) return std::nullopt;
  return end - 1;
}

bool has_alike_rows(const Plan& plan, const Rows& rows) {
  const auto outermost = outermost_kept(plan, rows);
  if (!outermost || *outermost == 0 || !plan.extents[*outermost].is_known()) return false;
  const auto is_alike = [&](const Operand& operand) {
    return !operand.read || std::ranges::all_of(operand.modes[*outermost],
                                                [](const Mode& leaf) { return leaf.stride.is(0); });
  };
  return std::ranges::all_of(plan.operands, is_alike) &&
         std::ranges::any_of(plan.operands, &Operand::read);
}

std::int64_t threads_of_row(const Rows& rows) noexcept {
  return std::int64_t{rows.row_threads} * rows.cluster * rows.splits;
}

std::int64_t whole_steps(const Plan& plan, const Rows& rows) {
  const std::int64_t length = vectors_in_row(plan, rows).value_or(0),
                     threads = threads_of_row(rows);
  if (rows.splits > 1) return length == threads * rows.register_vectors ? rows.register_vectors : 0;
  return std::min<std::int64_t>(length / threads, rows.register_vectors);
}

std::int64_t inner_vectors(const Plan& plan) {
  const auto* const rows = std::get_if<Rows>(&plan.family);
  if (rows == nullptr || !plan.peeled || !rows->along() || rows->count != 1 ||
      rows->register_vectors == 0 || rows->splits > 1 || rows->ahead > 0)
    return 0;
  const std::int64_t of_step = plan.vector * threads_of_row(*rows);
  return plan.extents.front().value() / of_step * threads_of_row(*rows);
}

int loaded_bytes(const Plan& plan, const Rows& rows) {
  int bytes = 0;
  for (const Operand& operand : plan.operands) {
    if (operand.read && !operand.every_row && varies_in_row(operand, rows))
      bytes += plan.vector * size_bytes(operand.dtype);
  }
  return bytes;
}

int registers_of_vector(const Plan& plan, const Rows& rows) {
  return std::max(1, loaded_bytes(plan, rows) / 4);
}

bool has_short_rows(const Plan& plan) {
  const auto length = elements_in_row(plan, *rows_of(plan));
  return length && *length < std::int64_t{1} << 31;
}

std::int64_t count_reductions(const Plan& plan) {
  return std::ranges::count_if(plan.program.nodes,
                               [](const expr::Node& node) { return expr::is_reduction(node.op); });
}

std::int64_t accumulator_bytes(const Plan& plan, bool (*among)(expr::Op) noexcept) {
  std::int64_t end = 0, widest = 4;
  const auto add_field = [&](std::int64_t bytes) {
    end = (end + bytes - 1) / bytes * bytes + bytes;
    widest = std::max(widest, bytes);
  };
  const std::vector<expr::JoinedSum> joined = joined_sums(plan);
  std::vector<expr::NodeId> centred;  // sums whose distances share a centre
  for (std::size_t i = 0; i < plan.program.nodes.size(); ++i) {
    const expr::Node& node = plan.program.nodes[i];
    if (!among(node.op)) continue;
    if (const expr::NodeId total = joined[i].total; total != expr::kNoNode) {
      if (std::ranges::count(centred, total) == 0) centred.push_back(total);
      continue;
    }
    const bool place = expr::finds_place(node.op);
    const DType type =
        place ? plan.program.nodes[static_cast<std::size_t>(node.args[0])].type : node.type;
    add_field(type == f64 || type == i64 || type == u64 ? 8 : 4);
    if (place) add_field(has_short_rows(plan) ? 4 : 8);
  }
  for (const expr::NodeId total : centred) {
    const DType type = plan.program.nodes[static_cast<std::size_t>(total)].type;
    for (int field = 0; field < kFieldsOfCentred; ++field) add_field(type == f64 ? 8 : 4);
  }
  return (end + widest - 1) / widest * widest;
}

std::uint32_t combined_axes(const expr::Program& program) noexcept {
  const auto found = std::ranges::find_if(
      program.nodes, [](const expr::Node& node) { return expr::combines_elements(node.op); });
  return found == program.nodes.end() ? 0 : found->axes;
}

std::int64_t slots_across(int threads, int groups, int cluster) noexcept {
  const int lanes_of_warp = std::max(1, kWarp / groups);
  const int of_blocks = cluster > 1 ? 2 * cluster * groups : 0;  // two buffers, used in turn
  return threads / lanes_of_warp + groups + of_blocks;
}

int combiners(const Plan& plan) noexcept {
  return rows_of(plan)->splits > kWarp ? combining_threads(plan) : kWarp;
}

std::vector<expr::JoinedSum> joined_sums(const Plan& plan) {
  const auto* const rows = std::get_if<Rows>(&plan.family);
  return rows == nullptr || rows->register_vectors > 0
             ? expr::rescaled_sums(plan.program)
             : sums_of_loops(plan, !writes_elements(plan));
}

std::vector<expr::JoinedSum> joined_sums_apart(const Plan& plan) {
  return sums_of_loops(plan, true);
}

bool has_centres(const Plan& plan) {
  return std::ranges::any_of(joined_sums(plan),
                             [](const expr::JoinedSum& sum) { return sum.total != expr::kNoNode; });
}

bool is_one_pass(const Plan& plan) {
  return takes_one_pass(plan, joined_sums(plan));
}

bool is_one_pass_if_held(const Plan& plan) {
  return takes_one_pass(plan, std::vector<expr::JoinedSum>(plan.program.nodes.size()));
}

bool leaves_device_idle(const Plan& plan) {
  const auto* const rows = std::get_if<Rows>(&plan.family);
  if (rows == nullptr || rows->register_vectors > 0 || rows->splits > 1 || is_one_pass(plan))
    return false;
  const auto length = vectors_in_row(plan, *rows), count = vectors_across_rows(plan, *rows);
  if (!length || !count) return false;
  const std::int64_t blocks = ceil_div(*count, plan.threads / rows->row_threads) * rows->cluster;
  const double of_vector = loaded_bytes(plan, *rows);
  const PassesOfBlock passes = passes_of_block(plan, *rows);
  const double bytes = static_cast<double>(*length * *count) * passes.bytes;
  // Heavy formulas have few loads under way, but take longer to compute.
  const bool is_heavy = plan.unroll < kLoadsOfThread;
  if (is_heavy && 2 * blocks > device::kManyBlocks) return false;
  const std::int64_t at_once =
      std::min(blocks, device::kThreadsAtOnce / std::max(1, plan.threads) + 1);
  // Of few rows, blocks have threads without one.
  const std::int64_t busy =
      std::min<std::int64_t>(plan.threads / rows->row_threads, *count) * rows->row_threads;
  const double of_block = is_heavy
                              ? kBytesOfBlockUs
                              : std::min(kBytesOfBlockUs, static_cast<double>(busy) * plan.unroll *
                                                              of_vector / kUnderWayUs);
  const double of_all =
      std::min(bytes_of_loops(plan, *rows), static_cast<double>(at_once) * of_block);
  return bytes / of_all > (passes.count - 1) * device::kKernelUs + bytes / kBytesOfAll;
}

}  // namespace tilejit::plan
