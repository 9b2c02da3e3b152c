// Reductions over axes along which nothing varies, such as those of a view that repeats a tensor.
#include "plan/repeated.hpp"

#include <algorithm>
#include <cstddef>

namespace tilejit::plan {
namespace {

/// Of a mode with one element, which no address contains: every vector is aligned in it.
constexpr std::int64_t kStrideOfWholeVectors = 16;

bool varies(const IterationMode& mode) {
  return std::ranges::any_of(mode.operands, [](const OperandMode& leaves) {
    return std::ranges::any_of(leaves, [](const Mode& leaf) { return !leaf.stride.is(0); });
  });
}

}  // namespace

std::int64_t drop_repeated(std::vector<IterationMode>& reduced) {
  Dim times = 1;
  const auto is_dropped = [&](const IterationMode& mode) {
    if (varies(mode) || !mode.extent.is_known() || mode.extent.value() < 2) return false;
    times = times * mode.extent;
    return true;
  };
  const std::size_t tensors = reduced.front().operands.size();
  std::erase_if(reduced, is_dropped);
  if (reduced.empty())
    reduced.push_back({1, std::vector<OperandMode>(tensors, {{1, kStrideOfWholeVectors}})});
  return times.value();
}

bool can_drop_repeated(const expr::Program& program) {
  return std::ranges::none_of(program.nodes, [](const expr::Node& node) {
    return node.op == expr::Op::reduce_prod || expr::is_scan(node.op);
  });
}

expr::Program scale_sums(const expr::Program& program, std::int64_t times) {
  expr::Program scaled;
  std::vector<expr::NodeId> now;  // of each node of `program`
  const auto add = [&](const expr::Node& node) {
    scaled.nodes.push_back(node);
    return static_cast<expr::NodeId>(scaled.nodes.size() - 1);
  };
  for (expr::Node node : program.nodes) {
    for (expr::NodeId& arg : node.args) {
      if (arg != expr::kNoNode) arg = now[static_cast<std::size_t>(arg)];
    }
    expr::NodeId id = add(node);
    if (node.op == expr::Op::reduce_sum) {
      expr::Node factor{.op = expr::Op::constant, .type = node.type, .constant = times};
      if (is_floating(node.type)) factor.constant = static_cast<double>(times);
      id = add({.op = expr::Op::mul, .type = node.type, .args = {id, add(factor), expr::kNoNode}});
    }
    now.push_back(id);
  }
  for (const expr::Store& store : program.stores)
    scaled.stores.push_back({store.tensor, now[static_cast<std::size_t>(store.value)]});
  return scaled;
}

}  // namespace tilejit::plan
