// The part of plan.cuh that accumulates: a struct for each pass that reduces.
#include <algorithm>

#include <fmt/format.h>

#include "plan/rows.hpp"
#include "render/combination.hpp"
#include "render/header_writer.hpp"

namespace tilejit::render {
namespace {

using expr::Node;
using expr::NodeId;
using expr::Op;

/// Whether the element (`value`, `place`) comes before what the accumulator of node `id` has found.
std::string precedes(const Node& node, NodeId id, const std::string& value,
                     const std::string& place) {
  const char* better = node.op == Op::reduce_argmin ? "<" : ">";
  return fmt::format("b{0} < 0 || {1} {3} a{0} || ({1} == a{0} && {2} < b{0})", id, value, place,
                     better);
}

}  // namespace

std::string_view HeaderWriter::place_type() const {
  return plan::has_short_rows(plan_) ? "i32" : "i64";
}

/// Whether a lane meets the elements in the order of their places, so that of equal ones the first
/// stays. Places of several modes may have another order than memory.
bool HeaderWriter::comes_in_order(const Node& node) const {
  if (rows_->count != 1 || (direction_ && (direction_ == plan::Direction::backward))) return false;
  const auto place = std::ranges::find(plan_.places, node.axes, &plan::Place::axes);
  return place->modes[rows_->first].size() == 1;
}

HeaderWriter::Asked HeaderWriter::asked_by_stage(int stage) const {
  const std::vector<NodeId> folded = stages_.folded(plan_.program, stage);
  return asked_by(stages_.needed_for(plan_.program, folded), folded);
}

/// The input whose extremum is all that pass `stage` folds, where an instruction compares two of
/// its elements at once; else null.
const plan::Operand* HeaderWriter::extremum_of_words(int stage) const {
  const std::vector<NodeId> folded = stages_.folded(plan_.program, stage);
  const auto node_of = [&](NodeId id) -> const Node& {
    return plan_.program.nodes[static_cast<std::size_t>(id)];
  };
  if (folded.size() != 1 || !is_extremum(node_of(folded[0]).op)) return nullptr;
  const Node& argument = node_of(node_of(folded[0]).args[0]);
  if (argument.op != Op::load || !rows_->along() || plan_.ragged || plan_.vector < 4)
    return nullptr;
  const auto& operand = plan_.operands[static_cast<std::size_t>(argument.source)];
  const bool has_instruction = operand.dtype == f16 || operand.dtype == bf16;
  const bool is_held = plan::is_loaded_with_row(*rows_, operand);
  return has_instruction && is_held && form_of(operand) == Form::packed ? &operand : nullptr;
}

void HeaderWriter::write_stage(int stage) {
  const std::vector<NodeId> reductions = stages_.reductions(plan_.program, stage);
  const std::vector<NodeId> folded = stages_.folded(plan_.program, stage);
  const std::vector<NodeId> rescaled = stages_.rescaled(plan_.program, stage);
  const auto node_of = [&](NodeId id) -> const Node& {
    return plan_.program.nodes[static_cast<std::size_t>(id)];
  };
  line(fmt::format("struct Stage{} {{", stage));
  for (const NodeId id : reductions) {
    const Node& node = node_of(id);
    if (expr::finds_place(node.op)) {
      line(fmt::format("  {} a{} = 0;", accumulator_type(node_of(node.args[0])), id));
      line(fmt::format("  {} b{} = -1;  // its place", place_type(), id));
    } else {
      line(fmt::format("  {} a{} = {};", accumulator_type(node), id, identity(node)));
    }
  }
  line(fmt::format("  static constexpr bool kRescales = {};", !rescaled.empty()));
  if (!light_) write_warp_combination(reductions);
  line(fmt::format("\n  TILE_DEVICE void fold({}) {{",
                   element_parameters(asked_by_stage(stage), false)));
  write_values({.nodes = stages_.needed_for(plan_.program, folded),
                .stores = {},
                .given = [this](NodeId id) { return given(id); },
                .results = arguments_of(folded)},
               4);
  for (const NodeId id : folded) {
    const Node& node = node_of(id);
    const std::string own = fmt::format("a{}", id);
    if (expr::finds_place(node.op)) {
      const Node& argument = node_of(node.args[0]);
      const std::string value = fmt::format("{}(v{})", accumulator_type(argument), node.args[0]);
      const std::string place = fmt::format("{}({})", place_type(), place_of(node));
      const char* const better = node.op == Op::reduce_argmin ? "<" : ">";
      line(comes_in_order(node)
               ? fmt::format("    if ({0} {1} a{2} || (b{2} < 0 && {0} == {0})) {{  // no nan",
                             value, better, id)
               : fmt::format("    if ({0} == {0} && ({1})) {{  // no nan", value,
                             precedes(node, id, value, place)));
      line(fmt::format("      a{0} = {1};\n      b{0} = {2};\n    }}", id, value, place));
      continue;
    }
    const std::string value = fmt::format("{}(v{})", accumulator_type(node), node.args[0]);
    line(fmt::format("    {} = {};", own, expr::emit_combination(node, own, value)));
  }
  line("  }");
  if (!rescaled.empty()) write_rescaled_fold(stage);
  line(fmt::format("  TILE_DEVICE void combine(const Stage{}& other) {{", stage));
  for (const NodeId id : rescaled) write_rescaling(id);  // by the maxima as they are
  for (const NodeId id : folded) {
    const Node& node = node_of(id);
    const std::string own = fmt::format("a{}", id), value = "other." + own;
    if (expr::finds_place(node.op)) {
      const std::string place = fmt::format("other.b{}", id);
      line(fmt::format("    if ({} >= 0 && ({})) {{", place, precedes(node, id, value, place)));
      line(fmt::format("      a{0} = {1};\n      b{0} = {2};\n    }}", id, value, place));
    } else {
      line(fmt::format("    {} = {};", own, expr::emit_combination(node, own, value)));
    }
  }
  line("  }");
  write_finish(stage);
  line("};\n");
}

/// What the accumulators of pass `stage`, or of the scans, give a row.
void HeaderWriter::write_finish(int stage) {
  line("  TILE_DEVICE void finish(const Params& p, Results& r) const {");
  const bool may_be_empty = std::ranges::any_of(
      plan_.extents, [](const Dim& extent) { return !extent.is_known() || extent.is(0); });
  for (const NodeId id : stages_.reductions(plan_.program, stage)) {
    const Node& node = plan_.program.nodes[static_cast<std::size_t>(id)];
    std::string value = fmt::format(
        "a{}", stages_.is_total(id) ? stages_.totals[static_cast<std::size_t>(id)] : id);
    if (expr::finds_place(node.op)) {
      value = fmt::format("b{0} < 0 ? 0 : b{0}", id);
    } else if (is_extremum(node.op) && is_floating(node.type) && may_be_empty) {
      value = fmt::format("row_length(p) == 0 ? {} : {}", infinity(node), value);
    } else if (stages_.is_rescaled(id)) {
      value = rescaled_result(id);
    } else if (!is_floating(node.type)) {
      value = node.type == b8 ? value + " != 0"
                              : fmt::format("{}({})", expr::compute_type(node.type), value);
    }
    line(fmt::format("    r.v{} = {};", id, value));
  }
  const std::vector<NodeId> hoisted = stages_.hoisted_at(stage);
  std::vector<bool> nodes = stages_.needed_for(plan_.program, hoisted);
  for (const NodeId id : hoisted) nodes[static_cast<std::size_t>(id)] = true;
  const auto given_to_hoisted = [&](NodeId id) {
    return std::ranges::count(hoisted, id) > 0 ? std::string() : given(id);
  };
  write_values({.nodes = nodes, .stores = {}, .given = given_to_hoisted, .results = hoisted}, 4);
  for (const NodeId id : hoisted) line(fmt::format("    r.v{0} = v{0};", id));
  line("  }");
}

/// One extremum of single precision is an instruction for all lanes of a warp.
void HeaderWriter::write_warp_combination(const std::vector<NodeId>& reductions) {
  const NodeId id = reductions.front();
  const Node& node = plan_.program.nodes[static_cast<std::size_t>(id)];
  const bool has_instruction = reductions.size() == 1 && plan_.target.major >= 8 &&
                               is_extremum(node.op) && accumulator_type(node) == "float";
  line(fmt::format("  static constexpr bool kExtremum = {};", has_instruction));
  if (!has_instruction) return;
  line(fmt::format("\n  TILE_DEVICE void combine_warp() {{\n    a{0} = warp_{1}(a{0});\n  }}", id,
                   node.op == Op::reduce_max ? "max" : "min"));
}

/// How sums of exponentials below a maximum are folded, behind it: below what it is so far, or zero
/// where that is -infinity.
void HeaderWriter::write_rescaled_fold(int stage) {
  const auto node_of = [&](NodeId id) -> const Node& {
    return plan_.program.nodes[static_cast<std::size_t>(id)];
  };
  const std::vector<NodeId> sums = stages_.rescaled(plan_.program, stage);
  const std::vector<NodeId> hoisted = stages_.hoisted_at(stage);
  const auto of_lane = [&](NodeId id) -> std::string {
    const auto is_maximum = [&](NodeId sum) {
      return stages_.sums[static_cast<std::size_t>(sum)].maximum == id;
    };
    if (std::ranges::any_of(sums, is_maximum))
      return fmt::format("a{0} == {1} ? 0 : a{0}", id, infinity(node_of(id)));
    return std::ranges::count(hoisted, id) > 0 ? std::string() : given(id);
  };
  const std::vector<bool> nodes = stages_.needed_for_rescaled(plan_.program, stage);
  line(fmt::format("  TILE_DEVICE void fold_below({}) {{",
                   element_parameters(asked_by(nodes), false)));
  write_values({.nodes = nodes, .stores = {}, .given = of_lane, .results = arguments_of(sums)}, 4);
  for (const NodeId id : sums) {
    line(fmt::format("    a{0} = a{0} + {1}(v{2});", id, accumulator_type(node_of(id)),
                     node_of(id).args[0]));
  }
  line("  }");
}

/// A sum below -infinity is nan, as exp(x - x) is.
std::string HeaderWriter::rescaled_result(NodeId sum) const {
  const expr::RescaledSum& found = stages_.sums[static_cast<std::size_t>(sum)];
  if (found.guarded) return fmt::format("a{}", sum);
  const Node& maximum = plan_.program.nodes[static_cast<std::size_t>(found.maximum)];
  return fmt::format("a{} == {} ? {} : a{}", found.maximum, infinity(maximum), nan_of(maximum),
                     sum);
}

/// The sum of two parts with maxima of their own; of both sides the same bits.
void HeaderWriter::write_rescaling(NodeId sum) {
  const Node& node = plan_.program.nodes[static_cast<std::size_t>(sum)];
  const NodeId maximum = stages_.sums[static_cast<std::size_t>(sum)].maximum;
  const std::string_view type = accumulator_type(node);
  line(fmt::format("    const bool less{0} = a{1} < other.a{1};", sum, maximum));
  line(fmt::format("    const {0} apart{1} = less{1} ? a{2} - other.a{2} : other.a{2} - a{2};",
                   type, sum, maximum));
  std::string function = emit_function(plan_.program, node.args[0]);
  if (function == "expf") function = "math::rescaling_exp";
  if (function == "exp2f") function = "math::rescaling_exp2";
  // Nan of infinities, and where one of them has nothing.
  line(fmt::format("    const {0} scale{1} = apart{1} == apart{1} ? {2}(apart{1}) : {0}(1);", type,
                   sum, function));
  line(fmt::format(
      "    a{0} = less{0} ? a{0} * scale{0} + other.a{0} : other.a{0} * scale{0} + a{0};", sum));
}

/// List<Stage0, Stage1>, and the bytes of the largest.
std::string HeaderWriter::accumulator_list() const {
  std::string list, bytes = "4";
  for (int stage = 0; stage < stages_.count; ++stage) {
    const std::string name = fmt::format("Stage{}", stage);
    list += (list.empty() ? "" : ", ") + name;
    bytes = fmt::format("(sizeof({0}) > {1} ? int(sizeof({0})) : {1})", name, bytes);
  }
  if (rows_->shares > 1 && !direction_) {
    bytes += fmt::format(";\nstatic_assert(kStageBytes == {}, \"the host makes room\")",
                         plan::accumulator_bytes(plan_));
  }
  return fmt::format(
      "template <class... T>\nstruct List {{}};\nstruct Below {{}};  // asks for the sums below a "
      "maximum\nusing Stages = List<{}>;\nconstexpr int "
      "kStageBytes = "
      "{};\n",
      list, bytes);
}

}  // namespace tilejit::render
