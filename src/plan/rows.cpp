#include "plan/rows.hpp"

#include <algorithm>
#include <bit>
#include <optional>

#include "tilejit/error.hpp"

namespace tilejit::plan {
namespace {

constexpr int kMaxThreads = 1024;
constexpr int kWarp = 32;
constexpr int kStepsOfLane = 4;  // vectors of a row that a lane loads at once
constexpr int kFewLanes = 128;   // a block has at least as many threads
constexpr int kMaxCluster = 8;   // of every device that has clusters
// Registers that hold vectors: few enough that two blocks of 512 threads are on a multiprocessor,
// as many as one such block has, and those of the 64 that a block of 1024 threads leaves.
constexpr int kFewRegisters = 32;
constexpr int kFewRegistersOfCluster = 16;  // its blocks wait for each other
constexpr int kManyRegisters = 64;
constexpr int kFewestRegisters = 24;
constexpr std::int64_t kManyBlocks = 128;    // about one a multiprocessor
constexpr std::int64_t kWantedBlocks = 528;  // four a multiprocessor of 132
constexpr int kThreadsAcross = 512;
constexpr int kLeastGroups = 4;  // 64 bytes side by side with vectors of 16

std::int64_t ceil_div(std::int64_t a, std::int64_t b) noexcept {
  return a / b + (a % b != 0);
}

int power_of_two_from(std::int64_t n) noexcept {
  return static_cast<int>(std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(n, 1))));
}

/// Vectors along the modes for which `wanted`, as far as all extents are known.
template <class Wanted>
std::optional<std::int64_t> count_vectors(const Plan& plan, Wanted wanted) {
  Dim count = 1;
  for (std::size_t m = 0; m < plan.extents.size(); ++m) {
    if (!wanted(m)) continue;
    if (!plan.extents[m].is_known()) return std::nullopt;
    count = count * Dim(ceil_div(plan.extents[m].value(), m == 0 ? plan.vector : 1));
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

/// Registers that one vector of every operand takes.
int registers_of_vector(const Plan& plan, const Rows& rows) {
  int bytes = 0;
  for (const Operand& operand : plan.operands) {
    if (operand.read && !operand.every_row && varies_in_row(operand, rows))
      bytes += plan.vector * size_bytes(operand.dtype);
  }
  return std::max(1, bytes / 4);
}

/// Whether each reduction is of elements, and all that is stored are results of rows.
bool is_one_pass(const Plan& plan) {
  std::vector<bool> reduced;  // a node: of a reduction's result
  for (const expr::Node& node : plan.program.nodes) {
    bool of_result = false;
    for (const expr::NodeId arg : node.args) {
      of_result = of_result || (arg != expr::kNoNode && reduced[static_cast<std::size_t>(arg)]);
    }
    if (of_result && expr::is_reduction(node.op)) return false;
    reduced.push_back(of_result || expr::is_reduction(node.op));
  }
  return std::ranges::all_of(plan.operands,
                             [](const Operand& o) { return !o.written || o.per_row; });
}

/// Shares long rows among blocks where one block each would leave multiprocessors idle: `blocks`
/// have rows to reduce, and each lane has `steps` vectors of one.
void share_among_blocks(const Plan& plan, std::int64_t blocks, std::int64_t steps, Rows& rows) {
  // A second kernel costs some microseconds: a cluster is better where it is enough.
  const bool clusters_do = plan.target.major >= 9 && kMaxCluster * blocks >= kManyBlocks;
  if (is_one_pass(plan) && !clusters_do) {
    const std::int64_t most =
        std::min(kWantedBlocks / std::max<std::int64_t>(blocks, 1), steps / (2 * kStepsOfLane));
    rows.shares = static_cast<int>(std::max<std::int64_t>(1, most));
    return;
  }
  while (plan.target.major >= 9 && rows.cluster < kMaxCluster &&
         rows.cluster * blocks < kManyBlocks && steps / rows.cluster >= 2 * kStepsOfLane) {
    rows.cluster *= 2;
  }
}

RowShape shape_along(const Plan& plan, Rows rows, std::int64_t most_held) {
  const auto vectors = count_vectors(plan, [&](std::size_t m) { return rows.reduces(m); });
  if (!vectors) {
    rows.lanes = 256;
    return {rows, 256};
  }
  rows.lanes = *vectors <= kWarp ? power_of_two_from(*vectors)
                                 : std::clamp(power_of_two_from(ceil_div(*vectors, kStepsOfLane)),
                                              kWarp, kMaxThreads);
  const int registers = registers_of_vector(plan, rows);
  const auto holds = [&](int lanes, int cluster, int most) {
    const std::int64_t steps =
        std::max<std::int64_t>(1, ceil_div(*vectors, std::int64_t{lanes} * cluster));
    if (steps * registers > most || steps > most_held) return false;
    rows.lanes = lanes;
    rows.cluster = cluster;
    rows.held = static_cast<int>(steps);
    return true;
  };
  const auto by_cluster = [&](int most) {
    if (plan.target.major < 9) return false;
    for (int cluster = 2; cluster <= kMaxCluster; cluster *= 2) {
      if (holds(kMaxThreads / 2, cluster, most)) return true;
    }
    return false;
  };
  const auto by_block = [&] {
    for (int lanes = rows.lanes; lanes < kMaxThreads; lanes *= 2) {
      if (holds(lanes, 1, kFewRegisters)) return true;
    }
    return false;
  };
  const auto is_held = [&] {
    if (by_block()) return true;
    if (is_one_pass(plan)) return false;  // nothing would be read twice
    return by_cluster(kFewRegistersOfCluster) || by_cluster(kFewRegisters) ||
           holds(kMaxThreads, 1, kFewestRegisters) || by_cluster(kManyRegisters);
  };
  if (!is_held()) {
    rows.lanes = is_one_pass(plan) ? kMaxThreads / 2 : kMaxThreads;
    const auto count = count_vectors(plan, [&](std::size_t m) { return !rows.reduces(m); });
    if (count) share_among_blocks(plan, *count, *vectors / rows.lanes, rows);
  }
  return {rows, std::max(rows.lanes, kFewLanes)};
}

/// Accumulators lie in shared memory, two threads' in the place of one, in two buffers.
std::int64_t shared_accumulator_bytes(const Plan& plan, int threads) {
  return accumulator_bytes(plan.program) * plan.vector * threads;
}

RowShape shape_across(const Plan& plan, Rows rows) {
  const auto length = count_vectors(plan, [&](std::size_t m) { return rows.reduces(m); });
  const auto count = count_vectors(plan, [&](std::size_t m) { return !rows.reduces(m); });
  int groups = kWarp;
  if (count) {
    while (groups > kLeastGroups && ceil_div(*count, groups) < kManyBlocks) groups /= 2;
  }
  int threads = kThreadsAcross;
  while (threads > groups && shared_accumulator_bytes(plan, threads) > kMaxAccumulatorBytes)
    threads /= 2;
  rows.lanes = std::max(1, threads / groups);
  if (length) {
    rows.lanes = std::min(rows.lanes, power_of_two_from(ceil_div(*length, kStepsOfLane)));
  }
  if (count && length) {
    share_among_blocks(plan, ceil_div(*count, groups), *length / rows.lanes, rows);
  }
  return {rows, std::max(kWarp, rows.lanes * groups)};
}

}  // namespace

bool varies_in_row(const Operand& operand, const Rows& rows) {
  return varies(operand, rows, true);
}

bool varies_across_rows(const Operand& operand, const Rows& rows) {
  return varies(operand, rows, false);
}

std::int64_t accumulator_bytes(const expr::Program& program) {
  std::int64_t end = 0, widest = 4;
  const auto add_field = [&](std::int64_t bytes) {
    end = (end + bytes - 1) / bytes * bytes + bytes;
    widest = std::max(widest, bytes);
  };
  for (const expr::Node& node : program.nodes) {
    if (!expr::is_reduction(node.op)) continue;
    const bool place = expr::finds_place(node.op);
    const DType type =
        place ? program.nodes[static_cast<std::size_t>(node.args[0])].type : node.type;
    add_field(type == f64 || type == i64 || type == u64 ? 8 : 4);
    if (place) add_field(8);
  }
  return (end + widest - 1) / widest * widest;
}

std::uint32_t reduced_axes(const expr::Program& program) {
  std::uint32_t axes = 0;
  for (const expr::Node& node : program.nodes) {
    if (!expr::is_reduction(node.op)) continue;
    if (axes != 0 && node.axes != axes) {
      throw Error(ErrorCode::unsupported,
                  "reductions over different axes cannot be planned for the GPU yet; run the "
                  "operation on the CPU reference, or split it",
                  "/formula");
    }
    axes = node.axes;
  }
  return axes;
}

RowShape choose_row_shape(const Plan& plan, Rows rows, std::int64_t most_held) {
  return rows.along() ? shape_along(plan, rows, most_held) : shape_across(plan, rows);
}

}  // namespace tilejit::plan
