#include "formula/joined_steps.hpp"

#include <algorithm>
#include <vector>

namespace tilejit::formula {
namespace {

using expr::kNoNode;
using expr::Node;
using expr::NodeId;

/// The step's tensor with that number and that layout; a new one if there is none.
int tensor_in(Step& step, const Step& other, std::size_t t) {
  for (std::size_t own = 0; own < step.tensors.size(); ++own) {
    if (step.tensors[own] == other.tensors[t] &&
        step.op.tensors[own].layout == other.op.tensors[t].layout)
      return static_cast<int>(own);
  }
  step.tensors.push_back(other.tensors[t]);
  step.op.tensors.push_back(other.op.tensors[t]);
  step.analysis.axes.push_back(other.analysis.axes[t]);
  step.analysis.access.push_back(other.analysis.access[t]);
  return static_cast<int>(step.tensors.size()) - 1;
}

bool writes_what_is_read(const Step& writer, const Step& reader) {
  for (std::size_t t = 0; t < writer.tensors.size(); ++t) {
    if (writer.analysis.access[t] != Access::in &&
        std::ranges::count(reader.tensors, writer.tensors[t]) != 0)
      return true;
  }
  return false;
}

}  // namespace

std::optional<Step> joined(const Step& first, const Step& second) {
  if (first.analysis.shape != second.analysis.shape || writes_what_is_read(first, second) ||
      writes_what_is_read(second, first))
    return std::nullopt;
  Step step = first;
  std::vector<int> tensors;
  for (std::size_t t = 0; t < second.tensors.size(); ++t)
    tensors.push_back(tensor_in(step, second, t));
  std::vector<Node>& nodes = step.analysis.program.nodes;
  std::vector<NodeId> ids;
  for (Node node : second.analysis.program.nodes) {
    for (NodeId& arg : node.args) {
      if (arg != kNoNode) arg = ids[static_cast<std::size_t>(arg)];
    }
    if (node.op == expr::Op::load) node.source = tensors[static_cast<std::size_t>(node.source)];
    const auto same = std::ranges::find(nodes, node);
    ids.push_back(static_cast<NodeId>(same - nodes.begin()));
    if (same == nodes.end()) nodes.push_back(node);
  }
  for (const expr::Store& store : second.analysis.program.stores) {
    expr::Store moved = store;
    moved.tensor = tensors[static_cast<std::size_t>(store.tensor)];
    moved.value = ids[static_cast<std::size_t>(store.value)];
    step.analysis.program.stores.push_back(moved);
  }
  step.analysis.symbols.insert(second.analysis.symbols.begin(), second.analysis.symbols.end());
  return step;
}

}  // namespace tilejit::formula
