#include "formula/spaces.hpp"

#include <algorithm>

#include "core/text.hpp"

namespace tilejit::formula {
namespace {

using expr::kNoNode;
using expr::Node;
using expr::NodeId;
using expr::Op;

bool is_leaf(const Node& node) {
  return node.op == Op::load || node.op == Op::matmul;
}

/// Widens `shape` to hold `next`, by NumPy's rule. Returns false if two extents do not meet.
bool widen(Extents& shape, const Extents& next) {
  if (next.size() > shape.size()) shape.insert(shape.begin(), next.size() - shape.size(), Dim(1));
  for (std::size_t i = 0; i < next.size(); ++i) {
    Dim& known = shape[shape.size() - next.size() + i];
    if (next[i].is(1) || next[i] == known) continue;
    if (!known.is(1)) return false;
    known = next[i];
  }
  return true;
}

}  // namespace

std::string text_of(const Extents& shape) {
  std::string text = "(";
  for (const Dim& extent : shape) text += (text.size() > 1 ? "," : "") + to_string(extent);
  return core::shortened(text + ")");
}

Extents extents_of(const Layout& layout) {
  Extents extents;
  for (std::size_t i = 0; i < rank(layout); ++i) extents.push_back(size(mode(layout, i)));
  return extents;
}

Layout transposed(const Layout& layout) {
  std::vector<Layout> modes;
  for (std::size_t i = 0; i < rank(layout); ++i) modes.push_back(mode(layout, i));
  std::swap(modes[modes.size() - 1], modes[modes.size() - 2]);
  return make_layout(modes);
}

Spaces::Spaces(const Fused& op, const expr::Tree& tree) : op_(op), tree_(tree) {}

expr::TreeSlice Spaces::slice_of(NodeId root) const {
  expr::TreeSlice slice;
  slice.stores = {{0, root}};
  slice.instead.assign(tree_.nodes.size(), kNoNode);
  for (const Node& node : tree_.nodes) slice.sources.push_back(is_leaf(node) ? 0 : -1);
  return slice;
}

std::vector<NodeId> Spaces::leaves_of(const expr::TreeSlice& slice) const {
  const std::vector<bool> needed = needed_by(tree_, slice);
  std::vector<NodeId> leaves;
  for (std::size_t i = 0; i < needed.size(); ++i) {
    if (needed[i] && slice.sources[i] >= 0) leaves.push_back(static_cast<NodeId>(i));
  }
  return leaves;
}

const Extents& Spaces::shape_of(NodeId leaf) {
  if (const auto known = shapes_.find(leaf); known != shapes_.end()) return known->second;
  const Node& node = tree_.nodes[static_cast<std::size_t>(leaf)];
  Extents shape = node.op == Op::load
                      ? shape_of_read(tree_.reads[static_cast<std::size_t>(node.source)])
                      : shape_of_product(leaf);
  return shapes_.emplace(leaf, std::move(shape)).first->second;
}

Extents Spaces::shape_of_read(const expr::Tree::Read& read) const {
  const Tensor& tensor = op_.tensors[static_cast<std::size_t>(read.what.tensor)];
  Extents shape = extents_of(tensor.layout);
  if (!read.what.transposed) return shape;
  if (shape.size() < 2) {
    expr::fail_at(read.place, "'.T' swaps two modes, and '" + tensor.name + "' has one: give it " +
                                  "the shape (1," + to_string(shape[0]) + ") or (" +
                                  to_string(shape[0]) + ",1)");
  }
  std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
  return shape;
}

Extents Spaces::shape_of_operand(NodeId product, int side) {
  const NodeId operand =
      tree_.nodes[static_cast<std::size_t>(product)].args[static_cast<std::size_t>(side)];
  Extents shape = broadcast(leaves_of(slice_of(operand)));
  if (shape.size() >= 2) return shape;
  const std::string which = side == 0 ? "left" : "right";
  if (shape.empty()) {
    expr::fail_at(place_of(product),
                  "'@' takes two matrices, and the " + which + " operand is one number: use '*'");
  }
  const std::string extent = to_string(shape[0]);
  expr::fail_at(place_of(product), "'@' takes two matrices, and the " + which +
                                       " operand has one mode: give it the shape " +
                                       (side == 0 ? "(1," + extent + ")" : "(" + extent + ",1)"));
}

Extents Spaces::shape_of_product(NodeId id) {
  const Extents a = shape_of_operand(id, 0), b = shape_of_operand(id, 1);
  const std::string shapes = text_of(a) + " @ " + text_of(b);
  const Dim& left = a[a.size() - 1];
  const Dim& right = b[b.size() - 2];
  if (left != right) {
    expr::fail_at(place_of(id), "the extents " + to_string(left) + " and " + to_string(right) +
                                    " do not meet in " + shapes +
                                    ": the last mode on the left is added up with the last but "
                                    "one on the right");
  }
  Extents shape(a.begin(), a.end() - 2);
  if (!widen(shape, {b.begin(), b.end() - 2})) {
    expr::fail_at(place_of(id), "the batches do not meet in " + shapes +
                                    ": extents must be equal or 1, aligned at the last mode");
  }
  shape.push_back(a[a.size() - 2]);
  shape.push_back(b[b.size() - 1]);
  return shape;
}

std::optional<Extents> Spaces::meet(const std::vector<NodeId>& leaves, const Extents& also) {
  Extents shape = also;
  for (const NodeId leaf : leaves) {
    if (!widen(shape, shape_of(leaf))) return std::nullopt;
  }
  return shape;
}

Extents Spaces::broadcast(const std::vector<NodeId>& leaves) {
  Extents shape;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    if (widen(shape, shape_of(leaves[i]))) continue;
    const auto refuses = [&](NodeId other) { return !meet({other, leaves[i]}); };
    const auto other =
        std::find_if(leaves.begin(), leaves.begin() + static_cast<std::ptrdiff_t>(i), refuses);
    expr::fail_at(place_of(leaves[i]), describe(leaves[i]) + " does not meet " + describe(*other) +
                                           " here: extents must be equal or 1, aligned at the "
                                           "last mode");
  }
  return shape;
}

expr::Place Spaces::place_of(NodeId leaf) const {
  const Node& node = tree_.nodes[static_cast<std::size_t>(leaf)];
  const auto source = static_cast<std::size_t>(node.source);
  return node.op == Op::load ? tree_.reads[source].place : tree_.products[source];
}

std::string Spaces::describe(NodeId leaf) {
  const Node& node = tree_.nodes[static_cast<std::size_t>(leaf)];
  std::string name = "the product";
  if (node.op == Op::load) {
    const expr::TensorRead& read = tree_.reads[static_cast<std::size_t>(node.source)].what;
    name = "'" + op_.tensors[static_cast<std::size_t>(read.tensor)].name +
           (read.transposed ? ".T'" : "'");
  }
  return name + " of shape " + text_of(shape_of(leaf));
}

}  // namespace tilejit::formula
