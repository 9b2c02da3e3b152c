#include "formula/factors.hpp"

#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace tilejit::formula {
namespace {

using expr::kNoNode;
using expr::Node;
using expr::NodeId;
using expr::Op;

/// An operand as a tensor and what it is multiplied or divided by.
struct Moved {
  NodeId core = kNoNode;
  std::vector<std::pair<Op, NodeId>> factors = {};
};

/// An operand's space, and where K is in it, counted from the last axis.
struct Side {
  Extents space;
  std::size_t along_k = 1;
};

bool widens(DType from, DType to) {
  return is_floating(from) && (to == f32 || to == f64) && size_bytes(from) < size_bytes(to);
}

/// Whether both are computed in the same type.
bool meet(DType one, DType other) {
  return is_floating(one) && is_floating(other) && (one == f64) == (other == f64);
}

class Mover {
 public:
  Mover(const Fused& op, const expr::Tree& tree)
      : op_(op), tree_(tree), spaces_(op, tree), has_axes_(with_axes(tree)) {}

  void run() {
    for (std::size_t i = 0; i < tree_.nodes.size(); ++i) {
      Node copy = tree_.nodes[i];
      for (NodeId& arg : copy.args) {
        if (arg != kNoNode) arg = ids_[static_cast<std::size_t>(arg)];
      }
      ids_.push_back(copy.op == Op::matmul ? multiply(tree_.nodes[i], copy) : add(copy));
    }
  }

  /// The tree with the nodes that `run` has made.
  void finish(expr::Tree& tree) {
    for (expr::Store& store : tree.stores)
      store.value = ids_[static_cast<std::size_t>(store.value)];
    for (NodeId& value : tree.stored) value = ids_[static_cast<std::size_t>(value)];
    tree.nodes = std::move(nodes_);
  }

  [[nodiscard]] std::map<NodeId, Factor> take() { return std::move(factors_); }

 private:
  [[nodiscard]] const Node& node(NodeId id) const {
    return tree_.nodes[static_cast<std::size_t>(id)];
  }

  NodeId add(const Node& node) {
    nodes_.push_back(node);
    return static_cast<NodeId>(nodes_.size()) - 1;
  }

  /// `copy` is the product `old` with numbers of new nodes.
  NodeId multiply(const Node& old, Node copy) {
    std::vector<std::pair<Op, NodeId>> behind;
    for (std::size_t i = 0; i < 2; ++i) {
      const auto space = spaces_.meet(spaces_.leaves_of(spaces_.slice_of(old.args[i])));
      const Side side{.space = space.value_or(Extents{}), .along_k = i + 1};
      if (side.space.size() < 2) continue;
      const std::optional<Moved> moved = split(old.args[i], side, old.type);
      if (!moved) continue;
      copy.args[i] = ids_[static_cast<std::size_t>(moved->core)];
      for (const auto& [op, factor] : moved->factors)
        behind.emplace_back(op, place(factor, side, node(moved->core).source));
    }
    NodeId value = add(copy);
    for (const auto& [op, factor] : behind)
      value = add({.op = op, .type = old.type, .args = {value, factor, kNoNode}});
    return value;
  }

  /// `operand` as a tensor times factors; nothing if it is something else, or has none.
  std::optional<Moved> split(NodeId operand, const Side& side, DType product) {
    const DType type = node(operand).type;
    if (!is_floating(type)) return std::nullopt;
    Moved moved{.core = operand};
    const auto drop_cast = [&](bool any) {
      const Node& cast = node(moved.core);
      if (cast.op != Op::cast) return false;
      const DType from = node(cast.args[0]).type;
      if (!widens(from, cast.type) && !(any && is_floating(from))) return false;
      moved.core = cast.args[0];
      return true;
    };
    drop_cast(true);
    while (node(moved.core).op != Op::load) {
      const Node& own = node(moved.core);
      if (drop_cast(false)) continue;
      if (own.op != Op::mul && own.op != Op::div) return std::nullopt;
      std::size_t factor = 1;
      if (own.op == Op::mul && varies(own.args[1], side)) factor = 0;
      if (varies(own.args[factor], side)) return std::nullopt;
      if (!meet(node(own.args[factor]).type, product)) return std::nullopt;
      moved.factors.emplace_back(own.op, own.args[factor]);
      moved.core = own.args[1 - factor];
    }
    const expr::TensorRead& read =
        tree_.reads[static_cast<std::size_t>(node(moved.core).source)].what;
    const bool is_exact = op_.tensors[static_cast<std::size_t>(read.tensor)].dtype == type;
    if (moved.factors.empty() || read.assigned || !is_exact) return std::nullopt;
    return moved;
  }

  /// Whether a value may differ along K, or cannot be moved. Values that are used often are looked
  /// at once.
  bool varies(NodeId id, const Side& side) {
    const auto [known, is_new] =
        varies_.emplace(std::tuple(id, side.along_k, side.space.size()), false);
    if (is_new) known->second = look_whether_varies(id, side);
    return known->second;
  }
  bool look_whether_varies(NodeId id, const Side& side) {
    const Node& own = node(id);
    const std::size_t rank = side.space.size(), k = rank - side.along_k;
    if (own.op == Op::load) {
      const Extents& shape = spaces_.shape_of(id);
      return shape.size() >= side.along_k && !shape[shape.size() - side.along_k].is(1);
    }
    if (own.op == Op::matmul || own.op == Op::index || expr::is_scan(own.op)) return true;
    if (expr::is_reduction(own.op)) {
      return rank > expr::kMaxReducedRank ||
             tree_.axes_of(own, static_cast<int>(rank), op_.axis) != std::uint32_t{1} << k;
    }
    for (const NodeId arg : own.args) {
      if (arg != kNoNode && varies(arg, side)) return true;
    }
    return false;
  }

  /// For each value whether it depends on the space in which it stands.
  [[nodiscard]] static std::vector<bool> with_axes(const expr::Tree& tree) {
    std::vector<bool> has_axes;
    for (const Node& node : tree.nodes) {
      bool has = node.axes != 0;
      for (const NodeId arg : node.args)
        has = has || (arg != kNoNode && has_axes[static_cast<std::size_t>(arg)]);
      has_axes.push_back(has);
    }
    return has_axes;
  }

  /// The new node for a factor behind the product. A leaf has the number of the operand's read,
  /// which is no output's.
  NodeId place(NodeId factor, const Side& side, int read) {
    if (!has_axes_[static_cast<std::size_t>(factor)]) return ids_[static_cast<std::size_t>(factor)];
    const auto [leaf, is_new] = leaves_.emplace(std::pair(factor, side.along_k), kNoNode);
    if (!is_new) return leaf->second;
    const NodeId value = ids_[static_cast<std::size_t>(factor)];
    leaf->second = add({.op = Op::load,
                        .type = node(factor).type,
                        .args = {value, kNoNode, kNoNode},
                        .source = read});
    Extents shape = side.space;
    shape[shape.size() - side.along_k] = 1;
    factors_.emplace(leaf->second, Factor{value, side.space, std::move(shape)});
    return leaf->second;
  }

  const Fused& op_;
  const expr::Tree& tree_;
  Spaces spaces_;
  std::vector<bool> has_axes_;
  std::map<std::tuple<NodeId, std::size_t, std::size_t>, bool> varies_;  // of K's place, and a rank
  std::vector<Node> nodes_;
  std::vector<NodeId> ids_;  // of the tree's nodes among the new ones
  std::map<std::pair<NodeId, std::size_t>, NodeId> leaves_;
  std::map<NodeId, Factor> factors_;
};

}  // namespace

std::map<NodeId, Factor> move_factors(const Fused& op, expr::Tree& tree) {
  Mover mover(op, tree);
  mover.run();
  mover.finish(tree);
  return mover.take();
}

}  // namespace tilejit::formula
