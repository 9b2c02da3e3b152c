#include "render/stages.hpp"

#include <algorithm>

#include "plan/rows.hpp"

namespace tilejit::render {
namespace {

using expr::kNoNode;
using expr::Node;
using expr::NodeId;

}  // namespace

Stages find_stages(const plan::Plan& plan) {
  Stages stages;
  if (!plan.rows) return stages;
  for (const Node& node : plan.program.nodes) {
    int level = 0;
    bool in_row =
        node.op == expr::Op::load &&
        plan::varies_in_row(plan.operands[static_cast<std::size_t>(node.source)], *plan.rows);
    for (const NodeId arg : node.args) {
      if (arg == kNoNode) continue;
      level = std::max(level, stages.level[static_cast<std::size_t>(arg)]);
      in_row = in_row || stages.in_row[static_cast<std::size_t>(arg)];
    }
    const bool reduction = expr::is_reduction(node.op);
    stages.level.push_back(level + reduction);
    stages.in_row.push_back(in_row && !reduction);
    if (reduction) stages.count = std::max(stages.count, level + 1);
  }
  return stages;
}

std::vector<NodeId> Stages::reductions(const expr::Program& program, int stage) const {
  std::vector<NodeId> found;
  for (std::size_t i = 0; i < program.nodes.size(); ++i) {
    if (expr::is_reduction(program.nodes[i].op) && level[i] == stage + 1) {
      found.push_back(static_cast<NodeId>(i));
    }
  }
  return found;
}

std::vector<bool> needed_for(const expr::Program& program, const std::vector<NodeId>& roots) {
  std::vector<bool> needed(program.nodes.size(), false);
  const auto need_args = [&](const Node& node) {
    for (const NodeId arg : node.args) {
      if (arg != kNoNode) needed[static_cast<std::size_t>(arg)] = true;
    }
  };
  for (const NodeId root : roots) {
    const Node& node = program.nodes[static_cast<std::size_t>(root)];
    if (expr::is_reduction(node.op)) {
      need_args(node);
    } else {
      needed[static_cast<std::size_t>(root)] = true;
    }
  }
  for (std::size_t i = program.nodes.size(); i-- > 0;) {  // operands come before their users
    if (needed[i] && !expr::is_reduction(program.nodes[i].op)) need_args(program.nodes[i]);
  }
  return needed;
}

}  // namespace tilejit::render
