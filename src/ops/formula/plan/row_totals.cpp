#include "plan/row_totals.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <vector>

#include "core/integer.hpp"
#include "expr/traits.hpp"

namespace tilejit::plan {
namespace {

using expr::Node;
using expr::NodeId;
using expr::Op;

constexpr std::int64_t kLeastResults = 1 << 16;  // that are written and read again
constexpr std::int64_t kLeastRowsOfBlock = 8;

/// The blocks of a launch if each has whole rows of its own; nothing else combines what they have.
std::optional<std::int64_t> blocks_of_whole_rows(const Plan& plan) {
  const auto known = [](const Dim& extent) { return extent.is_known(); };
  if (!std::ranges::all_of(plan.extents, known) || !std::has_single_bit(unsigned(plan.threads)))
    return std::nullopt;
  const auto* const staged = std::get_if<StagedRows>(&plan.family);
  if (staged != nullptr && (staged->direction || staged->columns > 1)) return std::nullopt;
  const Rows* const rows = rows_of(plan);
  if (staged == nullptr && !std::holds_alternative<Rows>(plan.family)) return std::nullopt;
  if (!rows->along() || rows->cluster * rows->splits > 1 || rows->ahead || rows->alike > 1 ||
      rows->turned > 0)
    return std::nullopt;
  return core::ceil_div(total_units(plan), units_per_block(plan));
}

/// The part after part `part` that reads tensor `number`; null if there are several.
Part* only_reader(Split& split, std::size_t part, int number) {
  Part* reader = nullptr;
  for (std::size_t later = part + 1; later < split.parts.size(); ++later) {
    Part& other = split.parts[later];
    if (std::ranges::count(other.tensors, number) == 0) continue;
    if (reader != nullptr) return nullptr;
    reader = &other;
  }
  return reader;
}

/// The reduction by which `part` takes all of its tensor `t`, if it does nothing else with it, and
/// has nothing else of several elements.
std::optional<Op> reduction_of_all(const Part& part, std::size_t t) {
  const expr::Program& program = part.analysis.program;
  for (std::size_t other = 0; other < part.op.tensors.size(); ++other) {
    if (other != t && !product(part.op.tensors[other].layout.shape()).is(1)) return std::nullopt;
  }
  NodeId load = expr::kNoNode, reduction = expr::kNoNode;
  for (std::size_t i = 0; i < program.nodes.size(); ++i) {
    const Node& node = program.nodes[i];
    const bool combines = expr::combines_elements(node.op);
    if (node.op == Op::index || (combines && reduction != expr::kNoNode)) return std::nullopt;
    if (combines) reduction = static_cast<NodeId>(i);
    if (load != expr::kNoNode && std::ranges::count(node.args, load) > 0 && !combines)
      return std::nullopt;
    if (node.op == Op::load && node.source == static_cast<int>(t)) load = static_cast<NodeId>(i);
  }
  if (reduction == expr::kNoNode) return std::nullopt;
  const Node& node = program.nodes[static_cast<std::size_t>(reduction)];
  const bool known = node.op == Op::reduce_sum || node.op == Op::reduce_prod ||
                     node.op == Op::reduce_min || node.op == Op::reduce_max;
  const auto is_reduced = [&](int axis) {
    return expr::has_axis(node.axes, static_cast<std::size_t>(axis));
  };
  const auto is_stored = [&](const expr::Store& store) { return store.value == load; };
  if (!known || node.args[0] != load || expr::compute_type(node.type) != "float" ||
      !std::ranges::all_of(part.analysis.axes[t], is_reduced) ||
      std::ranges::any_of(program.stores, is_stored))
    return std::nullopt;
  return node.op;
}

/// `count` elements along the last of so many modes.
Layout vector_of(std::size_t modes, std::int64_t count) {
  std::vector<IntTuple> extents(modes, IntTuple(Dim(1))), strides(modes, IntTuple(Dim(0)));
  extents.back() = IntTuple(Dim(count));
  strides.back() = IntTuple(Dim(1));
  return {IntTuple::tuple(extents), IntTuple::tuple(strides)};
}

/// Makes tensor `t` of `part`, the only one with several elements, a vector of `count` elements. It
/// is reduced over the space's other axes as often as before.
void resize(Part& part, std::size_t t, std::int64_t count) {
  std::vector<Dim>& shape = part.analysis.shape;
  const std::vector<int>& axes = part.analysis.axes[t];
  for (const int axis : axes) shape[static_cast<std::size_t>(axis)] = Dim(1);
  shape[static_cast<std::size_t>(axes.back())] = Dim(count);
  part.op.tensors[t].layout = vector_of(axes.size(), count);
}

}  // namespace

void leave_totals(Split& split, std::size_t part, std::size_t tensors, Plan& plan) {
  const auto blocks = blocks_of_whole_rows(plan);
  if (!blocks) return;
  for (Operand& operand : plan.operands) {
    const auto t = static_cast<std::size_t>(operand.tensor);
    const auto number = static_cast<std::size_t>(plan.tensors[t]);
    if (!operand.per_row || operand.read || operand.dtype != f32 || number < tensors) continue;
    Temporary& temporary = split.temporaries[number - tensors];
    const std::int64_t results = temporary.elements.value();
    if (results < kLeastResults || results < kLeastRowsOfBlock * *blocks) continue;
    Part* const reader = only_reader(split, part, plan.tensors[t]);
    if (reader == nullptr) continue;
    const auto place = std::ranges::find(reader->tensors, plan.tensors[t]);
    const auto of_reader = static_cast<std::size_t>(place - reader->tensors.begin());
    operand.combined = reduction_of_all(*reader, of_reader);
    if (!operand.combined) continue;
    resize(*reader, of_reader, *blocks);
    temporary.elements = Dim(*blocks);
    Layout& layout = plan.signature.tensors[t].layout;
    layout = vector_of(rank(layout), *blocks);
    for (OperandMode& mode : operand.modes) {
      for (Mode& leaf : mode) leaf.stride = Dim(0);
    }
  }
}

}  // namespace tilejit::plan
