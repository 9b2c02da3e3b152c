#include "plan/plan.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "box/boxing.hpp"
#include "device/access.hpp"
#include "device/scale.hpp"
#include "map/flat.hpp"
#include "map/strided.hpp"
#include "plan/axis_modes.hpp"
#include "plan/block_order.hpp"
#include "plan/copied_weights.hpp"
#include "plan/crossed.hpp"
#include "plan/iteration.hpp"
#include "plan/launch_shape.hpp"
#include "plan/params.hpp"
#include "plan/parts.hpp"
#include "plan/repeated.hpp"
#include "plan/sliced.hpp"
#include "plan/split.hpp"
#include "plan/unrolled.hpp"
#include "plan/vectors.hpp"
#include "rows/crossed.hpp"
#include "rows/peeled_rows.hpp"
#include "rows/rows.hpp"
#include "rows/turned_inputs.hpp"
#include "scan/scan.hpp"
#include "sheared/shearing.hpp"
#include "staged/direct.hpp"
#include "thread_value/thread_value.hpp"
#include "tile/merged.hpp"
#include "tile/tiling.hpp"
#include "tilejit/error.hpp"

namespace tilejit::plan {
namespace {

// Along which vectors lie, if another output than the first one decides.
constexpr std::int64_t kLeastExtent = 32;
// Rows of an output whose order inputs may overrule: they are aligned, or shorter than this.
constexpr std::int64_t kShortRow = 64, kVectorBytes = 16;
// Rows, of which a thread may take several.
constexpr std::int64_t kManyTinyRows = 2 * device::kMostThreadsAtOnce;

Reach reach_of(const Operand& operand) {
  const OperandMode& innermost = operand.modes.front();
  if (innermost.size() != 1) return Reach::strided;
  if (innermost[0].stride.is(1)) return Reach::contiguous;
  return innermost[0].stride.is(0) && !operand.written ? Reach::broadcast : Reach::strided;
}

/// Which tiles a plan may have.
enum class Tiles : std::uint8_t {
  any,
  without_pairs,  ///< whose vectors would be shifted by 4 bytes at a time
  none,
};

/// Which operand's order rows follow.
enum class Order : std::uint8_t {
  of_input,   ///< the widest input's
  of_output,  ///< the first output's
  of_output_with_turned_inputs,
};

/// Plans one operation: first the space, then widths, launch shape and parameters.
class Planner {
 public:
  Planner(const Fused& op, const formula::Analysis& analysis, const Target& target,
          const std::vector<Dim>& shape, Tiles tiles, bool light = false,
          Order order = Order::of_input, const MergedModes& merged = {})
      : op_(op),
        analysis_(analysis),
        shape_(shape),
        tiles_(tiles),
        light_(light),
        order_(order),
        merged_(merged) {
    plan_.target = target;
    plan_.program = analysis.program;
  }

  Plan run() {
    leader_ = static_cast<std::size_t>(analysis_.program.stores.front().tensor);
    plan_.kernel_name = kernel_name_of(op_, leader_);
    plan_.signature = signature_of(op_, analysis_);
    set_space();
    set_operands();
    find_transposed();
    choose_vector(op_, analysis_, transposed_mode_, light_, plan_, tiles_ == Tiles::any);
    cross_results(plan_);
    if (!has_knobs() && !light_) cross_columns(plan_);
    set_tile();
    if (suits_staging(plan_, op_.tuning)) plan_.family = StagedRows{*rows_of(plan_), 1, direction_};
    try_family(plan_by_slabs);
    choose_launch(plan_, op_.tuning);
    if (!has_knobs() && !light_) fill_steps(plan_);
    try_family(plan_by_strips);
    try_family(plan_by_shearing);
    try_family(plan_by_boxes);
    fit_tile();
    if (!light_) flatten();
    try_family(plan_by_boxes_in_order);
    if (!has_knobs()) suit_strided(plan_);
    if (std::holds_alternative<Map>(plan_.family) && !light_ && !op_.tuning.unroll) {
      spread_heavy(plan_);
      gather_light(plan_);
    }
    load_repeated_by_elements(plan_);
    if (!light_) choose_block_order(plan_);
    choose_index();
    plan_.params = params_of(op_, plan_);
    plan_.params_bytes = operation::struct_bytes(plan_.params);
    return std::move(plan_);
  }

 private:
  void set_space() {
    axes_ = combined_axes(analysis_.program);
    direction_ = direction_of(analysis_.program);
    std::vector<std::size_t> reduced, kept;
    for (std::size_t i = 0; i < analysis_.shape.size(); ++i) {
      (expr::has_axis(axes_, i) ? reduced : kept).push_back(i);
    }
    set_places();
    const Fused& op = plan_.places.empty() ? op_ : op_with_places_;
    const formula::Analysis& analysis = plan_.places.empty() ? analysis_ : analysis_with_places_;
    if (op_.tuning.tv) {
      const auto& tv = plan_.family.emplace<ThreadValue>(
          plan_thread_value(*op_.tuning.tv, analysis_.shape.size(), axes_ != 0));
      modes_ = iterate_by_axis(op, analysis, axes_of_modes(tv, analysis_.shape.size()));
    } else if (axes_ == 0) {
      plan_.family = Map{.light = light_};
      modes_ = iterate_together(op, analysis, kept, leader_);
      const auto other = merged_.leader ? merged_.leader : operand_of_most_bytes();
      if (other && !light_) modes_ = iterate_together(op, analysis, kept, *other);
      if (merged_.count > 1) merge_first(modes_, merged_.count);
    } else {
      const std::size_t widest = order_ == Order::of_input ? widest_input() : leader_;
      // A scan takes its axis in the order of the coordinates.
      auto along = iterate_together(op, analysis, reduced,
                                    direction_ ? std::nullopt : std::optional(widest));
      if (can_drop_repeated(plan_.program)) {
        if (const std::int64_t times = drop_repeated(along); times > 1)
          plan_.program = scale_sums(plan_.program, times);
      }
      set_rows(std::move(along), iterate_together(op, analysis, kept, widest), widest);
      if (const auto output = output_in_another_order()) {
        auto by_output = iterate_together(op, analysis, kept, *output);
        if (is_contiguous(by_output.front(), *output)) {
          set_rows(iterate_together(op, analysis, reduced, widest), std::move(by_output), *output);
        }
      }
    }
    for (std::size_t i = 0; i < plan_.places.size(); ++i) {
      for (const IterationMode& mode : modes_) {
        plan_.places[i].modes.push_back(mode.operands[op_.tensors.size() + i]);
      }
    }
    for (const IterationMode& mode : modes_) plan_.extents.push_back(mode.extent);
    const auto is_extent = [](const expr::Node& node) { return node.op == expr::Op::extent; };
    if (std::ranges::any_of(analysis_.program.nodes, is_extent)) plan_.shape = shape_;
  }

  /// Adds a tensor for each place that the program asks for. Its layout maps coordinates to the
  /// place's number, so the space is split and merged as the place needs.
  void set_places() {
    for (const expr::Node& node : analysis_.program.nodes) {
      if (node.op != expr::Op::index && !expr::finds_place(node.op)) continue;
      if (std::ranges::count(plan_.places, node.axes, &Place::axes) != 0) continue;
      if (plan_.places.empty()) {
        op_with_places_ = op_;
        analysis_with_places_ = analysis_;
      }
      plan_.places.push_back({.axes = node.axes});
      std::vector<int> axes;
      std::vector<IntTuple> extents, strides;
      for (std::size_t i = 0; i < analysis_.shape.size(); ++i) {
        if (!expr::has_axis(node.axes, i)) continue;
        axes.push_back(static_cast<int>(i));
        extents.emplace_back(analysis_.shape[i]);
      }
      Dim stride = 1;
      for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
        strides.insert(strides.begin(), IntTuple(stride));
        stride = stride * analysis_.shape[static_cast<std::size_t>(*axis)];
      }
      op_with_places_.tensors.push_back(
          {.name = "place",
           .dtype = i64,
           .layout = {IntTuple::tuple(extents), IntTuple::tuple(strides)}});
      analysis_with_places_.axes.push_back(std::move(axes));
    }
  }

  /// The input that varies along the most modes decides their order, or the first output if there
  /// are no inputs. Of several such inputs it is the first, or one of wider elements that lies
  /// across rows: threads of a block share the sectors of others along these.
  [[nodiscard]] std::size_t widest_input() const {
    std::size_t widest = leader_, most = 0;
    for (std::size_t t = 0; t < op_.tensors.size(); ++t) {
      std::size_t varying = 0;
      for (const Mode& leaf : op_.tensors[t].layout.leaves()) {
        varying += !leaf.extent.is(1) && !leaf.stride.is(0);
      }
      if (analysis_.access[t] == Access::out || varying == 0 || varying < most) continue;
      const bool wider = size_bytes(op_.tensors[t].dtype) > size_bytes(op_.tensors[widest].dtype);
      if (varying == most && !(wider && lies_across(t))) continue;
      widest = t;
      most = varying;
    }
    return widest;
  }

  /// Whether neighbours in the tensor belong to different rows.
  [[nodiscard]] bool lies_across(std::size_t t) const {
    const auto modes = modes_of(op_.tensors[t]);
    return modes && std::ranges::any_of(*modes, [&](const AxisMode& one) {
             return one.stride == 1 &&
                    !expr::has_axis(axes_, static_cast<std::size_t>(analysis_.axes[t][one.mode]));
           });
  }

  /// A full output that lies in another order than the widest input, which columns follow: sectors
  /// that are written in parts take longer than sectors that are read in parts.
  [[nodiscard]] std::optional<std::size_t> output_in_another_order() const {
    if (light_ || direction_ || rows_of(plan_)->along()) return std::nullopt;
    for (std::size_t t = 0; t < op_.tensors.size(); ++t) {
      if (analysis_.access[t] != Access::out || !spans_row(t)) continue;
      if (!is_contiguous(modes_.front(), t)) return t;
    }
    return std::nullopt;
  }

  /// An operand in whose order more bytes lie than in that of the first output, if there is such
  /// an operand: a tile then transposes fewer of them. Inputs decide only if they are several.
  [[nodiscard]] std::optional<std::size_t> operand_of_most_bytes() const {
    struct Share {
      int bytes = 0, operands = 0;
    };
    const auto share_along = [&](const IterationMode& mode) {
      Share share;
      for (std::size_t t = 0; t < op_.tensors.size(); ++t) {
        if (!is_contiguous(mode, t) || repeats(t)) continue;
        share.bytes += size_bytes(op_.tensors[t].dtype);
        ++share.operands;
      }
      return share;
    };
    const bool by_inputs = has_wide_or_short_rows(leader_);
    std::optional<std::size_t> best;
    int most = share_along(modes_.front()).bytes;
    for (const IterationMode& mode : modes_) {
      if (mode.extent.is_known() && mode.extent.value() < kLeastExtent) continue;
      const Share share = share_along(mode);
      if (share.bytes <= most) continue;
      for (std::size_t t = 0; t < op_.tensors.size() && share.bytes > most; ++t) {
        const bool decides = analysis_.access[t] != Access::in || (share.operands > 1 && by_inputs);
        if (decides && is_contiguous(mode, t) && !repeats(t)) best = t, most = share.bytes;
      }
    }
    return best;
  }

  /// Whether the tensor can be stored by whole vectors, has elements that are as wide as banks, or
  /// rows so short that boxes do better. Narrow elements of other rows go by sheared tiles.
  [[nodiscard]] bool has_wide_or_short_rows(std::size_t t) const {
    const Dim& row = modes_.front().extent;
    if (row.is_known() && row.value() < kShortRow) return true;
    if (size_bytes(op_.tensors[t].dtype) >= device::kBankBytes) return true;
    return std::ranges::all_of(modes_, [&](const IterationMode& mode) {
      return std::ranges::all_of(mode.operands[t], [&](const Mode& leaf) {
        return leaf.stride.is(1) || formula::divisor(leaf.stride, analysis_.symbols) *
                                            size_bytes(op_.tensors[t].dtype) % kVectorBytes ==
                                        0;
      });
    });
  }

  /// Whether the tensor is the same along a mode of the space.
  [[nodiscard]] bool repeats(std::size_t t) const {
    return std::ranges::any_of(modes_, [&](const IterationMode& mode) {
      const OperandMode& leaves = mode.operands[t];
      return !mode.extent.is(1) && leaves.size() == 1 && leaves[0].stride.is(0);
    });
  }

  static bool is_contiguous(const IterationMode& mode, std::size_t t) {
    const OperandMode& leaves = mode.operands[t];
    return leaves.size() == 1 && leaves[0].stride.is(1) && !mode.extent.is(1);
  }

  /// Whether the tensor's elements are further apart along `far` than along `near`, in neither of
  /// which they are neighbours.
  static bool lies_closer(const IterationMode& near, const IterationMode& far, std::size_t t) {
    const OperandMode &one = near.operands[t], &other = far.operands[t];
    if (one.size() != 1 || other.size() != 1 || near.extent.is(1)) return false;
    const Dim &least = one[0].stride, &most = other[0].stride;
    return least.is_known() && most.is_known() && least.value() > 0 &&
           2 * least.value() <= most.value();
  }

  /// Whether rows that only this input has, of elements that lie apart, follow one another, and one
  /// per thread is too little to keep the memory busy: a thread then takes several.
  [[nodiscard]] bool has_tiny_rows(const std::vector<IterationMode>& reduced,
                                   const std::vector<IterationMode>& kept, std::size_t t) const {
    const IterationMode &row = reduced.front(), &next = kept.front();
    if (light_ || direction_ || reduced.size() != 1 || next.operands[t].size() != 1 ||
        row.operands[t].size() != 1)
      return false;
    for (std::size_t other = 0; other < op_.tensors.size(); ++other) {
      if (other != t && spans_row(other)) return false;
    }
    const Dim &apart = row.operands[t][0].stride, &between = next.operands[t][0].stride;
    if (!row.extent.is_known() || !next.extent.is_known() || !apart.is_known() ||
        apart.value() < 2 || between != row.extent * apart)
      return false;
    const std::int64_t bytes = between.value() * size_bytes(op_.tensors[t].dtype);
    return bytes * device::kMostThreadsAtOnce < device::kBytesUnderWay &&
           next.extent.value() >= kManyTinyRows;
  }

  /// Vectors lie along the modes in which the widest input is contiguous, or else lies closest.
  void set_rows(std::vector<IterationMode> reduced, std::vector<IterationMode> kept,
                std::size_t widest) {
    const bool across = !is_contiguous(reduced.front(), widest) &&
                        (is_contiguous(kept.front(), widest) ||
                         lies_closer(kept.front(), reduced.front(), widest) ||
                         has_tiny_rows(reduced, kept, widest));
    if (kept.size() == 1 && kept.front().extent.is(1)) kept.clear();
    const std::size_t before = across ? kept.size() : 0;
    plan_.family = family_of({.first = before, .count = reduced.size()});
    std::vector<IterationMode>& inner = across ? kept : reduced;
    std::vector<IterationMode>& outer = across ? reduced : kept;
    modes_ = std::move(inner);
    std::ranges::move(outer, std::back_inserter(modes_));
  }

  [[nodiscard]] Family family_of(Rows rows) const {
    if (light_) return Light{rows, direction_};
    if (direction_) return Scan{rows, *direction_};
    rows.turned_inputs = order_ == Order::of_output_with_turned_inputs ? 1 : 0;
    return rows;
  }

  void set_operands() {
    const Rows* const rows = rows_of(plan_);
    for (std::size_t t = 0; t < op_.tensors.size(); ++t) {
      Operand operand = make_operand(op_, analysis_, modes_, t);
      operand.per_row = rows != nullptr && operand.written && !spans_row(t);
      operand.every_row = rows != nullptr && rows->count < modes_.size() && operand.read &&
                          !operand.written && !varies_across_rows(operand, *rows);
      plan_.operands.push_back(std::move(operand));
    }
    // If no input differs between rows, threads hold inputs as those of their own row. Of few rows,
    // threads are few, and words of what all rows share cost them least.
    const bool all = std::ranges::all_of(
        plan_.operands, [](const Operand& operand) { return operand.every_row || !operand.read; });
    if (!all || light_ || direction_ || rows == nullptr) return;
    const std::int64_t count = vectors_across_rows(plan_, *rows).value_or(0);
    if (count < device::kWantedBlocks) return;
    for (Operand& operand : plan_.operands) operand.every_row = false;
  }

  [[nodiscard]] bool spans_row(std::size_t t) const {
    if (direction_ && analysis_.shape[static_cast<std::size_t>(std::countr_zero(axes_))].is(1)) {
      return true;  // an axis of one element is scanned, too
    }
    for (std::size_t i = 0; i < analysis_.axes[t].size(); ++i) {
      const auto axis = static_cast<std::size_t>(analysis_.axes[t][i]);
      if (expr::has_axis(axes_, axis) && !product(mode(op_.tensors[t].layout.shape(), i)).is(1)) {
        return true;
      }
    }
    return false;
  }

  void find_transposed() {
    if (light_ || tiles_ == Tiles::none || !std::holds_alternative<Map>(plan_.family)) return;
    transposed_mode_ = find_transposed_mode(plan_.operands, plan_.extents, merged_.count > 1);
    if (!transposed_mode_) return;
    for (Operand& operand : plan_.operands) {
      const OperandMode& leaves = operand.modes[*transposed_mode_];
      if (operand.reach == Reach::strided && leaves.size() == 1 && leaves[0].stride.is(1)) {
        operand.reach = Reach::transposed;
      }
    }
  }

  void set_sides(const std::array<int, 2>& sides, Tile& tile) const {
    const auto has_vectors = [&](int side) { return side > 0 && side % plan_.vector == 0; };
    tile.columns = sides[0];
    tile.rows = sides[1];
    const bool suits = std::ranges::all_of(sides, has_vectors);
    const std::int64_t bytes = suits ? shared_bytes(plan_.operands, tile, plan_.vector) : 0;
    if (suits && bytes <= device::kStaticSharedBytes) return;
    throw Error(ErrorCode::invalid_spec,
                "a tile of " + std::to_string(sides[0]) + " by " + std::to_string(sides[1]) +
                    " elements takes " + std::to_string(bytes) +
                    " bytes of shared memory and vectors of " + std::to_string(plan_.vector) +
                    " elements; use at most 49152 bytes, and sides of whole vectors",
                "/tuning/tile");
  }

  void set_tile() {
    if (op_.tuning.tile && !transposed_mode_) {
      throw Error(ErrorCode::invalid_spec,
                  "no tile is used, since no operand is contiguous along another mode than the "
                  "output; remove it",
                  "/tuning/tile");
    }
    if (!transposed_mode_) return;
    auto& tile = plan_.family.emplace<Tile>(
        choose_tile(plan_.operands, plan_.extents, *transposed_mode_, plan_.vector));
    if (op_.tuning.tile) set_sides(*op_.tuning.tile, tile);
    const Dim& extent = plan_.extents[*transposed_mode_];
    tile.ragged = formula::divisor(extent, analysis_.symbols) % plan_.vector != 0;
  }

  [[nodiscard]] bool has_knobs() const { return op_.tuning != Tuning{}; }

  /// Takes the plan that another family has, if it has one. These families have no knobs: what is
  /// pinned is of another.
  void try_family(std::optional<Plan> (*plan_by)(const Plan&)) {
    if (light_ || has_knobs()) return;
    if (std::optional<Plan> other = plan_by(plan_)) plan_ = *std::move(other);
  }

  /// Boxes are chosen beside tiles whose sides are powers of two.
  void fit_tile() {
    auto* const tile = std::get_if<Tile>(&plan_.family);
    if (tile == nullptr || light_ || has_knobs()) return;
    const Tile fitted = fitted_tile(*tile, plan_.operands, plan_.extents, plan_.vector);
    if (fitted == *tile) return;
    *tile = fitted;
    choose_launch(plan_, op_.tuning);
  }

  void flatten() {
    if (std::optional<Plan> flat = flattened(op_, analysis_, plan_)) plan_ = std::move(*flat);
  }

  /// Only maps have a choice: tiles and boxes have fewer than 2^31 blocks, and for rows the launch
  /// ensures this.
  void choose_index() {
    auto* const map = std::get_if<Map>(&plan_.family);
    if (map == nullptr) return;
    if (std::ranges::all_of(plan_.extents, &Dim::is_known)) {
      map->index = total_units(plan_) < kNarrowLimit ? IndexWidth::narrow : IndexWidth::wide;
    } else {
      // With one mode nothing is divided, so 64 bits cost nothing.
      map->index = plan_.extents.size() == 1 ? IndexWidth::wide : IndexWidth::both;
    }
  }

  const Fused& op_;
  const formula::Analysis& analysis_;
  const std::vector<Dim>& shape_;  ///< the space whose extents the program asks for
  std::size_t leader_ = 0;         ///< the tensor whose strides order the space: the first output
  Fused op_with_places_;           ///< used, like the next member, only if there are places
  formula::Analysis analysis_with_places_;
  Tiles tiles_;
  bool light_;
  Order order_;
  MergedModes merged_;
  std::uint32_t axes_ = 0;  ///< axes over which the formula reduces or scans
  std::optional<Direction> direction_;
  std::vector<IterationMode> modes_;
  std::optional<std::size_t> transposed_mode_;  ///< only some operands are contiguous along it
  Plan plan_;
};

/// Whether a small space has vectors of 4 bytes that are shifted.
bool shifts_pairs(const Plan& plan) {
  constexpr int kNarrow = 4;  // bytes
  int widest = 0;
  for (const Operand& operand : plan.operands) {
    if (operand.shifted) widest = std::max(widest, plan.vector * size_bytes(operand.dtype));
  }
  Dim elements = 1;
  for (const Dim& extent : plan.extents) elements = elements * extent;
  return widest > 0 && widest <= kNarrow && elements.is_known() &&
         elements.value() <= device::kThreadsAtOnce;
}

}  // namespace

operation::Signature signature_of(const Fused& op, const formula::Analysis& analysis) {
  operation::Signature signature{
      .tensors = op.tensors, .scalars = op.scalars, .symbols = analysis.symbols};
  for (std::size_t t = 0; t < op.tensors.size(); ++t) {
    signature.tensors[t].access = analysis.access[t];
  }
  return signature;
}

std::string kernel_name_of(const Fused& op, std::size_t leader) {
  return "tilejit_" + op.name + "_" + std::string(tilejit::to_string(op.tensors[leader].dtype));
}

Operand make_operand(const Fused& op, const formula::Analysis& analysis,
                     const std::vector<IterationMode>& modes, std::size_t t) {
  Operand operand{.tensor = static_cast<int>(t), .dtype = op.tensors[t].dtype};
  operand.read = analysis.access[t] != Access::out;
  operand.written = analysis.access[t] != Access::in;
  for (const IterationMode& mode : modes) operand.modes.push_back(mode.operands[t]);
  operand.reach = reach_of(operand);
  return operand;
}

Plan make_plan_in_space(const Fused& op, const formula::Analysis& analysis, const Target& target,
                        const std::vector<Dim>& shape) {
  Plan plan = Planner(op, analysis, target, shape, Tiles::any).run();
  if (op.tuning != Tuning{}) return plan;
  if (const MergedModes merged = modes_to_merge(plan); merged.count > 1) {
    Plan whole =
        Planner(op, analysis, target, shape, Tiles::any, false, Order::of_input, merged).run();
    if (has_whole_vectors(whole)) return whole;
  }
  // Outputs of short columns that lie along these are stored as runs, too, if rows are staged.
  if (const auto* rows = std::get_if<Rows>(&plan.family); rows != nullptr && rows->turned > 0) {
    Plan by_output =
        Planner(op, analysis, target, shape, Tiles::any, false, Order::of_output).run();
    if (reads_side_by_side(by_output)) return by_output;
  }
  if (stores_parts(plan)) {
    Plan by_output =
        Planner(op, analysis, target, shape, Tiles::any, false, Order::of_output).run();
    if (reads_instead(by_output, plan)) return by_output;
  }
  const bool staged = std::holds_alternative<StagedRows>(plan.family);
  if (lies_across_output(plan) && (!staged || stores_parts(plan))) {
    Plan turned =
        Planner(op, analysis, target, shape, Tiles::any, false, Order::of_output_with_turned_inputs)
            .run();
    if (turns_well(turned, plan)) return turned;
  }
  // Two chunks of 4 bytes take as many requests as the elements in them, for each of which the
  // device has a thread.
  if (std::holds_alternative<Tile>(plan.family) && shifts_pairs(plan))
    plan = Planner(op, analysis, target, shape, Tiles::without_pairs).run();
  const auto* const tile = std::get_if<Tile>(&plan.family);
  const bool by_map = tile != nullptr && is_small(*tile, plan.extents);
  return by_map ? Planner(op, analysis, target, shape, Tiles::none).run() : plan;
}

Plan make_plan(const Fused& op, const formula::Analysis& analysis, const Target& target,
               std::vector<formula::Analysis>* of_parts) {
  if (!analysis.steps.empty()) return plan_steps(op, analysis, target, of_parts);
  if (!is_one_kernel(analysis.program)) {
    auto unrolled = op.tuning == Tuning{.atomics = op.tuning.atomics}
                        ? unroll_short_reductions(op, analysis)
                        : std::nullopt;
    return plan_parts(op, analysis, target, unrolled ? *std::move(unrolled) : split(op, analysis),
                      of_parts);
  }
  Plan plan = make_plan_in_space(op, analysis, target, analysis.shape);
  if (op.tuning == Tuning()) {
    if (auto sliced = plan_sliced(op, analysis, plan, of_parts)) return *std::move(sliced);
  }
  if (op.tuning == Tuning{.atomics = op.tuning.atomics} &&
      (leaves_device_idle(plan) || cuts_held_sectors(plan)))
    return plan_parts(op, analysis, target, split_by_passes(op, analysis, joined_sums_apart(plan)),
                      of_parts);
  if (op.tuning == Tuning()) {
    if (auto copied = split_after_copies(op, analysis, plan))
      return plan_parts(op, analysis, target, *std::move(copied), of_parts);
    if (auto crossed = plan_crossed(op, analysis, plan, of_parts)) return *std::move(crossed);
  }
  return plan;
}

std::optional<Plan> make_light_plan(const Fused& op, const formula::Analysis& analysis,
                                    const Plan& full) {
  if (!analysis.steps.empty()) return plan_light_steps(op, analysis, full.target);
  const bool has_light =
      std::visit([&](const auto& family) { return family.has_light(full); }, full.family);
  if (!has_light) return std::nullopt;
  Fused untuned = op;
  untuned.tuning = {};
  return Planner(untuned, analysis, full.target, analysis.shape, Tiles::any, true).run();
}

}  // namespace tilejit::plan
