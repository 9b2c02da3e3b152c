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
  const std::vector<Node>& nodes = plan.program.nodes;
  std::vector<bool> uniform;  // a node: made of results and constants alone
  // What is held in registers is read twice at no cost: its exponentials are then computed once.
  const bool rescales = plan.rows->held == 0 && !plan.light;
  stages.sums =
      rescales ? expr::rescaled_sums(plan.program) : std::vector<expr::RescaledSum>(nodes.size());
  stages.level = expr::passes_before(plan.program, stages.sums);
  stages.count = std::ranges::max(stages.level);
  stages.hoisted.resize(nodes.size(), false);
  for (const Node& node : nodes) {
    const bool reduction = expr::is_reduction(node.op);
    bool in_row =
        node.op == expr::Op::load &&
        plan::varies_in_row(plan.operands[static_cast<std::size_t>(node.source)], *plan.rows);
    bool of_results =
        node.op != expr::Op::load && node.op != expr::Op::index && !expr::is_scan(node.op);
    for (const NodeId arg : node.args) {
      if (arg == kNoNode) continue;
      const auto a = static_cast<std::size_t>(arg);
      in_row = in_row || stages.in_row[a];
      of_results = of_results && uniform[a];
    }
    stages.in_row.push_back(in_row && !reduction);
    uniform.push_back(reduction || of_results);
    if (!reduction && of_results) continue;
    for (const NodeId arg : node.args) {  // those that the values of elements ask for
      if (arg == kNoNode) continue;
      const auto a = static_cast<std::size_t>(arg);
      if (uniform[a] && stages.level[a] > 0 && !expr::is_reduction(nodes[a].op))
        stages.hoisted[a] = true;
    }
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

std::vector<NodeId> Stages::folded(const expr::Program& program, int stage) const {
  std::vector<NodeId> found = reductions(program, stage);
  std::erase_if(found, [&](NodeId id) { return is_rescaled(id); });
  return found;
}

std::vector<NodeId> Stages::rescaled(const expr::Program& program, int stage) const {
  std::vector<NodeId> found = reductions(program, stage);
  std::erase_if(found, [&](NodeId id) { return !is_rescaled(id); });
  return found;
}

std::vector<NodeId> Stages::hoisted_at(int stage) const {
  std::vector<NodeId> found;
  for (std::size_t i = 0; i < hoisted.size(); ++i) {
    if (hoisted[i] && level[i] == stage + 1) found.push_back(static_cast<NodeId>(i));
  }
  return found;
}

bool Stages::is_result(const expr::Program& program, NodeId id) const {
  const auto i = static_cast<std::size_t>(id);
  return expr::is_reduction(program.nodes[i].op) || (!hoisted.empty() && hoisted[i]);
}

std::vector<bool> Stages::needed_for(const expr::Program& program,
                                     const std::vector<NodeId>& roots) const {
  std::vector<bool> needed(program.nodes.size(), false);
  const auto need_args = [&](NodeId id) {
    for (const NodeId arg : program.nodes[static_cast<std::size_t>(id)].args) {
      if (arg != kNoNode) needed[static_cast<std::size_t>(arg)] = true;
    }
  };
  for (const NodeId root : roots) {
    const Node& node = program.nodes[static_cast<std::size_t>(root)];
    if (is_result(program, root) || expr::is_scan(node.op)) {
      need_args(root);
    } else {
      needed[static_cast<std::size_t>(root)] = true;
    }
  }
  for (std::size_t i = program.nodes.size(); i-- > 0;) {  // operands come before their users
    const auto id = static_cast<NodeId>(i);
    if (needed[i] && !is_result(program, id)) need_args(id);
  }
  return needed;
}

std::vector<bool> Stages::needed_for_rescaled(const expr::Program& program, int stage) const {
  Stages computing = *this;
  for (const NodeId id : hoisted_at(stage)) computing.hoisted[static_cast<std::size_t>(id)] = false;
  return computing.needed_for(program, rescaled(program, stage));
}

}  // namespace tilejit::render
