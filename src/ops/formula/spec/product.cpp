#include "formula/product.hpp"

#include <algorithm>
#include <utility>

#include "expr/program.hpp"

namespace tilejit::formula {
namespace {

std::vector<Mode> leaves_of(const Layout& layout, std::size_t i) {
  std::vector<Mode> leaves;
  const Layout own = mode(layout, i);
  for (const Mode& leaf : own.leaves()) {
    if (!leaf.extent.is(1)) leaves.push_back(leaf);
  }
  return leaves;
}

/// The operand `tensor`; `along_k` is 1 if its last mode is K, else 2, counted from the last.
ProductOperand operand_of(const Fused& op, int tensor, std::size_t batches, std::size_t along_k) {
  const Tensor& own = op.tensors[static_cast<std::size_t>(tensor)];
  const std::size_t modes = rank(own.layout);
  ProductOperand operand{.tensor = tensor,
                         .dtype = own.dtype,
                         .stored = own.dtype,
                         .batch = {},
                         .outer = {},
                         .inner = {}};
  operand.inner = leaves_of(own.layout, modes - along_k);
  operand.outer = leaves_of(own.layout, modes - (3 - along_k));
  operand.batch.resize(batches);
  for (std::size_t i = 0; i + 2 < modes; ++i) {
    operand.batch[batches - (modes - 2) + i] = leaves_of(own.layout, i);
  }
  return operand;
}

/// The product after `first` in the order of the nodes, if there is one: a pair.
std::optional<SecondProduct> second_of(const Fused& op, const expr::Program& program,
                                       expr::NodeId first, std::size_t batches) {
  const auto from = program.nodes.begin() + first + 1;
  const auto found = std::find_if(from, program.nodes.end(),
                                  [](const expr::Node& n) { return n.op == expr::Op::matmul; });
  if (found == program.nodes.end()) return std::nullopt;
  const auto tensor_of = [&](int side) {
    const expr::NodeId id = found->args[static_cast<std::size_t>(side)];
    return program.nodes[static_cast<std::size_t>(id)].source;
  };
  const bool left = tensor_of(1) == 1;
  return SecondProduct{.node = static_cast<expr::NodeId>(found - program.nodes.begin()),
                       .left = left,
                       .operand = operand_of(op, tensor_of(left ? 0 : 1), batches, left ? 1 : 2)};
}

}  // namespace

bool has_product(const expr::Program& program) noexcept {
  return std::ranges::any_of(program.nodes,
                             [](const expr::Node& n) { return n.op == expr::Op::matmul; });
}

Product product_of(const Fused& op, const Analysis& analysis) {
  const auto found = std::ranges::find(analysis.program.nodes, expr::Op::matmul, &expr::Node::op);
  const std::size_t batches = analysis.shape.size() - 2;
  const auto batch_end = analysis.shape.begin() + static_cast<std::ptrdiff_t>(batches);
  const Layout& left = op.tensors[0].layout;
  Product product{
      .node = static_cast<expr::NodeId>(found - analysis.program.nodes.begin()),
      .a = operand_of(op, 0, batches, 1),
      .b = operand_of(op, 1, batches, 2),
      .batch = {analysis.shape.begin(), batch_end},
      .m = analysis.shape[batches],
      .n = analysis.shape[batches + 1],
      .k = tilejit::product(mode(left.shape(), rank(left) - 1)),
  };
  for (const auto& [operand, value] :
       {std::pair(&product.a, found->args[0]), std::pair(&product.b, found->args[1])}) {
    const expr::Node& node = analysis.program.nodes[static_cast<std::size_t>(value)];
    if (node.op == expr::Op::load) continue;
    operand->dtype = node.type;
    operand->value = value;
  }
  const DType type = found->type;
  product.accumulator = is_floating(type) && type != f64 ? f32 : type;
  product.second = second_of(op, analysis.program, product.node, batches);
  for (const expr::Store& store : analysis.program.stores) {
    if (expr::is_reduction(analysis.program.nodes[static_cast<std::size_t>(store.value)].op))
      product.reductions.push_back({.node = store.value, .tensor = store.tensor});
  }
  for (std::size_t i = 0; i < analysis.program.nodes.size(); ++i) {
    const auto id = static_cast<expr::NodeId>(i);
    const bool is_stored = std::ranges::count(product.reductions, id, &RowReduction::node) != 0;
    if (expr::is_reduction(analysis.program.nodes[i].op) && !is_stored) product.statistic = id;
  }
  return product;
}

}  // namespace tilejit::formula
