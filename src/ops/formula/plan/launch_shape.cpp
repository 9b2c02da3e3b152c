#include "plan/launch_shape.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "device/scale.hpp"
#include "expr/traits.hpp"
#include "light/light.hpp"
#include "rows/row_shape.hpp"
#include "scan/scan.hpp"
#include "thread_value/thread_value.hpp"
#include "tile/tiling.hpp"
#include "tilejit/error.hpp"

namespace tilejit::plan {
namespace {

constexpr std::int64_t kWeightOfThread = 2048;  // expr::weight; half a second of NVRTC

/// Throws if knobs that are only for reduced rows are pinned and the formula reduces no rows.
void check_row_knobs(const Plan& plan, const Tuning& tuning) {
  const char* knob = tuning.lanes     ? "lanes"
                     : tuning.cluster ? "cluster"
                     : tuning.shares  ? "shares"
                     : tuning.held    ? "held"
                     : tuning.atomics ? "atomics"
                                      : nullptr;
  if (knob == nullptr || std::holds_alternative<Rows>(plan.family)) return;
  throw Error(ErrorCode::invalid_spec,
              std::string(knob) +
                  " says how rows are reduced, which this formula does not ask "
                  "for; remove it",
              std::string("/tuning/") + knob);
}

/// Chooses the launch by family.
class Chooser {
 public:
  Chooser(Plan& plan, const Tuning& tuning) : plan_(plan), tuning_(tuning) {}

  void choose(Map& map) {
    if (map.light) return;
    plan_.unroll = tuning_.unroll.value_or(vectors_in_flight());
    plan_.threads = tuning_.threads.value_or(fills_large_blocks() ? 1024 : 256);
  }

  void choose(const ThreadValue& tv) {
    plan_.threads = static_cast<int>(size(mode(tv.layout, 0)).value());
    plan_.unroll = vectors_at_once(tv, plan_.vector, tuning_.unroll, vectors_in_flight());
  }

  void choose(const Scan&) { choose_scan_launch(plan_, tuning_, elements_within_budget(plan_)); }

  void choose(const Light&) { choose_light_launch(plan_); }

  void choose(const Several&) {}  // each stage has its own

  void choose(Rows& rows) {
    const auto most = std::max<std::int64_t>(1, 2 * elements_within_budget(plan_) / plan_.vector);
    rows.atomics = tuning_.atomics.value_or(false);
    const RowShape shape =
        tune_row_shape(plan_, choose_row_shape(plan_, rows, most), tuning_, most);
    rows = shape.rows;
    plan_.threads = shape.threads;
    plan_.unroll = tuning_.unroll.value_or(
        static_cast<int>(std::min<std::int64_t>(batch_of_rows(plan_), most)));
  }

  /// By default one square per thread: that many bytes in flight fill its registers.
  void choose(Tile& tile) {
    const int vector = plan_.vector;
    const int squares = tile.columns / vector * (tile.rows / vector);
    plan_.threads =
        tuning_.threads.value_or(std::min(squares / tuning_.unroll.value_or(1), kMaxTileThreads));
    plan_.unroll = tuning_.unroll.value_or(std::max(1, squares / plan_.threads));
    const int vectors = vector * plan_.unroll;
    const bool written_out = vectors <= 2 * elements_within_budget(plan_) / vector;
    tile.copies = written_out ? vectors : 1;
    if (plan_.threads % 32 == 0 && plan_.threads * plan_.unroll == squares) return;
    throw Error(ErrorCode::invalid_spec,
                "a tile of " + std::to_string(tile.columns) + " by " + std::to_string(tile.rows) +
                    " elements has " + std::to_string(squares) + " squares of vectors of " +
                    std::to_string(vector) + "; choose threads times unroll to be as many",
                "/tuning");
  }

 private:
  /// Enough vectors per thread that each thread has about 32 bytes of loads in flight. If every SM
  /// is full of threads, this covers the latency of memory (docs/performance.md has the sweep).
  [[nodiscard]] int vectors_in_flight() const {
    int bytes = 0;
    for (const Operand& operand : plan_.operands) {
      if (!operand.read || operand.reach == Reach::broadcast) continue;
      bytes += plan_.vector * size_bytes(operand.dtype);
    }
    int unroll = 1;
    while (unroll < 4 && unroll * std::max(bytes, 1) < 32 &&
           2 * unroll * plan_.vector <= elements_within_budget(plan_)) {
      unroll *= 2;
    }
    return unroll;
  }

  /// Blocks of 1024 threads stream up to 0.6 % faster (same sweep). They need many vectors and at
  /// most 64 registers per thread. Only a light formula fits in these registers without spills.
  [[nodiscard]] bool fills_large_blocks() const {
    if (!std::ranges::all_of(plan_.extents, &Dim::is_known)) return false;
    if (total_units(plan_, {}) < device::kManyVectors) return false;
    int bytes = 0;  // of a thread's values in the types that compute them
    for (const Operand& operand : plan_.operands) {
      bytes += plan_.unroll * plan_.vector * std::max(4, size_bytes(operand.dtype));
    }
    const auto is_light_node = [](const expr::Node& node) { return expr::traits(node.op).light; };
    return bytes <= 128 && plan_.program.nodes.size() <= 16 &&
           std::ranges::all_of(plan_.program.nodes, is_light_node);
  }

  Plan& plan_;
  const Tuning& tuning_;
};

}  // namespace

std::int64_t elements_within_budget(const Plan& plan) {
  const std::int64_t budget =
      kWeightOfThread / std::max<std::int64_t>(1, expr::weight(plan.program));
  return static_cast<std::int64_t>(
      std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(1, budget))));
}

void choose_launch(Plan& plan, const Tuning& tuning) {
  if (!is_light(plan)) check_row_knobs(plan, tuning);
  Chooser chooser(plan, tuning);
  std::visit([&](auto& family) { chooser.choose(family); }, plan.family);
}

}  // namespace tilejit::plan
