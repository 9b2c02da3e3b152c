#include "expr/graph.hpp"

#include <bit>
#include <string>

#include "expr/weak.hpp"

namespace tilejit::expr {

std::uint64_t constant_bits(const Constant& constant) noexcept {
  const auto* integer = std::get_if<std::int64_t>(&constant);
  return integer != nullptr ? static_cast<std::uint64_t>(*integer)
                            : std::bit_cast<std::uint64_t>(std::get<double>(constant));
}

bool operator==(const Node& a, const Node& b) noexcept {
  return a.op == b.op && a.type == b.type && a.args == b.args && a.source == b.source &&
         a.axes == b.axes && a.exclusive == b.exclusive && a.reverse == b.reverse &&
         a.constant.index() == b.constant.index() &&
         constant_bits(a.constant) == constant_bits(b.constant);
}

Graph::Key Graph::key_of(const Node& node) noexcept {
  const auto pack = [](std::int32_t low, std::int32_t high) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(high)) << 32 |
           static_cast<std::uint32_t>(low);
  };
  const auto kind = static_cast<std::int32_t>(
      static_cast<unsigned>(node.op) | static_cast<unsigned>(node.type) << 8 |
      static_cast<unsigned>(node.constant.index()) << 16 |
      static_cast<unsigned>(node.exclusive) << 24 | static_cast<unsigned>(node.reverse) << 25);
  return {pack(kind, node.source), pack(node.args[0], node.args[1]),
          pack(node.args[2], static_cast<std::int32_t>(node.axes)), constant_bits(node.constant)};
}

std::size_t Graph::HashKey::operator()(const Key& key) const noexcept {
  std::uint64_t hash = 0xCBF29CE484222325u;  // FNV-1a over words, with a final mix of high bits
  for (const std::uint64_t word : key) hash = (hash ^ word) * 0x100000001B3u ^ (hash >> 29);
  return static_cast<std::size_t>(hash ^ (hash >> 32));
}

NodeId Graph::add(const Node& node) {
  const auto [position, is_new] =
      ids_.try_emplace(key_of(node), static_cast<NodeId>(nodes_.size()));
  if (!is_new) return position->second;
  if (nodes_.size() == kMaxNodes) {
    throw Fault{"the formula has more than " + std::to_string(kMaxNodes) +
                " operations after its functions are inlined; split it into several kernels"};
  }
  if (weight(node) > 1 && ++heavy_ > kMaxHeavyNodes) {
    throw Fault{"the formula has more than " + std::to_string(kMaxHeavyNodes) +
                " divisions and functions after its own are inlined; split it into several "
                "kernels"};
  }
  nodes_.push_back(node);
  return position->second;
}

NodeId Graph::constant(DType type, Constant value) {
  Node node;
  node.type = type;
  node.constant = value;
  return add(node);
}

NodeId Graph::operation(Op op, DType type, NodeId a, NodeId b, NodeId c) {
  Node node;
  node.op = op;
  node.type = type;
  node.args = {a, b, c};
  return add(node);
}

NodeId Graph::over_axes(Op op, DType type, std::uint32_t axes, NodeId a) {
  Node node;
  node.op = op;
  node.type = type;
  node.args[0] = a;
  node.axes = axes;
  return add(node);
}

Program Graph::prune(const std::vector<Store>& stores) const {
  std::vector<bool> live(nodes_.size(), false);
  for (const Store& store : stores) live[static_cast<std::size_t>(store.value)] = true;
  // In reverse order, since users come after their operands.
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    if (!live[i]) continue;
    for (const NodeId arg : nodes_[i].args) {
      if (arg != kNoNode) live[static_cast<std::size_t>(arg)] = true;
    }
  }
  Program program;
  std::vector<NodeId> renumbered(nodes_.size(), kNoNode);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (!live[i]) continue;
    Node node = nodes_[i];
    for (NodeId& arg : node.args) {
      if (arg != kNoNode) arg = renumbered[static_cast<std::size_t>(arg)];
    }
    renumbered[i] = static_cast<NodeId>(program.nodes.size());
    program.nodes.push_back(node);
  }
  for (const Store& store : stores) {
    program.stores.push_back({store.tensor, renumbered[static_cast<std::size_t>(store.value)]});
  }
  return program;
}

}  // namespace tilejit::expr
