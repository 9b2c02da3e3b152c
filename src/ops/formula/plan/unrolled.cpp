#include "plan/unrolled.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "expr/graph.hpp"
#include "expr/traits.hpp"
#include "plan/parts.hpp"

namespace tilejit::plan {
namespace {

using expr::kNoNode;
using expr::Node;
using expr::NodeId;
using expr::Op;

constexpr std::int64_t kMostUnrolled = 8;        // elements of a reduction
constexpr std::int64_t kMostElements = 1 << 13;  // of the space, which a few blocks load at once
constexpr std::int64_t kMostWeight = 512;        // of the program with all its copies

std::size_t index_of(NodeId id) {
  return static_cast<std::size_t>(id);
}

/// The operation of two values that a reduction repeats; nothing if there is none.
std::optional<Op> step_of(Op reduction) {
  switch (reduction) {
    case Op::reduce_sum: return Op::add;
    case Op::reduce_prod: return Op::mul;
    case Op::reduce_min: return Op::min;
    case Op::reduce_max: return Op::max;
    default: return std::nullopt;
  }
}

class Unroller {
 public:
  Unroller(const Fused& op, const formula::Analysis& analysis, std::size_t axis, Outputs outputs)
      : op_(op),
        analysis_(analysis),
        axis_(axis),
        count_(analysis.shape[axis].value()),
        outputs_(outputs) {
    for (std::size_t t = 0; t < op.tensors.size(); ++t) {
      std::uint32_t axes = 0;
      for (std::size_t i = 0; i < analysis.axes[t].size(); ++i) {
        if (!product(mode(op.tensors[t].layout.shape(), i)).is(1))
          axes |= std::uint32_t{1} << analysis.axes[t][i];
      }
      spanned_.push_back(axes);
    }
    values_ = expr::axes_of_values(analysis.program, spanned_);
  }

  std::optional<Split> run() {
    add_tensors();
    const std::vector<Node>& nodes = analysis_.program.nodes;
    copies_.resize(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (!add(i)) return std::nullopt;
    }
    std::vector<expr::Store> stores;
    for (const expr::Store& store : analysis_.program.stores) {
      const std::size_t t = static_cast<std::size_t>(store.tensor);
      const std::vector<NodeId>& values = copies_[index_of(store.value)];
      const bool spans = expr::has_axis(spanned_[t], axis_);
      if (spans && outputs_ == Outputs::whole) return std::nullopt;
      for (std::int64_t k = 0; k < (spans ? count_ : 1); ++k)
        stores.push_back({first_[t] + static_cast<int>(k),
                          values[values.size() == 1 ? 0 : static_cast<std::size_t>(k)]});
    }
    part_.analysis.program = graph_.prune(stores);
    if (!is_one_kernel(part_.analysis.program)) return std::nullopt;
    part_.op.name = op_.name;
    part_.op.scalars = op_.scalars;
    part_.op.symbols = op_.symbols;
    part_.analysis.symbols = analysis_.symbols;
    part_.analysis.shape = analysis_.shape;
    part_.analysis.shape[axis_] = Dim(1);
    Split split;
    split.parts.push_back(std::move(part_));
    return split;
  }

 private:
  /// Each tensor that varies along the axis becomes as many tensors as it has elements there.
  void add_tensors() {
    for (std::size_t t = 0; t < op_.tensors.size(); ++t) {
      first_.push_back(static_cast<int>(part_.tensors.size()));
      const bool varies = expr::has_axis(spanned_[t], axis_);
      for (std::int64_t k = 0; k < (varies ? count_ : 1); ++k)
        add_tensor(t, varies ? k : 0, varies);
    }
  }

  void add_tensor(std::size_t t, std::int64_t k, bool varies) {
    Tensor tensor = op_.tensors[t];
    std::int64_t offset = 0;
    if (varies) {
      std::vector<IntTuple> extents, strides;
      for (std::size_t i = 0; i < rank(tensor.layout); ++i) {
        const bool is_axis = analysis_.axes[t][i] == static_cast<int>(axis_);
        extents.push_back(is_axis ? IntTuple(Dim(1)) : mode(tensor.layout.shape(), i));
        strides.push_back(mode(tensor.layout.stride(), i));
        if (is_axis) offset = k * mode(tensor.layout, i).leaves()[0].stride.value();
      }
      tensor.layout = {IntTuple::tuple(extents), IntTuple::tuple(strides)};
      tensor.name += "_" + std::to_string(k);
      tensor.align =
          static_cast<int>(std::gcd(std::int64_t{tensor.align}, offset * size_bytes(tensor.dtype)));
    }
    part_.op.tensors.push_back(std::move(tensor));
    part_.tensors.push_back(static_cast<int>(t));
    part_.offsets.push_back(offset);
    part_.analysis.axes.push_back(analysis_.axes[t]);
    part_.analysis.access.push_back(analysis_.access[t]);
  }

  /// Adds the node, or a copy of it for each element along the axis. False if it cannot be.
  bool add(std::size_t i) {
    const Node& node = analysis_.program.nodes[i];
    if (expr::is_scan(node.op) || node.op == Op::index || expr::finds_place(node.op)) return false;
    if (node.op == Op::extent) {
      copies_[i] = {extent(node)};
      return true;
    }
    if (expr::is_reduction(node.op) && expr::has_axis(node.axes, axis_)) return add_chain(i);
    const bool varies = expr::has_axis(values_[i].varying, axis_);
    if (expr::is_reduction(node.op) && varies) return false;
    for (std::int64_t k = 0; k < (varies ? count_ : 1); ++k) {
      Node copy = node;
      if (node.op == Op::load)
        copy.source = first_[static_cast<std::size_t>(node.source)] + static_cast<int>(k);
      for (NodeId& arg : copy.args) {
        if (arg == kNoNode) continue;
        const std::vector<NodeId>& of_arg = copies_[index_of(arg)];
        arg = of_arg[of_arg.size() == 1 ? 0 : static_cast<std::size_t>(k)];
      }
      copies_[i].push_back(graph_.add(copy));
    }
    return true;
  }

  /// The number of elements along the node's axes, which may include the unrolled one.
  NodeId extent(const Node& node) {
    std::int64_t product = 1;
    for (std::size_t axis = 0; axis < analysis_.shape.size(); ++axis) {
      if (expr::has_axis(node.axes, axis)) product *= analysis_.shape[axis].value();
    }
    if (is_floating(node.type)) return graph_.constant(node.type, static_cast<double>(product));
    return graph_.constant(node.type, product);
  }

  /// Combines neighbours, then the results of these, as threads that share a row do.
  bool add_chain(std::size_t i) {
    const Node& node = analysis_.program.nodes[i];
    const auto step = step_of(node.op);
    std::vector<NodeId> left = copies_[index_of(node.args[0])];
    if (!step || std::ssize(left) != count_ || node.axes != std::uint32_t{1} << axis_ ||
        analysis_.program.nodes[index_of(node.args[0])].type != node.type)
      return false;
    while (left.size() > 1) {
      std::vector<NodeId> combined;
      for (std::size_t k = 0; k + 1 < left.size(); k += 2)
        combined.push_back(graph_.operation(*step, node.type, left[k], left[k + 1]));
      if (left.size() % 2 == 1) combined.push_back(left.back());
      left = std::move(combined);
    }
    copies_[i] = std::move(left);
    return true;
  }

  const Fused& op_;
  const formula::Analysis& analysis_;
  const std::size_t axis_;
  const std::int64_t count_;
  const Outputs outputs_;
  std::vector<std::uint32_t> spanned_;       // per tensor: axes of more than one element
  std::vector<expr::ValueAxes> values_;      // per node
  std::vector<int> first_;                   // per tensor: its first one of the part
  std::vector<std::vector<NodeId>> copies_;  // per node: one, or as many as the axis has elements
  expr::Graph graph_;
  Part part_;
};

/// Whether slices along the axis have layouts of their own.
bool has_slices(const Fused& op, const formula::Analysis& analysis, std::size_t axis) {
  for (std::size_t t = 0; t < op.tensors.size(); ++t) {
    for (std::size_t i = 0; i < analysis.axes[t].size(); ++i) {
      if (analysis.axes[t][i] != static_cast<int>(axis)) continue;
      const Layout along = mode(op.tensors[t].layout, i);
      const auto leaves = along.leaves();
      if (leaves.size() != 1 || !leaves[0].stride.is_known()) return false;
    }
  }
  return true;
}

}  // namespace

std::optional<Split> unroll_reductions(const Fused& op, const formula::Analysis& analysis,
                                       Outputs outputs) {
  const std::int64_t weight = expr::weight(analysis.program);
  for (const Node& node : analysis.program.nodes) {
    if (!expr::is_reduction(node.op) || std::popcount(node.axes) != 1) continue;
    const auto axis = static_cast<std::size_t>(std::countr_zero(node.axes));
    if (!analysis.shape[axis].is_known()) continue;
    const std::int64_t count = analysis.shape[axis].value();
    if (count < 2 || count > kMostUnrolled || weight * count > kMostWeight ||
        !has_slices(op, analysis, axis))
      continue;
    if (auto found = Unroller(op, analysis, axis, outputs).run()) return found;
  }
  return std::nullopt;
}

std::optional<Split> unroll_short_reductions(const Fused& op, const formula::Analysis& analysis) {
  std::int64_t elements = 1;
  for (const Dim& extent : analysis.shape) {
    if (!extent.is_known() || extent.is(0) || extent.value() > kMostElements) return std::nullopt;
    elements *= extent.value();
    if (elements > kMostElements) return std::nullopt;
  }
  return unroll_reductions(op, analysis, Outputs::whole);
}

}  // namespace tilejit::plan
