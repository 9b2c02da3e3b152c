#include "plan/rows.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "core/integer.hpp"
#include "tilejit/error.hpp"

namespace tilejit::plan {
namespace {

using core::ceil_div;
using core::power_of_two_from;

constexpr int kMaxThreads = 1024;
constexpr int kWarp = 32;
constexpr int kStepsOfLane = 4;  // vectors of a row that a lane loads at once
constexpr int kHeldOfLane = 2;   // enough in flight; each more repeats the formula in the code
constexpr int kFewLanes = 128;   // a block has at least as many threads
constexpr int kMaxCluster = 8;   // of every device that has clusters
// Registers that hold vectors: few enough that two blocks of 512 threads are on a multiprocessor,
// as many as one such block has, and those of the 64 that a block of 1024 threads leaves.
constexpr int kFewRegisters = 32;
constexpr int kFewRegistersOfCluster = 16;  // its blocks wait for each other
constexpr int kFewestRegistersOfCluster = 8;
constexpr int kManyRegisters = 64;
constexpr int kFewestRegisters = 24;
constexpr std::int64_t kManyBlocks = 128;    // about one a multiprocessor
constexpr std::int64_t kWantedBlocks = 528;  // four a multiprocessor of 132
constexpr int kThreadsAcross = 512;
constexpr int kThreadsOfStrip = 256;
constexpr int kLeastGroups = 4;   // 64 bytes side by side with vectors of 16
constexpr int kGroupsOfLine = 8;  // 128 bytes
constexpr int kMostStages = 2;
constexpr int kBulkAlignment = 16;
constexpr int kSharedBytesOfRest = 12 * 1024;  // of a multiprocessor's blocks: all but the rows

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

/// Reductions one after another: of elements, of those' results, ...
int reductions_in_turn(const Plan& plan) {
  std::vector<int> turns;  // by node
  for (const expr::Node& node : plan.program.nodes) {
    int turn = 0;
    for (const expr::NodeId arg : node.args) {
      if (arg != expr::kNoNode) turn = std::max(turn, turns[static_cast<std::size_t>(arg)]);
    }
    turns.push_back(turn + (expr::is_reduction(node.op) ? 1 : 0));
  }
  return *std::ranges::max_element(turns);
}

/// Whether each reduction is of elements, and all that is stored are results of rows.
bool is_one_pass(const Plan& plan) {
  return reductions_in_turn(plan) == 1 && std::ranges::all_of(plan.operands, [](const Operand& o) {
           return !o.written || o.per_row;
         });
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

/// Whether bulk copies can bring the operand's part of a row to shared memory.
bool is_copied(const Operand& operand, const Rows& rows) {
  return operand.read && varies_in_row(operand, rows) && operand.reach == Reach::contiguous &&
         operand.access_bytes == kBulkAlignment;
}

template <class Wanted>
int copied_bytes(const Plan& plan, const Rows& rows, Wanted wanted) {
  int bytes = 0;  // of a lane's vectors of one step
  for (const Operand& operand : plan.operands) {
    if (wanted(operand, rows)) bytes += plan.vector * size_bytes(operand.dtype);
  }
  return rows.lanes * rows.held * bytes;
}

bool can_fetch(const Plan& plan, const Rows& rows) {
  if (plan.target.major < 9 || plan.ragged || rows.count > 1 || rows.held == 0) return false;
  if (fetched_bytes(plan, rows) == 0) return false;  // a formula of places alone
  return std::ranges::all_of(plan.operands, [&](const Operand& operand) {
    return !operand.read || operand.every_row || !varies_in_row(operand, rows) ||
           is_fetched(operand, rows);
  });
}

/// Shared memory of a multiprocessor (CUDA C++ Programming Guide, "Compute Capabilities").
int shared_bytes_of_multiprocessor(const Target& target) {
  return (target.major == 12 ? 100 : 228) * 1024;
}

/// Blocks of a cluster wait for each other, and have the next rows on their way meanwhile.
int choose_stages(const Plan& plan, const Rows& rows) {
  if (rows.cluster == 1 || !can_fetch(plan, rows)) return 0;
  const bool two = rows.lanes < kMaxThreads &&
                   rows.held * registers_of_vector(plan, rows) <= kFewRegistersOfCluster;
  const int fetched = fetched_bytes(plan, rows), kept = kept_bytes(plan, rows);
  const int room = shared_bytes_of_multiprocessor(plan.target) - kSharedBytesOfRest;
  const int of_two = two ? (room / 2 - kept) / fetched : 0;
  return std::clamp(of_two > 0 ? of_two : (room - kept) / fetched, 0, kMostStages);
}

RowShape shape_along(const Plan& plan, Rows rows, std::int64_t most_held) {
  const auto vectors = vectors_in_row(plan, rows);
  if (!vectors) {
    rows.lanes = 256;
    return {rows, 256};
  }
  rows.lanes = *vectors <= kWarp ? power_of_two_from(*vectors)
                                 : std::clamp(power_of_two_from(ceil_div(*vectors, kHeldOfLane)),
                                              kWarp, kMaxThreads / 2);
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
  const auto by_cluster = [&](int lanes, int most) {
    if (plan.target.major < 9) return false;
    for (int cluster = 2; cluster <= kMaxCluster; cluster *= 2) {
      if (holds(lanes, cluster, most)) return true;
    }
    return false;
  };
  const int half = kMaxThreads / 2;
  // Where blocks wait for each other more than once, more threads have more to do meanwhile.
  const auto by_large_blocks = [&] {
    return reductions_in_turn(plan) > 1 && by_cluster(kMaxThreads, kFewestRegistersOfCluster) &&
           choose_stages(plan, rows) > 0;
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
    return by_large_blocks() || by_cluster(half, kFewRegistersOfCluster) ||
           by_cluster(half, kFewRegisters) || holds(kMaxThreads, 1, kFewestRegisters) ||
           by_cluster(half, kManyRegisters);
  };
  if (!is_held()) {
    rows.lanes = is_one_pass(plan) ? kMaxThreads / 2 : kMaxThreads;
    const auto count = vectors_across_rows(plan, rows);
    if (count) share_among_blocks(plan, *count, *vectors / rows.lanes, rows);
  }
  rows.stages = choose_stages(plan, rows);
  return {rows, std::max(rows.lanes, kFewLanes)};
}

/// Accumulators lie in shared memory in two buffers: those of half the threads, and one of each
/// block of a cluster.
std::int64_t shared_accumulator_bytes(const Plan& plan, int threads, int groups) {
  const std::int64_t of_blocks = plan.target.major >= 9 ? 2 * kMaxCluster * groups : 0;
  return accumulator_bytes(plan.program) * plan.vector * (threads + of_blocks);
}

/// Columns side by side that make less than a line are too many blocks' work: a cluster shares a
/// wider strip. Two blocks a multiprocessor, or larger ones.
bool share_strips(const Plan& plan, std::int64_t count, std::int64_t length, RowShape& shape) {
  if (plan.target.major < 9) return false;
  const auto fits = [&](int threads, std::int64_t blocks) {
    int groups = kWarp;
    while (groups > kGroupsOfLine && ceil_div(count, groups) * kMaxCluster < blocks) groups /= 2;
    const int lanes = threads / groups;
    if (ceil_div(count, groups) * kMaxCluster < blocks ||
        length / (lanes * kMaxCluster) < 2 * kStepsOfLane ||
        shared_accumulator_bytes(plan, threads, groups) > kMaxAccumulatorBytes) {
      return false;
    }
    shape.rows.lanes = lanes;
    shape.rows.cluster = kMaxCluster;
    shape.threads = threads;
    return true;
  };
  return fits(kThreadsOfStrip, 2 * kManyBlocks) || fits(kThreadsAcross, kManyBlocks);
}

RowShape shape_across(const Plan& plan, Rows rows) {
  const auto length = vectors_in_row(plan, rows);
  const auto count = vectors_across_rows(plan, rows);
  int groups = kWarp;
  if (count) {
    while (groups > kLeastGroups && ceil_div(*count, groups) < kManyBlocks) groups /= 2;
  }
  if (RowShape shape{rows};
      count && length && groups < kGroupsOfLine && share_strips(plan, *count, *length, shape)) {
    return shape;
  }
  int threads = kThreadsAcross;
  while (threads > groups && shared_accumulator_bytes(plan, threads, groups) > kMaxAccumulatorBytes)
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

bool is_fetched(const Operand& operand, const Rows& rows) {
  return !operand.every_row && is_copied(operand, rows);
}

bool is_kept(const Operand& operand, const Rows& rows) {
  return operand.every_row && is_copied(operand, rows);
}

int fetched_bytes(const Plan& plan, const Rows& rows) {
  return copied_bytes(plan, rows, is_fetched);
}

int kept_bytes(const Plan& plan, const Rows& rows) {
  return copied_bytes(plan, rows, is_kept);
}

int ring_bytes(const Plan& plan, const Rows& rows) {
  const int bytes = rows.stages * fetched_bytes(plan, rows) + kept_bytes(plan, rows);
  const bool alone = rows.lanes == kMaxThreads;
  return alone ? std::max(bytes, shared_bytes_of_multiprocessor(plan.target) / 2) : bytes;
}

std::optional<std::int64_t> vectors_in_row(const Plan& plan, const Rows& rows) {
  return count_vectors(plan, [&](std::size_t m) { return rows.reduces(m); });
}

std::optional<std::int64_t> vectors_across_rows(const Plan& plan, const Rows& rows) {
  return count_vectors(plan, [&](std::size_t m) { return !rows.reduces(m); });
}

int registers_of_vector(const Plan& plan, const Rows& rows) {
  int bytes = 0;
  for (const Operand& operand : plan.operands) {
    if (operand.read && !operand.every_row && varies_in_row(operand, rows))
      bytes += plan.vector * size_bytes(operand.dtype);
  }
  return std::max(1, bytes / 4);
}

std::int64_t accumulator_bytes(const expr::Program& program, bool (*among)(expr::Op) noexcept) {
  std::int64_t end = 0, widest = 4;
  const auto add_field = [&](std::int64_t bytes) {
    end = (end + bytes - 1) / bytes * bytes + bytes;
    widest = std::max(widest, bytes);
  };
  for (const expr::Node& node : program.nodes) {
    if (!among(node.op)) continue;
    const bool place = expr::finds_place(node.op);
    const DType type =
        place ? program.nodes[static_cast<std::size_t>(node.args[0])].type : node.type;
    add_field(type == f64 || type == i64 || type == u64 ? 8 : 4);
    if (place) add_field(8);
  }
  return (end + widest - 1) / widest * widest;
}

std::uint32_t combined_axes(const expr::Program& program) {
  std::uint32_t axes = 0;
  for (const expr::Node& node : program.nodes) {
    if (!expr::combines_elements(node.op)) continue;
    if (axes != 0 && node.axes != axes) {
      throw Error(
          ErrorCode::unsupported,
          "reductions and scans over different axes cannot be planned for the GPU yet; run the "
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

namespace {

constexpr int kMostRegisters = 128;  // that hold vectors: half of what a thread has

[[noreturn]] void refuse_knob(const char* knob, const std::string& why) {
  throw Error(ErrorCode::invalid_spec, why, std::string("/tuning/") + knob);
}

void check_threads(const RowShape& shape) {
  if (shape.threads >= shape.rows.lanes && shape.threads % shape.rows.lanes == 0) return;
  refuse_knob("threads", std::to_string(shape.threads) + " threads cannot be shared by groups of " +
                             std::to_string(shape.rows.lanes) + ", as a row takes; use a multiple");
}

/// What fused_rows.cu asks of its constants.
void check_blocks_of_row(const Plan& plan, const RowShape& shape) {
  const Rows& rows = shape.rows;
  if (rows.cluster > 1 && plan.target.major < 9) {
    refuse_knob("cluster", "clusters need sm_90 or later; remove it");
  }
  if (rows.cluster > 1 && rows.along() && shape.threads != rows.lanes) {
    refuse_knob("cluster",
                "the blocks of a cluster share one row, so that lanes are threads; use " +
                    std::to_string(rows.lanes) + " threads, or no cluster");
  }
  if (rows.shares == 1) return;
  if (rows.cluster > 1) refuse_knob("shares", "a row has shares or a cluster; remove one");
  const bool known = std::ranges::all_of(plan.extents, &Dim::is_known);
  if (!known || !is_one_pass(plan)) {
    refuse_knob("shares",
                "only reductions of known extents, none of another's result, with no output of the "
                "full space, can be shared through memory; remove it");
  }
}

void check_registers(const Plan& plan, const RowShape& shape,
                     const std::optional<std::int64_t>& steps) {
  const Rows& rows = shape.rows;
  const int groups = shape.threads / rows.lanes;
  if (!rows.along() &&
      shared_accumulator_bytes(plan, shape.threads, groups) > kMaxAccumulatorBytes) {
    refuse_knob("threads", "accumulators of " + std::to_string(shape.threads) +
                               " threads exceed 48 KiB of shared memory; use fewer");
  }
  if (rows.held == 0) return;
  const bool enough = rows.along() && rows.shares == 1 && steps && rows.held >= *steps;
  if (!enough || rows.held * registers_of_vector(plan, rows) > kMostRegisters) {
    refuse_knob("held", "a lane has " + (steps ? std::to_string(*steps) : "an unknown number of") +
                            " vectors of a row to hold, in at most 128 registers, where one "
                            "kernel has the whole of a contiguous row; use 0, or more lanes");
  }
}

}  // namespace

RowShape tune_row_shape(const Plan& plan, RowShape shape, const Tuning& tuning,
                        std::int64_t most_held) {
  Rows& rows = shape.rows;
  const bool pins_row = tuning.lanes || tuning.cluster || tuning.shares || tuning.held;
  if (!pins_row && !tuning.threads) return shape;
  const bool was_held = rows.held > 0;
  rows.lanes = tuning.lanes.value_or(rows.lanes);
  rows.cluster = tuning.cluster.value_or(tuning.shares.value_or(1) > 1 ? 1 : rows.cluster);
  rows.shares = tuning.shares.value_or(tuning.cluster.value_or(1) > 1 ? 1 : rows.shares);
  const auto vectors = vectors_in_row(plan, rows);
  std::optional<std::int64_t> steps;
  if (vectors) {
    steps = std::max<std::int64_t>(1, ceil_div(*vectors, std::int64_t{rows.lanes} * rows.cluster));
  }
  if (pins_row) {
    const bool fits = was_held && steps && *steps <= most_held && rows.shares == 1 &&
                      *steps * registers_of_vector(plan, rows) <= kManyRegisters;
    rows.held = tuning.held.value_or(fits ? static_cast<int>(*steps) : 0);
    const bool alone = rows.cluster > 1 && rows.along();
    shape.threads = alone ? rows.lanes : std::max(shape.threads / rows.lanes, 1) * rows.lanes;
  }
  shape.threads = tuning.threads.value_or(std::max(shape.threads, kWarp));
  check_threads(shape);
  check_blocks_of_row(plan, shape);
  check_registers(plan, shape, steps);
  const bool fetches = rows.along() && rows.held == steps;
  if (pins_row) rows.stages = fetches ? choose_stages(plan, rows) : 0;
  return shape;
}

}  // namespace tilejit::plan
