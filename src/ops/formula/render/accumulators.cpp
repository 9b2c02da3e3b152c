// The structs that accumulate, one for each pass that reduces.
#include <algorithm>

#include <fmt/format.h>

#include "render/combination.hpp"
#include "render/combining_writer.hpp"
#include "rows/rows.hpp"

namespace tilejit::render {
namespace {

using expr::Node;
using expr::NodeId;
using expr::Op;

/// The condition that the element (`value`, `place`) takes precedence over the one that the
/// accumulator of node `id` has found.
std::string precedes(const Node& node, NodeId id, const std::string& value,
                     const std::string& place) {
  const char* better = node.op == Op::reduce_argmin ? "<" : ">";
  return fmt::format("b{0} < 0 || {1} {3} a{0} || ({1} == a{0} && {2} < b{0})", id, value, place,
                     better);
}

/// The same for floats, whose accumulator is nan until it has found an element. Without branches,
/// and a chain of comparisons: the next element waits for `better` of two floats only.
std::string float_precedes(const Node& node, NodeId id, const std::string& value,
                           const std::string& place, bool in_order) {
  const char* const no_better = node.op == Op::reduce_argmin ? ">=" : "<=";
  const std::string is_better = fmt::format("!({} {} a{})", value, no_better, id);
  const std::string is_number = fmt::format("{0} == {0}", value);
  if (in_order) return fmt::format("{} & ({})", is_better, is_number);
  return fmt::format("({2} | (({0} == a{1}) & ({3} < b{1}))) & ({4})", value, id, is_better, place,
                     is_number);
}

std::string better_of_floats(const Node& node, const Node& argument, NodeId id,
                             const std::string& value) {
  return fmt::format("{}{}(a{}, {})", node.op == Op::reduce_argmin ? "fmin" : "fmax",
                     argument.type == f64 ? "" : "f", id, value);
}

}  // namespace

std::string_view CombiningWriter::place_type() const {
  return plan::has_short_rows(plan_) ? "i32" : "i64";
}

/// Whether a thread meets elements in the order of their places, so that the first of equal
/// elements stays. Places of several modes may have another order than memory.
bool CombiningWriter::comes_in_order(const Node& node) const {
  if (rows_.count != 1 || direction_ == plan::Direction::backward) return false;
  return plan_.places[place_of(node)].modes[rows_.first].size() == 1;
}

void CombiningWriter::write_pass(int pass) {
  line(fmt::format("struct Pass{} {{", pass));
  write_pass_members(pass);
  write_warp_combination(passes_.reductions(plan_.program, pass));
  write_element_fold(pass);
  const std::string type = fmt::format("Pass{}", pass);
  if (computes_always_) write_conditional_fold(type, "fold");
  if (!passes_.rescaled(plan_.program, pass).empty()) {
    write_rescaled_fold(pass);
    if (computes_always_) write_conditional_fold(type, "fold_below");
  }
  write_combine(pass);
  write_finish(pass);
  line("};\n");
}

void CombiningWriter::write_pass_members(int pass) {
  for (const NodeId id : passes_.reductions(plan_.program, pass)) {
    const Node& node = node_of(id);
    if (passes_.is_centred(id)) continue;
    if (expr::finds_place(node.op)) {
      const Node& argument = node_of(node.args[0]);
      line(fmt::format("  {} a{} = {};", accumulator_type(argument), id,
                       is_floating(argument.type) ? nan_of(argument) : "0"));
      line(fmt::format("  {} b{} = -1;  // its place", place_type(), id));
    } else {
      line(fmt::format("  {} a{} = {};", accumulator_type(node), id, identity(node)));
    }
  }
  for (const NodeId total : passes_.centres(plan_.program, pass))
    line(fmt::format("  Centred<{}> centred{};", accumulator_type(node_of(total)), total));
  line(fmt::format("  enum : bool {{ kRescales = {} }};",
                   !passes_.rescaled(plan_.program, pass).empty()));
}

void CombiningWriter::write_element_fold(int pass) {
  const std::vector<NodeId> folded = passes_.folded(plan_.program, pass);
  line(fmt::format("\n  TILE_DEVICE void fold({}) {{",
                   element_parameters(asked_by_pass(pass), false)));
  write_values({.nodes = passes_.needed_for(plan_.program, folded),
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
      const std::string place = fmt::format("{}(n{})", place_type(), place_of(node));
      if (is_floating(argument.type)) {
        line(fmt::format("    b{0} = {1} ? {2} : b{0};  // no nan", id,
                         float_precedes(node, id, value, place, comes_in_order(node)), place));
        line(fmt::format("    a{} = {};", id, better_of_floats(node, argument, id, value)));
        continue;
      }
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
  for (const NodeId total : passes_.centres(plan_.program, pass))
    line(fmt::format("    centred{}.fold(v{});", total, node_of(total).args[0]));
  line("  }");
}

void CombiningWriter::write_conditional_fold(const std::string& type, const char* fold) {
  line("  template <class... Values>");
  line(fmt::format(
      "  TILE_DEVICE void {}_if(bool exists, const Params& p, const Results& r, Values... t) {{",
      fold));
  line(fmt::format("    {} next = *this;\n    next.{}(p, r, t...);", type, fold));
  line("    if (exists) *this = next;\n  }");
}

void CombiningWriter::write_combine(int pass) {
  line(fmt::format("  TILE_DEVICE void combine(const Pass{}& other) {{", pass));
  // Rescaling needs the maxima before they are combined.
  for (const NodeId id : passes_.rescaled(plan_.program, pass)) write_rescaling(id);
  for (const NodeId id : passes_.folded(plan_.program, pass)) {
    const Node& node = node_of(id);
    const std::string own = fmt::format("a{}", id), value = "other." + own;
    if (expr::finds_place(node.op)) {
      const std::string place = fmt::format("other.b{}", id);
      const Node& argument = node_of(node.args[0]);
      if (is_floating(argument.type)) {
        line(fmt::format("    b{0} = {1} ? {2} : b{0};", id,
                         float_precedes(node, id, value, place, false), place));
        line(fmt::format("    a{} = {};", id, better_of_floats(node, argument, id, value)));
        continue;
      }
      line(fmt::format("    if ({} >= 0 && ({})) {{", place, precedes(node, id, value, place)));
      line(fmt::format("      a{0} = {1};\n      b{0} = {2};\n    }}", id, value, place));
    } else {
      line(fmt::format("    {} = {};", own, expr::emit_combination(node, own, value)));
    }
  }
  for (const NodeId total : passes_.centres(plan_.program, pass))
    line(fmt::format("    centred{0}.combine(other.centred{0});", total));
  line("  }");
}

void CombiningWriter::write_finish(int pass) {
  line("  TILE_DEVICE void finish(const Params& p, Results& r) const {");
  const bool may_be_empty = std::ranges::any_of(
      plan_.extents, [](const Dim& extent) { return !extent.is_known() || extent.is(0); });
  for (const NodeId id : passes_.reductions(plan_.program, pass)) {
    const Node& node = node_of(id);
    if (passes_.is_centred(id)) continue;
    std::string value = fmt::format(
        "a{}", passes_.is_total(id) ? passes_.totals[static_cast<std::size_t>(id)] : id);
    if (expr::finds_place(node.op)) {
      value = fmt::format("b{0} < 0 ? 0 : b{0}", id);
    } else if (is_extremum(node.op) && is_floating(node.type) && may_be_empty) {
      value = fmt::format("row_length(p) == 0 ? {} : {}", infinity(node), value);
    } else if (passes_.is_rescaled(id)) {
      value = rescaled_result(id);
    } else if (!is_floating(node.type)) {
      value = node.type == b8 ? value + " != 0"
                              : fmt::format("{}({})", expr::compute_type(node.type), value);
    }
    line(fmt::format("    r.v{} = {};", id, value));
  }
  for (const NodeId id : passes_.centred(plan_.program, pass)) {
    const expr::JoinedSum& found = passes_.sums[static_cast<std::size_t>(id)];
    line(fmt::format("    r.v{0} = centred{1}.{2}(r.v{1} / {3});", id, found.total,
                     found.squares ? "squares_about" : "distances_to",
                     given(node_of(found.mean).args[1])));
  }
  const std::vector<NodeId> hoisted = passes_.hoisted_at(pass);
  std::vector<bool> nodes = passes_.needed_for(plan_.program, hoisted);
  for (const NodeId id : hoisted) nodes[static_cast<std::size_t>(id)] = true;
  const auto given_to_hoisted = [&](NodeId id) {
    return std::ranges::count(hoisted, id) > 0 ? std::string() : given(id);
  };
  write_values({.nodes = nodes, .stores = {}, .given = given_to_hoisted, .results = hoisted}, 4);
  for (const NodeId id : hoisted) line(fmt::format("    r.v{0} = v{0};", id));
  line("  }");
}

/// Sums of exponentials below a maximum are folded after the maximum: below its value so far, or
/// below zero if that is -infinity.
void CombiningWriter::write_rescaled_fold(int pass) {
  const std::vector<NodeId> sums = passes_.rescaled(plan_.program, pass);
  const std::vector<NodeId> hoisted = passes_.hoisted_at(pass);
  const auto of_thread = [&](NodeId id) -> std::string {
    const auto is_maximum = [&](NodeId sum) {
      return passes_.sums[static_cast<std::size_t>(sum)].maximum == id;
    };
    if (std::ranges::any_of(sums, is_maximum))
      return fmt::format("a{0} == {1} ? 0 : a{0}", id, infinity(node_of(id)));
    return std::ranges::count(hoisted, id) > 0 ? std::string() : given(id);
  };
  const std::vector<bool> nodes = passes_.needed_for_rescaled(plan_.program, pass);
  line(fmt::format("  TILE_DEVICE void fold_below({}) {{",
                   element_parameters(asked_by(nodes), false)));
  write_values({.nodes = nodes, .stores = {}, .given = of_thread, .results = arguments_of(sums)},
               4);
  for (const NodeId id : sums) {
    line(fmt::format("    a{0} = a{0} + {1}(v{2});", id, accumulator_type(node_of(id)),
                     node_of(id).args[0]));
  }
  line("  }");
}

/// A sum below -infinity is nan, like exp(x - x).
std::string CombiningWriter::rescaled_result(NodeId sum) const {
  const expr::JoinedSum& found = passes_.sums[static_cast<std::size_t>(sum)];
  if (found.guarded) return fmt::format("a{}", sum);
  const Node& maximum = node_of(found.maximum);
  return fmt::format("a{} == {} ? {} : a{}", found.maximum, infinity(maximum), nan_of(maximum),
                     sum);
}

/// Adds two parts with maxima of their own. The result has the same bits from both sides.
void CombiningWriter::write_rescaling(NodeId sum) {
  const Node& node = node_of(sum);
  const NodeId maximum = passes_.sums[static_cast<std::size_t>(sum)].maximum;
  const std::string_view type = accumulator_type(node);
  line(fmt::format("    const bool less{0} = a{1} < other.a{1};", sum, maximum));
  line(fmt::format("    const {0} apart{1} = less{1} ? a{2} - other.a{2} : other.a{2} - a{2};",
                   type, sum, maximum));
  std::string function = emit_function(plan_.program, node.args[0]);
  if (function == "expf") function = "math::rescaling_exp";
  if (function == "exp2f") function = "math::rescaling_exp2";
  // The difference is nan if both maxima are infinite, or if one part has no elements.
  line(fmt::format("    const {0} scale{1} = apart{1} == apart{1} ? {2}(apart{1}) : {0}(1);", type,
                   sum, function));
  line(fmt::format(
      "    a{0} = less{0} ? a{0} * scale{0} + other.a{0} : other.a{0} * scale{0} + a{0};", sum));
}

}  // namespace tilejit::render
