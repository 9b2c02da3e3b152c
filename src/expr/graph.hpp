#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "expr/program.hpp"

namespace tilejit::expr {

inline constexpr std::size_t kMaxNodes = 20000;
// Nodes of weight above 1; NVRTC takes seconds for this many.
inline constexpr int kMaxHeavyNodes = 1000;

/// Nodes of a program under construction; equal nodes exist once (hash-consing).
class Graph {
 public:
  /// The node equal to `node`, added if there is none. Throws Fault beyond kMaxNodes.
  NodeId add(const Node& node);
  NodeId constant(DType type, Constant value);
  NodeId operation(Op op, DType type, NodeId a, NodeId b = kNoNode, NodeId c = kNoNode);

  /// A reduction of `a`; without `a`, the index or extent of `axes`.
  NodeId over_axes(Op op, DType type, std::uint32_t axes, NodeId a = kNoNode);

  [[nodiscard]] const Node& operator[](NodeId id) const {
    return nodes_[static_cast<std::size_t>(id)];
  }

  /// The nodes that `stores` need, renumbered in the order of their creation.
  [[nodiscard]] Program prune(const std::vector<Store>& stores) const;

 private:
  using Key = std::array<std::uint64_t, 4>;
  struct HashKey {
    std::size_t operator()(const Key& key) const noexcept;
  };
  static Key key_of(const Node& node) noexcept;

  std::vector<Node> nodes_;
  int heavy_ = 0;  // nodes of weight above 1
  std::unordered_map<Key, NodeId, HashKey> ids_;
};

/// The bits of the constant's integer or double.
[[nodiscard]] std::uint64_t constant_bits(const Constant& constant) noexcept;

}  // namespace tilejit::expr
