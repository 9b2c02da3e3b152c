#include "expr/nested_sums.hpp"

#include <cstddef>
#include <vector>

#include "expr/graph.hpp"

namespace tilejit::expr {
namespace {

bool is_fixed(Op op) noexcept {
  return op == Op::constant || op == Op::extent;
}

class Merger {
 public:
  explicit Merger(const Program& program)
      : program_(program),
        uses_(program.nodes.size(), 0),
        inner_(program.nodes.size(), kNoNode),
        axes_(program.nodes.size(), 0),
        renumbered_(program.nodes.size(), kNoNode) {
    for (const Node& node : program.nodes) {
      for (const NodeId arg : node.args) {
        if (arg != kNoNode) ++uses_[index(arg)];
      }
    }
    for (const Store& store : program.stores) ++uses_[index(store.value)];
  }

  Program run() {
    bool found = false;
    for (std::size_t i = 0; i < program_.nodes.size(); ++i) {
      inner_[i] = inner_sum(program_.nodes[i]);
      axes_[i] = program_.nodes[i].axes | (inner_[i] == kNoNode ? 0 : axes_[index(inner_[i])]);
      found = found || inner_[i] != kNoNode;
    }
    if (!found) return program_;
    for (std::size_t i = 0; i < program_.nodes.size(); ++i) {
      const Node& node = program_.nodes[i];
      renumbered_[i] = inner_[i] == kNoNode ? graph_.add(with_operands(node)) : merged(i);
    }
    std::vector<Store> stores = program_.stores;
    for (Store& store : stores) store.value = renumbered_[index(store.value)];
    return graph_.prune(stores);
  }

 private:
  static std::size_t index(NodeId id) { return static_cast<std::size_t>(id); }
  [[nodiscard]] const Node& at(NodeId id) const { return program_.nodes[index(id)]; }

  /// The operand of a scaled value that is not fixed; kNoNode if `node` is nothing of the kind.
  [[nodiscard]] NodeId scaled(const Node& node) const {
    if (!is_floating(node.type) || (node.op != Op::div && node.op != Op::mul)) return kNoNode;
    if (is_fixed(at(node.args[1]).op)) return node.args[0];
    return node.op == Op::mul && is_fixed(at(node.args[0]).op) ? node.args[1] : kNoNode;
  }

  /// The sum that `outer` adds up, scaled or not, if it can be a part of `outer`.
  [[nodiscard]] NodeId inner_sum(const Node& outer) const {
    if (outer.op != Op::reduce_sum) return kNoNode;
    NodeId id = outer.args[0];
    while (uses_[index(id)] == 1) {
      const Node& node = at(id);
      if (node.type != outer.type) return kNoNode;
      if (node.op == Op::reduce_sum) return (axes_[index(id)] & outer.axes) == 0 ? id : kNoNode;
      id = scaled(node);
      if (id == kNoNode) return kNoNode;
    }
    return kNoNode;
  }

  [[nodiscard]] Node with_operands(Node node) const {
    for (NodeId& arg : node.args) {
      if (arg != kNoNode) arg = renumbered_[index(arg)];
    }
    return node;
  }

  /// The sum with its inner sums' axes, and the scaling behind them.
  NodeId merged(std::size_t sum) {
    const Node& outer = program_.nodes[sum];
    std::vector<Node> scales;  // outermost first
    NodeId id = outer.args[0];
    for (NodeId inner = id; inner != kNoNode;) {
      const Node& node = at(inner);
      if (node.op != Op::reduce_sum) {
        scales.push_back(node);
        inner = scaled(node);
        continue;
      }
      id = node.args[0];
      const bool further = inner_[index(inner)] != kNoNode;  // a sum of sums, too
      inner = further ? id : kNoNode;
    }
    NodeId value = graph_.over_axes(Op::reduce_sum, outer.type, axes_[sum], renumbered_[index(id)]);
    for (auto scale = scales.rbegin(); scale != scales.rend(); ++scale) {
      Node node = with_operands(*scale);
      node.args[is_fixed(at(scale->args[1]).op) ? 0 : 1] = value;
      value = graph_.add(node);
    }
    return value;
  }

  const Program& program_;
  std::vector<int> uses_;            // by node
  std::vector<NodeId> inner_;        // by node: the sum that becomes a part of it
  std::vector<std::uint32_t> axes_;  // by node: those of a sum with all of its parts
  std::vector<NodeId> renumbered_;   // by node: its id in graph_
  Graph graph_;
};

}  // namespace

Program merge_nested_sums(const Program& program) {
  return Merger(program).run();
}

}  // namespace tilejit::expr
